"""The list of MCP servers."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from metnos.core.errors import ExecutorError, UsageError
from metnos.executors.mcp.servers import Server, Servers, checked, started_from
from tables import try_each

NOTES = Server("notes", ("serve-notes", "--all"), env={"TOKEN": "keyring:notes"})


def test_servers_are_kept_privately_and_found_again(tmp_path: Path) -> None:
    servers = Servers(tmp_path / "mcp.json")
    assert servers.all() == {}
    servers.put(NOTES)
    servers.put(Server("web", url="https://example.org/mcp", key="file:web"))
    assert servers.get("notes") == NOTES
    assert list(servers.all()) == ["notes", "web"]
    assert stat.S_IMODE((tmp_path / "mcp.json").stat().st_mode) == 0o600
    servers.remove("notes")
    with pytest.raises(UsageError, match="no MCP server"):
        servers.get("notes")


def test_the_digest_is_over_everything_that_is_started() -> None:
    others = (
        replace(NOTES, command=("serve-notes",)),
        replace(NOTES, env={}),
        replace(NOTES, name="other"),
        Server("notes", url="https://example.org/mcp"),
    )
    assert len({NOTES.digest, *(each.digest for each in others)}) == 5


@try_each(
    "wrong",
    [
        Server("Notes", ("a",)),
        Server("notes"),
        Server("notes", ("a",), url="https://example.org"),
        Server("notes", ("",)),
        Server("notes", ("a\0b",)),
        Server("notes", url="ftp://example.org"),
        Server("notes", url="https://me:secret@example.org/mcp"),
        Server("notes", url="http://169.254.169.254/mcp"),
        Server("notes", url="https://["),
        Server("notes", ("a",), env={"TOKEN": "the secret itself"}),
        Server("notes", ("a",), env={"A B": "env:X"}),
        Server("notes", url="https://example.org", key="the secret itself"),
    ],
)
def test_what_is_no_server_is_refused(wrong: Server) -> None:
    with pytest.raises(UsageError):
        checked(wrong)


@pytest.mark.parametrize("text", ["", "[]", '{"servers": {"a": 1}}', '{"servers": {"a": {"command": "x"}}}'])
def test_a_list_that_cannot_be_read_says_what_to_do(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(ExecutorError, match="cannot be read") as error:
        Servers(path).all()
    assert error.value.fix


def test_no_secret_stands_in_the_list(tmp_path: Path) -> None:
    Servers(tmp_path / "mcp.json").put(NOTES)
    assert json.loads((tmp_path / "mcp.json").read_text())["servers"]["notes"]["env"] == {"TOKEN": "keyring:notes"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_is_closed_to_us_stops_no_look(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    assert closed / "x.py" in started_from(("python3", str(closed / "x.py")), tmp_path / "home")


@try_each("word", ["n" * 300, "loop/server.py", "loop", "a\0b/c.py", "a/\udc00\ud800", "x/" * 3000])
def test_no_word_stops_the_look_at_what_is_started(tmp_path: Path, word: str) -> None:
    loop, server = tmp_path / "loop", tmp_path / "mcp/server.py"
    if not server.exists():
        loop.symlink_to(loop)
        server.parent.mkdir()
        server.touch()
    found = started_from(("python3", word, f"--x={word}", str(server)), tmp_path / "home")
    assert {server, server.parent} <= set(found)
    started_from((word,), tmp_path)
