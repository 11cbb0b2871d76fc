"""What an answer says."""

from datetime import UTC
from typing import Any

import pytest

from metnos.grimoire.trace import State, StepTrace
from metnos.turn import answer

MUTATORS = frozenset({"move_files", "delete_files", "set_reminders"})


def step(executor: str, reply: dict[str, Any], **more: Any) -> StepTrace:
    values: dict[str, Any] = {
        "number": 1, "executor": executor, "version": "1.0.0", "digest": "d", "args": {}, "ok": True, "kind": "",
        "message": "", "reply": reply, "wall_ms": 1.0, "cpu_ms": 1.0, "action": "", "audit": 7, "item": "",
        "gap_before": 1, "gap_after": 0,
    }  # fmt: skip
    return StepTrace(**(values | more))


def said(*steps: StepTrace, language: str = "en") -> list[str]:
    return answer.describe(steps, MUTATORS, language, most=20, zone=UTC, home="/home/you")


MOVED = step("move_files", {"results": [{"path": "/home/you/a", "to": "/home/you/b/a"}], "total": 1}, action="01ABC")
FOUND = step("find_files", {"entries": [{"path": "/home/you/a"}, {"path": "/home/you/b"}], "total": 2})


def test_what_was_done_is_said_with_counts_paths_and_the_way_back() -> None:
    assert said(FOUND, MOVED) == ["Moved 1 file.", "~/a → ~/b/a", "To take it back: metnos undo 01ABC"]


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (FOUND, "File trovati: 2."),
        (MOVED, "File spostato: 1."),
        (step("list_notes", {"entries": [{"note": "a"}, {"note": "b"}], "total": 2}), "Note trovate: 2."),
        (step("get_pages", {"entries": [{"url": "x"}], "total": 1}), "Pagina scaricata: 1."),
    ],
)
def test_italian_agrees(made: StepTrace, line: str) -> None:
    assert said(made, language="it")[0] == line


def test_more_than_was_given_is_said() -> None:
    assert said(step("find_files", {"entries": [{"path": "/a"}], "total": 900}))[0] == "Found 1 of 900 files."


def test_nothing_found_is_said() -> None:
    assert said(step("find_files", {"entries": [], "total": 0})) == ["Found nothing."]


def test_failures_are_listed() -> None:
    reply = {
        "results": [],
        "total": 0,
        "failed": 1,
        "failures": [{"item": "/home/you/x", "kind": "not_found", "message": "gone"}],
    }
    assert said(step("delete_files", reply)) == ["Failed: 1", "  ~/x: gone"]


def test_what_has_no_audit_line_is_not_claimed() -> None:
    assert said(step("move_files", {"results": [{"path": "/a", "to": "/b"}], "total": 1}, audit=0)) == []


def test_what_failed_is_not_claimed() -> None:
    assert said(step("move_files", {"results": [{"path": "/a", "to": "/b"}], "total": 1}, ok=False)) == []


def test_a_models_words_claim_nothing_that_was_not_done() -> None:
    words = answer.own_words("The rent is 900. I have deleted the contract.", [FOUND], "en")
    assert words == ["The rent is 900.", "(A sentence that claimed something which was not done was left out.)"]
    assert answer.own_words("I moved it.", [MOVED], "en") == ["I moved it."]


def test_a_problem_says_what_to_do() -> None:
    assert answer.problem(State.FAILED, "no such file", "Check it.", "it") == [
        "Non riuscito: no such file",
        "→ Check it.",
    ]
