"""Finding facts by meaning and by words.

Vectors are kept in memory in parts, one for each domain and kind, and a part is read again only when its rows changed.
A search that names domains or kinds looks at those parts only. One that does not looks at the parts whose middle is
nearest until it has seen `SCANNED` vectors: below that number it is exact, above it the search does not grow with what
is stored.

Rules: vectors of two spaces are never compared. Words are searched over all parts, and any text is a safe question.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metnos.core.embedding import Space
from metnos.core.errors import StoreError
from metnos.grimoire import facts_rows as rows
from metnos.grimoire.fact import Fact
from metnos.grimoire.facts_rows import Which
from metnos.store.db import Database, Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

SCANNED = 10_000  # the source document partitions beyond so many facts
_QUESTION = 40  # words of a question that count
_WORD = re.compile(r"\w+")

Key = tuple[str, str]  # domain and kind


@dataclass(frozen=True, slots=True)
class Found:
    """A fact and how near it is: a cosine, or a rank by words (higher is nearer)."""

    fact: Fact
    score: float


@dataclass(frozen=True, slots=True)
class _Part:
    """One domain and kind: every row by id, and the vectors of those that have one."""

    stamp: tuple[int, int, str]  # how many rows, the highest place, and whose it is
    rows: frozenset[str]
    ids: list[str]
    matrix: "NDArray[np.float32]"
    middle: "Vector"


class Finder:
    """Searches; safe to share between threads."""

    def __init__(self, db: Database, scanned: int = SCANNED) -> None:
        self._db = db
        self._scanned = scanned
        self._lock = threading.Lock()
        self._parts: dict[Key, _Part] = {}
        self._space: str = ""

    def nearest(self, vector: "Vector", space: Space, count: int, which: Which) -> list[Found]:
        """The nearest by cosine, best first. Raises if the stored vectors are of another space."""
        held = rows.space_of(self._db)
        if held is None or count <= 0:
            return []
        if held != space:
            raise StoreError(
                f"facts have vectors of {held.model}, the question has one of {space.model}: they cannot be compared",
                fix="Use the embedder the memory was made with, or move the memory to the new one.",
            )
        scores, ids = self._scored(vector, space, which)
        found: list[Found] = []
        place, wide = 0, count
        while len(found) < count and place < len(ids):
            some = ids[place : place + wide]
            meant = {fact.id: fact for fact in self._meant(some, which)}
            found += [Found(meant[key], scores[place + at]) for at, key in enumerate(some) if key in meant]
            place, wide = place + wide, wide * 2
        return found[:count]

    def matching(self, text: str, count: int, which: Which) -> list[Found]:
        """By words (BM25), best first."""
        asked = list(dict.fromkeys(word.casefold() for word in _WORD.findall(text)))[:_QUESTION]
        if not asked or count <= 0:
            return []
        where, values = which.sql()
        sql = (
            "SELECT f.id, -bm25(facts_text) FROM facts_text JOIN facts f ON f.seq = facts_text.rowid"  # noqa: S608
            f" WHERE facts_text MATCH ? AND {where} ORDER BY bm25(facts_text), f.seq LIMIT ?"  # our own words
        )
        question = " OR ".join(f'"{word}"' for word in asked)
        with self._db.read() as tx:
            hits = tx.query(sql, [question, *values, count])
            facts = {fact.id: fact for fact in rows.read(tx, [key for key, _ in hits])}
        return [Found(facts[key], float(score)) for key, score in hits if key in facts]

    def forget(self) -> None:
        """Let go of what is held in memory: it may hold what was removed."""
        with self._lock:
            self._parts.clear()

    # -- inside

    def _scored(self, vector: "Vector", space: Space, which: Which) -> tuple[list[float], list[str]]:
        """Cosines and ids, the nearest first."""
        import numpy as np

        question = np.asarray(vector, dtype=np.float32)
        parts = self._current(space, which)
        parts.sort(key=lambda part: -float(part.middle @ question))
        ids: list[str] = []
        scores = []
        for part in parts:
            if len(ids) >= self._scanned:
                break
            ids += part.ids
            scores.append(part.matrix @ question)
        if not ids:
            return [], []
        together = np.concatenate(scores)
        order = np.argsort(-together, kind="stable")
        return together[order].tolist(), [ids[place] for place in order]

    def _current(self, space: Space, which: Which) -> list[_Part]:
        """The parts that are meant; what changed in one since is read, and no more."""
        where, values = Which(kinds=which.kinds, domains=which.domains, standings=()).sql()
        sql = (
            "SELECT g.domain, g.kind, g.many, g.highest, t.id FROM (SELECT f.domain, f.kind, count(*) AS many,"  # noqa: S608
            f" max(f.seq) AS highest FROM facts f WHERE {where} GROUP BY 1, 2) g JOIN facts t ON t.seq = g.highest"
        )
        named = rows.space_text(space)
        with self._db.read() as tx, self._lock:
            if self._space != named:
                self._parts, self._space = {}, named
            found = []
            for domain, kind, *stamp in tx.query(sql, values):
                part = self._parts.get((domain, kind))
                if part is None or part.stamp != tuple(stamp):
                    part = _renewed(tx, (domain, kind), part, (stamp[0], stamp[1], stamp[2]), space)
                    self._parts[domain, kind] = part
                found.append(part)
        return [part for part in found if part.ids]

    def _meant(self, ids: Sequence[str], which: Which) -> list[Fact]:
        return [fact for fact in rows.read(self._db, ids) if is_meant(fact, which)]


def is_meant(fact: Fact, which: Which) -> bool:
    """The same as `Which.sql`, for a fact at hand."""
    if which.visible_to is not None:
        viewer = which.visible_to
        open_to = ("shared", "owner", "agent") if viewer.is_owner else ("shared",)
        bound = fact.scope in ("sender", "session") and fact.sender == viewer.sender
        if fact.scope not in open_to and not bound:
            return False
    return (
        (not which.standings or fact.standing in which.standings)
        and (not which.kinds or fact.kind in which.kinds)
        and (not which.domains or fact.domain in which.domains)
        and (not which.scopes or fact.scope in which.scopes)
        and (not which.subject or fact.subject == which.subject)
    )


def _renewed(tx: Transaction, key: Key, part: _Part | None, stamp: tuple[int, int, str], space: Space) -> _Part:
    """A part as it is now: the new rows added to what is held, or all of it read if rows went."""
    import numpy as np

    empty = np.zeros((0, space.dim), dtype=np.float32)
    old = part or _Part((0, 0, ""), frozenset(), [], empty, empty.sum(axis=0))
    sql = (
        "SELECT id, CASE WHEN space = ? THEN vector END FROM facts"
        " WHERE domain = ? AND kind = ? AND seq > ? ORDER BY seq"
    )
    new = tx.query(sql, (rows.space_text(space), *key, old.stamp[1]))
    known = old.rows | {fact for fact, _ in new}
    last = tx.first("SELECT id FROM facts WHERE seq = ?", (old.stamp[1],))
    if part is not None and (len(known) != stamp[0] or last != (old.stamp[2],)):  # rows went, or were never committed
        return _renewed(tx, key, None, stamp, space)
    moved = old.rows & {fact for fact, _ in new}
    kept = [place for place, fact in enumerate(old.ids) if fact not in moved]
    fresh = [(fact, blob) for fact, blob in new if blob is not None]
    added = np.frombuffer(b"".join(blob for _, blob in fresh), dtype=np.float32).reshape(len(fresh), space.dim)
    held = old.matrix if len(kept) == len(old.ids) else old.matrix[kept]
    matrix = np.concatenate([held, added])
    middle = matrix.mean(axis=0) if len(matrix) else np.zeros(space.dim, dtype=np.float32)
    return _Part(stamp, known, [*(old.ids[place] for place in kept), *(fact for fact, _ in fresh)], matrix, middle)
