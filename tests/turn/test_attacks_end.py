"""How turns end when they are not let end well: cancelled at every event, interrupted at every call, the disk full, the
store busy, two at once. No half turn, no row of a turn that is over, no purse left open, nothing said elsewhere."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from executors.hands import PATH, give
from metnos.app import App
from metnos.core import files
from metnos.core.errors import AuditError, ModelError, StoreBusy, StoreFull
from metnos.executors import run_after
from metnos.grimoire.trace import State
from metnos.law.audit_line import Entry
from metnos.models.chat import Reply, Usage
from metnos.models.embed import Space
from metnos.turn import planning
from metnos.turn.events import Answer, Answered, StepDone, Wanted
from signing import approve
from turn.scripted import Said, Scripted, reopened
from turn.turning import OWNER, follow, take

ASKED = "copy ~/inbox/one.txt to ~/done and delete ~/inbox/two.txt"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "inbox").mkdir()
    (home / "done").mkdir()
    for name in ("one.txt", "two.txt", "one.csv"):
        (home / "inbox" / name).write_text(f"this is {name}\n")
    return home


@pytest.fixture
def full(equipped: App, home: Path) -> Iterator[App]:
    app, _ = reopened(equipped, "a summary", "another", policy__autonomy="full", turn__planner="router")
    yield app
    app.close()


def assert_settled(app: App, turn: str) -> None:
    """The turn is recorded once, with every step that has its line in the audit, and nothing of it goes on."""
    assert app.medium.db.query("SELECT id FROM open_turns") == []
    assert app.purses._open == {}
    trace = app.medium.load(turn)
    ran = {
        line.seq
        for line in app.audit.newest()
        if line.entry.names.get("turn") == turn and line.entry.names.get("phase") == "intent"
    }
    assert {step.audit for step in trace.steps if step.audit} == ran
    done = {action.id for action in app.undo.actions(10) if action.turn == turn}
    assert {step.action for step in trace.steps if step.action} == done


# -- cancelled


@pytest.mark.parametrize("events", range(1, 8))
def test_a_turn_that_is_closed_after_any_event(full: App, home: Path, events: int) -> None:
    request = full.turns.request(ASKED, principal=OWNER, cwd=home)
    turn = full.turns.run(request)
    for _ in range(events):
        event = next(turn)
    turn.close()
    over = isinstance(event, Answered)
    assert full.medium.load(request.id).state is (State.DONE if over else State.CANCELLED)
    assert_settled(full, request.id)


def test_what_was_done_before_it_was_cancelled_is_said(full: App, home: Path) -> None:
    request = full.turns.request(ASKED, principal=OWNER, cwd=home)
    turn = full.turns.run(request)
    done = next(event for event in turn if isinstance(event, StepDone))
    turn.close()
    answer = full.medium.load(request.id).answer
    assert "Copied 1 file." in answer
    assert f"metnos undo {done.action}" in answer
    assert "Cancelled." in answer


def test_a_turn_that_is_closed_while_it_asks_leaves_the_question(equipped: App, home: Path) -> None:
    request = equipped.turns.request(ASKED, principal=OWNER, cwd=home)
    turn = equipped.turns.run(request)
    wanted = next(event for event in turn if isinstance(event, Wanted))
    turn.close()
    assert equipped.medium.load(request.id).state is State.CANCELLED
    assert [item.id for item in equipped.inbox.waiting()] == [wanted.item]
    # A yes to it afterwards is for that one call: the turn is over.
    assert equipped.turns.go_on(approve(equipped.inbox, wanted.item, OWNER), OWNER) is None
    assert_settled(equipped, request.id)


# -- interrupted and failing, wherever


def breaking(monkeypatch: pytest.MonkeyPatch, it: Any, name: str, error: type[BaseException], times: int) -> None:
    """Let a function fail before it does anything, so many times."""
    real: Callable[..., Any] = getattr(it, name)
    left = [times]

    def broken(*args: Any, **named: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise error() if error in (KeyboardInterrupt, MemoryError) else error("the disk is full")
        return real(*args, **named)

    monkeypatch.setattr(it, name, broken)


def parts(app: App) -> dict[str, tuple[Any, str]]:
    turns = app.turns
    return {
        "tools": (type(turns._parts.toolbox), "kit"),
        "memory": (app.medium, "last"),
        "purse": (app.purses, "open"),
        "planning": (planning.Planner, "_route"),
        "acting": (app.runner, "run"),
        "recording": (app.medium, "close"),
    }


@pytest.mark.parametrize("error", [KeyboardInterrupt, StoreBusy, StoreFull, MemoryError])
@pytest.mark.parametrize("where", ["tools", "memory", "purse", "planning", "acting", "recording"])
def test_a_turn_that_fails_anywhere_is_recorded(
    full: App, home: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: type[BaseException]
) -> None:
    request = full.turns.request(ASKED, principal=OWNER, cwd=home)
    breaking(monkeypatch, *parts(full)[where], error, 1)
    with pytest.raises(error):
        for _ in full.turns.run(request):
            pass
    assert full.medium.load(request.id).state in (State.CANCELLED, State.FAILED, State.DONE)
    assert_settled(full, request.id)


def test_an_interrupt_in_the_middle_of_an_act_says_where_to_look(
    full: App, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the file was trashed and before anybody heard of it."""
    breaking(monkeypatch, run_after, "learn", KeyboardInterrupt, 1)
    request = full.turns.request("delete ~/inbox/one.txt", principal=OWNER, cwd=home)
    with pytest.raises(KeyboardInterrupt):
        for _ in full.turns.run(request):
            pass
    assert not (home / "inbox" / "one.txt").exists()
    trace = full.medium.load(request.id)
    assert (trace.state, [step.executor for step in trace.steps]) == (State.CANCELLED, ["delete_files"])
    assert "delete_files had begun; what it changed is in: metnos undo --list" in trace.answer


@pytest.mark.parametrize("phase", ["intent", "done"])
def test_an_act_that_the_audit_cannot_hold_is_not_said_to_be_undone(
    full: App, home: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    real = full.audit.append

    def append(entry: Entry) -> Any:
        if entry.names.get("phase") == phase:
            raise AuditError("the audit cannot be written")
        return real(entry)

    monkeypatch.setattr(full.audit, "append", append)
    request = full.turns.request("delete ~/inbox/one.txt", principal=OWNER, cwd=home)
    with pytest.raises(AuditError):
        for _ in full.turns.run(request):
            pass
    assert (home / "inbox" / "one.txt").exists() is (phase == "intent")
    trace = full.medium.load(request.id)
    assert trace.state is State.FAILED
    assert "Not done" not in trace.answer
    assert full.medium.db.query("SELECT 1 FROM open_turns") == []


def test_a_turn_that_met_a_full_disk_is_recorded_by_the_next(
    full: App, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon lives for months: what it did must not stay unrecorded for so long."""
    request = full.turns.request(ASKED, principal=OWNER, cwd=home)
    breaking(monkeypatch, full.medium, "close", StoreFull, 2)
    with pytest.raises(StoreFull):
        for _ in full.turns.run(request):
            pass
    take(full, "find the txt files in ~/inbox")
    assert [step.executor for step in full.medium.load(request.id).steps] == ["copy_files", "delete_files"]
    assert_settled(full, request.id)


@pytest.mark.parametrize("error", [StoreBusy, StoreFull])
def test_a_turn_that_is_recorded_has_its_answer(
    full: App, home: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Whatever learns from it can wait."""
    _ = full.turns
    breaking(monkeypatch, full.medium, "pending", error, 9)
    assert take(full, ASKED).ended.state == "done"


def test_a_store_that_somebody_holds_fails_the_turn_before_it_does_anything(equipped: App, home: Path) -> None:
    app, _ = reopened(equipped, model=False, policy__autonomy="full", store__busy_timeout_s="0.05")
    _ = app.turns
    request = app.turns.request(ASKED, principal=OWNER, cwd=home)
    holder = sqlite3.connect(app.workspace.medium_db, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        next(app.turns.run(request))
    holder.execute("ROLLBACK")
    holder.close()
    assert (home / "inbox" / "two.txt").exists()
    assert take(app, ASKED).ended.state == "done"
    app.close()


class Dead:
    """An embedder whose server is gone."""

    space = Space("none", "1", "", 4)

    def embed(self, texts: object) -> Any:
        raise ModelError("the embedder cannot be reached", kind="unreachable")


def test_an_embedder_that_is_gone_fails_no_turn(equipped: App, home: Path) -> None:
    equipped.__dict__["embedder"] = Dead()
    taken = take(equipped, "translate the letter of my aunt into French")
    assert taken.ended.state == "nothing"
    assert "the embedder cannot be reached" in taken.ended.text


@pytest.mark.slow
def test_vectors_that_no_disk_holds_fail_no_turn(equipped: App, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = files.replace

    def full(path: Path, *args: Any, **named: Any) -> None:
        if path == equipped.workspace.vectors:
            raise OSError(28, "No space left on device")
        real(path, *args, **named)

    monkeypatch.setattr(files, "replace", full)
    assert take(equipped, "translate the letter of my aunt into French").ended.state == "nothing"


# -- what is spent


CHATTY = """
def run(args, ctx):
    return {"entries": [{"any": ctx.chat("what is this?", max_tokens=100)} for _ in range(2)]}
"""


def chatty(app: App, *replies: Said, **settings: str) -> tuple[App, Scripted]:
    """A workspace in which whoever reads a table asks the model about it, twice."""
    can = {"fs": {"read": ["~/**"]}, "model": {"chat": True}}
    give(app, CHATTY, name="read_tables", capabilities=can, args={"path": PATH})
    return reopened(app, *replies, turn__planner="router", **settings)


def test_what_an_executor_asks_the_model_is_on_the_account_of_the_turn(equipped: App, home: Path) -> None:
    app, _ = chatty(equipped, "a", "b")
    taken = take(app, "show the table ~/inbox/one.csv")
    assert taken.trace is not None
    assert [call.purpose for call in taken.trace.calls] == ["asked by read_tables"] * 2, taken.ended
    app.close()


def test_a_turn_that_goes_on_has_a_purse_too(equipped: App, home: Path) -> None:
    app, chat = chatty(equipped, "a", "b")
    chat.outside = True  # so that the owner is asked first
    assert take(app, "show the table ~/inbox/one.csv").ended.state == "waiting"
    (item,) = app.inbox.waiting()
    turn = app.turns.go_on(approve(app.inbox, item.id, OWNER), OWNER)
    assert turn is not None
    taken = follow(app, turn)
    assert taken.trace is not None
    assert [call.purpose for call in taken.trace.calls] == ["asked by read_tables"] * 2, taken.ended
    assert_settled(app, taken.trace.id)
    app.close()


@pytest.mark.parametrize("later", [False, True])
def test_an_executor_cannot_spend_more_than_the_turn_has(equipped: App, home: Path, later: bool) -> None:
    """Room for one such call, and not for two; also when the turn goes on after a yes."""
    dear = Reply("a", None, Usage(1, 90, 100))
    app, chat = chatty(equipped, lambda _: dear, lambda _: dear, models__turn_tokens="250")
    chat.outside = later
    taken = take(app, "show the table ~/inbox/one.csv")
    if later:
        (item,) = app.inbox.waiting()
        turn = app.turns.go_on(approve(app.inbox, item.id, OWNER), OWNER)
        assert turn is not None
        taken = follow(app, turn)
    assert taken.trace is not None
    assert (taken.ended.state, len(chat.asked)) == ("failed", 1), taken.ended
    assert [call.error for call in taken.trace.calls] == ["", "budget"]
    app.close()


# -- two at once


def test_turns_in_many_threads_are_each_recorded_whole(full: App, home: Path) -> None:
    """The same conversation, the same workspace, at the same time."""
    for number in range(6):
        (home / f"f{number}.txt").write_text("x")
    ended: list[str] = []

    def one(number: int) -> None:
        ended.append(take(full, f"move ~/f{number}.txt to ~/done", conversation="c").ended.turn)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(ended)) == 6
    for turn in ended:
        assert full.medium.load(turn).state is State.DONE
        assert_settled(full, turn)
    assert len(list((home / "done").iterdir())) == 6


def test_what_another_turn_finds_meanwhile_is_not_them(full: App, home: Path) -> None:
    """`them` is what the owner had seen when they spoke, not what came in between."""
    (home / "inbox" / "three.pdf").write_text("x")
    take(full, "find the txt files in ~/inbox", conversation="c")
    turn = full.turns.run(full.turns.request("delete them", principal=OWNER, cwd=home, conversation="c"))
    next(event for event in turn if type(event).__name__ == "Planned")
    take(full, "find the pdf files in ~/inbox", conversation="c")
    for _ in turn:
        pass
    assert {path.name for path in (home / "inbox").iterdir()} == {"one.csv", "three.pdf"}


# -- what is said where


def test_nothing_that_was_said_is_where_it_does_not_belong(equipped: App, home: Path) -> None:
    """Not in the audit, the journals of executors, the vectors or the mnests; for digests are no words.

    Fast paths keep how something was asked for; `tests/app/test_learning.py` shows that it can be forgotten.
    """
    secret = "xyzzy-plugh"
    (home / "inbox" / f"{secret}.txt").write_text(f"{secret}\n")
    take(equipped, f"find the files called {secret} in ~/inbox", conversation="c")
    take(equipped, "move them to ~/done", [Answer.YES], conversation="c")
    take(equipped, f"read ~/done/{secret}.txt")
    take(equipped, f"delete ~/done/{secret}.txt", [Answer.NO])
    take(equipped, f"read ~/{secret}/nowhere.txt")
    tables = ("mnests", "events", "executors", "executor_uses", "applied_turns", "path_events")
    for table in tables:
        assert secret not in str(equipped.catalog.db.query(f"SELECT * FROM {table}"))
    equipped.close()
    root = equipped.workspace.root
    places = [equipped.workspace.audit, equipped.workspace.executors]
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    files += root.rglob("*.npz")
    assert files
    assert [str(path.relative_to(root)) for path in files if secret.encode() in path.read_bytes()] == []
