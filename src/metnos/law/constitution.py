"""The constitution: four Laws as data in SOUL.md, pinned by hash.

Rules: the Laws are numbered 0 to 3, each has a name and a text, and on conflict the lower number wins. The file is
pinned by its hash in the store: any edit is noticed at the next start, and recorded before anything else happens, as
"constitution modified". There is no function here, and no command anywhere, that changes or suspends a Law: the only
way is the rite, an edit by hand from outside. A SOUL.md that does not hold all four Laws stops everything that acts.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.errors import ConstitutionError
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.store.db import Database, Row
from metnos.store.migrations import Migration

MODIFIED = "constitution modified"
PINNED = "constitution pinned"
COUNT = 4

MIGRATIONS = (
    Migration(
        "0001_constitution",
        (
            """CREATE TABLE constitution (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                soul TEXT NOT NULL,
                laws TEXT NOT NULL,
                ts TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^## Law (\d+): (\S.*?)\s*$", re.MULTILINE)
_ANY_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)
_FIX = "Mend SOUL.md by hand, or move it away and run `metnos init` to get the original back."
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Law:
    """One Law. Lower numbers win."""

    number: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Constitution:
    """The four Laws in order, and the digests they are pinned by: of the whole file, and of the Laws alone."""

    laws: tuple[Law, ...]
    soul: str
    digest: str


class Standing(StrEnum):
    """How the file stands to its pin."""

    PINNED = "pinned"
    KEPT = "kept"
    MODIFIED = "modified"


def read(path: Path) -> Constitution:
    """The constitution as it stands in SOUL.md."""
    try:
        content = path.read_bytes()
        if len(content) > _MAX_BYTES:
            raise ConstitutionError(f"{path} is too large to be a constitution", fix=_FIX)
        text = content.decode()
    except FileNotFoundError as error:
        raise ConstitutionError(f"{path} is missing: without it nothing may act", fix="Run `metnos init`.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConstitutionError(f"{path} cannot be read: {error}", fix=_FIX) from error
    laws = parse(text)
    as_data: list[Json] = [[law.number, law.name, law.text] for law in laws]
    return Constitution(laws, sha256_hex(content), sha256_hex(canonical_json(as_data)))


def parse(text: str) -> tuple[Law, ...]:
    """The four Laws in ``text``; comments do not count, so a Law cannot be hidden in one."""
    body = _COMMENT.sub("", text)
    laws = []
    for heading in _HEADING.finditer(body):
        end = _ANY_HEADING.search(body, heading.end())
        words = body[heading.end() : end.start() if end else len(body)].split()
        laws.append(Law(int(heading.group(1)), heading.group(2), " ".join(words)))
    numbers = [law.number for law in laws]
    if numbers != list(range(COUNT)):
        found = ", ".join(map(str, numbers)) or "none"
        raise ConstitutionError(
            f"SOUL.md must hold Law 0 to Law {COUNT - 1}, once each and in order (found: {found})", fix=_FIX
        )
    for law in laws:
        if not law.text:
            raise ConstitutionError(f"Law {law.number} in SOUL.md has no text", fix=_FIX)
    return tuple(laws)


def uphold(constitution: Constitution, db: Database, audit: Audit, clock: Clock) -> Standing:
    """Compare the file with its pin; if it was edited, record that and pin anew. Comes before anything acts."""
    if _pinned(db.query) == constitution.soul:
        return Standing.KEPT
    with db.write() as tx:
        pinned = _pinned(tx.query)
        if pinned == constitution.soul:  # another process started at the same moment, and one record is enough
            return Standing.KEPT
        # A store that was lost must not make an edit look like a first start: the audit remembers the pin too.
        before = pinned or _recorded(audit)
        kind = PINNED if before in (None, constitution.soul) else MODIFIED
        digests = {"soul": constitution.soul, "laws": constitution.digest}
        audit.append(Entry(kind, digests=digests | ({"soul_before": before} if before else {})))
        tx.execute(
            "INSERT INTO constitution (soul, laws, ts) VALUES (?, ?, ?)",
            (constitution.soul, constitution.digest, to_text(clock.now())),
        )
    return Standing.PINNED if kind == PINNED else Standing.MODIFIED


def _pinned(query: Callable[[str], list[Row]]) -> str | None:
    rows = query("SELECT soul FROM constitution ORDER BY id DESC LIMIT 1")
    return str(rows[0][0]) if rows else None


def _recorded(audit: Audit) -> str | None:
    lines = (line for line in audit.newest() if line.kind in (PINNED, MODIFIED))
    return next((line.entry.digests.get("soul") for line in lines), None)
