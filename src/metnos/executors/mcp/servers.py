"""MCP servers that the owner added: what is started or spoken to, kept in ``mcp.json`` of the workspace.

Rules: no secret stands here, only where it is (``env:NAME``, ``keyring:NAME``, ``file:NAME``). The digest of a server
stands in the signed manifest of every executor that was made of its tools: whoever changes this file can make calls be
refused, and cannot have another program started. It is over the words of the command; the program behind them is not
looked at. A change of what these words run, of what lies beside it, and of a file that they name is high risk
(`started_from`).
"""

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metnos.core import files
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import ExecutorError, UsageError
from metnos.core.settings import variable
from metnos.law.need import Place, host_name, place_of_host

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_SECRET = re.compile(r"(env|keyring|file):[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_WORDS, _LONGEST = 64, 4096  # of a command, and characters of one of them
_MOST = 64  # servers
# Programs that run what is named behind them, words that may stand between, and options with a word of their own.
_LAUNCHER = re.compile(
    r"(python|pypy|node|bun|deno|ruby|perl|php|lua|java|go|cargo|dotnet|make|tsx|ts-node|Rscript|julia|uv|uvx|npm|npx"
    r"|pnpm|yarn|bunx|pipx|poetry|hatch|pdm|rye|pixi|sh|bash|dash|zsh|fish|env|sudo|nohup|nice)[0-9.]*"
)
_SUBCOMMANDS = frozenset(["run", "exec", "x", "dlx", "start", "tool", "task", "script"])
_WITH_VALUE = frozenset(
    ["-X", "-W", "-r", "-p", "-C", "-f", "-cp", "-classpath", "--require", "--import", "--loader", "--from", "--with",
     "--with-editable", "--python", "--directory", "--project", "--prefix", "--cwd", "--dir", "--spec", "--package",
     "--extra", "--group", "--manifest-path", "--env-file", "--config"]
)  # fmt: skip
_LAST_OPTIONS = frozenset(["-m", "-c", "-e", "--eval", "-jar"])  # the next word is what is run
_SCRIPTS = (".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".rb", ".pl", ".php", ".lua", ".jar", ".R")
_STARTS = ("__main__.py", "index.js", "package.json")  # by one of these a folder is run


@dataclass(frozen=True, slots=True)
class Server:
    """One server: a command that is started for each call, or an address. ``env`` and ``key`` say where secrets are."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    key: str = ""

    @property
    def digest(self) -> str:
        """What the owner agreed to have started or spoken to."""
        return sha256_hex(canonical_json(self.data()))

    @property
    def host(self) -> str:
        """Where it is; empty for a command."""
        return host_name(urlsplit(self.url).hostname or "") if self.url else ""

    def data(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "command": list(self.command),
            "url": self.url,
            "env": dict(self.env),
            "key": self.key,
        }


def checked(server: Server) -> Server:
    """The server, if it can be one."""
    if not _NAME.fullmatch(server.name):
        raise UsageError(f"{server.name!r} is no name for a server", fix="Small letters, digits and dashes.")
    if bool(server.command) == bool(server.url):
        raise UsageError(
            "a server is a command or an address", fix="metnos mcp add NAME -- COMMAND ..., or --url ADDRESS"
        )
    if len(server.command) > _WORDS or any("\0" in word or len(word) > _LONGEST for word in server.command):
        raise UsageError("that command is too long, or is no text", fix="Put it into a script.")
    if server.command and not server.command[0]:
        raise UsageError("the command is empty", fix="metnos mcp add NAME -- COMMAND ...")
    if server.url:
        _check_url(server.url)
    for name, place in server.env.items():
        if not _VARIABLE.fullmatch(name) or not _SECRET.fullmatch(place):
            raise UsageError(
                f"{name}: a variable is given by where its value is",
                fix="--env NAME=env:OTHER, NAME=keyring:NAME or NAME=file:NAME (metnos model key NAME stores one)",
            )
    if server.key and not _SECRET.fullmatch(server.key):
        raise UsageError("a key is given by where it is", fix="--key env:NAME, keyring:NAME or file:NAME")
    return server


def _check_url(url: str) -> None:
    fix = "Such as https://example.org/mcp, without a password."
    try:
        parts = urlsplit(url)
        host = host_name(parts.hostname or "")
    except ValueError as error:
        raise UsageError("that is no address of a server", fix=fix) from error
    plain = url.isprintable() and " " not in url and len(url) <= _LONGEST
    if parts.scheme not in ("http", "https") or not host or parts.username or not plain:
        raise UsageError("that is no address of a server", fix=fix)
    if place_of_host(host) is Place.NEVER:
        raise UsageError("that is an address that nothing may speak to", fix="Use another.")


def started_from(command: Sequence[str], home: Path) -> tuple[Path, ...]:
    """What a command starts, and what it names, as spelled and as it really lies.

    What is run counts with its folder, because libraries are loaded from beside it; a folder that is run counts whole.
    A file that is only named, such as a configuration, counts by itself, and a folder that is only named not at all: it
    holds what a server works on. Not a folder that holds the home, or everything would be meant.
    """
    program = shutil.which(command[0], path=variable("PATH")) if command else None
    running = _count_run(command)
    found: set[Path] = set()
    for at, word in enumerate((*command, *([program] if program else []))):
        is_run = at < running or at == len(command)
        for text in {word, word.rpartition("=")[2]} - {""}:
            # A word that no file can have as its name starts nothing: too long, or with a letter that none can have.
            with contextlib.suppress(OSError, ValueError):
                found.update(_named_by(text, home, is_run=is_run))
    real = Path(os.path.realpath(home))
    return tuple(sorted(found - {home, *home.parents, real, *real.parents}))


def _count_run(command: Sequence[str]) -> int:
    """How many words of a command say what is run; those behind them are for what was started."""
    has_value = False
    for at, word in enumerate(command):
        name = word.rpartition("/")[2]
        if has_value:
            has_value = False
        elif word in _LAST_OPTIONS:
            return at + 2
        elif word.startswith("-"):
            has_value = word in _WITH_VALUE
        elif not _LAUNCHER.fullmatch(name) and (at == 0 or (word not in _SUBCOMMANDS and "=" not in word)):
            return at + 1
    return len(command)


def _named_by(text: str, home: Path, *, is_run: bool) -> Iterator[Path]:
    """What one word names, if a file may have it as its name."""
    path = os.path.normpath(home / text)  # where the command is started
    if "/" not in text and not os.path.lexists(path):
        return
    for each in (path, os.path.realpath(path)):
        if not os.path.isdir(each):  # noqa: PTH112 -- unlike a `Path`, it raises for no loop of links
            yield Path(each)
            if is_run or each.endswith(_SCRIPTS) or os.access(each, os.X_OK):
                yield Path(each).parent
        elif is_run and ("/" in text or any(os.path.lexists(f"{each}/{name}") for name in _STARTS)):
            yield Path(each)


class Servers:
    """All servers of one workspace."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> dict[str, Server]:
        """Every server by name."""
        try:
            found = json.loads(self._path.read_bytes())
            return {name: checked(_server(name, each)) for name, each in sorted(found["servers"].items())}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
            raise ExecutorError(
                f"{self._path} cannot be read as a list of MCP servers", fix="Remove it, and add the servers again."
            ) from error

    def get(self, name: str) -> Server:
        found = self.all()
        if name not in found:
            known = ", ".join(found) or "none"
            raise UsageError(f"there is no MCP server {name!r}", fix=f"There are: {known}. Add one: metnos mcp add")
        return found[name]

    def started_from(self, home: Path) -> tuple[Path, ...]:
        """What all of them are started from. A list that cannot be read starts none."""
        try:
            servers = self.all().values()
        except ExecutorError:
            return ()
        return tuple(path for server in servers for path in started_from(server.command, home))

    def put(self, server: Server) -> None:
        found = {**self.all(), checked(server).name: server}
        if len(found) > _MOST:
            raise UsageError(f"there are {_MOST} servers already", fix="Remove one: metnos mcp remove NAME")
        self._write(found)

    def remove(self, name: str) -> None:
        found = self.all()
        found.pop(name, None)
        self._write(found)

    def _write(self, found: Mapping[str, Server]) -> None:
        data = {"servers": {name: each.data() for name, each in sorted(found.items())}}
        files.replace(self._path, json.dumps(data, indent=2).encode() + b"\n", mode=files.PRIVATE_FILE)


def _server(name: str, data: Mapping[str, Any]) -> Server:
    command, env = data["command"], data["env"]
    texts = [*command, data["url"], data["key"], *env, *env.values()]
    if not isinstance(command, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("not a server")
    return Server(name, tuple(command), data["url"], dict(env), data["key"])
