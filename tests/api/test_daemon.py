"""The daemon as a whole: the night and reminders by themselves, a panic from elsewhere, and how it ends."""

import json
import threading
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from api.standin import Running, StandIn, Turn, answered, running, until
from executors.hands import give
from metnos.api.daemon import Patience
from metnos.app import App
from metnos.app import night as building
from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError, MetnosError
from metnos.executors.run import Call
from metnos.law.principal import at_terminal
from metnos.night.records import State
from metnos.sandbox import process
from metnos.turn.events import Answer, Answered, Started, Text, Wanted
from metnos.turn.request import Request
from support import metnos

# All but introspection, which waits for a night before which the owner was there.
JOBS = [
    *("catch_up", "embedder", "ager", "curator", "dream", "fast_paths", "multi_tool_promote", "critic", "selection"),
    *("synt", "conversations", "uses", "undo", "executors", "code", "audit", "backup"),
]
SLEEP = """
import time

def run(args, ctx):
    time.sleep(20)
    return {"entries": []}
"""
HURRY = Patience(grace_s=0.1, cancel_s=60, job_s=60)


def remind(app: App, number: int, text: str, due: datetime) -> None:
    with (app.workspace.notes / "reminders.jsonl").open("a") as file:
        file.write(json.dumps({"id": number, "text": text, "due": due.isoformat(), "done": False}) + "\n")


def test_a_reminder_and_a_whole_night_come_by_themselves(equipped: App, clock: MovableClock) -> None:
    runs = building.build(equipped).runs
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        until(lambda: len(runs.newest(100)) == len(JOBS) and all(run.ended for run in runs.newest(100)))
        remind(equipped, 1, "call the dentist", clock.now() + timedelta(hours=2))
        daemon.daemon.wake()
        clock.move(timedelta(hours=2))
        daemon.daemon.wake()
        until(lambda: daemon.client.notices())
        assert [each["text"] for each in daemon.client.notices()] == ["call the dentist"]

        clock.move(timedelta(hours=20))
        daemon.daemon.wake()
        until(lambda: len(runs.newest(100)) == 2 * len(JOBS) and all(run.ended for run in runs.newest(100)))
    made = runs.newest(len(JOBS))[::-1]
    assert [run.job for run in made] == JOBS
    assert {run.state for run in made} == {State.DONE}, made
    assert {run.night for run in made} == {(clock.now().astimezone() - timedelta(hours=4)).date()}
    assert len(list((equipped.workspace.root.parent / "metnos-backups").glob("metnos-nightly-*.tar.gz"))) == 2
    assert made[0].night > date(2026, 11, 15)


def test_after_a_turn_the_clock_of_the_house_looks_at_once(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    def sets_a_reminder(request: Request) -> Turn:
        remind(equipped, 1, "tea", clock.now())
        yield answered(request)

    with running(equipped.workspace, clock, StandIn(clock, set=sets_a_reminder)) as daemon:
        until(lambda: daemon.says("job backup: done"))
        list(daemon.client.ask("set", cwd=tmp_path))
        until(lambda: daemon.client.notices())


def test_a_golem_beats_by_itself_beside_the_night(equipped: App, clock: MovableClock) -> None:
    def beats() -> dict[str, int]:
        return {str(kind): int(count) for kind, count in equipped.life_db.query("SELECT kind, count FROM beats")}

    equipped.set_setting("life.profile", "golem", at_terminal())
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        until(lambda: beats() == {"gamma": 1, "theta": 1, "delta": 1})
        assert daemon.says("gamma: no chain's server is set")
        clock.move(timedelta(seconds=10))
        daemon.daemon.wake()
        until(lambda: beats() == {"gamma": 2, "theta": 1, "delta": 1})
        clock.move(timedelta(seconds=110))
        daemon.daemon.wake()
        until(lambda: beats() == {"gamma": 3, "theta": 2, "delta": 1})
    assert len(equipped.living.vitality.points(10)) == 2


@pytest.mark.slow
def test_a_panic_in_another_process_ends_what_runs_here(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    give(equipped, SLEEP)
    daemons: list[Running] = []

    def sleeps(request: Request) -> Turn:
        yield Started(request.id)
        call = Call("read_files", {}, request.principal, request.cwd, request.id)
        try:
            ended = daemons[0].apps[0].runner.run(call)
            yield answered(request, f"{ended.ok} {ended.kind}", "failed")
        except MetnosError as error:
            yield answered(request, error.what, "failed")

    with running(equipped.workspace, clock, StandIn(clock, sleeps=sleeps)) as daemon:
        daemons.append(daemon)
        turn = daemon.client.ask("sleeps", cwd=tmp_path)
        next(turn)
        until(lambda: equipped.halts.running.all())
        until(lambda: any(line.kind == "executor run" for line in equipped.audit.newest()))
        (sandbox,) = equipped.halts.running.all()
        done = metnos("--workspace", str(equipped.workspace.root), "executor", "panic", "--reason", "smoke")
        assert (done.code, "Sandboxes stopped: 1" in done.out) == (0, True), done
        last = next(turn)
        assert isinstance(last, Answered)
        assert last.state == "failed"
        until(lambda: process.start_time(sandbox.pid) != sandbox.started)
        turn.close()


def test_an_executor_cannot_speak_to_it(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    knock = """
import socket

def run(args, ctx):
    try:
        socket.socket(socket.AF_UNIX).connect(ctx.workspace + "/.run/metnos.sock")
    except OSError as error:
        return {"entries": [{"any": type(error).__name__}]}
    return {"entries": [{"any": "in"}]}
"""
    give(equipped, knock)
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        call = Call("read_files", {}, at_terminal(), tmp_path, "")
        assert daemon.apps[0].runner.run(call).reply["entries"] == [{"any": "PermissionError"}]


# -- the end


class Slow:
    """A turn that takes until it may end."""

    def __init__(self) -> None:
        self.inside, self.may_end = threading.Event(), threading.Event()

    def __call__(self, request: Request) -> Turn:
        yield Started(request.id)
        self.inside.set()
        self.may_end.wait(60)
        yield Text("still here")
        yield answered(request, "whole")


def test_what_runs_may_finish_first(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    slow = Slow()
    with running(equipped.workspace, clock, StandIn(clock, slow=slow)) as daemon:
        turn = daemon.client.ask("slow", cwd=tmp_path)
        next(turn)
        assert slow.inside.wait(60)
        daemon.daemon.stop()
        until(lambda: not (equipped.workspace.run / "metnos.sock").exists())
        slow.may_end.set()
        assert [type(event).__name__ for event in turn] == ["Text", "Answered"]
        daemon.thread.join(60)
        assert daemon.failed is None
    assert (daemon.logged[-1], daemon.says("cancelling")) == ("ended", False)


def test_what_takes_too_long_is_cancelled(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    slow, turns = Slow(), StandIn(clock)
    turns.scripts["slow"] = slow
    with running(equipped.workspace, clock, turns, HURRY) as daemon:
        turn = daemon.client.ask("slow", cwd=tmp_path)
        next(turn)
        daemon.daemon.stop()
        until(lambda: daemon.says("cancelling"))
        slow.may_end.set()
        with pytest.raises(DaemonError, match="the turn was cancelled"):
            list(turn)
    assert turns.ended == ["slow cancelled"]
    assert daemon.failed is None


def test_a_turn_that_never_ends_does_not_keep_it(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    slow = Slow()
    patience = Patience(grace_s=0.05, cancel_s=0.05, job_s=60)
    with running(equipped.workspace, clock, StandIn(clock, slow=slow), patience) as daemon:
        turn = daemon.client.ask("slow", cwd=tmp_path)
        next(turn)
        daemon.stop()
        assert daemon.says("did not end in time")
        slow.may_end.set()
        turn.close()


def test_an_open_question_goes_to_the_inbox_when_it_ends(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    def asks(request: Request) -> Turn:
        answer = yield Wanted("01X", 1, "write_files", "", (), "", (), 0, 1, "", "")
        yield answered(request, f"{answer}", "waiting")

    turns = StandIn(clock, asks=asks)
    with running(equipped.workspace, clock, turns) as daemon:
        turn = daemon.client.ask("asks", cwd=tmp_path)
        next(turn)
        daemon.daemon.stop()
        until(lambda: turns.ended)
        last = turn.send(Answer.YES)  # too late: the daemon has given it up already
        assert isinstance(last, Answered)
        assert (last.state, last.text) == ("waiting", "later")


def test_it_leaves_nothing_behind(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    before = {thread.name for thread in threading.enumerate()}
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        list(daemon.client.ask("hello", cwd=tmp_path))
    assert {path.name for path in equipped.workspace.run.iterdir()} == {"serve.lock"}
    assert (equipped.workspace.run / "serve.lock").read_text() == ""
    assert {thread.name for thread in threading.enumerate()} == before


def test_what_is_wrong_with_a_workspace_is_said_before_anybody_comes_in(equipped: App, clock: MovableClock) -> None:
    equipped.workspace.settings.write_text("nonsense")
    daemon = Running(equipped.workspace, clock, StandIn(clock))
    daemon.start()
    daemon.thread.join(60)
    assert isinstance(daemon.failed, MetnosError)
    assert not (equipped.workspace.run / "metnos.sock").exists()
