"""The jobs of a real workspace. That they come by themselves is shown in `tests/api/test_daemon.py`."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from executors.hands import give
from grimoire.curated import lived_through
from law.packages import make_package
from metnos.app import App, remembering
from metnos.app import night as building
from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.executors import index
from metnos.grimoire.episode import Verdict
from metnos.law.own_pin import OwnPin
from metnos.law.principal import at_terminal
from metnos.night.jobs import Night, Watcher
from metnos.night.records import State
from support import kinds
from turn.turning import take

JOBS = [
    *("catch_up", "embedder", "ager", "curator", "dream", "fast_paths", "multi_tool_promote", "critic", "selection"),
    *("introspection", "synt", "conversations", "uses", "undo", "executors", "code", "audit", "backup"),
]


@pytest.fixture
def night(equipped: App) -> Night:
    return building.build(equipped)


def told(night: Night) -> list[str]:
    return [f"{each.kind}: {each.text}" for each in night.notices.unseen()]


def test_a_sound_workspace_has_nothing_to_tell(night: Night, equipped: App) -> None:
    made = night.run_all()
    assert [run.job for run in made] == JOBS
    assert {run.state for run in made} == {State.DONE}, made
    counts = {run.job: run.counts for run in made}
    assert counts["executors"] == {"executors": 50, "wrong": 0}
    assert counts["audit"]["faults"] == 0
    assert told(night) == []


def test_without_the_backup_there_is_none(equipped: App) -> None:
    equipped.set_setting("night.backup", "false", at_terminal())
    opened = App.open(equipped.workspace, equipped.clock)
    assert [job.name for job in building.jobs(opened)] == JOBS[:-1]


def test_the_hour_is_the_setting(equipped: App, clock: MovableClock) -> None:
    equipped.set_setting("night.at", "23:30", at_terminal())
    night = building.build(App.open(equipped.workspace, equipped.clock))
    assert f"{night.wake(clock.now()).astimezone():%H:%M}" == "23:30"


def test_an_executor_that_was_tampered_with_is_told_by_name(night: Night, equipped: App) -> None:
    assert equipped.catalog.get("find_files")  # whatever is shipped is put right when it is first asked for
    with (equipped.workspace.executors / "find_files" / "executor.py").open("a") as file:
        file.write("\n")
    assert night.run_now("executors").counts["wrong"] == 1
    (said,) = told(night)
    assert said.startswith("executors: the executor find_files is not as it should be: ")
    night.run_now("executors")
    assert len(told(night)) == 1  # not again before it was seen


def test_a_broken_audit_is_told(night: Night, equipped: App) -> None:
    log = equipped.workspace.audit / "2026-11.jsonl"
    log.write_bytes(log.read_bytes().replace(b"workspace created", b"workspace cleaned"))
    assert night.run_now("audit").counts["faults"] > 0
    (said,) = told(night)
    assert said.startswith("audit: the audit is broken: ")
    assert said.endswith("See: metnos audit verify")


def test_old_uses_are_forgotten(night: Night, equipped: App, clock: MovableClock) -> None:
    give(equipped, "def run(args, ctx):\n    return {'entries': []}\n")
    executor = equipped.catalog.get("read_files")
    for days in (0, 399, 401):
        at = clock.now() - timedelta(days=days)
        index.record_use(equipped.catalog.db, index.Use("read_files", executor.digest, at, ok=True))
    assert night.run_now("uses").counts == {"forgotten": 1}


def test_what_is_too_old_to_be_undone_is_forgotten(night: Night) -> None:
    assert night.run_now("undo").counts == {"forgotten": 0}


def test_backups_are_made_and_the_oldest_of_them_go(night: Night, equipped: App, clock: MovableClock) -> None:
    folder = equipped.workspace.root.parent / "metnos-backups"
    folder.mkdir()
    (folder / "metnos-20200101T000000Z.tar.gz").write_text("made by hand")
    (equipped.workspace.root / ".run").mkdir()
    equipped.set_setting("night.keep_backups", "2", at_terminal())
    night = building.build(App.open(equipped.workspace, clock))
    names = []
    for _ in range(4):
        run = night.run_now("backup")
        assert run.state is State.DONE, run.message
        names.append(Path(run.message).name)
        clock.move(timedelta(days=1))
    assert {path.name for path in folder.iterdir()} == {"metnos-20200101T000000Z.tar.gz", *names[-2:]}
    assert kinds(equipped.workspace).count(building.BACKUPS_REMOVED) == 2 * 2  # before and after each


def test_a_backup_that_cannot_be_made_fails_and_says_why(equipped: App, clock: MovableClock) -> None:
    equipped.set_setting("backup.folder", str(equipped.workspace.root / "inside"), at_terminal())
    run = building.build(App.open(equipped.workspace, clock)).run_now("backup")
    assert (run.state, run.message) == (State.FAILED, "a backup cannot lie inside the workspace")


def test_while_one_process_learns_another_leaves_it_alone(equipped: App) -> None:
    take(equipped, "how full are the disks?")
    with files.held(equipped.workspace.memory / remembering.LEARNING) as mine:
        assert mine
        assert equipped.grimoire.learn(5.0) is None
        assert remembering.dream(equipped).message == "another process is learning"
    cycle = equipped.grimoire.learn(5.0)
    assert cycle is not None
    assert cycle.counts["judged"] == 1


@pytest.mark.parametrize(("job", "part"), [("curator", "judging"), ("curator", "learning"), ("dream", "replay")])
def test_whoever_stops_the_night_stops_learning_and_dreaming(equipped: App, job: str, part: str) -> None:
    equipped.__dict__["embedder"] = None
    lived = [replace(each, verdict=Verdict.UNJUDGED, importance=None, seq=0) for each in lived_through(60)]
    equipped.grimoire.episodes.add(lived, None, None)
    if job == "dream":
        remembering.curate(equipped, now=True)
    equipped.grimoire.curator(1.0).tick(50)
    night, seen = building.build(equipped), list[str]()
    watcher = Watcher(lambda: part in seen, lambda what, _done, _of: seen.append(what))
    run = night.run_now(job, watcher)
    assert (run.state, run.message) == (State.INTERRUPTED, remembering.STOPPED)
    assert seen.count(part) == 1
    assert (night.run_now(job).state, night.run_now(job).message) == (State.DONE, "")


def test_code_that_changed_while_it_runs_is_told_and_stops_acting(opened: App, tmp_path: Path) -> None:
    package = make_package(tmp_path)
    seat = opened.seat
    own = OwnPin(seat.db, seat.audit, seat.signer, opened.clock, package)
    own.uphold()
    own.pin(own.look().word, at_terminal())
    night = building.build(replace(opened, own=own))
    assert night.run_now("code").counts["wrong"] == 0
    (package / "law" / "levels.py").write_text("LIMIT = 99\n")
    assert night.run_now("code").counts["wrong"] == 1
    assert any("law/levels.py was changed" in each.text for each in night.notices.unseen())
    assert own.halt() is not None
