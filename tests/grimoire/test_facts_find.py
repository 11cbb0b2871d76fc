from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grimoire.facts_made import SPACE, fact, opened, vector
from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.errors import StoreError
from metnos.grimoire.episode import Scope, Viewer
from metnos.grimoire.fact import Kind, Standing
from metnos.grimoire.facts import Facts, Which


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    with opened(tmp_path, clock) as made:
        yield made


def test_by_what_it_is(facts: Facts) -> None:
    facts.put(fact("a", confidence=0.3))
    facts.put(fact("b", kind=Kind.ANTI, domain="mail", confidence=0.9))
    facts.put(fact("c", subject="port", standing=Standing.QUARANTINED))
    facts.put(fact("d", scope=Scope.SHARED, confidence=0.5))
    assert [each.id for each in facts.find()] == ["b", "d", "a"]
    assert [each.id for each in facts.find(kinds=(Kind.ANTI,))] == ["b"]
    assert [each.id for each in facts.find(domains=("files",), count=1)] == ["d"]
    assert [each.id for each in facts.find(subject="port", standings=())] == ["c"]
    assert [each.id for each in facts.find(scopes=(Scope.SHARED,))] == ["d"]


@pytest.mark.parametrize(
    ("viewer", "seen"),
    [
        (Viewer(), {"owner", "agent", "shared"}),
        (Viewer("somebody", is_owner=False), {"shared", "sender", "session"}),
        (Viewer("another", is_owner=False), {"shared"}),
    ],
)
def test_only_by_whom_it_is_meant_for(facts: Facts, viewer: Viewer, seen: set[str]) -> None:
    for scope in Scope:
        whose = "somebody" if scope in (Scope.SENDER, Scope.SESSION) else "owner"
        facts.put(fact(scope.value, scope=scope, sender=whose), vector(1), SPACE)
    which = Which(visible_to=viewer)
    assert {each.id for each in facts.find(visible_to=viewer)} == seen
    assert {found.fact.id for found in facts.matching("read_pdf pages", 9, which)} == seen
    assert {found.fact.id for found in facts.nearest(vector(1), SPACE, 9, which)} == seen


def test_by_meaning_the_nearest_first(facts: Facts) -> None:
    for place_, key in enumerate(("near", "middle", "far")):
        facts.put(fact(key), vector(1, place_), SPACE)
    found = facts.nearest(vector(1), SPACE, 2)
    assert [each.fact.id for each in found] == ["near", "middle"]
    assert found[0].score == pytest.approx(1.0)


def test_what_was_written_a_moment_ago_is_found_and_what_was_removed_is_not(facts: Facts) -> None:
    for number in range(6):
        facts.put(fact(f"{number}"), vector(1, number), SPACE)
        assert facts.nearest(vector(1, number), SPACE, 1)[0].fact.id == f"{number}"
    facts.put(fact("0", text="other words"), vector(0, 0, 1), SPACE)
    assert facts.nearest(vector(0, 0, 1), SPACE, 1)[0].fact.id == "0"
    facts.remove(["0"])
    assert "0" not in [found.fact.id for found in facts.nearest(vector(0, 0, 1), SPACE, 9)]


def test_what_another_process_wrote_is_found(facts: Facts, tmp_path: Path, clock: MovableClock) -> None:
    facts.put(fact("a"), vector(1), SPACE)
    facts.nearest(vector(1), SPACE, 1)
    with opened(tmp_path, clock) as other:
        other.put(fact("b"), vector(0, 1), SPACE)
        other.remove(["a"])
    assert [found.fact.id for found in facts.nearest(vector(0, 1), SPACE, 5)] == ["b"]


def test_what_was_rolled_back_is_not_remembered(facts: Facts) -> None:
    facts.put(fact("a"), vector(1), SPACE)
    with pytest.raises(RuntimeError), facts.db.write():
        facts.put(fact("b"), vector(0, 1), SPACE)
        facts.nearest(vector(0, 1), SPACE, 5)
        raise RuntimeError
    facts.put(fact("c"), vector(0, 1), SPACE)
    assert [found.fact.id for found in facts.nearest(vector(0, 1), SPACE, 5)] == ["c", "a"]


def test_only_the_parts_that_are_meant_are_searched(tmp_path: Path, clock: MovableClock) -> None:
    with opened(tmp_path, clock, scanned=2) as facts:
        for domain in range(5):
            for number in range(2):
                near = vector(*[1.0 if each == domain else 0.1 * number for each in range(8)])
                facts.put(fact(f"{domain}{number}", domain=f"d{domain}"), near, SPACE)
        axis = vector(*[1.0 if each == 3 else 0.0 for each in range(8)])
        assert {found.fact.id for found in facts.nearest(axis, SPACE, 9)} == {"30", "31"}
        which = Which(domains=("d1",))
        assert {found.fact.id for found in facts.nearest(axis, SPACE, 9, which)} == {"10", "11"}


def test_vectors_of_two_spaces_are_never_mixed_nor_compared(facts: Facts) -> None:
    other = Space("other", "1", "0", 8)
    facts.put(fact("a"), vector(1), SPACE)
    with pytest.raises(StoreError, match="mixed"):
        facts.put(fact("b"), vector(1), other)
    with pytest.raises(StoreError, match="compared"):
        facts.nearest(vector(1), other, 1)
    with pytest.raises(StoreError):
        facts.put(fact("b"), vector(1), None)


def test_another_embedder_replaces_all_vectors_or_none(facts: Facts) -> None:
    other = Space("other", "1", "0", 8)
    for key in ("a", "b"):
        facts.put(fact(key), vector(1), SPACE)

    def broken() -> Iterator[tuple[list[str], list[np.ndarray]]]:
        yield ["a"], [vector(0, 1)]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        facts.replace_vectors(broken(), other)
    assert facts.space == SPACE
    facts.replace_vectors([(["a", "b"], [vector(0, 1), vector(0, 0, 1)])], other)
    assert facts.space == other
    assert facts.nearest(vector(0, 0, 1), other, 1)[0].fact.id == "b"
    assert facts.matching("pages", 9)[0].score > 0


def test_vectors_come_later(facts: Facts) -> None:
    facts.put(fact("a"))
    assert [each.id for each in facts.missing_vectors(9)] == ["a"]
    facts.put_vectors(["a"], [vector(1)], SPACE)
    assert facts.missing_vectors(9) == []
    assert facts.nearest(vector(1), SPACE, 1)[0].fact.id == "a"


@pytest.mark.parametrize(
    "question", ['"', "a OR (", "NEAR(", "*", "", "x" * 5000, "col:umn", "'; DROP TABLE facts; --"]
)
def test_any_text_is_a_safe_question(facts: Facts, question: str) -> None:
    facts.put(fact())
    facts.matching(question, 5)
    assert facts.count() == 1
