import json
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result

from grimoire.traces import trace
from metnos.app import App
from metnos.app import night as building
from metnos.cli import Choice
from metnos.cli import jobs as commands
from metnos.cli.notices import fetching
from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError, UsageError
from metnos.grimoire.trace import State
from metnos.law.principal import at_terminal
from metnos.night import desktop
from metnos.night.notices import News


def names(house: App) -> list[str]:
    """Every job, in the order of the night."""
    return [job.name for job in building.jobs(house)]


@pytest.fixture
def house(equipped: App, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(commands, "open_app", lambda _: equipped)
    monkeypatch.setattr(desktop, "_FOLDERS", ())  # nothing comes up on the desktop of whoever runs the tests
    yesterday = equipped.clock.now() - timedelta(days=1)  # some jobs wait for a night before which the owner was there
    talked = {"steps": (), "passings": (), "desired": (), "plan": {}, "state": State.TALKED}
    equipped.medium.close(trace(asked=yesterday, closed=yesterday, **talked))
    return equipped


def type_in(*line: str) -> Result:
    return CliRunner().invoke(commands.jobs, line, obj=Choice(None), standalone_mode=False)


def data(*line: str) -> Any:
    return json.loads(type_in(*line, "--json").stdout)


def test_before_anything_ran(house: App) -> None:
    listed = type_in("list")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["job", *names(house)]
    assert [line.split()[-1] for line in listed.stdout.splitlines()[1:]] == ["due"] * len(names(house))
    assert f"there are {len(names(house))} jobs due" in listed.stderr
    assert "metnos jobs run" in listed.stderr
    assert [(each["job"], each["verdict"], each["last"]) for each in data("list")] == [
        (name, "due", None) for name in names(house)
    ]
    assert type_in("log").stdout == "Nothing ran yet.\n"
    assert data("log") == []


def test_what_is_due_runs_and_then_nothing_is(house: App) -> None:
    done = type_in("run")
    assert (done.exit_code, done.return_value) == (0, 0)
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == names(house)
    assert type_in("run").stdout == "Nothing is due.\n"
    assert data("run") == []
    assert [each["verdict"] for each in data("list")] == ["done"] * len(names(house))
    assert type_in("list").stderr == ""
    logged = data("log", "-n", "3")
    assert [(each["job"], each["state"], each["by_hand"]) for each in logged] == [
        (name, "done", False) for name in names(house)[:-4:-1]
    ]


def test_one_by_its_name_and_all_of_them(house: App, clock: MovableClock) -> None:
    (run,) = data("run", "audit")
    assert (run["job"], run["by_hand"], run["night"]) == ("audit", True, "2026-11-15")
    clock.move(timedelta(seconds=1))
    assert [each["job"] for each in data("run", "--night")] == names(house)
    assert "done, by hand" in type_in("log").stdout


def test_wrong_words(house: App) -> None:
    assert isinstance(type_in("run", "dance").exception, UsageError)
    assert isinstance(type_in("run", "audit", "--night").exception, UsageError)


def test_what_fails_fails_here_too(house: App) -> None:
    house.set_setting("backup.folder", str(house.workspace.root / "inside"), at_terminal())
    opened = App.open(house.workspace, house.clock)
    house.__dict__["loaded"] = opened.loaded
    done = type_in("run", "backup")
    assert done.return_value == 1
    assert "a backup cannot lie inside the workspace" in done.stdout
    assert "failed" in type_in("list").stdout


def test_what_runs_elsewhere_is_not_run_here(house: App) -> None:
    runs = building.build(house).runs
    assert runs.begin("audit", house.clock.now().date()) is not None
    assert isinstance(type_in("run", "audit").exception, DaemonError)


def test_the_next_reminder_is_mentioned(house: App, clock: MovableClock) -> None:
    due = clock.now() + timedelta(hours=1)
    line = {"id": 1, "text": "tea", "due": due.isoformat(), "done": False}
    (house.workspace.notes / "reminders.jsonl").write_text(json.dumps(line) + "\n")
    assert f"{due.astimezone():%H:%M}" in type_in("list").stderr


def test_what_was_not_seen_is_brought_once_with_and_without_the_daemon(house: App, clock: MovableClock) -> None:
    building.build(house).notices.tell([News("audit", "broken")])
    line = {"id": 1, "text": "tea", "due": clock.now().isoformat(), "done": False}
    (house.workspace.notes / "reminders.jsonl").write_text(json.dumps(line) + "\n")
    fetch = fetching(house)
    assert fetch() == ["audit: broken", "reminder: tea"]
    assert fetch() == fetching(house)() == []
