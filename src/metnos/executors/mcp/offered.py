"""What a server says of one of its tools, bounded, and the pin that holds it to its word.

Rules: all of it is a stranger's text and is never obeyed. A pin is over everything that a server says of a tool (name,
title, description, both schemas, annotations) and over the server itself: what differs by one letter is another tool,
and is not called until the owner has looked at it again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.errors import ExecutorFailed
from metnos.executors.capabilities import Tool
from metnos.executors.mcp.servers import Server

MOST_TOOLS = 256
_MOST_BYTES = 64 * 1024  # of one tool: no honest description is longer
_SAID = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_SUMMARY = 160  # characters of a stranger's words that are shown or kept


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool as the server offers it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    said: str  # everything, as canonical JSON

    @property
    def summary(self) -> str:
        """The beginning of what it says of itself, in one plain line."""
        return plain(self.description)

    def pin(self, server: Server) -> str:
        return sha256_hex(canonical_json([server.digest, self.said]))


def read(data: Mapping[str, Any]) -> Offered:
    """A tool from what the protocol says of it. Raises `ExecutorFailed` if it is none."""
    said = {key: data[key] for key in _SAID if data.get(key) is not None}
    try:
        text = canonical_json(said).decode()
    except (ValueError, TypeError, RecursionError) as error:
        raise ExecutorFailed("the server describes a tool in a way that makes no sense", kind="unreadable") from error
    if len(text) > _MOST_BYTES:
        raise ExecutorFailed("the server says more of a tool than can be looked at", kind="too_large")
    said = json.loads(text)
    name, description, schema = said.get("name"), said.get("description", ""), said.get("inputSchema")
    if not isinstance(name, str) or not isinstance(description, str) or not isinstance(schema, dict):
        raise ExecutorFailed("the server offers something that is no tool", kind="unreadable")
    return Offered(name, description, schema, text)


def require(offered: list[Offered], tool: Tool, server: Server) -> None:
    """Raise unless the server still offers exactly the tool that the owner agreed to."""
    found = [each for each in offered if each.name == tool.tool]
    fix = f"Look at it: metnos mcp tools {server.name}. If it is right: metnos mcp add {server.name} --again"
    if len(found) != 1:
        how = "offers twice" if found else "does not offer"
        raise ExecutorFailed(
            f"the MCP server {server.name} {how} the tool {tool.tool} any more", kind="not_permitted", fix=fix
        )
    if found[0].pin(server) != tool.pin:
        raise ExecutorFailed(
            f"the tool {tool.tool} of the MCP server {server.name} is not the one that you agreed to: what it says of"
            f" itself, or what is started, has changed. {fix}",
            kind="not_permitted",
            fix=fix,
        )


def plain(text: str, most: int = _SUMMARY) -> str:
    """Words of a stranger in one line: printable, bounded, cut at a sentence or a word."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * most]).split())
    if len(line) <= most:
        return line
    sentence = line[:most].rpartition(". ")[0]
    return f"{sentence}." if sentence else f"{line[:most].rpartition(' ')[0] or line[:most]}…"
