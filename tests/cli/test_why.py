"""``metnos why``: readable, complete, and inert."""

import json

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings

from grimoire.traces import step, trace, traces
from metnos.cli import Choice
from metnos.cli import why as commands
from metnos.core.errors import TurnError
from metnos.grimoire.medium import Medium
from metnos.grimoire.trace import ModelCall, State, Trace


def why(*line: str) -> Result:
    return CliRunner().invoke(commands.why, line, obj=Choice(None), help_option_names=["-h", "--help"])


def test_what_could_be_chosen_by_way_of_exception_is_said(medium: Medium) -> None:
    medium.close(trace("01AAA", plan={"kind": "steps", "explored": "count_headings"}))
    assert "count_headings is hidden from planners, and could be chosen this once" in why().output


def test_what_was_made_for_it_is_told_from_the_offer_to_its_use(medium: Medium) -> None:
    made = {
        "offer": "yes", "proposal": "01PROPOSAL", "name": "move_files", "item": "01ITEM", "answer": "yes", "lives": True
    }  # fmt: skip
    medium.close(trace("01AAA", plan={"kind": "steps", "made": made}))
    said = " ".join(why().output.split())
    assert "Offered to have it made, you said: yes." in said
    assert "metnos synt show 01PROPOSAL" in said
    assert "with its files before you: metnos inbox show 01ITEM You said: yes." in said
    assert "move_files was signed and is active. It was used for this request." in said
    medium.close(trace("01BBB", plan={"kind": "nothing", "made": {"offer": "yes", "failed": "no code"}}))
    assert "It came to nothing: no code" in why().output
    medium.close(trace("01CCC", plan={"kind": "nothing", "made": {"offer": "no"}}))
    assert "you said: no." in " ".join(why().output.split())


def test_the_last_one_unless_another_is_named(medium: Medium) -> None:
    assert isinstance(why().exception, TurnError)
    medium.close(trace("01AAA"))
    medium.close(trace("01BBB"))
    assert "Turn 01BBB" in why().output
    assert "Turn 01AAA" in why("aaa").output


def test_everything_that_explains_it(medium: Medium) -> None:
    calls = (ModelCall("plan", "small", 100, 20, 50, 0.25, 250.0), ModelCall("repair", "small", 10, 5, 0, 0.25, 90.0))
    medium.close(trace("01AAA", calls=calls, item="01ITEM", continues="01BEFORE", state=State.PARTLY))
    said = why().output
    for words in (
        "part of it was done", "You asked: move the PDFs", "It goes on with turn 01BEFORE",
        "Planned by fixed rules, without a language model.", "How sure that this was meant: 90%",
        "Assumed: inbox is ~/inbox", "move the {glob} in {path} to {path}", "note: papers are in ~/papers",
        "1. find_files: reading is allowed", "find_files → move_files (step 1 to step 2, the plan said so)",
        "sign_files, to follow move_files: sign what was moved", "Together: 2 calls, 135 tokens, $0.5000.",
        "metnos audit show 9", "metnos undo 01ACTION", "metnos inbox show 01ITEM", "metnos feedback good|bad 01AAA",
        "computing time: 4.5 ms", "12 ms", "2 → 1",
    ):  # fmt: skip
        assert words in said, words
    header = next(line for line in said.splitlines() if line.startswith("executor"))
    assert header.split() == ["executor", "score", "words", "meaning"]


def test_a_turn_in_which_nothing_happened(medium: Medium) -> None:
    bare = trace("01AAA", steps=(), passings=(), desired=(), calls=(), memories=(), permits=(), candidates=(), plan={})
    medium.close(bare)
    said = why().output
    for words in ("No executor ran.", "None was asked; it cost nothing.", "Nothing."):
        assert words in said


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("path", ["", "router", "model", "react", "fast", "another"])
def test_every_state_and_path_has_words(medium: Medium, state: State, path: str) -> None:
    medium.close(trace("01AAA", state=state, path=path))
    assert why().exit_code == 0


def test_the_policy_s_steps_and_the_question(medium: Medium) -> None:
    permit = {"step": 1, "executor": "move_files", "because": "", "item": "01ITEM", "why": [["level", "ask", "writes"]]}
    medium.close(trace("01AAA", permits=(permit,)))
    said = why().output
    assert "level, ask, writes" in said
    assert "You were asked: metnos inbox show 01ITEM" in said


def test_what_the_parts_of_a_step_did(medium: Medium) -> None:
    inner = {
        "executor": "make_folders",
        "ok": True,
        "because": "you said yes",
        "audit": 41,
        "action": "01ACT",
        "parts": [],
    }
    failed = {"executor": "move_files", "ok": False, "kind": "conflict", "because": "", "parts": [inner]}
    permit = {"step": 1, "executor": "clean_files", "because": "", "item": "", "parts": [inner, failed]}
    medium.close(trace("01AAA", permits=(permit,)))
    said = why().output
    assert "It called make_folders, audit line 41: you said yes; it changed something" in said
    assert "It called move_files, which failed (conflict): not known any more" in said
    assert said.count("It called make_folders") == 2, "what a part called is told too"


def test_json_explains_and_holds_nothing_that_was_said(medium: Medium) -> None:
    medium.close(trace("01AAA"))
    found = json.loads(why("--json").output)
    assert not {"text", "answer", "slots"} & set(found)
    assert found["steps"][0]["found"] == {"count": 1, "total": 1, "failed": 0}
    assert "reply" not in found["steps"][0]
    assert found["cost"] == {"calls": 1, "tokens": 120, "usd": 0.01}
    assert (found["path"], found["candidates"][0]["executor"]) == ("router", "find_files")


def test_what_was_forgotten_is_said_to_be(medium: Medium) -> None:
    medium.close(trace("01AAA"))
    medium.redact("01AAA")
    said = why().output
    assert "was forgotten, as you wished" in said
    assert "not known any more" in said


def test_nothing_of_it_is_obeyed_by_a_terminal(medium: Medium) -> None:
    evil = "\x1b]0;owned\x07\x9b31m"
    medium.close(
        trace(
            "01AAA",
            text=evil,
            error=evil,
            path=evil,
            canonical=evil,
            plan={"notes": [evil], "missing": evil, "certainty": evil},
            candidates=({"executor": evil, "score": 0.1, evil: 0.2},),
            memories=({"kind": evil, "text": evil},),
            permits=({"step": evil, "executor": evil, "because": evil, "why": [[evil]], "item": evil},),
            steps=(step(message=evil, ok=False, kind=evil, executor=evil, action=evil),),
            calls=(ModelCall(evil, evil, 1, 1, 1, 0.0, 1.0, evil),),
        )
    )
    said = why().output
    assert "\x1b" not in said
    assert "\x9b" not in said
    assert "\x07" not in said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=settings().max_examples // 2)
@given(traces)
def test_any_trace_can_be_explained(medium: Medium, made: Trace) -> None:
    medium.close(made)
    assert why(made.id).exit_code == 0
    assert why(made.id, "--json").exit_code == 0
