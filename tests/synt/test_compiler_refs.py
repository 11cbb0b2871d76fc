"""References are read as a turn reads them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import TurnError
from metnos.synt import compiler_refs
from metnos.synt.compiler_refs import Nowhere
from metnos.turn import refs

FIELDS = st.sampled_from(["entries", "results", "path", "name", "count", "more"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x", "{{step1.count}}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=10,
)
REPLIES = st.lists(st.dictionaries(FIELDS, VALUES, max_size=4), max_size=3)
PARTS = st.lists(FIELDS.map(".{}".format) | st.integers(0, 2).map("[{}]".format), max_size=3).map("".join)
REFERENCES = st.builds("{{{{{}step{}{}{}}}}}".format, st.sampled_from(["", " "]), st.integers(1, 3), PARTS, st.just(""))
TEXTS = REFERENCES | st.builds("{} {} {}".format, st.sampled_from(["", "a"]), REFERENCES, st.sampled_from(["", "b"]))
PLANNED = st.recursive(
    TEXTS | st.sampled_from(["plain", "{{step0.entries}}", "{{ step1 .path}}"]) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)


def outcome(resolve: Any, error: type[Exception]) -> tuple[str, Any]:
    try:
        return "value", resolve()
    except error as found:
        return "nowhere", getattr(found, "what", str(found))


@given(PLANNED, REPLIES)
def test_a_reference_stands_for_what_it_stands_for_in_a_turn(value: Any, replies: list[dict[str, Any]]) -> None:
    named = {f"step{number}": reply for number, reply in enumerate(replies, start=1)}
    theirs = outcome(lambda: refs.resolve(value, named), TurnError)
    assert outcome(lambda: compiler_refs.resolve(value, replies), Nowhere) == theirs


@given(PLANNED)
def test_the_same_references_are_found(value: Any) -> None:
    assert [f"step{ref.step}" for ref in compiler_refs.within(value)] == list(refs.named(value))


def test_what_the_turn_before_gave_is_told_apart() -> None:
    (ref,) = compiler_refs.within(["a {{last.entries[0].path}}"])
    assert (ref.step, ref.path) == (compiler_refs.LAST, ("entries", 0, "path"))
