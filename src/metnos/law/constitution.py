"""The constitution: four Laws as data in SOUL.md, pinned by hash.

Rules: the Laws are numbered 0 to 3, each has a name and a text, and on conflict the lower number wins. What a person
sees of the file is what counts: it may hold comments before the first Law, and otherwise nothing that hides or adds
text (no HTML, no code fences, no invisible characters). The file is pinned by its hash in the store, signed: any edit
is noticed at the next start, and recorded before anything else happens, as "constitution modified". There is no
function here, and no command anywhere, that changes or suspends a Law: the only way is the rite, an edit by hand from
outside. A SOUL.md that does not hold all four Laws stops everything that acts.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.errors import ConstitutionError
from metnos.core.sign import Signer, verify
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.store.db import Database, Row
from metnos.store.migrations import Migration

MODIFIED = "constitution modified"
PINNED = "constitution pinned"
PURPOSE = "constitution"
COUNT = 4

MIGRATIONS = (
    Migration(
        "0001_constitution",
        (
            """CREATE TABLE constitution (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                soul TEXT NOT NULL,
                laws TEXT NOT NULL,
                ts TEXT NOT NULL,
                signature TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^## Law ([0-9]): (\S.*?)\s*$", re.MULTILINE)
_LIKE_A_HEADING = re.compile(r"^[^\w\n]*law\W*\w+\W*:", re.MULTILINE | re.IGNORECASE)
_HIDING = re.compile(r"<!|-->|<[a-z/?]|```|~~~", re.IGNORECASE)
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
        if path.exists() and not path.is_file():
            raise ConstitutionError(f"{path} is not a file", fix=_FIX)
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


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[Law, ...]:
    """The four Laws in ``text``, which must read to a program exactly as it reads to a person."""
    body = _plain(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    laws = []
    for heading in _HEADING.finditer(body):
        end = _ANY_HEADING.search(body, heading.end())
        words = body[heading.end() : end.start() if end else len(body)].split()
        laws.append(Law(int(heading.group(1)), heading.group(2), " ".join(words)))
    numbers = [law.number for law in laws]
    if numbers != list(range(COUNT)) or len(_LIKE_A_HEADING.findall(body)) != COUNT:
        found = ", ".join(map(str, numbers)) or "none"
        what = (
            f"SOUL.md must hold `## Law 0: name` to `## Law {COUNT - 1}: name`, once each and in order (found: {found})"
        )
        raise ConstitutionError(what, fix=_FIX)
    for law in laws:
        if not any(char.isalpha() for char in law.text):
            raise ConstitutionError(f"Law {law.number} in SOUL.md has no text", fix=_FIX)
    return tuple(laws)


def _plain(text: str) -> str:
    """The text without the comments before its first heading of a Law; refuses whatever else could hide something."""
    opening = _LIKE_A_HEADING.search(_COMMENT.sub(lambda comment: " " * len(comment.group()), text))
    at = opening.start() if opening else len(text)
    body = _COMMENT.sub("", text[:at]) + text[at:]
    hidden = _HIDING.search(body) or next((char for char in body if _is_invisible(char)), None)
    if hidden:
        what = hidden if isinstance(hidden, str) else hidden.group()
        raise ConstitutionError(f"SOUL.md holds {what!r}, which can hide text from a reader", fix=_FIX)
    return body


def _is_invisible(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp")


def uphold(constitution: Constitution, db: Database, audit: Audit, signer: Signer, clock: Clock) -> Standing:
    """Compare the file with its pin; if it was edited, record that and pin anew. Comes before anything acts."""
    if _pinned(db.query, signer) == constitution.soul:
        return Standing.KEPT
    with db.write() as tx:
        pinned = _pinned(tx.query, signer)
        if pinned == constitution.soul:  # another process started at the same moment, and one record is enough
            return Standing.KEPT
        # A store that was lost or forged must not hide an edit: the audit remembers the pin too.
        before = pinned or _recorded(audit)
        kind = PINNED if before in (None, constitution.soul) else MODIFIED
        digests = {"soul": constitution.soul, "laws": constitution.digest}
        audit.append(Entry(kind, digests=digests | ({"soul_before": before} if before else {})))
        signature = signer.sign(PURPOSE, constitution.soul.encode())
        tx.execute(
            "INSERT INTO constitution (soul, laws, ts, signature) VALUES (?, ?, ?, ?)",
            (constitution.soul, constitution.digest, to_text(clock.now()), signature),
        )
    return Standing.PINNED if kind == PINNED else Standing.MODIFIED


def was_pinned(db: Database, signer: Signer) -> bool:
    """Whether the store remembers that a constitution was ever upheld; one that was lost does not."""
    return _pinned(db.query, signer) is not None


def _pinned(query: Callable[[str], list[Row]], signer: Signer) -> str | None:
    """The pinned digest, if the agent itself pinned it."""
    rows = query("SELECT soul, signature FROM constitution ORDER BY id DESC LIMIT 1")
    if rows and verify(signer.public, PURPOSE, rows[0][0].encode(), rows[0][1]):
        return str(rows[0][0])
    return None


def _recorded(audit: Audit) -> str | None:
    lines = (line for line in audit.newest() if line.kind in (PINNED, MODIFIED))
    return next((line.entry.digests.get("soul") for line in lines), None)
