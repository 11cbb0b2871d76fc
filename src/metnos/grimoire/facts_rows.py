"""Facts as rows: the only code that writes and reads what a fact consists of.

Rules: all of a fact or nothing, in the caller's transaction; what is read is what was written. A row gets a new place
(``seq``) when its words or its vector change, so that whoever keeps vectors in memory sees by the highest place and the
count whether theirs are still true. Removing leaves no byte: freed pages are overwritten, and the full-text index is
written anew, because its segments would keep the words.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from metnos.core.canon import canonical_json
from metnos.core.clock import from_text, to_text
from metnos.core.embedding import Space
from metnos.core.errors import StoreError
from metnos.grimoire import content
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Provenance, Scope, Viewer
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.store.db import Database, Row, Transaction, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Store = Database | Transaction

_SAID = ("id", "kind", "text", "domain", "subject", "value", "data")
_BELIEVED = (
    "confidence",
    "quality",
    "provenance",
    "generation",
    "decay",
    "scope",
    "sender",
    "standing",
    "episode_count",
)
_TIMES = ("created", "reinforced", "applied", "valid_from", "valid_until", "confirm_by")
_REST = ("pleasure", "arousal", "dominance", "bloodstain", "pinned", "shown", "helped", "harmed", "low_cycles", "tags")
COLUMNS = (*_SAID, *_BELIEVED, *_TIMES, *_REST)
_SAME = ("id", "text", "domain", "subject", "value", "confidence", "quality", "generation", "sender", "episode_count")
_PLAIN = (*_SAME, "shown", "helped", "harmed", "low_cycles")  # read as they stand
_NAMES = ", ".join(COLUMNS)
_READ = ", ".join(f"f.{name}" for name in COLUMNS)
_IN = 500  # ids of one statement
SOURCES = 1000  # episodes that are named as a fact's; how many there were is counted


@dataclass(frozen=True, slots=True)
class Which:
    """Which facts are meant. An empty tuple or text means any."""

    kinds: tuple[Kind, ...] = ()
    domains: tuple[str, ...] = ()
    subject: str = ""
    standings: tuple[Standing, ...] = (Standing.ACTIVE,)
    scopes: tuple[Scope, ...] = ()
    visible_to: Viewer | None = None

    def sql(self) -> tuple[str, list[Value]]:
        """As a condition on ``f``, and its values."""
        parts: list[str] = ["1"]
        values: list[Value] = []
        for column, wanted in (
            ("standing", self.standings),
            ("kind", self.kinds),
            ("domain", self.domains),
            ("scope", self.scopes),
        ):
            if wanted:
                parts.append(f"f.{column} IN ({_marks(len(wanted))})")
                values += [str(each) for each in wanted]
        if self.subject:
            parts.append("f.subject = ? AND f.subject <> ''")
            values.append(self.subject)
        if self.visible_to is not None:
            open_to = [Scope.SHARED, *((Scope.OWNER, Scope.AGENT) if self.visible_to.is_owner else ())]
            parts.append(f"(f.scope IN ({_marks(len(open_to))}) OR f.scope IN ('sender', 'session') AND f.sender = ?)")
            values += [*map(str, open_to), self.visible_to.sender]
        return " AND ".join(parts), values


# -- reading


def read(store: Store, ids: Sequence[str]) -> list[Fact]:
    """Facts in the order asked; those that are missing are left out."""
    found: dict[str, Row] = {}
    for some in _parts(list(dict.fromkeys(ids))):
        sql = f"SELECT {_READ} FROM facts f WHERE f.id IN ({_marks(len(some))})"  # noqa: S608 -- our own words
        found.update({row[0]: row for row in store.query(sql, some)})
    made = {fact.id: fact for fact in facts(store, list(found.values()))}
    return [made[each] for each in ids if each in made]


def select(store: Store, which: Which, count: int) -> list[Fact]:
    """The facts meant, the most believed first."""
    where, values = which.sql()
    sql = f"SELECT {_READ} FROM facts f WHERE {where} ORDER BY f.confidence DESC, f.seq LIMIT ?"  # noqa: S608 -- our own
    return facts(store, store.query(sql, [*values, count]))


def facts(store: Store, rows: Sequence[Row]) -> list[Fact]:
    """Rows as facts, with their sources and contradictions."""
    ids = [row[0] for row in rows]
    sources, against = _gathered(store, ids), _contradictions(store, ids)
    return [_fact(row, sources.get(row[0], []), against.get(row[0], [])) for row in rows]


def vectors(store: Store, ids: Sequence[str], space: Space | None) -> "dict[str, Vector]":
    """The vectors of facts, of one space."""
    import numpy as np

    found: dict[str, Vector] = {}
    for some in _parts(ids) if space is not None else ():
        sql = f"SELECT id, vector FROM facts WHERE vector IS NOT NULL AND space = ? AND id IN ({_marks(len(some))})"  # noqa: S608
        rows = store.query(sql, [space_text(space), *some])
        found.update({key: np.frombuffer(blob, dtype=np.float32) for key, blob in rows})
    return found


def space_of(store: Store) -> Space | None:
    """The space of all vectors there are."""
    row = store.first("SELECT space FROM facts WHERE space <> '' LIMIT 1")
    return None if row is None else Space(**json.loads(row[0]))


def space_text(space: Space | None) -> str:
    if space is None:
        return ""
    return canonical_json(
        {"model": space.model, "version": space.version, "preprocess_hash": space.preprocess_hash, "dim": space.dim}
    ).decode()


def without_vector(store: Store, count: int) -> list[Fact]:
    """Facts that count and have no vector, the oldest first."""
    sql = f"SELECT {_READ} FROM facts f WHERE f.vector IS NULL AND f.standing <> 'pruned' ORDER BY f.seq LIMIT ?"  # noqa: S608
    return facts(store, store.query(sql, (count,)))


def derived_only_from(store: Store, episodes: Sequence[str]) -> list[str]:
    """Facts of which every source is among these."""
    sql = (
        "SELECT DISTINCT s.fact FROM fact_sources s JOIN json_each(?1) e ON e.value = s.episode WHERE NOT EXISTS"
        " (SELECT 1 FROM fact_sources o WHERE o.fact = s.fact AND o.episode NOT IN (SELECT value FROM json_each(?1)))"
        " ORDER BY 1"
    )
    return [fact for (fact,) in store.query(sql, (json.dumps(list(episodes)),))]


# -- writing


def write(tx: Transaction, fact: Fact, vector: "Vector | None", space: Space | None) -> None:
    """Insert a fact, or replace the one with its id. Without a vector the old one stays while it fits."""
    erase_freed(tx)
    blob = _blob(vector, space)
    old = tx.first("SELECT seq, text, subject FROM facts WHERE id = ?", (fact.id,))
    values = _values(fact)
    if old is None:
        marks = _marks(len(COLUMNS) + 2)
        tx.execute(f"INSERT INTO facts ({_NAMES}, vector, space) VALUES ({marks})", [*values, blob, _of(blob, space)])  # noqa: S608
    else:
        assigned = ", ".join(f"{name} = ?" for name in COLUMNS)
        tx.execute(f"UPDATE facts SET {assigned} WHERE id = ?", [*values, fact.id])  # noqa: S608 -- our own words
        said = old[1:] != (values[2], values[4])
        if blob is not None or said:  # a vector of other words is none
            _place_anew(tx, fact.id, blob, _of(blob, space))
    _index(tx, fact, None if old is None else old[0])
    tx.execute("DELETE FROM fact_sources WHERE fact = ?", (fact.id,))
    named = [(fact.id, each) for each in dict.fromkeys(fact.sources)][:SOURCES]
    tx.execute_many("INSERT INTO fact_sources (fact, episode) VALUES (?, ?)", named)


def _index(tx: Transaction, fact: Fact, old: int | None) -> None:
    row = tx.first("SELECT seq FROM facts WHERE id = ?", (fact.id,))
    new = None if row is None else row[0]
    if old == new:
        return
    if old is not None:
        tx.execute("DELETE FROM facts_text WHERE rowid = ?", (old,))
    words = (new, content.text(fact.text), content.text(fact.subject))
    tx.execute("INSERT INTO facts_text (rowid, text, subject) VALUES (?, ?, ?)", words)


def _place_anew(tx: Transaction, fact: str, blob: bytes | None, space: str) -> None:
    """Another vector in a place that no row ever had."""
    tx.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'facts'")
    place = "(SELECT seq FROM sqlite_sequence WHERE name = 'facts')"
    tx.execute(f"UPDATE facts SET vector = ?, space = ?, seq = {place} WHERE id = ?", (blob, space, fact))  # noqa: S608


def put_vector(tx: Transaction, fact: str, vector: "Vector", space: Space) -> None:
    row = tx.first("SELECT seq FROM facts WHERE id = ?", (fact,))
    if row is None:
        return
    erase_freed(tx)
    _place_anew(tx, fact, _blob(vector, space), space_text(space))
    tx.execute("UPDATE facts_text SET rowid = (SELECT seq FROM facts WHERE id = ?) WHERE rowid = ?", (fact, row[0]))


def remove(tx: Transaction, ids: Sequence[str]) -> int:
    """Take facts out, with their words, vectors, sources and links."""
    erase_freed(tx)
    gone = 0
    for some in _parts(ids):
        marks = _marks(len(some))
        tx.execute(f"DELETE FROM facts_text WHERE rowid IN (SELECT seq FROM facts WHERE id IN ({marks}))", some)  # noqa: S608
        gone += tx.execute(f"DELETE FROM facts WHERE id IN ({marks})", some)  # noqa: S608 -- our own words
    if gone:
        # A deletion only marks rows in the index's segments; merging all of them into one leaves the words out.
        tx.execute("INSERT INTO facts_text (facts_text) VALUES ('optimize')")
    return gone


def erase_freed(tx: Transaction) -> None:
    """Freed pages are overwritten, so that what is removed later is not in the file any more either."""
    tx.query("PRAGMA secure_delete = ON")


# -- inside


def _values(fact: Fact) -> list[Value]:
    return [
        fact.id,
        str(fact.kind),
        *(content.text(each) for each in (fact.text, fact.domain, fact.subject, fact.value)),
        content.mapping(fact.data),
        fact.confidence,
        fact.quality,
        str(fact.provenance),
        fact.generation,
        str(fact.decay),
        str(fact.scope),
        content.text(fact.sender),
        str(fact.standing),
        fact.episode_count,
        *(to_text(each) for each in (fact.created, fact.reinforced, fact.applied)),
        *(maybe(each) for each in (fact.valid_from, fact.valid_until, fact.confirm_by)),
        fact.pad.pleasure,
        fact.pad.arousal,
        fact.pad.dominance,
        int(fact.bloodstain),
        int(fact.pinned),
        fact.shown,
        fact.helped,
        fact.harmed,
        fact.low_cycles,
        content.sequence(fact.tags),
    ]


def _fact(row: Row, sources: Sequence[str], against: Sequence[str]) -> Fact:
    at: Mapping[str, Any] = dict(zip(COLUMNS, row, strict=True))
    plain = {name: at[name] for name in _PLAIN}
    times: dict[str, Any] = {name: None if at[name] is None else from_text(at[name]) for name in _TIMES}
    return Fact(
        **plain,
        kind=Kind(at["kind"]),
        provenance=Provenance(at["provenance"]),
        decay=Decay(at["decay"]),
        scope=Scope(at["scope"]),
        standing=Standing(at["standing"]),
        data=json.loads(at["data"]),
        tags=tuple(json.loads(at["tags"])),
        **times,
        pad=Pad(at["pleasure"], at["arousal"], at["dominance"]),
        bloodstain=bool(at["bloodstain"]),
        pinned=bool(at["pinned"]),
        sources=tuple(sources),
        contradicts=tuple(against),
    )


def _gathered(store: Store, ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for some in _parts(ids):
        sql = f"SELECT fact, episode FROM fact_sources WHERE fact IN ({_marks(len(some))}) ORDER BY fact, episode"  # noqa: S608
        for fact, episode in store.query(sql, some):
            found.setdefault(fact, []).append(episode)
    return found


def _contradictions(store: Store, ids: Sequence[str]) -> dict[str, list[str]]:
    """Links go both ways, whichever of the two was there first."""
    found: dict[str, list[str]] = {}
    for some in _parts(ids):
        marks = _marks(len(some))
        sql = (
            f"SELECT src, dst FROM fact_links WHERE relation = 'contradicts' AND src IN ({marks}) UNION"  # noqa: S608
            f" SELECT dst, src FROM fact_links WHERE relation = 'contradicts' AND dst IN ({marks}) ORDER BY 1, 2"
        )
        for fact, other in store.query(sql, [*some, *some]):
            found.setdefault(fact, []).append(other)
    return found


def _blob(vector: "Vector | None", space: Space | None) -> bytes | None:
    if vector is None:
        return None
    import numpy as np

    if space is None or len(vector) != space.dim:
        raise StoreError("a vector came without its space, or of another size; this is a mistake in Metnos")
    return bytes(np.ascontiguousarray(vector, dtype=np.float32).tobytes())


def _of(blob: bytes | None, space: Space | None) -> str:
    return space_text(space) if blob is not None else ""


def maybe(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment)


def _parts(ids: Sequence[str]) -> Iterable[list[str]]:
    for start in range(0, len(ids), _IN):
        yield list(ids[start : start + _IN])


def _marks(count: int) -> str:
    return ", ".join("?" * count)
