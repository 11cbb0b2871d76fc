"""Warnings in words, and only once."""

from datetime import UTC, datetime

import pytest

from metnos.grimoire.somatic import Planned, Warned
from metnos.grimoire.somatic_rules import FORM, End, Felt, Situation
from metnos.turn import feeling
from metnos.turn.plan.records import Kind, Path, Plan, Step

WHEN = datetime(2026, 11, 14, 12, tzinfo=UTC)
PLAN = Plan(Kind.STEPS, Path.ROUTER, (Step("move_files", {"path": "/data"}),), notes=("took it as ~",))


def warning(why: str = "failed", kind: str = "not_found", place: str = "path", bad: int = 1, of: int = 1) -> Warned:
    value = "move {path}" if place == FORM else "/data"
    return Warned(
        1, Situation("move_files", place, value), -0.5, bad, of, Felt(End("T1", WHEN, False, kind), -0.5, why)
    )


@pytest.mark.parametrize(
    ("found", "language", "words"),
    [
        (warning(), "en", 'careful: move_files on "/data" went badly on 2026-11-14: it failed (not_found)'),
        (warning("undone", ""), "en", 'careful: move_files on "/data" went badly on 2026-11-14: it was taken back'),
        (
            warning("disliked", "", FORM, 2, 3),
            "en",
            "careful: move_files for such a request went badly 2 of 3 times, last on 2026-11-14: you did not like it",
        ),
        (warning(), "it", 'attenzione: move_files su "/data" è andato male il 2026-11-14: non è riuscito (not_found)'),
        (warning(kind=""), "fr", 'careful: move_files on "/data" went badly on 2026-11-14: it failed'),
    ],
)
def test_a_warning_says_what_when_and_how_it_ended(found: Warned, language: str, words: str) -> None:
    assert feeling.told(found, language) == words


def test_a_warning_is_a_note_and_changes_nothing_else() -> None:
    asked: list[object] = []

    def feel(steps: object, form: str, sender: str) -> list[Warned]:
        asked.append((steps, form, sender))
        return [warning()]

    plan, said = feeling.warned(PLAN, "move {path}", "owner", feel)
    assert plan.steps == PLAN.steps
    assert plan.notes == ("took it as ~", said[0][1])
    assert asked == [([Planned("move_files", {"path": "/data"})], "move {path}", "owner")]


def test_what_something_learnt_warned_of_is_not_said_twice() -> None:
    known = Plan(Kind.STEPS, Path.ROUTER, PLAN.steps, notes=("careful: move_files fails with not_found on path x",))
    assert feeling.warned(known, "", "owner", lambda *_: [warning()]) == (known, [])


def test_a_plan_without_steps_is_left_as_it_is() -> None:
    nothing = Plan(Kind.NOTHING, Path.ROUTER)
    assert feeling.warned(nothing, "", "owner", lambda *_: [warning()]) == (nothing, [])
