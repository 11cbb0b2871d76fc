"""A turn, from the sentence to the trace, without a language model: real executors, real sandbox, real stores."""

from pathlib import Path

import pytest

from metnos.app import App
from metnos.core.errors import TurnError, UsageError
from metnos.grimoire.trace import State
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.mnestome import proto
from metnos.turn.events import Answer, Planned, Started, StepDone, StepStarted
from signing import approve
from turn.turning import OWNER, follow, take


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "inbox"
    folder.mkdir()
    for name in ("one.txt", "two.txt", "three.pdf"):
        (folder / name).write_text(f"this is {name}\n")
    return folder


def test_reading_needs_no_question(equipped: App, inbox: Path) -> None:
    taken = take(equipped, "find the txt files in ~/inbox")
    assert [type(event) for event in taken.events[:4]] == [Started, Planned, StepStarted, StepDone]
    assert taken.ended.state == "done"
    assert taken.ended.text.splitlines()[0] == "Found 2 files."
    assert "~/inbox/one.txt" in taken.ended.text
    assert taken.trace is not None
    assert [step.executor for step in taken.trace.steps] == ["find_files"]
    assert taken.trace.path == "router"
    assert taken.trace.canonical
    assert "find_files" in [each["executor"] for each in taken.trace.candidates]


def test_every_step_has_its_audit_line(equipped: App, inbox: Path) -> None:
    taken = take(equipped, "find the txt files in ~/inbox")
    assert taken.trace is not None
    lines = {line.seq: line for line in equipped.audit.newest()}
    for step in taken.trace.steps:
        assert lines[step.audit].entry.names["executor"] == step.executor
        assert lines[step.audit].entry.names["turn"] == taken.trace.id


def test_a_change_is_shown_and_done_after_a_yes(equipped: App, inbox: Path) -> None:
    taken = take(equipped, "move the txt files in ~/inbox to ~/done", [Answer.YES])
    (wanted,) = taken.wanted
    assert any("one.txt" in line for line in wanted.lines)
    assert "undo moves them back" in wanted.reversal
    assert wanted.why
    assert sorted(path.name for path in (inbox.parent / "done").iterdir()) == ["one.txt", "two.txt"]
    assert "Moved 2 files." in taken.ended.text
    assert taken.ended.undo
    assert taken.trace is not None
    assert [(each.src, each.dst, each.how) for each in taken.trace.passings] == [
        ("find_files", "move_files", "reference")
    ]
    assert [(step.gap_before, step.gap_after) for step in taken.trace.steps] == [(2, 1), (1, 0)]
    equipped.undo.undo(taken.ended.undo[0], by=at_terminal())
    assert len(list(inbox.iterdir())) == 3


def test_a_no_changes_nothing(equipped: App, inbox: Path) -> None:
    taken = take(equipped, "move the txt files in ~/inbox to ~/done", [Answer.NO])
    assert taken.ended.state == "refused"
    assert "you said no" in taken.ended.text
    assert len(list(inbox.iterdir())) == 3
    assert equipped.inbox.waiting() == []


def test_what_waits_goes_on_when_it_is_approved(equipped: App, inbox: Path) -> None:
    first = take(equipped, "move the txt files in ~/inbox to ~/done")
    assert first.ended.state == "waiting"
    (item,) = equipped.inbox.waiting()
    approved = approve(equipped.inbox, item.id, OWNER)
    turn = equipped.turns.go_on(approved, OWNER)
    assert turn is not None
    second = follow(equipped, turn)
    assert second.ended.state == "done"
    assert second.trace is not None
    assert second.trace.continues == first.ended.turn
    assert [step.executor for step in second.trace.steps] == ["move_files"]
    assert (inbox.parent / "done" / "one.txt").exists()
    assert equipped.turns.go_on(approved, OWNER) is None


def test_always_asks_no_more_for_this_target(equipped: App, inbox: Path) -> None:
    (inbox.parent / "done").mkdir()
    first = take(equipped, "copy ~/inbox/one.txt to ~/done", [Answer.ALWAYS])
    assert "copy_files may, for a year" in first.wanted[0].always
    second = take(equipped, "copy ~/inbox/two.txt to ~/done")
    assert second.wanted == []
    assert second.ended.state == "done"


def test_a_program_is_not_asked(equipped: App, inbox: Path) -> None:
    program = Principal(Channel.API, "program", Autonomy.FULL)
    taken = take(equipped, "move the txt files in ~/inbox to ~/done", [Answer.YES], principal=program)
    assert taken.wanted == []
    assert taken.ended.state == "waiting"
    assert len(list(inbox.iterdir())) == 3


def test_a_dry_run_changes_nothing(equipped: App, inbox: Path) -> None:
    taken = take(equipped, "move the txt files in ~/inbox to ~/done", dry_run=True)
    assert taken.ended.state == "rehearsed"
    assert "nothing was done" in taken.ended.text
    assert "one.txt" in taken.ended.text
    assert taken.wanted == []
    assert len(list(inbox.iterdir())) == 3
    assert equipped.inbox.waiting() == []
    assert taken.trace is not None
    assert taken.trace.passings == ()


def test_what_is_not_covered_is_said_and_wished_for(equipped: App) -> None:
    for number in range(3):
        taken = take(equipped, f"translate the letter {number} into French")
        assert taken.ended.state == "nothing"
        assert taken.ended.text
    (wish,) = proto.protos(equipped.catalog.db)
    assert wish.dst.startswith("translate_")
    assert wish.uses == 3
    assert proto.recurring(equipped.catalog.db, equipped.clock.now())


def test_a_missing_argument_is_asked_for(equipped: App, inbox: Path) -> None:
    first = take(equipped, "find the txt files", conversation="c")
    if first.ended.state != "question":
        assert first.trace is not None
        assert first.trace.plan["notes"]  # looked somewhere, and said where
        return
    second = take(equipped, "in ~/inbox", conversation="c")
    assert second.ended.text.splitlines()[0] == "Found 2 files."


def test_them_is_what_the_turn_before_found(equipped: App, inbox: Path) -> None:
    take(equipped, "find the txt files in ~/inbox", conversation="c")
    taken = take(equipped, "move them to ~/done", [Answer.YES], conversation="c")
    assert taken.ended.state == "done"
    assert sorted(path.name for path in (inbox.parent / "done").iterdir()) == ["one.txt", "two.txt"]


def test_nothing_to_do_is_no_failure(equipped: App, inbox: Path) -> None:
    taken = take(equipped, "move the mp3 files in ~/inbox to ~/done")
    assert taken.ended.state == "done"
    assert "nothing to do" in taken.ended.text
    assert taken.wanted == []


def test_a_failure_is_said(equipped: App) -> None:
    taken = take(equipped, "find the txt files in ~/nowhere")
    assert taken.ended.state == "failed"
    assert "nowhere" in taken.ended.text


def test_a_turn_that_is_closed_early_is_cancelled(equipped: App, inbox: Path) -> None:
    request = equipped.turns.request("move the txt files in ~/inbox to ~/done", principal=OWNER, cwd=inbox)
    turn = equipped.turns.run(request)
    for event in turn:
        if isinstance(event, StepDone):
            break
    turn.close()
    trace = equipped.medium.load(request.id)
    assert trace.state is State.CANCELLED
    assert [step.executor for step in trace.steps] == ["find_files"]
    assert len(list(inbox.iterdir())) == 3
    assert equipped.medium.interrupted() == []


def test_an_interrupt_in_a_step_cancels_the_turn(equipped: App, inbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    request = equipped.turns.request("find the txt files in ~/inbox", principal=OWNER, cwd=inbox)
    turn = equipped.turns.run(request)
    next(turn)
    monkeypatch.setattr(equipped.runner, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        for _ in turn:
            pass
    assert equipped.medium.load(request.id).state is State.CANCELLED


def test_a_mistake_in_metnos_is_recorded_by_its_kind_only(
    equipped: App, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("content of a file")

    request = equipped.turns.request("find the txt files in ~/inbox", principal=OWNER, cwd=inbox)
    turn = equipped.turns.run(request)
    next(turn)
    monkeypatch.setattr(equipped.runner, "run", broken)
    with pytest.raises(RuntimeError):
        for _ in turn:
            pass
    trace = equipped.medium.load(request.id)
    assert trace.state is State.FAILED
    assert trace.error == "RuntimeError"
    assert "content of a file" not in trace.answer


@pytest.mark.parametrize("text", ["", "   \n ", "x" * 20_001])
def test_what_is_no_request_is_refused_at_once(equipped: App, text: str) -> None:
    with pytest.raises(UsageError):
        equipped.turns.request(text, principal=OWNER, cwd=Path("/"))


def test_a_turn_whose_findings_were_cut_cannot_go_on(equipped: App, inbox: Path) -> None:
    first = take(equipped, "move the txt files in ~/inbox to ~/done")
    (item,) = equipped.inbox.waiting()
    approved = approve(equipped.inbox, item.id, OWNER)
    equipped.medium.redact(first.ended.turn)
    turn = equipped.turns.go_on(approved, OWNER)
    if turn is not None:
        with pytest.raises(TurnError):
            follow(equipped, turn)
    assert len(list(inbox.iterdir())) == 3
