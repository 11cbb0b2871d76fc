"""The whole way of a client of the official library: over both transports, and both ages of the protocol."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from api.mcp.visiting import Person, over_http, over_stdio, text, wait, yes
from metnos.api.mcp.mount import Mounted
from metnos.app import App
from metnos.law.principal import Autonomy, Channel, Principal

PROGRAM = Principal(Channel.API, "reader", Autonomy.FULL)
TOOLS = {"ask", "run_executor", "remember", "recall", "forget", "list_executors", "mnestome"}


@contextlib.asynccontextmanager
async def visiting(
    way: str, mode: str, asking: App, mounted: Callable[[App], Mounted], person: Person
) -> AsyncIterator[Client]:
    opened = over_stdio(person, mode) if way == "stdio" else over_http(mounted(asking), PROGRAM, person, mode)
    async with opened as client:
        yield client


@pytest.mark.parametrize(
    ("way", "mode"),
    [
        ("stdio", "auto"),
        pytest.param("stdio", "legacy", marks=pytest.mark.soak),  # loads a process for what http shows as well
        ("http", "auto"),
        ("http", "legacy"),
    ],
)
def test_the_whole_journey(way: str, mode: str, asking: App, mounted: Callable[[App], Mounted]) -> None:
    source, target = Path.home() / "plan.txt", Path.home() / "old"
    source.write_text("plan\n")
    target.mkdir()
    person = Person([yes(), yes()])

    async def journey() -> None:
        async with visiting(way, mode, asking, mounted, person) as client:
            await _look_around(client)
            kept = await client.call_tool("remember", {"text": "The cat is called Minka."})
            assert not kept.is_error, text(kept)
            found = await client.call_tool("recall", {"question": "What is the cat called?"})
            assert "Minka" in text(found)
            done = await client.call_tool(
                "ask", {"text": f"move {source} to {target}"}, progress_callback=person.progress
            )
            assert not done.is_error, text(done)
            assert (target / "plan.txt").read_text() == "plan\n"
            await _undo_is_visible(client, dict(done.structured_content or {}))
            gone = await client.call_tool("forget", {"words": "Minka"})
            assert (gone.structured_content or {}).get("forgotten") == 1, text(gone)
            assert "Minka" not in text(await client.call_tool("recall", {"question": "What is the cat called?"}))

    wait(journey())
    assert f"move {source} to {target / 'plan.txt'}" in person.asked[0]
    assert "Minka" in person.asked[1]
    assert any("move_files" in line for line in person.told)


async def _look_around(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    resources = {str(each.uri) for each in (await client.list_resources()).resources}
    assert resources == {f"metnos://{name}" for name in ("laws", "playbook", "episodes", "undo", "mnestome")}
    templates = (await client.list_resource_templates()).resource_templates
    assert [each.uri_template for each in templates] == ["metnos://executors/{name}"]
    assert len((await client.list_prompts()).prompts) == 3
    for uri in sorted(resources):
        assert (await client.read_resource(uri)).contents
    manifest = json.loads(_content(await client.read_resource("metnos://executors/find_files")))
    assert manifest["name"] == "find_files"
    prompt = await client.get_prompt("what_is_known", {"topic": "cats"})
    assert "cats" in str(prompt.messages[0].content)
    listed = await client.call_tool("list_executors", {"search": "move"})
    assert "move_files" in text(listed)
    ran = await client.call_tool("run_executor", {"name": "list_folders", "arguments": {"path": str(Path.home())}})
    assert not ran.is_error, text(ran)
    assert not (await client.call_tool("mnestome", {})).is_error


async def _undo_is_visible(client: Client, done: dict[str, Any]) -> None:
    actions = json.loads(_content(await client.read_resource("metnos://undo")))["actions"]
    assert done["undo"] == [actions[0]["id"]]
    assert actions[0]["undo"] == f"metnos undo {done['undo'][0]}"


def _content(read: Any) -> str:
    return str(read.contents[0].text)
