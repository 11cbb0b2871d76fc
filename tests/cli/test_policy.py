"""The policy at the terminal. Its hands are a double here: they have tests of their own."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from law.asks import Court
from metnos import app
from metnos.cli import Choice
from metnos.cli import policy as commands
from metnos.core.errors import ForbiddenPath, UsageError
from metnos.core.workspace import Workspace
from metnos.law import levels
from metnos.law.steady_clock import LatestTime, parse
from support import Say, metnos, on_a_terminal

pytestmark = pytest.mark.usefixtures("typist")


@pytest.fixture
def court(opened: app.App, monkeypatch: pytest.MonkeyPatch) -> Court:
    court = Court.over(opened)
    monkeypatch.setattr(commands, "open_app", lambda _: SimpleNamespace(grants=court.grants))
    return court


def type_in(*line: str) -> Result:
    # Click's own runner gives no exit code for what a command returns; the program's `main` does.
    return CliRunner().invoke(
        commands.policy, line, obj=Choice(None), help_option_names=["-h", "--help"], standalone_mode=False
    )


def test_the_table() -> None:
    shown = type_in("table").output
    assert all(row[0] in shown for row in levels.rows())
    assert json.loads(type_in("table", "--json").output)[0]["full"] == "allow"


def test_what_each_step_says_and_1_when_it_would_be_refused(equipped: app.App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "open_app", lambda _: equipped)
    done = type_in("check", "read_files", "--paths", "/etc/shadow")
    assert done.return_value == 1
    assert "out of bounds" in done.output
    found = json.loads(type_in("check", "--json", "write_files", "--path", "~/b.txt", "--text", "x").output)
    assert [found[0]["step"], found[-2]["verdict"]] == ["panic", "ask"]


def test_granted_listed_and_revoked(court: Court, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type_in("grants").output == "No grant holds.\n"
    (tmp_path / "box").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "any executor may fs.write" in type_in("grant", "*", "fs.write", "box", "--days", "2").output
    done = type_in("grant", "fetch_pages", "net.http", "example.org", "--days", "2", "--sending", "--reason", "news")
    assert "sending too" in done.output
    first, second = json.loads(type_in("grants", "--json").output)
    assert (first["target"], first["executor"]) == (str((tmp_path / "box").resolve()), "*")
    assert (second["sending"], second["reason"]) == (True, "news")
    assert "Revoked: any executor" in type_in("revoke", first["id"]).output
    assert "fetch_pages" in type_in("grants").output


def test_what_no_grant_can_be_for(court: Court) -> None:
    assert isinstance(type_in("grant", "*", "fs.read", "~/.ssh", "--days", "1").exception, ForbiddenPath)
    assert isinstance(type_in("grant", "*", "fs.read", "/x", "--days", "999").exception, UsageError)
    assert type_in("grant", "*", "fs.fly", "/x", "--days", "1").exit_code == 1


class TestTheClock:
    def test_it_says_how_far_it_is_ahead(self, workspace: Workspace, say: Say) -> None:
        later = datetime.now(UTC) + timedelta(days=4000)
        workspace.latest_time.write_bytes(LatestTime(0, later).encode())
        found = json.loads(say("--workspace", str(workspace.root), "policy", "clock", "--json").out)
        assert abs(found["ahead_s"] - 4000 * 86400) < 600

    def test_a_person_sets_it_right_and_no_pipe_can(self, workspace: Workspace) -> None:
        later = datetime.now(UTC).replace(microsecond=0) + timedelta(days=4000)
        workspace.latest_time.write_bytes(LatestTime(0, later).encode())
        line = ("--workspace", str(workspace.root), "policy", "clock", "--set-right")
        assert metnos(*line, stdin="right\n").code == 1
        assert on_a_terminal(*line, typed="yes\n").code == 1
        assert parse(workspace.latest_time.read_bytes()) >= LatestTime(0, later)  # type: ignore[operator]
        assert on_a_terminal(*line, typed="right\n").code == 0
        found = parse(workspace.latest_time.read_bytes())
        assert found is not None
        assert (found.count, found.told < later) == (1, True)
