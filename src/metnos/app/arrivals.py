"""What comes with a restored workspace beside what the Laws' own code keeps: executors, and MCP servers.

Rules: of another agent's archive no executor is signed any more, whoever signed it: each stays in quarantine until the
owner looked at it and signs it, and the built-in ones are put in anew. An own archive brings back nothing that was
switched off, put away or revoked since it was made. MCP servers come as a list that nobody confirmed. What is no list
is removed. Happens in the staged workspace, before it takes any place.
"""

from collections.abc import Mapping
from contextlib import closing
from importlib import resources

from metnos.app import tables
from metnos.core.clock import Clock
from metnos.core.errors import ExecutorError, StoreError
from metnos.core.sections import ExecutorSettings, Settings
from metnos.core.workspace import Workspace
from metnos.executors import builtins, folder, index
from metnos.executors.catalog import Catalog
from metnos.executors.mcp.servers import Servers
from metnos.executors.state import USABLE, severity
from metnos.law import founding
from metnos.store.db import Database

_SINCE = "it was so when an older backup was restored"


def settle(staged: Workspace, before: Workspace | None, clock: Clock) -> Mapping[str, tuple[str, ...]]:
    """Make void what must not come along; the names of what else comes, by what they are."""
    names = folder.names(staged.executors) if staged.executors.is_dir() else []
    if before is None or not _carry(staged, before, clock):
        for name in names:
            _unsign(staged, name)
    shipped = builtins.read_digests(resources.files("metnos.executors").joinpath("builtin"))
    own = tuple(name for name in names if name not in shipped)
    found = {"executors": own, "MCP servers": _servers(staged)}
    return {what: each for what, each in found.items() if each}


def _unsign(staged: Workspace, name: str) -> None:
    (staged.executors / name / folder.SIGNATURE).unlink(missing_ok=True)


def _servers(staged: Workspace) -> tuple[str, ...]:
    try:
        found = Servers(staged.mcp_servers).all()
    except ExecutorError:
        staged.mcp_servers.unlink()
        return ()
    return tuple(f"{name}: {each.url or ' '.join(each.command)}" for name, each in found.items())


def _carry(staged: Workspace, before: Workspace, clock: Clock) -> bool:
    """Make executors no freer than they are in the workspace that is replaced; says whether that could be done."""
    if not staged.mnest_db.exists():
        return False
    try:
        now, revoked = _now(before)
        seat = founding.take_seat(staged, Settings.model_construct(), clock)
        with closing(seat.audit), closing(seat.db), closing(_open(staged, clock)) as db:
            catalog = Catalog(staged, db, seat.audit, seat.signer, clock, ExecutorSettings())
            for entry in now:
                found = catalog.judge(entry.name)
                if entry.state not in USABLE and found.exists and severity(found.state) < severity(entry.state):
                    _hold(catalog, staged, entry)
            with db.write() as tx:
                for code, name, ts in revoked:
                    index.record_revoked(tx, [code], name, ts)
            seat.audit.witness.forget()
    except StoreError:
        return False  # of the one that is replaced: that is why it is
    return True


def _hold(catalog: Catalog, staged: Workspace, entry: index.Entry) -> None:
    try:
        catalog.change(entry.name, entry.state, _SINCE)
    except ExecutorError:
        _unsign(staged, entry.name)


def _now(before: Workspace) -> tuple[list[index.Entry], list[index.Revoked]]:
    with closing(Database(before.mnest_db, read_only=True)) as db:
        return index.all_current(db), index.revoked(db)


def _open(staged: Workspace, clock: Clock) -> Database:
    return Database(staged.mnest_db, tables.of_mnestome(), clock=clock)
