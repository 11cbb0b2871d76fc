"""Searching episodes in SQLite, by vectors and by words.

Rules: a search first takes a few more candidates than are wanted and looks them up; only if too few of them satisfy the
condition does it look at everything that does. So a condition never costs results, and one that nearly everything
satisfies costs next to no time. Any text is a safe query: of it only words are taken, each of them quoted.

Does not guarantee that words of languages without blanks between them are found: a run of them is one word.
"""

import math
import unicodedata
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from metnos.grimoire import episodes_rows as rows
from metnos.grimoire import vectors
from metnos.grimoire.episode import Where
from metnos.grimoire.episodes_rows import Condition, Hit
from metnos.grimoire.vectors import Held
from metnos.store.db import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves = NDArray[np.float16]

HAS_TAG = "EXISTS (SELECT 1 FROM json_each(tags) WHERE value IN ({}))"

_WIDER = 8  # by how much more is asked for when too few candidates satisfy the condition
_SPARE = 8  # candidates more than twice as many as wanted, if there is a condition: most hold for nearly everything
_WIDEST = 4_096  # candidates at most: beyond, looking at everything that satisfies the condition costs no more
_WORDS = 64  # of a query at most: a page of text asks for nothing more exactly than its first words
_CHUNK = 4_096
_LARGE = 5_000  # episodes from which on it matters which words are frequent
_SHARE = 0.1  # of the episodes: a word that more than these hold is frequent, and weighs half of what a rare one does
_RAREST = 2  # words of a query that stay, however frequent they are, below half
_AGAIN = 1.25  # by how much the store must have grown for that to be asked again
_KNOWN = 10_000  # words of which it is remembered
_FEW = 4_096  # episodes that hold any of the words: so many are ranked in a few milliseconds
_WORTH = 0.25  # of these that are to be saved by ranking the others first
_REPEATED = 2.2  # times its weight is the most that a word can give to an episode: 1 + k1, of FTS5's BM25

Found = list[tuple[int, float]]  # `seq` and score, the best first


def nearest(db: Database, held: Held, query: "Halves", count: int, where: Where) -> list[Hit]:
    """By cosine."""

    def candidates(many: int) -> Found:
        keys, found = held.nearest(query, many)
        return list(zip(keys.tolist(), found.tolist(), strict=True))

    def all_of(condition: Condition) -> Found:
        keys, found = vectors.exact(_vectors_where(db, condition), query, count)
        return list(zip(keys.tolist(), found.tolist(), strict=True))

    return _sift(db, candidates, all_of, count, where)


class Common:
    """How many episodes hold a word, to leave frequent ones out of a query or for later. Threads may share it.

    FTS5 looks at every episode that holds any of the words, so frequent ones cost nearly all the time and say next to
    nothing: those that more than half hold have no weight at all. Only in large stores, and the rarest always stay. It
    is counted anew when there are a quarter more episodes.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[str, int] = {}
        self._total = 0

    def left_out_of(self, words: list[str]) -> list[str]:
        """The words without the frequent ones; in large stores the rarest first."""
        row = self._db.first("SELECT max(seq) FROM episodes")
        total = 0 if row is None or row[0] is None else int(row[0])
        if total < _LARGE:
            return words
        if total > _AGAIN * self._total or len(self._known) > _KNOWN:
            self._known, self._total = {}, total
        known = self._known
        for word in words:
            if word not in known:
                known[word] = self._count(word, total // 2 + 1)
        rarest = sorted((word for word in words if known[word] <= total // 2), key=lambda word: known[word])
        return [word for place, word in enumerate(rarest) if place < _RAREST or known[word] <= _SHARE * total] or words

    def rarer(self, words: list[str], many: int) -> int:
        """How many of the words, the rarest first, likely have the ``many`` best among what holds any of them.

        That they have is sure where the last of these has a greater score than the other words can give together.
        Likely that score is what a word weighs that so many hold, or what two weigh that so many would hold by chance.
        """
        counts = [self._known.get(word, 0) for word in words]
        every = sum(counts)
        if every <= _FEW:
            return len(words)
        weighed = list(zip(self.most(words), counts, strict=True))
        alone = [weight for weight, held in weighed if held >= many]
        both = [one + other for (one, a), (other, b) in combinations(weighed, 2) if a * b >= many * self._total]
        likely = max((*alone, *both), default=0.0)
        for place in range(1, len(words)):
            if sum(counts[:place]) >= many and sum(weight for weight, _ in weighed[place:]) <= likely / _REPEATED:
                return place if sum(counts[place:]) >= _WORTH * every else len(words)
        return len(words)

    def most(self, words: list[str]) -> list[float]:
        """What each of the words weighs at most, as FTS5 weighs them: there may be more episodes than were counted."""
        counts = (self._known.get(word, 0) for word in words)
        return [math.log(max(1.0, (_AGAIN * self._total - held + 0.5) / (held + 0.5))) for held in counts]

    def _count(self, word: str, most: int) -> int:
        sql = "SELECT count(*) FROM (SELECT 1 FROM episodes_text WHERE episodes_text MATCH ? LIMIT ?)"
        row = self._db.first(sql, (f'"{word}"', most))
        return 0 if row is None else int(row[0])


def matching(db: Database, common: Common, text: str, count: int, where: Where) -> list[Hit]:
    """By words."""
    words = common.left_out_of(words_of(text))
    if not words:
        return []

    def candidates(many: int) -> Found:
        return _rarest_first(db, common, words, many)

    def all_of(condition: Condition) -> Found:
        sql = f"""SELECT seq, -rank FROM episodes_text t CROSS JOIN episodes NOT INDEXED ON seq = t.rowid
            WHERE episodes_text MATCH ? AND {condition.sql or "1"} ORDER BY rank LIMIT ?"""  # noqa: S608 -- our own words
        return db.query(sql, (_any_of(words), *condition.values, count))

    return _sift(db, candidates, all_of, count, where)


def _rarest_first(db: Database, common: Common, words: list[str], many: int) -> Found:
    """The best by words, as FTS5 ranks them. What holds none of the rarer words is ranked only if it may be among them.

    Ranking is what costs, a microsecond each, and most that would be ranked holds nothing but the most frequent words.
    """
    place = common.rarer(words, many)
    rarer, rest = _any_of(words[:place]), _any_of(words[place:])
    found = _ranked(db, rarer, many)
    if not rest:
        return found
    found = _joined(found, _ranked(db, f"({rarer}) AND ({rest})", many), many)  # now with what the rest gives to them
    if len(found) < many or found[-1][1] < _REPEATED * sum(common.most(words[place:])):
        found = _joined(found, _ranked(db, f"({rest}) NOT ({rarer})", many), many)
    return found


def _joined(found: Found, more: Found, many: int) -> Found:
    """The best of both; of one that is in both the score that comes with ``more``."""
    return sorted((dict(found) | dict(more)).items(), key=lambda each: (-each[1], each[0]))[:many]


def _ranked(db: Database, query: str, many: int) -> Found:
    # Not in order of `rank`, as FTS5 has it: that sorts all that match, and this only what is asked for.
    sql = """SELECT rowid, bm25(episodes_text) AS score FROM episodes_text
        WHERE episodes_text MATCH ? ORDER BY score LIMIT ?"""
    return [(key, -score) for key, score in db.query(sql, (query, many))]


def _any_of(words: list[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def words_of(text: str) -> list[str]:
    """The words of a query, each once: letters, digits and the signs that go with them."""
    plain = "".join(each if each.isalnum() or unicodedata.category(each)[0] == "M" else " " for each in text.lower())
    return list(dict.fromkeys(plain.split()))[:_WORDS]


def _sift(
    db: Database, candidates: Callable[[int], Found], all_of: Callable[[Condition], Found], count: int, where: Where
) -> list[Hit]:
    """The best that satisfy the condition. ``all_of`` looks at every one that does."""
    if count <= 0:
        return []
    condition = rows.condition(where, has_tag=HAS_TAG)
    many = 2 * count + _SPARE if condition.sql else count
    while many <= max(_WIDEST, count):
        found = candidates(many)
        hits = _looked_up(db, found, condition, count)
        if len(hits) == count or len(found) < many:
            return hits
        many *= _WIDER
    return _looked_up(db, all_of(condition), condition, count)


def _looked_up(db: Database, found: Found, condition: Condition, count: int) -> list[Hit]:
    """Those that are still there and satisfy the condition."""
    hits: list[Hit] = []
    start, many = 0, count + count // _SPARE + _SPARE  # the spare ones are looked up only if these do not suffice
    while start < len(found) and len(hits) < count:
        part = found[start : start + many]
        # By number only: an index on what the condition names would read everything that satisfies it.
        sql = f"SELECT {rows.OUTLINE_LIST} FROM episodes NOT INDEXED WHERE seq IN ({rows.marks(len(part))})"  # noqa: S608
        if condition.sql:
            sql += f" AND {condition.sql}"
        known = {row[0]: row for row in db.query(sql, (*(key for key, _ in part), *condition.values))}
        there = [(known[key], score) for key, score in part if key in known]
        hits += [Hit(rows.outline(row), score) for row, score in there[: count - len(hits)]]
        start, many = start + many, _CHUNK
    return hits


def _vectors_where(db: Database, condition: Condition) -> Iterator[list[tuple[int, bytes]]]:
    """Every vector of an episode that satisfies the condition, in chunks."""
    sql = f"""SELECT seq, vector FROM episodes CROSS JOIN vectors ON episode = seq
        WHERE space = (SELECT id FROM spaces WHERE current = 1)
        AND seq > ? AND {condition.sql or "1"} ORDER BY seq LIMIT ?"""  # noqa: S608 -- our own words
    after = 0
    with db.read() as tx:
        while chunk := tx.query(sql, (after, *condition.values, _CHUNK)):
            yield chunk
            after = chunk[-1][0]
