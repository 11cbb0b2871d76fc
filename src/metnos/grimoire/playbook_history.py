"""What Metnos remembers of PLAYBOOK.md: every version of it, and which of its lines are Metnos's own.

Rules: a version is kept as it was, to the byte, also if it is no proper text. What is forgotten leaves every version.
Lines that the owner took out are known by a digest only. The state is one row, so that it changes at one stroke.
"""

import base64
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.difference import unified
from metnos.core.errors import UsageError
from metnos.grimoire import playbook_marks
from metnos.grimoire.playbook_text import Line, without
from metnos.store.db import Database, Row, Transaction

Says = Callable[[str], bool]  # whether a text says what is to be forgotten

OWNER, METNOS = "owner", "metnos"
_STATE = "playbook"  # the name of the row of ``progress``
_PACKED = "data:;base64,"  # before what is no text
_COLUMNS = "id, ts, digest, by, why"


@dataclass(frozen=True, slots=True)
class Version:
    """One content that the file had. ``by`` says who wrote it: `owner` or `metnos`."""

    id: int
    ts: datetime
    digest: str
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Intent:
    """What is about to be written: the digests of what is there and of what comes, and what will be true then."""

    base: str
    made: str
    staged: Path
    version: int
    ours: tuple[Line, ...]
    headings: tuple[str, ...]
    saved: int = 0  # the version that the owner wants there, if it is not what is there


@dataclass(frozen=True, slots=True)
class State:
    """What stands in the file by Metnos's hand; ``maybe`` may, since a write was interrupted."""

    ours: tuple[Line, ...] = ()
    headings: tuple[str, ...] = ()
    barred: frozenset[str] = frozenset()
    intent: Intent | None = None
    maybe: tuple[Line, ...] = ()


class History:
    """The versions and the state of one playbook."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self.db = db
        self._clock = clock

    # -- versions

    def add(self, tx: Transaction, content: bytes, by: str, why: str, *, anyway: bool = False) -> int:
        """Keep a content, unless it is the newest already; returns the number of its version."""
        digest = sha256_hex(content)
        newest = tx.first("SELECT id, digest FROM playbook_versions ORDER BY id DESC LIMIT 1")
        if not anyway and newest is not None and newest[1] == digest:
            return int(newest[0])
        now = to_text(self._clock.now())
        tx.execute(
            "INSERT INTO playbook_versions (ts, digest, by, why, text) VALUES (?, ?, ?, ?, ?)",
            (now, digest, by, why, packed(content)),
        )
        (number,) = tx.first("SELECT last_insert_rowid()") or (0,)
        return int(number)

    def versions(self) -> list[Version]:
        """All versions, the oldest first."""
        rows = self.db.query(f"SELECT {_COLUMNS} FROM playbook_versions ORDER BY id")  # noqa: S608 -- our own words
        return [_version(row) for row in rows]

    def content(self, version: int) -> bytes:
        row = self.db.first("SELECT text FROM playbook_versions WHERE id = ?", (version,))
        if row is None:
            raise UsageError(f"there is no version {version} of PLAYBOOK.md", fix="The numbers begin at 1.")
        return unpacked(row[0])

    def newest(self) -> bytes | None:
        """The content of the newest version."""
        row = self.db.first("SELECT text FROM playbook_versions ORDER BY id DESC LIMIT 1")
        return None if row is None else unpacked(row[0])

    def diff(self, older: int, newer: int) -> str:
        """What changed between two versions, as a unified diff; of what is no text, what can be shown."""
        old, new = (self.content(each).decode("utf-8", "replace") for each in (older, newer))
        return "\n".join(unified(old, new, (f"version {older}", f"version {newer}")))

    def forget(self, tx: Transaction, words: Collection[str], says: Says) -> int:
        """Take points, and lines that say it, out of every version; returns how many versions held any."""
        tx.query("PRAGMA secure_delete = ON")
        changed = 0
        for number, text in tx.query("SELECT id, text FROM playbook_versions"):
            content = unpacked(text)
            lines = playbook_marks.without(without(content, words), words).splitlines(keepends=True)
            made = b"".join(line for line in lines if not says(line.decode("utf-8", "replace")))
            if made != content:
                changed += 1
                tx.execute(
                    "UPDATE playbook_versions SET text = ?, digest = ? WHERE id = ?",
                    (packed(made), sha256_hex(made), number),
                )
        return changed

    # -- state

    def state(self) -> State:
        row = self.db.first("SELECT value FROM progress WHERE name = ?", (_STATE,))
        return State() if row is None else _read(json.loads(row[0]))

    def keep(self, tx: Transaction, state: State) -> None:
        tx.query("PRAGMA secure_delete = ON")
        tx.execute("DELETE FROM progress WHERE name = ?", (_STATE,))  # to write it in any case: see `Writer._certain`
        tx.execute(
            "INSERT INTO progress (name, value, ts) VALUES (?, ?, ?)",
            (_STATE, _written(state), to_text(self._clock.now())),
        )

    def drop(self, tx: Transaction, state: State) -> State:
        """Give up an intent that never came about."""
        if state.intent is not None:
            tx.query("PRAGMA secure_delete = ON")
            tx.execute("DELETE FROM playbook_versions WHERE id = ?", (state.intent.version,))
        dropped = replace(state, intent=None)
        self.keep(tx, dropped)
        return dropped


def packed(content: bytes) -> str:
    """A content as text that a table can hold; `unpacked` gives back every byte."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = _PACKED
    return f"{_PACKED}{base64.b64encode(content).decode()}" if text.startswith(_PACKED) or "\0" in text else text


def unpacked(text: str) -> bytes:
    """The inverse of `packed`."""
    return base64.b64decode(text.removeprefix(_PACKED)) if text.startswith(_PACKED) else text.encode()


def _version(row: Row) -> Version:
    number, ts, digest, by, why = row
    return Version(number, from_text(ts), digest, by, why)


def _written(state: State) -> str:
    value: dict[str, Any] = {
        "ours": _lines_out(state.ours),
        "headings": list(state.headings),
        "barred": sorted(state.barred),
        "maybe": _lines_out(state.maybe),
    }
    if state.intent is not None:
        found = state.intent
        value["intent"] = {
            "base": found.base,
            "made": found.made,
            "staged": str(found.staged),
            "version": found.version,
            "saved": found.saved,
            "ours": _lines_out(found.ours),
            "headings": list(found.headings),
        }
    return canonical_json(value).decode()


def _read(value: dict[str, Any]) -> State:
    found = value.get("intent")
    intent = found and Intent(
        found["base"],
        found["made"],
        Path(found["staged"]),
        found["version"],
        _lines_in(found["ours"]),
        tuple(found["headings"]),
        found["saved"],
    )
    return State(
        _lines_in(value["ours"]),
        tuple(value["headings"]),
        frozenset(value["barred"]),
        intent or None,
        _lines_in(value["maybe"]),
    )


def _lines_out(lines: Collection[Line]) -> list[list[str]]:
    return [[line.fact, line.strategy, line.words] for line in lines]


def _lines_in(rows: list[list[str]]) -> tuple[Line, ...]:
    return tuple(Line(*row) for row in rows)
