"""What a server says of a tool, and the pin that holds it to its word."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.mcp.strange import TOOL
from metnos.core.errors import ExecutorFailed
from metnos.executors.capabilities import Tool
from metnos.executors.mcp.offered import Offered, plain, read, require
from metnos.executors.mcp.servers import Server

SERVER = Server("notes", ("serve-notes",))


def agreed(offered: Offered) -> Tool:
    return Tool(server="notes", tool=offered.name, starts=SERVER.digest, pin=offered.pin(SERVER))


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Search the notes for words, and burn them."},
        {"title": "Search"},
        {"inputSchema": {"type": "object"}},
        {"outputSchema": {"type": "object"}},
        {"annotations": {"readOnlyHint": True}},
    ],
)
def test_a_pin_is_over_everything_that_is_said(change: dict[str, Any]) -> None:
    tool = agreed(read(TOOL))
    require([read(TOOL)], tool, SERVER)
    with pytest.raises(ExecutorFailed, match="not the one that you agreed to"):
        require([read({**TOOL, **change})], tool, SERVER)


def test_a_pin_is_over_the_server_too() -> None:
    offered = read(TOOL)
    assert offered.pin(SERVER) != offered.pin(Server("notes", ("serve-notes", "--evil")))


def test_what_is_no_tool_is_refused() -> None:
    for nonsense in ({}, {"name": 3, "inputSchema": {}}, {"name": "a", "inputSchema": []}):
        with pytest.raises(ExecutorFailed, match="no tool"):
            read(nonsense)


@given(st.text(max_size=600), st.integers(5, 200))
def test_words_of_a_stranger_are_one_short_plain_line(text: str, most: int) -> None:
    line = plain(text, most)
    assert len(line) <= most + 1
    assert line.isprintable()
    assert line == line.strip()
