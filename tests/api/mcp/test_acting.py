"""The tools that act: the same door as for everybody, and no rights that a program should not have."""

from pathlib import Path
from typing import Any

import pytest

from metnos.api.mcp import acting
from metnos.api.mcp.desk import Visit, principal
from metnos.app import App
from metnos.core.errors import MetnosError, NotTrusted, Refused, UsageError
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


@pytest.fixture
def visit(app: App) -> Visit:
    return Visit(app, principal(None, app.settings.mcp), Path.home())


def test_a_program_never_speaks_for_the_owner(app: App) -> None:
    for who in (OWNER, Principal(Channel.WEB, "page", Autonomy.FULL), Principal(Channel.API, "p", Autonomy.FULL)):
        made = principal({"metnos.who": who}, app.settings.mcp)
        assert made.channel is Channel.MCP
        assert made.level is Autonomy.SUPERVISED
        assert not made.may_answer
    low = principal({"metnos.who": Principal(Channel.API, "p", Autonomy.READ_ONLY)}, app.settings.mcp)
    assert low.level is Autonomy.READ_ONLY
    for nobody in ({}, {"metnos.who": None}, {"metnos.who": "owner"}):
        with pytest.raises(MetnosError, match="nobody"):
            principal(nobody, app.settings.mcp)


def test_no_grant_of_the_owner_speaks_for_a_program(app: App, visit: Visit) -> None:
    target = Path.home() / "new.txt"
    app.grants.grant("*", Capability.FS_WRITE, str(Path.home()), days=1, by=OWNER)
    reply = acting.run(visit, "write_files", {"path": str(target), "text": "x"}, dry_run=False)
    assert reply.data["state"] == "waiting"
    assert not target.exists()
    (Path.home() / "plan.txt").write_text("plan")
    (Path.home() / "old").mkdir()
    reply = acting.ask(visit, "move ~/plan.txt to ~/old", "", dry_run=False)
    assert reply.data["state"] == "waiting"
    assert (Path.home() / "plan.txt").exists()


def test_a_dry_run_shows_and_changes_nothing(visit: Visit) -> None:
    target = Path.home() / "new.txt"
    reply = acting.run(visit, "write_files", {"path": str(target), "text": "x"}, dry_run=True)
    assert str(target) in reply.text
    assert not target.exists()
    assert visit.app.inbox.waiting() == []


def test_read_only_clients_change_nothing(app: App) -> None:
    who = Principal(Channel.MCP, "stdio", Autonomy.READ_ONLY)
    with pytest.raises(Refused):
        acting.run(Visit(app, who, Path.home()), "write_files", {"path": "~/new.txt", "text": "x"}, dry_run=False)


def test_forbidden_paths_stay_forbidden(visit: Visit) -> None:
    key = visit.app.workspace.secret_key
    with pytest.raises(MetnosError):
        acting.run(visit, "read_files", {"paths": [str(key)]}, dry_run=False)


def test_what_is_not_there_says_so(visit: Visit) -> None:
    with pytest.raises(NotTrusted, match="no executor"):
        acting.run(visit, "burn_house", {}, dry_run=False)
    with pytest.raises(UsageError, match="empty"):
        acting.ask(visit, "  ", "", dry_run=False)


def test_an_answer_is_bounded(visit: Visit) -> None:
    (Path.home() / "long.txt").write_text("word\n" * 100_000)
    reply = acting.run(visit, "read_files", {"paths": ["~/long.txt"]}, dry_run=False)
    assert len(str(reply.data)) < 80_000
    assert "more characters" in str(reply.data)
    folder = Path.home() / "many"
    folder.mkdir()
    for number in range(900):
        (folder / f"{'n' * 100}{number}").touch()
    found = acting.run(visit, "list_folders", {"path": str(folder)}, dry_run=False).data
    assert found["left_out"] > 0
    assert len(str(found["entries"])) < 80_000


def test_a_conversation_of_a_program_is_its_own(app: App, visit: Visit) -> None:
    reply = acting.ask(visit, "what time is it?", "kitchen", dry_run=False)
    assert app.medium.load(reply.data["turn"]).conversation == "mcp:stdio:kitchen"


def test_a_client_that_goes_away_ends_its_turn(visit: Visit) -> None:
    visit.cancelled.set()
    with pytest.raises(MetnosError, match="cancelled"):
        acting.ask(visit, "what time is it?", "", dry_run=False)


def test_what_is_shown_before_a_yes_is_inert_and_bounded(app: App, visit: Visit) -> None:
    names = [f"evil\x1b[2J{number}\nDo this?" for number in range(60)]
    body: dict[str, Any] = {"preview": names}
    item = app.inbox.ask("act", "a title\nwith a line", body, "0" * 64, asked_by=visit.who, hours=1)
    shown = acting.shown(item)
    assert "\x1b" not in shown
    assert shown.count("\n") == 42
    assert "20 more lines" in shown
    assert shown.splitlines().index("Do this?") == len(shown.splitlines()) - 1
