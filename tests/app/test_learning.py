"""Whatever happens between a turn and what it teaches: everything is learnt once, and what is forgotten is gone."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import forking
from app.turned import close, pdfs, words
from executors.samples import manifest_text, write_sample
from metnos.app import App, examine, learning
from metnos.core.records import Level
from metnos.fastpath.records import FastPath, State
from metnos.grimoire.trace import Passing
from metnos.law.principal import at_terminal
from metnos.mnestome import record
from signing import sign
from turn.fasting import events, every, fill, make_sure, path_of
from turn.scripted import reopened
from turn.turning import take

BOTH = ("find_files", "count_text")


@pytest.fixture(autouse=True)
def _sure(monkeypatch: pytest.MonkeyPatch) -> None:
    make_sure(monkeypatch)


@pytest.fixture
def app(equipped: App, tmp_path: Path) -> Iterator[App]:
    fill(tmp_path / "home")
    opened, _ = reopened(equipped, model=False, policy__autonomy="full", turn__planner="router")
    yield opened
    opened.close()


def known(app: App) -> dict[str, FastPath]:
    return {path.id: path for path in every(app)}


def test_a_turn_whose_process_was_killed_before_it_could_learn_is_learnt_from_at_the_next_start_and_once(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    _ = app.turns
    with monkeypatch.context() as patch:
        patch.setattr(learning, "catch_up", lambda _: os.kill(os.getpid(), signal.SIGKILL))
        assert forking.run(lambda: take(app, "find the PDFs in ~/docs")) == forking.KILLED
    assert every(app) == []
    for _ in range(2):
        again = App.open(app.workspace, app.clock)
        _ = again.turns
        assert path_of(again, "find_files").passes == 1
        again.close()


def test_a_process_that_is_killed_in_the_middle_of_learning_loses_nothing_and_counts_nothing_twice(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each write that learning makes, one after another."""
    for number in range(4):
        close(app, number, *words(f"f{number}"))
    killed = 0
    for writes in range(1, 60):
        if forking.run(lambda: _learn_until(app, monkeypatch, writes)) == 0:  # noqa: B023 -- done before the next
            break
        killed += 1
    assert killed >= 4
    learning.catch_up(app)
    found = path_of(app, *BOTH)
    assert (found.passes, events(app, found)["pass"]) == (4, 4)
    assert found.state in (State.SHADOW, State.ACTIVE)


def _learn_until(app: App, monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    from metnos.fastpath.log import Log

    left = [writes]
    for name in ("record", "skip", "note", "move"):
        monkeypatch.setattr(Log, name, _counted(getattr(Log, name), left))
    learning.catch_up(App.open(app.workspace, app.clock))


def _counted(really: Callable[..., object], left: list[int]) -> Callable[..., object]:
    def doing(*args: object, **named: object) -> object:
        done = really(*args, **named)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    return doing


def test_two_processes_that_learn_at_once_count_each_turn_once(app: App) -> None:
    for number in range(12):
        close(app, number, *(pdfs(f"f{number}") if number % 2 else words(f"f{number}")))
    children = [forking.start(lambda: learning.catch_up(App.open(app.workspace, app.clock))) for _ in range(3)]
    assert [forking.end(child) for child in children] == [0, 0, 0]
    learning.catch_up(app)
    assert {path.tools: path.passes for path in every(app)} == {("find_files",): 6, BOTH: 6}


def test_the_file_of_sequences_is_made_anew_from_turns_when_it_is_lost(app: App) -> None:
    """Also what is older than the turns that are looked at again in any case."""
    for number in range(learning.AGAIN + 4):
        close(app, number, *(words(f"f{number}") if number < 4 else pdfs(f"f{number}")))
        learning.catch_up(app)
    before = known(app)
    app.close()
    for path in app.workspace.multi_tool_db.parent.glob(f"{app.workspace.multi_tool_db.name}*"):
        path.unlink()
    again = App.open(app.workspace, app.clock)
    learning.catch_up(again)
    assert known(again) == before
    assert learning.catch_up(again) == 0
    again.close()


def test_the_mnestome_is_made_anew_too_and_then_both_are_what_they_were(app: App) -> None:
    for number in range(6):
        close(app, number, *(words(f"f{number}") if number % 2 else pdfs(f"f{number}")))
        learning.catch_up(app)
    before = known(app)
    app.close()
    for folder in (app.workspace.mnest_db, app.workspace.multi_tool_db):
        for path in folder.parent.glob(f"{folder.name}*"):
            path.unlink()
    again = App.open(app.workspace, app.clock)
    learning.catch_up(again)
    assert known(again) == before
    again.close()


def test_what_is_forgotten_leaves_no_word_in_either_file(app: App) -> None:
    """The word is no particular, so it is a word of the form."""
    for number in range(3):
        close(app, number, "count the xylophone words of the PDFs in ~/a", words("a")[1])
        close(app, 10 + number, "find the xylophone PDFs in ~/a", pdfs("a")[1])
    kept = close(app, 20, *pdfs("b"))
    learning.catch_up(app)
    assert len(every(app)) >= 2
    files = (app.workspace.mnest_db, app.workspace.multi_tool_db)
    assert all(b"xyloph" in everything(path) for path in files)
    for number in range(3):
        for turn in (f"01T{number:05}", f"01T{10 + number:05}"):
            app.medium.redact(turn)
            learning.forget_turn(app, turn, at_terminal())
    assert not any(b"xyloph" in everything(path) for path in (*files, app.workspace.medium_db))
    assert learning.catch_up(app) == 0, "what is gone is not learnt again"
    assert {form.canonical for form in app.fast.logs[0].forms()} == {"find <files.pdf> in <path>"}
    assert kept


def everything(path: Path) -> bytes:
    """The file and what stands beside it."""
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


def test_a_path_of_which_a_turn_was_forgotten_is_planned_until_somebody_asks_again(app: App) -> None:
    for number in range(4):
        close(app, number, *pdfs(f"f{number}"))
        learning.catch_up(app)
    learning.forget_turn(app, "01T00000", at_terminal())
    (form,) = app.fast.logs[0].forms()
    assert form.said == form.canonical
    trace = take(app, "find the PDFs in ~/docs").trace
    assert trace is not None
    assert (trace.state, len(trace.steps[0].reply["entries"])) == ("done", 2)


def test_what_could_not_be_done_leaves_no_word_of_it_in_events_which_are_never_forgotten(app: App) -> None:
    for number in range(4):
        close(app, number, *pdfs(f"f{number}"))
        learning.catch_up(app)
    (Path.home() / "zanzibar").mkdir()
    trace = take(app, "find the PDFs in ~/zanzibar", gone=Path.home() / "zanzibar").trace
    assert trace is not None
    assert "zanzibar" in trace.plan["fast"]["fell_back"]
    assert events(app, path_of(app, "find_files"))["fell_back"] == 1
    assert b"zanzibar" not in everything(app.workspace.mnest_db)
    app.medium.redact(trace.id)
    learning.forget_turn(app, trace.id, at_terminal())
    assert b"zanzibar" not in everything(app.workspace.medium_db)


def test_calls_that_are_declared_and_never_made_are_known_for_one_executor_and_for_all(app: App) -> None:
    manifest = manifest_text("find_archives").replace(
        'fs.read = ["/**"]', 'fs.read = ["/**"]\nexecutor.call = ["find_files"]'
    )
    write_sample(app.workspace.executors, "find_archives", manifest=manifest)
    sign(app, "find_archives", "a test")
    learning.catch_up(app)
    never = [("find_archives", "find_files")]
    assert learning.unused_calls(app) == never, "a seed is planted for it, and that is no use"
    assert learning.unused_calls(app, "find_archives") == never
    assert learning.unused_calls(app, "find_files") == learning.unused_calls(app, "nobody") == []
    (check,) = [each for each in examine(app.workspace, app.clock) if each.name == "mnestome"]
    assert (check.level, "find_archives may call find_files and never did" in check.found) == (Level.GREEN, True)
    passing = Passing("find_archives", "1.0.0", "find_files", "1.0.0", "call", 1, 1)
    record.record_passing(app.catalog.db, passing, "T1", app.clock.now())
    assert learning.unused_calls(app) == []


def test_the_doctor_finds_a_weight_that_no_event_explains(app: App) -> None:
    learning.catch_up(app)
    with app.catalog.db.write() as tx:
        tx.execute("UPDATE mnests SET weight = 0.99 WHERE id = (SELECT min(id) FROM mnests)")
    (check,) = [each for each in examine(app.workspace, app.clock) if each.name == "mnestome"]
    assert check.level is Level.RED
    assert check.fix.startswith("metnos mnestome history ")
