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


DATA = ("npx -y @modelcontextprotocol/server-filesystem {}", "mcp-files {}", "mcp-files --root={}",
        "python3 -m files {}", "python3 -u mcp/server.py --allow {}", "uvx --from ./mcp files {}",
        "node mcp/server.js {}", "docker run -v {} image")  # fmt: skip
CODE = ("python3 {}", "python3 -X dev {}", "node {}", "npx {}", "uvx --from {} files", "uvx --from={} files",
        "uv --directory {} run x", "uv run --project {} x", "npm --prefix {} start", "env A=1 python3 {}",
        "{}/run --all", "sh {}/start", "mcp-files --plugin {}/plugin.py")  # fmt: skip


def starts(home: Path, command: str, *names: str) -> list[bool]:
    """Whether each of these names in a home is started by a command, or lies in what is."""
    found = set(started_from(command.split(), home))
    return [not found.isdisjoint((home / name, *(home / name).parents)) for name in names]


@try_each("command", DATA)
def test_a_folder_that_a_server_works_on_is_not_what_is_started(tmp_path: Path, command: str) -> None:
    for name in ("mcp/server.py", "mcp/server.js", "Documents/letter.txt", "Documents/x.db"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for spelled in (str(tmp_path / "Documents"), "./Documents", "Documents"):
        assert starts(tmp_path, command.format(spelled), "Documents", "Documents/letter.txt") == [False, False]
    named = command.format(tmp_path / "Documents/x.db")
    assert starts(tmp_path, named, "Documents/x.db", "Documents/letter.txt", "Documents") == [True, False, False]


@try_each("command", CODE)
def test_what_is_run_is_started_with_its_folder(tmp_path: Path, command: str) -> None:
    (tmp_path / "mcp").mkdir(exist_ok=True)
    for name in ("run", "start", "__main__.py"):
        (tmp_path / "mcp" / name).touch()
    for spelled in (str(tmp_path / "mcp"), "./mcp"):
        assert starts(tmp_path, command.format(spelled), "mcp/json.py", "letter.txt") == [True, False]


def test_a_folder_that_is_called_as_a_package_is_not_meant_unless_it_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for command in ("uvx notes", "notes --all", "python3 notes"):
        assert starts(tmp_path, command, "notes/a.md") == [False]
    (tmp_path / "notes/__main__.py").touch()
    assert starts(tmp_path, "python3 notes", "notes/a.md") == [True]
