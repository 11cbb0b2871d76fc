"""The index of executors: which versions there are, in what state, what they used, what was revoked.

Rules: the one writer of the tables in `schema`; the folders are the truth about content, the index about state and
serial, and it can be rebuilt from the folders and the audit. Uses hold times and counts, never content.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import from_text, to_text
from metnos.executors.signature import Origin, Signed
from metnos.executors.state import USABLE, State
from metnos.store.db import Database, Row, Transaction

Store = Database | Transaction

_COLUMNS = "name, version, state, loaded_at, manifest_hash, digest, code, origin, serial, reason, before, ts"
# SQLite takes the other columns from the row that has the maximum.
_IN_FORCE = f"SELECT {_COLUMNS}, max(serial) FROM executors GROUP BY name"  # noqa: S608 -- only our own words
_OF_NAME = f"SELECT {_COLUMNS} FROM executors WHERE name = ? ORDER BY serial DESC"  # noqa: S608 -- as above
_PUT = (
    f"INSERT INTO executors ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 -- as above
    " ON CONFLICT (name, version) DO UPDATE SET state = excluded.state, loaded_at = excluded.loaded_at,"
    " manifest_hash = excluded.manifest_hash, digest = excluded.digest, code = excluded.code, origin = excluded.origin,"
    " serial = excluded.serial, reason = excluded.reason, before = excluded.before, ts = excluded.ts"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of an executor, as the index knows it."""

    name: str
    version: str
    state: State
    loaded_at: datetime
    manifest_hash: str
    digest: str
    code: str
    origin: Origin
    serial: int
    reason: str
    before: State | None  # the state it had when it was found tampered with; nothing if it never was
    ts: datetime

    @property
    def tampered(self) -> bool:
        return self.before is not None


@dataclass(frozen=True, slots=True)
class Use:
    """One call: how it ended and what it took. ``fault`` says that it was the executor's own."""

    name: str
    digest: str
    ts: datetime
    ok: bool
    kind: str = ""
    fault: bool = False
    wall_ms: int = 0
    cpu_ms: int = 0
    writes: int = 0
    write_bytes: int = 0


def current(store: Store, name: str) -> Entry | None:
    """The version in force."""
    row = store.first(_OF_NAME, (name,))
    return _entry(row) if row else None


def all_current(store: Store) -> list[Entry]:
    """The version in force of every executor, by name."""
    return [_entry(row[:-1]) for row in store.query(f"{_IN_FORCE} ORDER BY name")]


def names(store: Store) -> list[str]:
    """Every name that the index knows."""
    return [str(name) for (name,) in store.query("SELECT DISTINCT name FROM executors ORDER BY name")]


def versions(store: Store, name: str) -> list[Entry]:
    """Every version that was ever signed under this name, the newest first."""
    return [_entry(row) for row in store.query(_OF_NAME, (name,))]


def put(tx: Transaction, entry: Entry) -> None:
    """Write one version; usable ones of the same name are then history. What was switched off stays as it was: whoever
    puts it back finds it so."""
    tx.execute(_PUT, _values(entry))
    tx.execute(
        "UPDATE executors SET state = 'archived', reason = ?, ts = ?"
        " WHERE name = ? AND version <> ? AND state IN ('seed', 'active')",
        (f"version {entry.version} took its place", to_text(entry.ts), entry.name, entry.version),
    )


def from_signed(signed: Signed, loaded_at: datetime) -> Entry:
    """What the index holds about a signature just written."""
    return Entry(
        name=signed.name,
        version=signed.version,
        state=signed.state,
        loaded_at=loaded_at,
        manifest_hash=signed.manifest,
        digest=signed.digest,
        code=signed.code,
        origin=signed.origin,
        serial=signed.serial,
        reason=signed.reason,
        before=None,
        ts=signed.since,
    )


# -- uses


def record_use(store: Database, use: Use) -> None:
    with store.write() as tx:
        tx.execute(
            "INSERT INTO executor_uses (name, digest, ts, ok, kind, fault, wall_ms, cpu_ms, writes, write_bytes)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (use.name, use.digest, to_text(use.ts), int(use.ok), use.kind, int(use.fault), use.wall_ms, use.cpu_ms,
             use.writes, use.write_bytes),
        )  # fmt: skip


def strikes_since(store: Store, name: str, since: datetime) -> int:
    """How many faults of its own an executor had since then."""
    return _count(store, "SELECT count(*) FROM executor_uses WHERE fault = 1 AND name = ? AND ts >= ?", name, since)


def uses_since(store: Store, name: str, since: datetime) -> int:
    """How often an executor was called since then."""
    return _count(store, "SELECT count(*) FROM executor_uses WHERE name = ? AND ts >= ?", name, since)


def written_since(store: Store, name: str, since: datetime) -> tuple[int, int]:
    """How many changes an executor made since then, and how many bytes it wrote."""
    row = store.first(
        "SELECT coalesce(sum(writes), 0), coalesce(sum(write_bytes), 0) FROM executor_uses WHERE name = ? AND ts >= ?",
        (name, to_text(since)),
    )
    assert row is not None  # noqa: S101 -- a sum always has a row
    return int(row[0]), int(row[1])


def last_use(store: Store, name: str) -> datetime | None:
    row = store.first("SELECT max(ts) FROM executor_uses WHERE name = ?", (name,))
    return from_text(row[0]) if row and row[0] else None


def forget_uses(store: Database, before: datetime) -> int:
    """Drop uses older than that; says how many."""
    with store.write() as tx:
        return tx.execute("DELETE FROM executor_uses WHERE ts < ?", (to_text(before),))


# -- caps and revocation


def record_birth(tx: Transaction, signed: Signed) -> None:
    tx.execute(
        "INSERT INTO executor_births (digest, name, ts) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING",
        (signed.digest, signed.name, to_text(signed.since)),
    )


def births_since(store: Store, since: datetime) -> int:
    """How many executors that are not built in were born since then. A new version of a known one is no birth."""
    row = store.first(
        "SELECT count(*) FROM (SELECT name FROM executor_births GROUP BY name HAVING min(ts) >= ?)", (to_text(since),)
    )
    return int(row[0]) if row else 0


def was_born(store: Store, name: str) -> bool:
    return store.first("SELECT 1 FROM executor_births WHERE name = ?", (name,)) is not None


def active_synthesised(store: Store) -> list[str]:
    """The names of the usable executors that are not built in."""
    entries = all_current(store)
    return [entry.name for entry in entries if entry.origin is not Origin.BUILTIN and entry.state in USABLE]


def longest_unused(store: Store) -> list[Entry]:
    """The usable executors that are not built in, the one that was not used for longest first."""
    found = [entry for entry in all_current(store) if entry.origin is not Origin.BUILTIN and entry.state in USABLE]
    return sorted(found, key=lambda entry: (last_use(store, entry.name) or entry.ts, entry.name))


def record_revoked(tx: Transaction, codes: Sequence[str], name: str, ts: datetime) -> None:
    tx.execute_many(
        "INSERT INTO executor_revoked (code, name, ts) VALUES (?, ?, ?) ON CONFLICT (code) DO NOTHING",
        [(code, name, to_text(ts)) for code in codes],
    )


Revoked = tuple[str, str, datetime]  # the digest of the code, the name it had, and when


def revoked(store: Store) -> list[Revoked]:
    """All code that was revoked."""
    rows = store.query("SELECT code, name, ts FROM executor_revoked ORDER BY ts, code")
    return [(code, name, from_text(ts)) for code, name, ts in rows]


def is_revoked(store: Store, code: str) -> bool:
    """Whether this very code was revoked, under whatever name."""
    return store.first("SELECT 1 FROM executor_revoked WHERE code = ?", (code,)) is not None


def _count(store: Store, sql: str, name: str, since: datetime) -> int:
    row = store.first(sql, (name, to_text(since)))
    return int(row[0]) if row else 0


def _entry(row: Row) -> Entry:
    name, version, state, loaded_at, manifest_hash, digest, code, origin, serial, reason, before, ts = row
    return Entry(
        name, version, State(state), from_text(loaded_at), manifest_hash, digest, code, Origin(origin), serial, reason,
        State(before) if before else None, from_text(ts),
    )  # fmt: skip


def _values(entry: Entry) -> tuple[str | int | None, ...]:
    return (
        entry.name, entry.version, entry.state.value, to_text(entry.loaded_at), entry.manifest_hash, entry.digest,
        entry.code, entry.origin.value, entry.serial, entry.reason, entry.before, to_text(entry.ts),
    )  # fmt: skip
