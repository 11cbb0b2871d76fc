"""What a backup brings when it is restored, and what of it is void.

An archive may be an old one of this agent's own, or a stranger's. Rules, of whichever: devices, codes and grants in it
are void, questions are closed, and no permission of an MCP server comes along; ``[policy]`` and ``[sandbox]`` are what
they are by default. Of the other settings only those in `KEPT` count, which say how the agent works: all that names a
program, an address or a place, lets somebody in, bounds or pays something is void, unless the workspace that is
replaced is the same agent's and says the same. What everything was halted for stays halted.

If the archive is not this agent's own, nothing of ``law.db`` comes along but the halts, nothing of what could be undone
either, and a person has to agree to the `Arrival`. Does not guarantee anything about what the archive remembers: the
facts, the turns and the long memory in it are what they are, and become the agent's own.
"""

import contextlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from metnos.core import files
from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import SettingsError
from metnos.core.ids import UlidMaker
from metnos.core.settings import leaves, read_file
from metnos.core.settings_file import keep_values
from metnos.core.workspace import LONG_MEMORY, Workspace
from metnos.law import schema
from metnos.law.confirmation import FORGET_ALL
from metnos.law.principal import Principal
from metnos.store.archive import Manifest
from metnos.store.db import Database, Row

# Settings that a restore keeps: how the agent works. Never what it may do or spend, whom it lets in, where anything
# goes, which program is started. What is not here is void, also if it is new.
KEPT = frozenset(
    {
        *("audit.checkpoint_every", "context.scored", "context.surprisal", "disk.need_free_mb", "disk.warn_free_mb"),
        *("embed.cache", "fastpath.check_every", "log.format", "memory.engine", "memory.keep_days"),
        *("memory.admission.bias", "memory.admission.grounding", "memory.admission.kind"),
        *("memory.admission.novelty", "memory.admission.recency", "memory.admission.utility"),
        *("memory.keep_messages", "memory.use", "memory.window", "mnestome.fading", "night.at", "night.backup"),
        *("night.keep_backups", "selection.dormant_days", "selection.explore", "selection.extinct_days"),
        *("store.busy_timeout_s", "synt.in_turns", "turn.planner", "turn.prompt_s", "turn.show", "turn.steps"),
    }
)
# Values of others that it keeps, because they allow less than the default does.
STRICT = {
    "policy.autonomy": ("read_only",),
    "mcp.level": ("read_only",),
    "memory.think": ("off",),
    "fastpath.use": ("shadow", "off"),
    "web.enabled": (False,),
}
_BY_DEFAULT = ("policy.", "sandbox.")  # whoever's archive it is
_HALT_REASON = 2000  # characters
_WORD = 8  # characters of a key that a person types


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an archive brings. ``own``: it is of the very agent that is replaced."""

    key: str
    made: str
    version: str
    own: bool
    void: Mapping[str, int]  # how many of what do not count any more
    settings: Mapping[str, Any]  # that do not count any more, with what they were
    soul: str  # the constitution, if it is not the one that Metnos comes with
    edited: tuple[str, ...]  # the other files of long memory that are not as Metnos makes them
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names of what else comes, by what they are

    @property
    def word(self) -> str:
        """What a person types to say that they want it."""
        return self.key[:_WORD]


Agree = Callable[[Arrival], Principal | None]  # who agreed, if anybody did
Settle = Callable[[Workspace, Workspace | None], Mapping[str, tuple[str, ...]]]


def settle(staged: Workspace, before: Workspace | None, manifest: Manifest, clock: Clock, further: Settle) -> Arrival:
    """Make void what must not come along; ``before`` is the workspace that is replaced, if it is the same agent's."""
    for path in (staged.running_list, staged.latest_time):  # of another time, and perhaps of another machine
        path.unlink(missing_ok=True)
    void = _void_law(staged, clock, own=before is not None)
    settings = _void_settings(staged, before)
    soul = staged.soul.read_text(encoding="utf-8", errors="replace") if _is_edited(staged, "SOUL.md") else ""
    edited = tuple(name for name in LONG_MEMORY if name != "SOUL.md" and _is_edited(staged, name))
    return Arrival(
        manifest.public_key,
        manifest.made,
        manifest.version,
        before is not None,
        void,
        settings,
        soul,
        edited,
        further(staged, before),
    )


# -- settings


def _void_settings(staged: Workspace, before: Workspace | None) -> dict[str, Any]:
    now = {} if before is None else _values(before)

    def keep(name: str, value: Any) -> bool:
        same = name in now and now[name] == value and type(now[name]) is type(value)
        return name in KEPT or value in STRICT.get(name, ()) or (same and not name.startswith(_BY_DEFAULT))

    return keep_values(staged.settings, keep) if staged.settings.exists() else {}


def _values(workspace: Workspace) -> dict[str, Any]:
    try:
        return dict(leaves(read_file(workspace.settings)))
    except (SettingsError, RecursionError):
        return {}  # it is broken, which is why it is replaced


# -- what the Laws' own code remembers


_OPEN: Mapping[str, tuple[str, str]] = {  # what lets something happen: its table, and which rows of it do
    "devices": ("devices", "revoked IS NULL"),
    "codes": ("pairing_codes", "1"),
    "grants": ("grants", "revoked IS NULL"),
    "questions": ("inbox", "state IN ('waiting', 'approved')"),
    "servers": ("confirmed_servers", "1"),
}


def _void_law(staged: Workspace, clock: Clock, *, own: bool) -> dict[str, int]:
    if not own:
        _forget_undo(staged)
    if not staged.law_db.exists():
        return {}
    found = _close_law(staged, clock) if own else _replace_law(staged, clock)
    return {name: count for name, count in found.items() if count > 0}


def _close_law(staged: Workspace, clock: Clock) -> dict[str, int]:
    """Make void what lets something happen; returns how many rows of each."""
    now = to_text(clock.now())
    acts = {
        "devices": ("UPDATE devices SET revoked = ?, secret = NULL WHERE revoked IS NULL", (now,)),
        "codes": ("DELETE FROM pairing_codes", ()),
        "grants": ("UPDATE grants SET revoked = ? WHERE revoked IS NULL", (now,)),
        "questions": (
            "UPDATE inbox SET state = 'expired', answered_at = ? WHERE state IN ('waiting', 'approved')",
            (now,),
        ),
        "servers": (FORGET_ALL, ()),
    }
    with contextlib.closing(Database(staged.law_db, schema.MIGRATIONS, clock=clock)) as db, db.write() as tx:
        return {name: tx.execute(sql, values) for name, (sql, values) in acts.items()}


def _replace_law(staged: Workspace, clock: Clock) -> dict[str, int]:
    """Read what a stranger's ``law.db`` says of halts and how much it would let happen, and put a new one there."""
    with contextlib.closing(Database(staged.law_db, read_only=True)) as db:
        tables = {name for (name,) in db.query("SELECT name FROM sqlite_master WHERE type = 'table'")}
        found = {
            what: db.query(f"SELECT count(*) FROM {table} WHERE {rows}")[0][0]  # noqa: S608 -- constants
            for what, (table, rows) in _OPEN.items()
            if table in tables
        }
        columns = {name for (name,) in db.query("SELECT name FROM pragma_table_info('halts')")}
        for_good = "for_good" if "for_good" in columns else "0"  # of a version that knew of none
        sql = f"SELECT ts, reason, {for_good} FROM halts WHERE lifted IS NULL OR {for_good} = 1"  # noqa: S608 -- constants
        halts = db.query(sql) if "halts" in tables else []
    _found_anew(staged, halts, clock)
    return found


def _found_anew(staged: Workspace, halts: list[Row], clock: Clock) -> None:
    """A new ``law.db``. What a stranger's holds beside the halts, in rows or in triggers, is nothing to us."""
    for path in staged.law.glob(f"{staged.law_db.name}*"):
        path.unlink()
    ids = UlidMaker(clock)
    db = Database(staged.law_db, schema.MIGRATIONS, clock=clock)
    try:
        with db.write() as tx:
            for ts, reason, for_good in halts:
                said = "".join(each for each in str(reason) if each.isprintable())[:_HALT_REASON]
                row = (ids(), _moment(ts, clock), said, int(bool(for_good)))
                tx.execute("INSERT INTO halts (id, ts, reason, for_good) VALUES (?, ?, ?, ?)", row)
    finally:
        db.close()


def _moment(text: object, clock: Clock) -> str:
    try:
        return to_text(from_text(str(text)))
    except ValueError:
        return to_text(clock.now())


def _forget_undo(staged: Workspace) -> None:
    """What could be taken back is of another machine; and what was begun there is not to be ended here."""
    for path in staged.law.glob(f"{staged.undo_db.name}*"):
        path.unlink()
    shutil.rmtree(staged.undo_store, ignore_errors=True)


# -- long memory


def _is_edited(staged: Workspace, name: str) -> bool:
    path = staged.root / name
    try:
        shipped = resources.files("metnos.law").joinpath("templates", name).read_bytes()
        return path.exists() and sha256_hex(path.read_bytes()) != sha256_hex(shipped)
    except OSError:
        return True


def close_all(staged: Workspace) -> None:
    """Give every file and folder the mode that it has in a workspace."""
    for path in (staged.root, *staged.root.rglob("*")):
        if not path.is_symlink():
            path.chmod(files.PRIVATE_FOLDER if path.is_dir() else files.PRIVATE_FILE)
