"""``metnos telegram``: the token, a code, how things stand."""

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner, Result

from api.telegram.double import TOKEN, Double
from cli.warm import metnos
from metnos.cli import Choice
from metnos.cli import telegram as commands
from metnos.core.settings_file import write_value
from metnos.core.workspace import Workspace
from support import Ran, Say, kinds

pytestmark = pytest.mark.usefixtures("typist")


def store(workspace: Workspace, typed: str) -> Result:
    """Have a person type the token."""
    return CliRunner().invoke(commands.telegram, ["token"], obj=Choice(str(workspace.root)), input=f"{typed}\n")


def run(workspace: Workspace, *arguments: str, stdin: str = "", **variables: str) -> Ran:
    return metnos("--workspace", str(workspace.root), "telegram", *arguments, stdin=stdin, **variables)


def test_a_token_is_stored_unseen_and_never_shown(workspace: Workspace) -> None:
    done = store(workspace, TOKEN)
    assert (done.exit_code, "file:telegram" in done.output) == (0, True), done.output
    kept = workspace.keys / "telegram.token"
    assert (kept.read_text().strip(), kept.stat().st_mode & 0o777) == (TOKEN, 0o600)
    assert "telegram token stored" in kinds(workspace)
    shown = run(workspace, "status")
    told = run(workspace, "status", "--json")
    assert all(TOKEN not in each for each in (done.output, shown.out, shown.err, told.out))
    assert "Nobody is paired" in shown.out
    assert json.loads(told.out)["paired"] == []


def test_no_token_comes_from_a_pipe(workspace: Workspace) -> None:
    done = run(workspace, "token", stdin=f"{TOKEN}\n")
    assert (done.code, "only a person may store the token" in done.err) == (1, True), done
    assert not (workspace.keys / "telegram.token").exists()
    assert "telegram token stored" not in kinds(workspace)


@pytest.mark.parametrize("wrong", ["token", "123", f"{TOKEN} {TOKEN}", "1:ü" + "x" * 30])
def test_what_is_no_token_is_not_stored(workspace: Workspace, wrong: str) -> None:
    assert "no token of a bot" in str(store(workspace, wrong).exception)
    assert not (workspace.keys / "telegram.token").exists()


def test_a_code_is_made_for_a_level(workspace: Workspace, say: Say) -> None:
    line = ("--workspace", str(workspace.root), "telegram", "pair")
    made = json.loads(say(*line, "--level", "read_only", "--json").out)
    assert (made["say"], made["level"]) == (f"/pair {made['code']}", "read_only")
    assert say(*line).out.startswith("/pair ")
    assert say(*line, "--minutes", "600").code == 2
    assert run(workspace, "pair", stdin="yes\n").code == 1  # a pipe is no person


def test_status_asks_telegram_when_told_to(workspace: Workspace) -> None:
    double = Double(lambda: datetime.now(UTC))
    try:
        write_value(workspace.settings, "telegram.api_base", double.url)
        missing = run(workspace, "status", "--test")
        assert (missing.code, "metnos telegram token" in missing.out) == (1, True), missing
        store(workspace, TOKEN)
        assert "@metnos_bot" in run(workspace, "status", "--test").out
        double.token = "1:other"
        wrong = run(workspace, "status", "--test")
        assert (wrong.code, "does not accept" in wrong.out, TOKEN in wrong.out + wrong.err) == (1, True, False), wrong
    finally:
        double.close()


def test_an_unencrypted_server_elsewhere_is_refused(workspace: Workspace) -> None:
    store(workspace, TOKEN)
    write_value(workspace.settings, "telegram.api_base", "http://telegram.example.org")
    done = run(workspace, "status")
    assert (done.code, "not encrypted" in done.out) == (1, True), done
