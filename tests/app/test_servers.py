"""Tools of MCP servers as executors of a workspace: added, permitted, called, changed behind one's back, removed."""

from dataclasses import replace
from pathlib import Path

import pytest

from executors.mcp import official, strange
from metnos.app import App, servers
from metnos.app.servers import Wish
from metnos.core.errors import ExecutorFailed, NotTrusted, Refused, UsageError, Waiting
from metnos.executors.call import Call
from metnos.executors.gate_code import Code
from metnos.executors.mcp.servers import Server
from metnos.executors.outcome import Outcome
from metnos.executors.state import State
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.synt import gates_capabilities
from signing import approve

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


def added(app: App, mode: str, file: Path | None = None, wish: Wish | None = None) -> str:
    """The name of the executor that was made of the one tool of a strange server."""
    server = Server("notes", strange.command(mode, file))
    planned = servers.plan(app, server, servers.look(app, server, named=True), wish or Wish(reading=("search_notes",)))
    made = servers.add(app, server, planned, OWNER, typed=server.name)
    assert [each.state for each in made] == [State.ACTIVE], made
    return made[0].name


def called(app: App, name: str, yeses: int = 1, **args: object) -> Outcome:
    """A call with the owner's yeses."""
    call = Call(name, args, OWNER, Path.home())
    with pytest.raises(Waiting) as waiting:
        app.runner.run(call)
    assert app.inbox.find(waiting.value.item).needs_yes == yeses
    for _ in range(yeses):
        approve(app.inbox, waiting.value.item, OWNER)
    return app.runner.run(call)


@pytest.mark.slow
def test_a_tool_of_an_official_server_is_an_executor_like_any_other(equipped: App, tmp_path: Path) -> None:
    (tmp_path / "shopping.txt").write_text("any: 2 milk\n")
    server = Server("shopping", official.command(tmp_path))
    wish = Wish(reading=("list_shopping",), names={"add_shopping": "append_records_remote"})
    planned = servers.plan(equipped, server, servers.look(equipped, server, named=True), wish)
    made = servers.add(equipped, server, planned, OWNER, typed=server.name)
    reader, adder = (each.name for each in made)
    assert [each.state for each in made] == [State.ACTIVE, State.ACTIVE]
    found = called(equipped, reader, shop="any")
    assert found.ok
    assert "2 milk" in str(found.reply["entries"])
    done = called(equipped, adder, yeses=2, item="bread", amount=3)
    assert done.ok
    assert "any: 3 bread" in (tmp_path / "shopping.txt").read_text()
    kinds = [line.kind for line in equipped.audit.newest()]
    assert "mcp server added" in kinds
    assert "executor run" in kinds


def test_a_grant_lets_what_only_reads_run_without_a_question(equipped: App) -> None:
    name = added(equipped, "honest")
    equipped.grants.grant(name, Capability.MCP_CALL, "notes/search_notes", days=1, by=OWNER)
    assert equipped.runner.run(Call(name, {"words": "milk"}, OWNER, Path.home())).ok


def test_read_only_reaches_no_server(equipped: App) -> None:
    name = added(equipped, "honest")
    with pytest.raises(Refused, match="MCP server"):
        equipped.runner.run(Call(name, {"words": "milk"}, replace(OWNER, level=Autonomy.READ_ONLY), Path.home()))


def test_what_was_declared_is_what_the_policy_decides_about(equipped: App) -> None:
    wish = Wish(reading=("search_notes",), hosts=("example.org",), reads=("~/notes/**",))
    name = added(equipped, "honest", wish=wish)
    needs = {need.words for need in equipped.runner.needs(Call(name, {"words": "a"}, OWNER, Path.home()))}
    assert needs == {
        "ask the tool search_notes of the MCP server notes, outside the sandbox",
        "GET to example.org, outside the home, which can tell it what was read",
        f"read {Path.home() / 'notes'}",
    }


def test_a_tool_that_changed_is_refused_until_it_is_looked_at_again(equipped: App, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    name = added(equipped, "changed", mark)
    assert called(equipped, name, words="milk").ok
    mark.touch()
    refused = called(equipped, name, words="milk")
    assert not refused.ok
    assert refused.kind == "not_permitted"
    assert "not the one that you agreed to" in refused.message
    server = servers.servers(equipped).get("notes")
    planned = servers.plan(equipped, server, servers.look(equipped, server), Wish(reading=("search_notes",)))
    assert planned[0].name == name
    assert servers.add(equipped, server, planned, OWNER, typed=server.name)[0].state is State.ACTIVE
    assert equipped.catalog.get(name).version == "1.1.0"
    assert called(equipped, name, words="milk").ok


def test_whoever_changes_the_list_of_servers_starts_nothing_with_it(equipped: App, tmp_path: Path) -> None:
    name = added(equipped, "honest")
    mark = tmp_path / "started"
    servers.servers(equipped).put(Server("notes", ("/usr/bin/touch", str(mark))))
    refused = called(equipped, name, words="milk")
    assert refused.kind == "not_permitted"
    assert not mark.exists()


@pytest.mark.parametrize(("mode", "kind"), [("dies", "unavailable"), ("fails", "failed")])
def test_a_server_that_fails_is_an_outcome_and_no_strike(equipped: App, mode: str, kind: str) -> None:
    failed = called(equipped, added(equipped, mode), words="milk")
    assert (failed.ok, failed.kind, failed.fault) == (False, kind, False)


def test_orders_in_a_description_reach_no_manifest(equipped: App) -> None:
    name = added(equipped, "orders")
    assert "Ignore" not in str(equipped.catalog.get(name).manifest.model_dump())


def test_plain_keeps_out_all_that_a_server_says(equipped: App) -> None:
    name = added(equipped, "honest", wish=Wish(plain=True))
    assert "Search the notes" not in str(equipped.catalog.get(name).manifest.model_dump())


def test_a_server_starts_where_nobody_else_writes(equipped: App) -> None:
    home = Path.home()
    (home / "srv").mkdir()
    (home / "srv/tool").touch()
    dialled = servers.dial(equipped, Server("odd", ("python3", "-m", "pkg.server", "srv/tool", "srv", "--x=srv/tool")))
    assert dialled.cwd == equipped.workspace.run / "mcp"
    assert dialled.cwd.stat().st_mode & 0o777 == 0o700
    assert dialled.server.command == ("python3", "-m", "pkg.server", str(home / "srv/tool"), "srv", "--x=srv/tool")


def test_a_panic_reaches_servers_too(equipped: App) -> None:
    name = added(equipped, "honest")
    equipped.runner.panic("enough")
    with pytest.raises(NotTrusted):
        equipped.runner.run(Call(name, {"words": "milk"}, OWNER, Path.home()))
    with pytest.raises(UsageError, match="halted"):
        servers.look(equipped, servers.servers(equipped).get("notes"))
    tool = equipped.catalog.look(name).executor
    assert tool is not None
    assert tool.manifest.capabilities.mcp.call is not None
    with pytest.raises(Exception, match="halted"):
        servers.ask_tool(equipped, tool.manifest.capabilities.mcp.call, {"words": "a"}, 30.0)
    assert equipped.halts.running.all() == []


def test_a_name_of_somebody_else_is_not_taken(equipped: App) -> None:
    server = Server("notes", strange.command("honest"))
    offered = servers.look(equipped, server, named=True)
    planned = servers.plan(equipped, server, offered, Wish(names={"search_notes": "find_files"}))
    assert "another executor" in planned[0].problem
    assert servers.add(equipped, server, planned, OWNER, typed=server.name) == []


def test_a_tool_that_is_not_offered_cannot_be_wished_for(equipped: App) -> None:
    server = Server("notes", strange.command("honest"))
    with pytest.raises(UsageError, match="offers no tool"):
        servers.plan(equipped, server, servers.look(equipped, server, named=True), Wish(tools=("burn",)))


def test_where_there_is_no_room_it_is_signed_and_switched_off(equipped: App) -> None:
    equipped.set_setting("executors.births", "0")
    app = App.open(equipped.workspace, equipped.clock)
    server = Server("notes", strange.command("honest"))
    made = servers.add(
        app, server, servers.plan(app, server, servers.look(app, server, named=True), Wish()), OWNER, typed=server.name
    )
    assert made[0].state is State.DISABLED
    assert "metnos executor enable" in made[0].said


def test_what_is_removed_cannot_be_asked_any_more(equipped: App) -> None:
    name = added(equipped, "honest")
    tool = equipped.catalog.get(name).manifest.capabilities.mcp.call
    assert tool is not None
    assert servers.remove(equipped, "notes") == [name]
    with pytest.raises(NotTrusted, match="archived"):
        equipped.catalog.get(name)
    with pytest.raises(ExecutorFailed, match="was removed"):
        servers.ask_tool(equipped, tool, {"words": "a"}, 30.0)


def test_what_metnos_makes_itself_cannot_reach_a_server(equipped: App) -> None:
    found = equipped.catalog.get(added(equipped, "honest"))
    assert any("metnos mcp add" in each for each in gates_capabilities.surplus(Code(found.source), found.manifest))


def changed(server: Server, mark: Path) -> list[Server]:
    """The same server with one thing in it that was not there when it was confirmed."""
    more = (*server.command, "--more"), ("/usr/bin/touch", str(mark)), (*server.command[:-1], f"{server.command[-1]} ")
    return [
        *(replace(server, command=command) for command in more),
        replace(server, env={"PATH": "env:HOME"}),
        replace(server, env={"LD_PRELOAD": "file:evil"}),
        replace(server, key="env:SECRET"),
    ]


def test_a_server_that_came_with_files_is_not_started_before_a_person_confirms_it(
    equipped: App, tmp_path: Path
) -> None:
    """The list of servers is a file, which a backup may have brought."""
    mark = tmp_path / "started"
    brought = Server("notes", ("/usr/bin/touch", str(mark)))
    servers.servers(equipped).put(brought)
    with pytest.raises(Refused):
        servers.look(equipped, servers.servers(equipped).get("notes"))
    for channel in set(Channel) - {Channel.TERMINAL}:
        with pytest.raises(Refused):
            equipped.confirmations.confirm("notes", brought.digest, Principal(channel, "owner", Autonomy.FULL))
        assert not servers.is_confirmed(equipped, brought)
    with pytest.raises(Refused):
        servers.look(equipped, brought)
    assert not mark.exists()
    equipped.confirmations.confirm("notes", brought.digest, OWNER)
    with pytest.raises(ExecutorFailed):  # it is started now, and is no server
        servers.look(equipped, brought, 5.0)
    assert mark.exists()


def test_whatever_changes_of_a_server_it_is_not_confirmed_any_more(equipped: App, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    name = added(equipped, "honest")
    server = servers.servers(equipped).get("notes")
    assert servers.is_confirmed(equipped, server)
    for other in changed(server, mark):
        servers.servers(equipped).put(other)
        assert not servers.is_confirmed(equipped, other)
        with pytest.raises(Refused):
            servers.look(equipped, servers.servers(equipped).get("notes"))
    servers.servers(equipped).put(server)
    assert called(equipped, name, words="milk").ok
    assert not mark.exists()


def test_a_confirmation_is_worth_nothing_in_another_row_or_under_another_key(equipped: App) -> None:
    added(equipped, "honest")
    server = servers.servers(equipped).get("notes")
    for what in ("UPDATE confirmed_servers SET digest = ?1", "INSERT INTO confirmed_servers SELECT 'other', ?1, ts, "
                 "signature FROM confirmed_servers", "UPDATE confirmed_servers SET signature = ?1"):  # fmt: skip
        with equipped.seat.db.write() as tx:
            tx.execute(what, ("d" * 64,))
        assert not equipped.confirmations.holds("notes", "d" * 64)
        assert not equipped.confirmations.holds("other", "d" * 64)
    assert not servers.is_confirmed(equipped, server)


def test_an_executor_of_a_server_that_nobody_confirmed_is_an_outcome_and_starts_nothing(equipped: App) -> None:
    name = added(equipped, "honest")
    equipped.confirmations.withdraw("notes")
    refused = called(equipped, name, words="milk")
    assert (refused.ok, refused.kind, refused.fault) == (False, "not_permitted", False)


def test_adding_needs_the_name_of_the_server_from_a_person(equipped: App) -> None:
    server = Server("notes", strange.command("honest"))
    planned = servers.plan(equipped, server, servers.look(equipped, server, named=True), Wish())
    program = Principal(Channel.API, "program", Autonomy.FULL)
    for by, typed in ((OWNER, "y"), (program, "notes")):
        with pytest.raises(Refused):
            servers.add(equipped, server, planned, by, typed=typed)
    assert servers.servers(equipped).all() == {}
