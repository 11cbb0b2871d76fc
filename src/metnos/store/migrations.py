"""Named, append-only migrations.

Rules: each runs in one transaction together with its own record, so it happened wholly or not at all; the list of a
database only ever grows at its end; one that ran must never change, which its recorded digest proves; a file that has
run more than this program knows belongs to a newer Metnos and is not touched.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.errors import StoreSchema

_RECORD = """CREATE TABLE IF NOT EXISTS migrations (
    position INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    ts TEXT NOT NULL
) STRICT"""

Query = Callable[[str], list[tuple[Any, ...]]]
Execute = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of a schema: its name and its statements, in order."""

    name: str
    statements: tuple[str, ...]

    @property
    def digest(self) -> str:
        return _digest(self.statements)


@lru_cache(maxsize=512)  # asked for every step of every database that is opened
def _digest(statements: tuple[str, ...]) -> str:
    return sha256_hex(canonical_json(statements))


def applied(query: Query) -> list[tuple[str, str]]:
    """Name and digest of what has run on this file, in order."""
    if not query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'"):
        return []
    return [(name, digest) for name, digest in query("SELECT name, digest FROM migrations ORDER BY position")]


def run(execute: Execute, migration: Migration, clock: Clock) -> None:
    """Run one migration and record it, inside the caller's transaction."""
    execute(_RECORD)
    for statement in migration.statements:
        execute(statement)
    execute(
        "INSERT INTO migrations (position, name, digest, ts)"
        " SELECT coalesce(max(position), 0) + 1, ?, ?, ? FROM migrations",
        (migration.name, migration.digest, to_text(clock.now())),
    )


def refuse_foreign(path: Path, done: Sequence[tuple[str, str]], known: Sequence[Migration]) -> None:
    """What has run must be the beginning of what is known, to the letter."""
    if len(done) > len(known):
        raise StoreSchema(
            f"{path} was written by a newer Metnos (it has the step {done[len(known)][0]!r}). It was left as it is.",
            fix="Install the newer version again, or restore a backup made by this one.",
        )
    for (name, digest), migration in zip(done, known, strict=False):
        if (name, digest) != (migration.name, migration.digest):
            raise StoreSchema(
                f"{path} has another history than this Metnos knows, from the step {name!r} on. It was left as it is.",
                fix="Install the version that wrote it, or restore a backup made by this one.",
            )
