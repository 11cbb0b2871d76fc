"""The policy at the terminal. Its hands are a double here: they have tests of their own."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from law.asks import ASK, Court
from metnos import app
from metnos.cli import Choice
from metnos.cli import policy as commands
from metnos.core.errors import ForbiddenPath, UsageError
from metnos.law import levels
from metnos.law.levels import Verdict
from metnos.law.principal import Autonomy


@pytest.fixture
def court(opened: app.App, monkeypatch: pytest.MonkeyPatch) -> Court:
    court = Court.over(opened)

    def check(name: str, args: list[str]) -> list[tuple[str, Verdict, str]]:
        assert (name, args) == ("write_files", ["--path", "b.txt"])
        return court.policy(Autonomy.READ_ONLY).explain(ASK)

    hands = SimpleNamespace(check=check)
    monkeypatch.setattr(commands, "open_app", lambda _: SimpleNamespace(grants=court.grants, hands=hands))
    return court


def type_in(*line: str) -> Result:
    # Click's own runner gives no exit code for what a command returns; the program's `main` does.
    return CliRunner().invoke(commands.policy, line, obj=Choice(None), standalone_mode=False)


def test_the_table() -> None:
    shown = type_in("table").output
    assert all(row[0] in shown for row in levels.rows())
    assert json.loads(type_in("table", "--json").output)[0]["full"] == "allow"


def test_what_each_step_says_and_1_when_it_would_be_refused(court: Court) -> None:
    done = type_in("check", "write_files", "--path", "b.txt")
    assert done.return_value == 1
    assert "Metnos must refuse: change /home/owner/b.txt" in done.output
    found = json.loads(type_in("check", "--json", "write_files", "--path", "b.txt").output)
    assert [found[0]["step"], found[-1]["verdict"]] == ["panic", "refuse"]


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
