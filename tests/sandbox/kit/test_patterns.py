import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import patterns
from sandbox.kit.kit_context import Failure, context
from tables import try_each


@try_each(
    "text",
    [
        "(a+)+$",
        "^(a+)+$",
        "(a*)*b",
        "(a|aa)+$",
        "(a|a?)+$",
        r"(\w+\s?)*$",
        r"^(\d+)*$",
        "(.*a){20}",
        "(?:x+x+)+y",
        "((a+)b?)+$",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(\s*\w*)*!",
    ],
)
def test_what_could_take_for_ever_is_refused(text: str) -> None:
    with pytest.raises(patterns.Refused, match="repeats a repetition"):
        patterns.guarded(text)


@try_each(
    "text",
    [
        "abc",
        r"\d{4}-\d\d-\d\d",
        r"^.*(\.[^.]+)$",
        r"(\d{1,3}\.){3}\d{1,3}",
        r"[\w.+-]+@[\w-]+\.[\w.]+",
        "(foo|bar)+",
        r"^\s*#",
        "colou?r",
        r"(ab)*c",
        r"IMG_(\d+)\.jpe?g$",
    ],
)
def test_ordinary_expressions_are_accepted(text: str) -> None:
    search, longest = patterns.guarded(text)
    assert search.pattern == text
    assert longest in patterns.LONGEST


@pytest.mark.parametrize("text", ["(", "[a", "*", "(?P<x>a)(?P<x>b)", "a{5,2}", r"\1", "(?<=a+)b"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(patterns.Refused, match="is not a regular expression"):
        patterns.guarded(text)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("a*a*b", "a"),
        ("a*a*a*b", "a"),
        ("a*a*a*a*b", "a"),
        (r"\s+$", " "),
        (".*x.*y.*z", "x"),
        (r"\w+\d+\w+!", "1"),
        (r"^.*(\.[^.]+)$", "."),
    ],
)
def test_the_longest_text_is_tried_in_time(text: str, body: str) -> None:
    search, longest = patterns.guarded(text)
    started = time.process_time()
    search.search(body * (longest - 1) + "~")
    assert time.process_time() - started < 2.0


def test_a_literal_text_is_searched_as_it_stands_and_without_a_bound() -> None:
    search, longest = patterns.guarded("(a+)+$", regex=False)
    assert search.search("x (a+)+$ y", 0, longest)
    assert not search.search("aaaa")


def test_whole_words_and_capitals() -> None:
    search, _ = patterns.guarded("cat", whole_words=True, ignore_case=True)
    assert search.search("a Cat!")
    assert not search.search("concatenate")


def test_the_arguments_of_an_executor() -> None:
    args = {"pattern": "a", "regex": True, "ignore_case": True}
    assert patterns.wanted(args, context()).search.search("A")
    with pytest.raises(Failure, match="`pattern` repeats"):
        patterns.wanted({**args, "pattern": "(a+)+$", "whole_words": True}, context())


def test_a_replacement_must_fit_its_pattern() -> None:
    patterns.check_template(r"\1", re.compile("(a)"))
    for words in (r"\2", r"\g<x>", "\\"):
        with pytest.raises(patterns.Refused, match="does not fit"):
            patterns.check_template(words, re.compile("(a)"))


@pytest.mark.filterwarnings("ignore::FutureWarning")
@given(st.text("ab(|)*+?[]^$.\\dw{}1,2-", max_size=20))
def test_whatever_is_written_it_is_a_pattern_or_refused(text: str) -> None:
    try:
        search, longest = patterns.guarded(text)
    except patterns.Refused:
        return
    assert longest > 0
    search.search("ab1" * 6)


@given(st.text(max_size=20))
def test_a_literal_text_finds_itself(text: str) -> None:
    assert patterns.guarded(text, regex=False).search.search(f"x{text}y")
