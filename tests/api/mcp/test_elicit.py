"""Who is asked through a client, whose answer counts, and what becomes of everything else."""

import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult

from api.mcp.visiting import Person, no, text, wait, yes
from executors.mcp import strange
from metnos.api.mcp.desk import Desk
from metnos.api.mcp.server import build
from metnos.app import App, servers
from metnos.app.servers import Wish
from metnos.core.errors import InboxError
from metnos.executors.mcp.servers import Server
from metnos.law.inbox import State
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def files() -> tuple[Path, Path]:
    source, target = Path.home() / "plan.txt", Path.home() / "old"
    source.write_text("plan\n")
    target.mkdir()
    return source, target


def asked(app: App, person: Person | None, mode: str, tool: str, **given: Any) -> CallToolResult:
    return wait(with_client(app, person, mode, lambda client: client.call_tool(tool, given)))


async def with_client(
    app: App, person: Person | None, mode: str, work: Callable[[Client], Awaitable[CallToolResult]]
) -> CallToolResult:
    server = build(Desk(lambda: contextlib.nullcontext(app), Path.home()))
    callback = person.answer if person else None
    async with Client(server, mode=mode, elicitation_callback=callback, cache=None) as client:  # type: ignore[arg-type]
        return await work(client)


def moved(app: App, files: tuple[Path, Path], person: Person | None, mode: str) -> dict[str, Any]:
    answer = asked(app, person, mode, "ask", text=f"move {files[0]} to {files[1]}")
    return {**(answer.structured_content or {}), "text": text(answer)}


@MODES
def test_unless_the_owner_allows_it_nobody_is_asked(app: App, files: tuple[Path, Path], mode: str) -> None:
    person = Person([yes()])
    found = moved(app, files, person, mode)
    assert found["state"] == "waiting"
    assert f"metnos inbox show {found['item']}" in found["text"] or found["item"] in found["text"]
    assert "mcp.elicit" in found["text"]
    assert person.asked == []
    assert files[0].exists()
    assert [item.id for item in app.inbox.waiting()] == [found["item"]]


@MODES
def test_a_client_that_cannot_ask_leaves_it_in_the_inbox(asking: App, files: tuple[Path, Path], mode: str) -> None:
    found = moved(asking, files, None, mode)
    assert (found["state"], asking.inbox.find(found["item"]).state) == ("waiting", State.WAITING)
    assert files[0].exists()


@MODES
@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (no(), State.REFUSED),
        (ElicitResult(action="accept", content={"approve": False}), State.REFUSED),
        (ElicitResult(action="cancel"), State.WAITING),
        (ElicitResult(action="accept", content={}), State.WAITING),
        (ElicitResult(action="accept", content={"approve": "yes, do"}), State.WAITING),
        (ElicitResult(action="accept"), State.WAITING),
    ],
)
def test_only_a_clear_yes_is_one(
    asking: App, files: tuple[Path, Path], mode: str, answer: ElicitResult, state: State
) -> None:
    person = Person([answer])
    found = moved(asking, files, person, mode)
    assert len(person.asked) == 1
    assert asking.inbox.find(found["item"]).state is state
    assert files[0].exists()


@MODES
def test_a_client_that_says_yes_to_everything_cannot_do_what_cannot_be_taken_back(asking: App, mode: str) -> None:
    server = Server("notes", strange.command("honest"))
    planned = servers.plan(asking, server, servers.look(asking, server, named=True), Wish())
    made = servers.add(asking, server, planned, OWNER, typed=server.name)
    person = Person([yes()] * 10)
    answer = asked(asking, person, mode, "run_executor", name=made[0].name, arguments={"words": "milk"})
    found = answer.structured_content or {}
    assert found["state"] == "waiting"
    assert "two yeses" in text(answer)
    assert person.asked == []
    item = asking.inbox.find(found["item"])
    assert (item.yes_count, item.needs_yes, item.state) == (0, 2, State.WAITING)


def test_a_yes_shows_who_gave_it_and_is_used_once(asking: App, files: tuple[Path, Path]) -> None:
    found = moved(asking, files, Person([yes()]), "auto")
    assert found["state"] == "done"
    used = [item for item in asking.inbox.newest(5) if item.state is State.USED]
    assert [item.answered_by for item in used] == ["mcp:stdio"]
    assert "question approved" in [line.kind for line in asking.audit.newest()]


def test_what_the_owner_was_asked_by_others_is_none_of_a_clients_business(asking: App) -> None:
    item = asking.inbox.ask("act", "another's", {}, "0" * 64, asked_by=OWNER, hours=1)
    client = Principal(Channel.MCP, "stdio", Autonomy.SUPERVISED)
    with pytest.raises(InboxError, match="may not answer"):
        asking.inbox.approve(item.id, client)
    with pytest.raises(InboxError, match="may not answer"):
        asking.inbox.refuse(item.id, client)


def test_an_owner_who_switches_it_off_in_between_is_obeyed_at_once(asking: App, files: tuple[Path, Path]) -> None:
    wanted = {"text": f"move {files[0]} to {files[1]}"}

    async def twice(client: Client) -> CallToolResult:
        first = await client.session.call_tool("ask", wanted, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        asking.set_setting("mcp.elicit", "false", at_terminal())
        return await client.session.call_tool(
            "ask", wanted, input_responses={"answer": yes()}, request_state=first.request_state
        )

    answer = wait(with_client(asking, Person(), "auto", twice))
    assert (answer.structured_content or {})["state"] == "waiting"
    assert files[0].exists()


def test_a_state_that_is_not_ours_or_was_used_gets_nothing(asking: App, files: tuple[Path, Path]) -> None:
    wanted = {"text": f"move {files[0]} to {files[1]}"}

    async def run(client: Client) -> CallToolResult:
        first = await client.session.call_tool("ask", wanted, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        with pytest.raises(MCPError):
            await client.session.call_tool(
                "ask", wanted, input_responses={"answer": yes()}, request_state='{"item": "x"}'
            )
        with pytest.raises(MCPError):  # sealed for this request and no other
            await client.session.call_tool(
                "forget", {"words": "plan"}, input_responses={"answer": yes()}, request_state=first.request_state
            )
        assert files[0].exists()
        once, again = [
            await client.session.call_tool(
                "ask", wanted, input_responses={"answer": yes()}, request_state=first.request_state
            )
            for _ in range(2)
        ]
        assert not once.is_error
        return again

    again = wait(with_client(asking, Person(), "auto", run))
    assert again.is_error
    assert "already" in text(again)
