"""What becomes of a dream, by what was seen since."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.dreams import START, seen
from metnos.grimoire.dream_fate import CONFIRMED, Fate, Heard, confirmed, fate, heard
from metnos.grimoire.dream_rules import Scene, Step
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing

WITH = (("overwrite", "true"),)
ARGUMENT = {"shape": "argument", "executor": "move_files", "argument": "overwrite", "value": "true", "as": "procedural"}
STEP = {"shape": "step", "executor": "move_files", "argument": "", "value": ""}
INSTEAD = {"shape": "instead", "executor": "move_files", "argument": "", "value": "copy_files"}


def dream(data: dict[str, Any], **changes: Any) -> Fact:
    made: dict[str, Any] = {"confirm_by": START + timedelta(days=7), "data": data, "confidence": 0.2}
    made |= changes
    return Fact(
        id="D", kind=Kind.INSIGHT, text="t", domain="papers", quality=0.5, provenance=Provenance.DREAM,
        decay=Decay.EPHEMERAL, created=START, reinforced=START, applied=START, **made,
    )  # fmt: skip


def said(data: dict[str, Any], *scenes: Scene) -> tuple[int, int]:
    found = heard(dream(data), scenes)
    return len(found.confirming), len(found.refuting)


def test_doing_it_as_dreamt_decides_and_doing_otherwise_says_nothing() -> None:
    assert said(ARGUMENT, seen(1, Step("move_files", True, "", WITH))) == (1, 0)
    assert said(ARGUMENT, seen(1, Step("move_files", False, "x", WITH), good=False)) == (0, 1)
    assert said(ARGUMENT, seen(1, Step("move_files", False, "x"), good=False)) == (0, 0)
    assert said(ARGUMENT, seen(1, Step("move_files", True, "", WITH), domain="photos")) == (0, 0)


def test_a_step_that_failed_confirms_if_the_request_failed_and_refutes_if_not() -> None:
    assert said(STEP, seen(1, Step("move_files", False, "x"), good=False)) == (1, 0)
    assert said(STEP, seen(1, Step("move_files", False, "x"), good=True)) == (0, 1)
    assert said(STEP, seen(1, Step("move_files", True))) == (0, 0)


def test_another_executor_is_judged_by_the_request() -> None:
    assert said(INSTEAD, seen(1, Step("copy_files", True))) == (1, 0)
    assert said(INSTEAD, seen(1, Step("copy_files", True), good=False)) == (0, 1)
    assert said(INSTEAD, seen(1, Step("copy_files", True), Step("move_files", True))) == (0, 0)


@pytest.mark.parametrize(("minutes", "counts"), [(-1, 0), (0, 0), (1, 1), (7 * 24 * 60, 1), (7 * 24 * 60 + 1, 0)])
def test_only_what_came_after_the_dream_and_in_time_decides(minutes: int, counts: int) -> None:
    assert said(ARGUMENT, seen(minutes, Step("move_files", True, "", WITH))) == (counts, 0)


def test_a_dream_that_is_not_understood_is_neither_confirmed_nor_refuted() -> None:
    assert said({"shape": "a new one"}, seen(1, Step("move_files", True, "", WITH))) == (0, 0)
    assert said({}, seen(1, Step("move_files", True))) == (0, 0)


def test_an_effect_must_follow_its_cause_within_twice_its_usual_time() -> None:
    chain = {"shape": "chain", "cause": "rain", "effect": "pump", "lag": 60.0}
    rain, soon, late = (seen(minute, names=(name,)) for minute, name in ((1, "rain"), (3, "pump"), (9, "pump")))
    assert said(chain, rain, soon) == (1, 0)
    assert said(chain, rain, late) == (0, 1)
    assert said(chain, rain) == (0, 0), "its time is not over"
    assert said(chain, late) == (0, 0)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 30))
def test_a_dream_is_confirmed_refuted_or_out_of_time(confirming: int, refuting: int, days: int) -> None:
    testimony = Heard(("E",) * confirming, ("F",) * refuting)
    found = fate(dream(ARGUMENT), START + timedelta(days=days), testimony)
    if confirming > refuting:
        assert found is Fate.CONFIRMED
    elif refuting > confirming or days >= 14:
        assert found is Fate.EXPIRED
    else:
        assert found is Fate.OPEN


def test_what_was_confirmed_is_own_knowledge_of_its_own_kind() -> None:
    now = START + timedelta(days=3)
    made = confirmed(dream(ARGUMENT, sources=("E1",), episode_count=1), ["E1", "E2"], now)
    assert (made.provenance, made.kind, made.decay) == (Provenance.SELF, Kind.PROCEDURAL, Decay.TACTICAL)
    assert (made.confidence, made.confirm_by, made.standing) == (CONFIRMED, None, Standing.ACTIVE)
    assert made.sources == ("E1", "E2")
    held = confirmed(dream(ARGUMENT, contradicts=("X",), standing=Standing.QUARANTINED), ["E2"], now)
    assert held.standing is Standing.QUARANTINED, "what something else speaks against is not let out by this"
