"""A question, sorted so that it can be decided."""

from typing import Any

import pytest

from metnos.web.deciding import Question, body_of, question
from web.standin import ITEM, ITEMS


def titles(asked: Question) -> list[str]:
    return [part.title for part in asked.parts]


def part(asked: Question, title: str) -> Any:
    return next(each for each in asked.parts if each.title.startswith(title))


def test_an_act_shows_what_would_happen_and_how_it_is_taken_back() -> None:
    asked = question(ITEMS["act"])
    assert part(asked, "What it would do").lines[0] == "make the folder /home/you/archive"
    assert part(asked, "And afterwards").lines == ("It moves things; undo moves them back.",)
    assert part(asked, "Which rule asks").lines == (("autonomy", "ask", "changing files needs your yes"),)
    assert asked.field == "args"


def test_a_new_executor_shows_what_it_may_and_may_never_do_before_its_code() -> None:
    asked = question(ITEMS["born"])
    order = [titles(asked).index(name) for name in ("Why", "What it may do", "What it may never do", "executor.py")]
    assert order == sorted(order)
    assert part(asked, "How it was tried").title.startswith("How it was tried: 1 of 2")
    assert [good for good, _ in part(asked, "How it was tried").lines] == [True, False, True]
    assert asked.field == "code"


def test_code_is_open_where_no_difference_shows_it() -> None:
    fresh = ITEMS["born"] | {"body": {k: v for k, v in ITEMS["born"]["body"].items() if k != "difference"}}
    assert part(question(ITEMS["born"]), "executor.py").folded
    assert not part(question(fresh), "executor.py").folded


@pytest.mark.parametrize(("name", "field"), [("line", "text"), ("learn", ""), ("gone", "")])
def test_only_what_waits_and_has_words_can_be_edited(name: str, field: str) -> None:
    assert question(ITEMS[name]).field == field


def test_the_second_yes_is_asked_for_as_such() -> None:
    assert question(ITEMS["twice"]).second
    assert not question(ITEMS["act"]).second
    assert not question(ITEMS["twice"] | {"state": "approved"}).second


def test_what_nobody_knows_is_shown_all_the_same() -> None:
    odd = question(ITEM | {"id": "x", "kind": "strange", "title": "?", "body": {"odd_name": [1, 2], "why": "because"}})
    assert part(odd, "Also").lines == (("odd name", "1, 2"),)
    assert part(odd, "Why").lines == ("because",)


def test_a_body_may_stand_beside_the_question() -> None:
    assert body_of({"id": "x", "kind": "act", "preview": ["a"], "args": {}}) == {"preview": ["a"]}
