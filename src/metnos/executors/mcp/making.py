"""The folder of an executor that asks one tool of an MCP server: manifest, code, birth tests.

Rules: the code is ours and the same for every tool; it can do nothing but pass the arguments on and hand the answer
back. What a stranger says of the tool stands in the purpose only as far as it is short, plain and does not speak to the
agent, and the owner sees it before anything is signed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit

from metnos.core.errors import ExecutorFailed
from metnos.executors import vocabulary
from metnos.executors.folder import MANIFEST, SOURCE, TESTS
from metnos.executors.mcp.offered import Offered
from metnos.executors.mcp.servers import Server
from metnos.executors.mcp.shape import Screen, Shape, shape

_TOOL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-")
_PURPOSE = 200  # characters, as a manifest allows

_CODE = '''\
"""Asks the tool {tool} of the MCP server {server}. Made by metnos mcp add."""

NAMES = {names!r}


def run(args, ctx):
    answer = ctx.mcp({{NAMES.get(name, name): value for name, value in args.items()}})
    if answer["failed"]:
        ctx.fail("failed", answer["message"])
    entries = answer["entries"]
    return {{"{key}": entries[: ctx.limit], "total": len(entries)}}
'''


@dataclass(frozen=True, slots=True)
class Declared:
    """What the owner says that a tool may do. Unless they say otherwise, it may change things for good."""

    acts: bool = True
    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


def files(
    name: str, version: str, server: Server, offered: Offered, declared: Declared, screen: Screen
) -> dict[str, bytes]:
    """The three files. Raises `ExecutorFailed` if no executor can be made of the tool."""
    if not 0 < len(offered.name) <= 128 or not set(offered.name) <= _TOOL:
        raise ExecutorFailed("the name of the tool is none that can be kept", kind="invalid")
    vocabulary.parse_name(name)
    found = shape(offered.schema, screen)
    texts = {
        MANIFEST: tomlkit.dumps(_manifest(name, version, server, offered, declared, found, screen)),
        SOURCE: _CODE.format(
            tool=offered.name,
            server=server.name,
            names=dict(found.names),
            key="results" if declared.acts else "entries",
        ),
        TESTS: tomlkit.dumps(_tests(found.sample, "results" if declared.acts else "entries")),
    }
    return {file: text.encode() for file, text in texts.items()}


def _manifest(
    name: str, version: str, server: Server, offered: Offered, declared: Declared, found: Shape, screen: Screen
) -> dict[str, Any]:
    tool: dict[str, Any] = {"server": server.name, "tool": offered.name}
    tool |= {"starts": server.digest, "pin": offered.pin(server), "acts": declared.acts}
    lists = {"reads": declared.reads, "changes": declared.changes, "hosts": declared.hosts}
    tool |= {key: list(value) for key, value in lists.items() if value}
    return {
        "name": name,
        "version": version,
        "purpose": _purpose(server, offered, screen),
        "kind": "mutator" if declared.acts else "producer",
        "reversal": "irreversible" if declared.acts else "nothing",
        "args": found.args,
        "output": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"type": "string"}, "text": {"type": "string"}, "data": {}},
        },
        "capabilities": {"mcp": {"call": tool}},
        "examples": [{"say": f"{name.replace('_', ' ')} with {server.name}", "args": found.sample}],
    }


def _purpose(server: Server, offered: Offered, screen: Screen) -> str:
    ours = f"Ask the tool {offered.name} of the MCP server {server.name}"
    said = offered.summary
    whole = f"{ours}, which says: {said}"
    return whole if said and not screen(said) and len(whole) <= _PURPOSE else f"{ours[: _PURPOSE - 1]}."


def _tests(sample: Mapping[str, Any], key: str) -> dict[str, Any]:
    entry = {"kind": "text", "text": "said"}
    return {
        "test": [
            {
                "name": "what the tool says is handed on",
                "args": dict(sample),
                "mcp": {"failed": False, "message": "", "entries": [entry]},
                "expect": {"count": 1, key: [entry]},
            },
            {
                "name": "what the tool fails with is a failure",
                "args": dict(sample),
                "mcp": {"failed": True, "message": "it went wrong", "entries": []},
                "expect_error": "failed",
            },
            {"name": "a server that is not there", "args": dict(sample), "expect_error": "unavailable"},
        ]
    }
