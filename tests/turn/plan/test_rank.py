"""Which tool is meant: on a few tools by hand, on the built-ins with requests as people say them, and when none is."""

import threading
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.executors import builtin
from metnos.executors.manifest import parse
from metnos.fastpath.slots import Slot, extract
from metnos.models.embed import Space
from metnos.models.embed_builtin import Builtin
from metnos.models.embed_cache import Cached
from metnos.turn.plan.rank import SIGNALS, Ranker, Rules
from metnos.turn.plan.records import Tool

REQUESTS = tomllib.loads((Path(__file__).parent / "requests.toml").read_text(encoding="utf-8"))["request"]
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOME = Path("/home/owner")


def slots(text: str) -> tuple[Slot, ...]:
    return extract(text, now=NOW, home=HOME, cwd=HOME)


@cache
def built_in() -> tuple[Tool, ...]:
    homes = sorted(Path(each) for each in builtin.__path__)
    manifests = [
        parse(path.read_text(encoding="utf-8")) for home in homes for path in sorted(home.glob("*/manifest.toml"))
    ]
    return tuple(
        Tool(
            name=each.name,
            version=each.version,
            digest="",
            purpose=each.purpose,
            mutates=each.result_key == "results",
            args=each.args,
            result_key=each.result_key,
            output=each.output,
            affinity=each.affinity,
            examples=tuple((example.say, example.args) for example in each.examples),
        )
        for each in manifests
    )


@pytest.fixture(scope="module")
def by_words() -> Ranker:
    return Ranker(built_in(), None)


@pytest.fixture(scope="module")
def by_meaning() -> Ranker:
    return Ranker(built_in(), Cached(Builtin(), 10_000))


class Letters:
    """A tiny embedder: how often each letter occurs."""

    space = Space("letters", "1", "", 27)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array(
            [[text.lower().count(chr(97 + n)) for n in range(26)] + [1] for text in texts], dtype=np.float32
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@cache
def few() -> Ranker:
    return Ranker(built_in()[:5], Letters())


# -- how it behaves


@pytest.mark.slow
@pytest.mark.parametrize("embedder", [None, Letters()])
def test_all_tools_come_back_the_best_first_with_scores_between_0_and_1(embedder: Any) -> None:
    ranker = Ranker(built_in(), embedder)
    ranked = ranker.rank("delete the old files", slots=slots("delete the old files"))
    assert sorted(each.tool.name for each in ranked) == sorted(tool.name for tool in built_in())
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert ranked[0].tool.name == "delete_files"
    assert ranked == ranker.rank("delete the old files", slots=slots("delete the old files"))


def test_the_parts_are_filled_in(by_words: Ranker) -> None:
    best = by_words.rank("remind me tomorrow to buy milk", slots=slots("remind me tomorrow to buy milk"))[0]
    assert best.tool.name == "set_reminders"
    assert best.lexical > 0
    assert best.affinity > 0
    assert best.cosine == 0  # there is no embedder
    assert best.weight == 1


def test_a_weight_multiplies_and_none_says_nothing(by_words: Ranker) -> None:
    text = "delete the reminder"
    plain = by_words.rank(text)
    assert by_words.rank(text, weight=lambda name: 1.0) == plain
    first, second = plain[0].tool.name, plain[1].tool.name
    turned = by_words.rank(text, weight=lambda name: 0.01 if name == first else 1.0)
    assert turned[0].tool.name == second
    assert next(each for each in turned if each.tool.name == first).weight == 0.01
    assert max(each.score for each in by_words.rank(text, weight=lambda name: 1e9)) <= 1
    assert {each.score for each in by_words.rank(text, weight=lambda name: -1.0)} == {0.0}


def test_nothing_to_choose_from(by_words: Ranker) -> None:
    empty = Ranker([], None)
    assert empty.rank("find my files") == ()
    assert empty.fit((), "find my files") == 0.0
    assert by_words.fit((), "find my files") == 0.0


@given(st.text(alphabet=st.characters(), max_size=200))
def test_no_request_makes_it_fail(text: str) -> None:
    ranker = few()
    ranked = ranker.rank(text, slots=slots(text))
    assert len(ranked) == 5
    assert 0 <= ranker.fit(ranked, text, slots(text)) <= 1
    assert np.isfinite(ranker.signals(text)).all()


@pytest.mark.parametrize(
    ("text", "better", "worse"),
    [
        ("what does letter.docx say", "extract_text_office", "extract_text_pdf"),
        ("what does letter.pdf say", "extract_text_pdf", "extract_text_office"),
        ("read https://example.org/a", "extract_text_url", "read_files"),
        ("read ~/a.txt", "read_files", "extract_text_url"),
    ],
)
def test_what_the_request_names_decides_between_tools_that_sound_alike(
    by_words: Ranker, text: str, better: str, worse: str
) -> None:
    order = [each.tool.name for each in by_words.rank(text, slots=slots(text))]
    assert order.index(better) < order.index(worse)


def test_a_tool_whose_numbers_are_missing_fits_less(by_words: Ranker) -> None:
    args = {"required": ["a", "b"], "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    ranker = Ranker([Tool("add", "", "", "Add two numbers.", False, args, "entries", {})], None)
    with_them, without = "add the numbers 3 and 4", "add the numbers of my friends"
    assert ranker.fit(ranker.rank(with_them), with_them) > ranker.fit(ranker.rank(without), without)


def test_a_text_that_is_quoted_orders_nothing(by_words: Ranker) -> None:
    text = "search for 'delete every reminder and convert all images' in ~/notes.txt"
    assert by_words.rank(text, slots=slots(text))[0].tool.name == "search_text"


def test_rules_may_be_others() -> None:
    tools = built_in()[:3]
    flat = Ranker(tools, None, Rules(order_of_words={}, fit_of_words={"bias": 0.0}))
    ranked = flat.rank("whatever")
    assert len({each.score for each in ranked}) == 1
    assert [each.tool.name for each in ranked] == sorted(each.name for each in tools)
    assert flat.fit(ranked, "whatever") == 0.5


def test_every_weight_is_of_a_signal() -> None:
    rules = Rules()
    for weights in (rules.order, rules.order_of_words, rules.fit, rules.fit_of_words):
        assert set(weights) <= {*SIGNALS, "bias"}


@pytest.mark.slow
def test_threads_get_their_own_answers(by_words: Ranker) -> None:
    texts = [each["say"] for each in REQUESTS[:24]]
    alone = [by_words.rank(text)[0].tool.name for text in texts]
    wrong: list[str] = []

    def work(start: int) -> None:
        for number in range(start, start + 3 * len(texts)):
            text = texts[number % len(texts)]
            if by_words.rank(text)[0].tool.name != alone[number % len(texts)]:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -- how good it is


def shares(ranker: Ranker) -> tuple[float, float]:
    """How often the right one is first, and among the first three."""
    asked = [each for each in REQUESTS if each["tool"] != "none"]
    places = []
    for each in asked:
        names = [found.tool.name for found in ranker.rank(each["say"], slots=slots(each["say"]))]
        places.append(min(names.index(name) for name in (each["tool"], each.get("or")) if name))
    return sum(place < 1 for place in places) / len(asked), sum(place < 3 for place in places) / len(asked)


def test_the_requests_are_many_half_italian_and_nobodys_examples() -> None:
    said = [each["say"] for each in REQUESTS]
    examples = {say.casefold() for tool in built_in() for say, _ in tool.examples}
    names = {tool.name for tool in built_in()}
    assert len(said) == len(set(said)) >= 120
    assert not examples & {each.casefold() for each in said}
    assert {each["tool"] for each in REQUESTS} == names | {"none"}


@pytest.mark.slow
def test_by_meaning_the_right_built_in_is_nearly_always_near_the_top(by_meaning: Ranker) -> None:
    first, three = shares(by_meaning)  # 0.84 and 0.95 when this was written; 0.79 and 0.94 of those not fitted on
    assert first >= 0.80
    assert three >= 0.93


@pytest.mark.slow
def test_by_words_alone_it_is_still_often_there(by_words: Ranker) -> None:
    first, three = shares(by_words)  # 0.71 and 0.81 when this was written
    assert first >= 0.66
    assert three >= 0.77


@pytest.mark.slow
def test_what_nothing_covers_is_mostly_refused_and_what_something_covers_hardly_ever(by_meaning: Ranker) -> None:
    refused: dict[bool, list[bool]] = {True: [], False: []}
    for each in REQUESTS:
        found = slots(each["say"])
        fit = by_meaning.fit(by_meaning.rank(each["say"], slots=found), each["say"], found)
        refused[each["tool"] == "none"].append(fit < Rules().abstain)
    assert sum(refused[True]) / len(refused[True]) >= 0.80  # 22 of 26 when this was written
    assert sum(refused[False]) / len(refused[False]) <= 0.09  # 7 of 134 when this was written
