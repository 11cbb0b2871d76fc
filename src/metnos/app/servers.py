"""MCP servers of a workspace: adding one, making executors of its tools, asking them, and removing it.

Rules: what a tool may do is what the owner declares; unless they say otherwise, it may change things for good, so that
each call needs two yeses. Each executor passes the static gate and its birth tests, is shown to the owner, and is
signed like any other of theirs; a name that something else has is not taken. A server is asked only for what a permit
allows, through the broker. Its process is the owner's own program, started **outside the sandbox** with their rights,
and known to the panic switch as long as it runs. What it is told, it may tell others: nobody can hold it to what was
declared. Nothing is started or spoken to that a person did not name at a terminal or confirm there as it stands now
(`metnos.law.confirmation`): the file that lists the servers may have come from somewhere else.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.app import adopting
from metnos.core import files
from metnos.core.canon import sha256_hex
from metnos.core.errors import (
    ExecutorError,
    ExecutorFailed,
    InboxError,
    ManifestError,
    NoRoom,
    NotTrusted,
    Refused,
    SandboxError,
    UsageError,
)
from metnos.core.settings import home_folder, variable
from metnos.executors import adopt, folder, manifest, signature
from metnos.executors.capabilities import Tool
from metnos.executors.manifest import Manifest
from metnos.executors.mcp import asking, making, naming
from metnos.executors.mcp.asking import Dial
from metnos.executors.mcp.making import Declared
from metnos.executors.mcp.offered import Offered
from metnos.executors.mcp.servers import Server, Servers
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.grimoire import poison
from metnos.law.audit_line import Entry
from metnos.law.inbox import State as Asked
from metnos.law.principal import Principal
from metnos.models import keys
from metnos.sandbox import process

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.executors.catalog import Look

ADDED, REMOVED = "mcp server added", "mcp server removed"
LOOK_S = 60.0  # to start a server and have it list its tools; some fetch themselves first
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")
_FIRST = "1.0.0"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the owner wants of a server's tools. Empty ``tools`` means all; what is not named in ``reading`` acts."""

    tools: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    names: Mapping[str, str] | None = None  # of executors, by tool
    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    plain: bool = False  # leave out all that the server says of its tools


@dataclass(frozen=True, slots=True)
class Planned:
    """An executor that would be made of a tool; ``problem`` is why none can be."""

    tool: str
    name: str = ""
    files: Mapping[str, bytes] | None = None
    problem: str = ""

    def read(self) -> Manifest:
        return manifest.parse((self.files or {})[folder.MANIFEST].decode())


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a planned executor."""

    name: str
    state: State | None  # nothing: it was not made
    said: str = ""


def servers(app: "App") -> Servers:
    return Servers(app.workspace.mcp_servers)


def dial(app: "App", server: Server) -> Dial:
    """The server with its secrets looked up. Its process is known to the panic switch.

    It starts in an empty folder of the workspace: many programs load code and settings from the folder they start in.
    """
    cwd = app.workspace.run / "mcp"
    cwd.mkdir(mode=files.PRIVATE_FOLDER, parents=True, exist_ok=True)
    env = {name: value for name in _INHERITED if (value := variable(name))}
    env |= {name: keys.find(place, app.workspace.keys) for name, place in server.env.items()}
    return Dial(
        replace(server, command=_with_places(server.command, home_folder())),
        cwd,
        env if server.command else {},
        keys.find(server.key, app.workspace.keys),
        app.settings.executors.output_mb << 20,
        started=_watch(app),
        ended=app.halts.running.remove,
    )


def _with_places(command: Sequence[str], home: Path) -> tuple[str, ...]:
    """A command whose relative paths, as the owner meant them from their home, hold wherever it starts."""
    return tuple(str(home / word) if "/" in word and os.path.lexists(home / word) else word for word in command)


def _watch(app: "App") -> Callable[[int], None]:
    def started(pid: int) -> None:
        since = process.start_time(pid)
        app.halts.running.add(pid, since)
        if (halt := app.halted()) is not None:  # a panic between the permit and here could not have known it
            raise SandboxError(halt.why, fix=halt.fix)

    return started


def look(app: "App", server: Server, seconds: float = LOOK_S, *, named: bool = False) -> list[Offered]:
    """What the server offers now. Starts it, or speaks to it; calls none of its tools.

    ``named``: a person has just named this very command or address.
    """
    if not named:
        refuse_unconfirmed(app, server)
    if (halt := app.halted()) is not None:
        raise UsageError(halt.why, fix=halt.fix)
    return asking.offers(dial(app, server), seconds)


def ask_tool(app: "App", tool: Tool, args: Mapping[str, Any], seconds: float) -> Any:
    """One call of one tool, for a broker that has checked the permit."""
    try:
        server = servers(app).get(tool.server)
    except UsageError as error:
        raise ExecutorFailed(f"the MCP server {tool.server} was removed", kind="unavailable", fix=error.fix) from error
    if server.digest != tool.starts:  # before anything is started
        raise ExecutorFailed(
            f"the MCP server {tool.server} is not the one that you agreed to: its command or address has changed",
            kind="not_permitted",
            fix=f"metnos mcp show {tool.server}",
        )
    try:
        refuse_unconfirmed(app, server)
    except Refused as error:
        raise ExecutorFailed(error.what, kind="not_permitted", fix=error.fix) from error
    return asking.ask(dial(app, server), tool, args, seconds)


def is_confirmed(app: "App", server: Server) -> bool:
    """Whether a person confirmed this server as it stands now."""
    return app.confirmations.holds(server.name, server.digest)


def refuse_unconfirmed(app: "App", server: Server) -> None:
    """Raise unless a person confirmed this server as it stands now."""
    if not is_confirmed(app, server):
        raise Refused(
            f"nobody confirmed the MCP server {server.name} as it stands now, so it is not started",
            fix=f"Look at it and agree at a terminal: metnos mcp confirm {server.name}",
        )


# -- planning


def made_of(app: "App", server: str) -> dict[str, "Look"]:
    """The executors that were made of a server's tools, by tool; not those that were put away."""
    found: dict[str, Look] = {}
    for each in app.catalog.rows():
        tool = each.executor.manifest.capabilities.mcp.call if each.executor else None
        if tool is not None and tool.server == server and each.state not in (State.ARCHIVED, State.REVOKED):
            found[tool.tool] = each
    return found


def plan(app: "App", server: Server, offered: Sequence[Offered], wish: Wish) -> list[Planned]:
    """What would be made of the tools that are wanted. Changes nothing."""
    known = {each.name for each in offered}
    for name in (*wish.tools, *wish.reading, *(wish.names or {})):
        if name not in known:
            raise UsageError(f"{server.name} offers no tool {name!r}", fix=f"metnos mcp tools {server.name}")
    before, taken = made_of(app, server.name), set(app.catalog.names())
    planned = []
    for each in offered:
        if wish.tools and each.name not in wish.tools:
            continue
        made = _planned(app, server, each, wish, before.get(each.name), taken)
        taken.add(made.name)
        planned.append(made)
    return planned


def declared(server: Server, tool: str, wish: Wish) -> Declared:
    """What the owner says of one tool. Whoever is spoken to over the network speaks to that host at least."""
    acts = tool not in wish.reading
    hosts = tuple(dict.fromkeys((*([server.host] if server.host else []), *wish.hosts)))
    return Declared(acts, wish.reads, wish.changes if acts else (), hosts)


def _planned(
    app: "App", server: Server, offered: Offered, wish: Wish, before: "Look | None", taken: set[str]
) -> Planned:
    stands = declared(server, offered.name, wish)
    asked = (wish.names or {}).get(offered.name, "")
    name = asked or (before.name if before else naming.propose(offered.name, taken, acts=stands.acts))
    if not name:
        return Planned(offered.name, problem=f"no name for it is free: give one with --as {offered.name}=NAME")
    if name in taken and not (before and before.name == name):
        return Planned(offered.name, name, problem=f"{name} is the name of another executor: --as {offered.name}=NAME")
    version = _next(before.version) if before and before.name == name else _FIRST
    try:
        files = making.files(name, version, server, offered, stands, _screen(wish))
        manifest.parse(files[folder.MANIFEST].decode(), defaults=app.settings.executors)
    except (ExecutorFailed, ManifestError) as error:
        return Planned(offered.name, name, problem=error.what)
    return Planned(offered.name, name, files)


def _screen(wish: Wish) -> Callable[[str], str]:
    return (lambda _text: "left out") if wish.plain else (lambda text: poison.screen(text).reason)


def _next(version: str) -> str:
    major, minor, _ = version.split(".")
    return f"{major}.{int(minor) + 1}.0"


# -- making


def add(app: "App", server: Server, planned: Sequence[Planned], by: Principal, *, typed: str) -> list[Made]:
    """Write the server down, and make and sign what was planned and shown to ``by``, who typed the server's name."""
    if not by.may_answer or typed != server.name:
        fix = f"Type at a terminal: metnos mcp add {server.name}"
        raise Refused(f"{by} did not type the name of the server", fix=fix)
    with app.audit.act(Entry(ADDED, {"server": server.name}, {"server": server.digest})):
        app.confirmations.confirm(server.name, server.digest, by)
        servers(app).put(server)
    return [_make(app, each, server.name, by) for each in planned if each.files is not None]


def _make(app: "App", planned: Planned, server: str, by: Principal) -> Made:
    files = planned.files or {}
    draft = _draft(planned)
    for step in adopt.examine(draft, app.pool, app.settings.executors):
        if step.problem:
            return Made(planned.name, None, f"{step.name}: {step.problem}")
    said = "made of a tool of an MCP server"
    try:
        item = adopting.ask(app, draft, by, reason=said, server=server)
        if item.state is Asked.WAITING:
            item = app.inbox.approve(item.id, by, seen=item.yes_count, typed=server)
        adopting.agree(app, item)
        app.catalog.adopt(planned.name, files, said, Origin.OWNER)
    except NoRoom as error:
        # Signed all the same, because the owner has just said yes to it, but switched off.
        app.catalog.adopt(planned.name, files, said, Origin.OWNER, State.DISABLED)
        return Made(planned.name, State.DISABLED, f"{error.what}; later: metnos executor enable {planned.name}")
    except (ExecutorError, InboxError) as error:
        return Made(planned.name, None, error.what)
    return Made(planned.name, State.ACTIVE)


def _draft(planned: Planned) -> Executor:
    """The files as an executor to be examined; nothing of it can run outside a birth test."""
    files, read = planned.files or {}, planned.read()
    digests = signature.file_digests(files)
    return Executor(
        name=planned.name,
        version=read.version,
        manifest=read,
        source=files[folder.SOURCE].decode(),
        tests_text=files[folder.TESTS].decode(),
        digest=signature.identity(sha256_hex(read.canonical()), digests),
        code_digest=sha256_hex(files[folder.SOURCE]),
        state=State.DRAFT,
        origin=Origin.OWNER,
        reason="",
        since=None,
        serial=0,
    )


def remove(app: "App", name: str) -> list[str]:
    """Forget a server and put away what was made of its tools; returns their names."""
    server = servers(app).get(name)
    with app.audit.act(Entry(REMOVED, {"server": name}, {"server": server.digest})):
        app.confirmations.withdraw(name)
        servers(app).remove(name)
    gone = []
    for each in made_of(app, name).values():
        try:
            app.catalog.change(each.name, State.ARCHIVED, f"the MCP server {name} was removed")
        except NotTrusted:
            continue  # it is a draft, or was tampered with: it cannot run either way
        gone.append(each.name)
    return gone
