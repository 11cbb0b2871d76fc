"""Episodes in SQLite: rows, words by FTS5, vectors searched in this process (see `episodes_search` and `vectors`).

Rules: see `episodes`. Removing deletes, merges the segments of the full text into one without what was removed,
overwrites the side index, writes the file anew and empties its log; if it is killed on the way, the next one to open
the store finishes it. Writing anew is what makes sure: SQLite overwrites what it deletes, but it may have left copies
where it once moved rows from page to page.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.core import files
from metnos.core.clock import Clock, to_text
from metnos.core.embedding import Space
from metnos.core.errors import StoreBusy, StoreError
from metnos.grimoire import episodes as contract
from metnos.grimoire import episodes_folder
from metnos.grimoire import episodes_rows as rows
from metnos.grimoire import episodes_search as searching
from metnos.grimoire.episode import Episode, Mark, Where
from metnos.grimoire.episodes import ANY
from metnos.grimoire.episodes_rows import Hit, Outline
from metnos.grimoire.episodes_schema import MIGRATIONS
from metnos.grimoire.episodes_search import HAS_TAG
from metnos.grimoire.vectors import Held, VectorSearch
from metnos.grimoire.vectors_side import IndexRules
from metnos.store.compact import compact
from metnos.store.db import Database, Transaction, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Halves = NDArray[np.float16]

FILE = "episodes.db"

_SPACE = "model, version, preprocess_hash, dim"
_INSERT = f"INSERT INTO episodes (embedded, {rows.LIST}) VALUES (?, {rows.marks(len(rows.COLUMNS))})"  # noqa: S608
_VECTOR = "INSERT INTO vectors (episode, space, made, vector) VALUES (?, ?, ?, ?)"
_IDS = "(SELECT value FROM json_each(?))"
_BESIDE = """SELECT * FROM (SELECT seq FROM episodes n
    WHERE n.session = one.session AND n.session <> '' AND n.seq {0} one.seq ORDER BY n.seq {1} LIMIT ?)"""
# For each of the ids one look into the index of sessions to either side.
_AROUND = f"""SELECT key, at, ({{}}), {rows.OUTLINE_LIST} FROM (
        SELECT one.id AS key, one.seq AS at, other.seq AS place
        FROM (SELECT DISTINCT value FROM json_each(?)) asked CROSS JOIN episodes one ON one.id = asked.value
        CROSS JOIN episodes other ON other.seq IN ({_BESIDE.format("<", "DESC")} UNION ALL {_BESIDE.format(">", "ASC")})
    ) CROSS JOIN episodes ON seq = place ORDER BY seq"""  # noqa: S608 -- our own words


class SqliteEpisodes:
    """The contract of `episodes.Engine`, in one SQLite file."""

    def __init__(
        self, folder: Path, clock: Clock, busy_timeout_s: float = 10.0, index: IndexRules | None = None
    ) -> None:
        files.private_folder(folder)
        self._folder = folder
        self._clock = clock
        self._busy_timeout_s = busy_timeout_s
        self._db = Database(folder / FILE, MIGRATIONS, busy_timeout_s=busy_timeout_s, clock=clock)
        self._common = searching.Common(self._db)
        self._search = VectorSearch(self._db, folder, index or IndexRules())
        self._scrub()

    # -- taking in

    def add(
        self, episodes: Sequence[Episode], vectors: "Vectors | None" = None, space: Space | None = None
    ) -> list[str]:
        if vectors is not None and space is None:
            raise StoreError("vectors without their space cannot be kept")
        kept = None if vectors is None or space is None else contract.halves(vectors, len(episodes), space)
        with self._db.write() as tx:
            fresh = contract.new_ones(episodes, *_known(tx, episodes))
            first = _last_seq(tx) + 1
            taken = [rows.to_row(episodes[place], first + offset) for offset, place in enumerate(fresh)]
            given = {} if kept is None else {row[0]: kept[place] for row, place in zip(taken, fresh, strict=True)}
            _insert(tx, taken, given)
            if space is not None and given:
                self._insert_vectors(tx, self._space_number(tx, space), given)
        return [row[1] for row in taken]

    def put_vectors(self, ids: Sequence[str], vectors: "Vectors", space: Space) -> None:
        kept = contract.halves(vectors, len(ids), space)
        with self._db.write() as tx:
            number = self._space_number(tx, space)
            bare = _seqs(tx, ids, "AND embedded = 0")
            # Of an id that is named twice the first one counts.
            chosen = {bare[each]: kept[place] for place, each in reversed(list(enumerate(ids))) if each in bare}
            self._insert_vectors(tx, number, chosen)
            tx.execute_many("UPDATE episodes SET embedded = 1 WHERE seq = ?", [(seq,) for seq in chosen])

    def replace_vectors(self, batches: "Iterator[tuple[Sequence[str], Vectors]]", space: Space) -> None:
        with self._db.write() as tx:
            # What an earlier attempt gathered before it was killed, or another one that goes on: the last one wins.
            tx.execute("DELETE FROM spaces WHERE current = 0")
            number = self._insert_space(tx, space, current=False)
        for ids, vectors in batches:
            kept = contract.halves(vectors, len(ids), space)
            with self._db.write() as tx:
                _require_gathering(tx, number)
                seqs = _seqs(tx, ids)
                made = to_text(self._clock.now())
                values = [
                    (seqs[key], number, made, row.tobytes()) for key, row in zip(ids, kept, strict=True) if key in seqs
                ]
                tx.execute_many(_VECTOR.replace("INSERT", "INSERT OR REPLACE", 1), values)
        with self._db.write() as tx:
            _require_gathering(tx, number)
            tx.execute("DELETE FROM spaces WHERE id <> ?", (number,))
            tx.execute("UPDATE spaces SET current = 1 WHERE id = ?", (number,))
            tx.execute("DELETE FROM side_index")
            tx.execute("UPDATE episodes SET embedded = EXISTS (SELECT 1 FROM vectors WHERE episode = seq)")
        self._search.scrub()

    def mark(self, marks: Sequence[Mark]) -> None:
        with self._db.write() as tx:
            for each in marks:
                sets, adds = rows.changes(each), rows.additions(each)
                parts = [f"{name} = ?" for name in sets] + [f"{name} = {name} + ?" for name in adds]
                if parts:
                    sql = f"UPDATE episodes SET {', '.join(parts)} WHERE id = ?"  # noqa: S608 -- our own words
                    tx.execute(sql, (*sets.values(), *adds.values(), rows.storable(each.id)))

    # -- reading

    @property
    def space(self) -> Space | None:
        row = self._db.first(f"SELECT {_SPACE} FROM spaces WHERE current = 1")  # noqa: S608 -- our own words
        return None if row is None else Space(*row)

    def get(self, ids: Sequence[str]) -> list[Episode]:
        found = self._db.query(f"SELECT {rows.LIST} FROM episodes WHERE id IN {_IDS}", (_listed(ids),))  # noqa: S608
        known = {row[1]: rows.from_row(row) for row in found}
        return [known[each] for each in ids if each in known]

    def vectors_of(self, ids: Sequence[str], seqs: Sequence[int] = ()) -> "dict[str, Vectors]":

        held = self._search.at_hand()
        if held is not None:
            return _at_hand(held, list(zip(ids, seqs, strict=True)) if seqs else list(_seqs(self._db, ids).items()))
        found = self._db.query(
            # In this order and no other: else every vector there is would be looked at.
            """SELECT e.id, v.vector FROM json_each(?) j CROSS JOIN episodes e ON e.id = j.value
                CROSS JOIN vectors v ON v.episode = e.seq AND v.space = (SELECT id FROM spaces WHERE current = 1)""",
            (_listed(ids),),
        )
        return _unpacked(dict(found))

    def select(self, where: Where, *, after: int = 0, count: int = 1000, newest_first: bool = False) -> list[Episode]:
        beyond, order = ("<", "DESC") if newest_first else (">", "ASC")
        condition = rows.condition(where, has_tag=HAS_TAG)
        parts = [each for each in (condition.sql, f"seq {beyond} ?" if after or not newest_first else "") if each]
        values: tuple[Value, ...] = (*condition.values, *((after,) if after or not newest_first else ()), count)
        sql = f"SELECT {rows.LIST} FROM episodes WHERE {' AND '.join(parts) or '1'} ORDER BY seq {order} LIMIT ?"  # noqa: S608
        return [rows.from_row(row) for row in self._db.query(sql, values)]

    def around(
        self, ids: Sequence[str], before: int, after: int, where: Where = ANY
    ) -> dict[str, list[tuple[int, Outline]]]:
        condition = rows.condition(where, has_tag=HAS_TAG)
        values: tuple[Value, ...] = (*condition.values, _listed(ids), before, after)
        found = self._db.query(_AROUND.format(condition.sql or "1"), values)
        beside: dict[tuple[str, int], list[rows.Row]] = {}
        for row in found:
            beside.setdefault(row[:2], []).append(row)
        made: dict[str, list[tuple[int, Outline]]] = {}
        for (key, at), near in beside.items():
            distances = contract.distances(at, [row[3] for row in near])
            fit = [(far, rows.outline(row[3:])) for (far, _), row in zip(distances, near, strict=True) if row[2]]
            if fit:
                made[key] = fit
        return made

    def count(self, where: Where = ANY) -> int:
        condition = rows.condition(where, has_tag=HAS_TAG)
        row = self._db.first(f"SELECT count(*) FROM episodes WHERE {condition.sql or '1'}", condition.values)  # noqa: S608
        return 0 if row is None else int(row[0])

    def missing_vectors(self, count: int) -> list[Episode]:
        sql = f"SELECT {rows.LIST} FROM episodes WHERE embedded = 0 ORDER BY seq LIMIT ?"  # noqa: S608 -- our own words
        return [rows.from_row(row) for row in self._db.query(sql, (count,))]

    # -- searching

    def nearest(self, vector: "Vectors", count: int, where: Where = ANY, *, space: Space | None = None) -> list[Hit]:
        held = self._search.now()
        if held is None:
            return []
        query = contract.query_of(vector, held.space, space)
        return searching.nearest(self._db, held, query, count, where)

    def matching(self, text: str, count: int, where: Where = ANY) -> list[Hit]:
        return searching.matching(self._db, self._common, text, count, where)

    # -- removing

    def remove(self, ids: Sequence[str]) -> int:
        episodes_folder.drop_copies(self._folder, "sqlite")
        with self._db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            seqs = _seqs(tx, ids)
            if seqs:
                tx.execute("INSERT INTO to_scrub VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET times = times + 1")
                listed = json.dumps(list(seqs.values()))
                # In the way of FTS5, which does not keep the text: it must be told what the row held.
                tx.execute(
                    f"""INSERT INTO episodes_text (episodes_text, rowid, text)
                        SELECT 'delete', seq, text FROM episodes WHERE seq IN {_IDS}""",  # noqa: S608 -- our own words
                    (listed,),
                )
                tx.execute(f"DELETE FROM episodes WHERE seq IN {_IDS}", (listed,))  # noqa: S608 -- our own words
                tx.execute("INSERT INTO episodes_text (episodes_text) VALUES ('optimize')")
        self._common = searching.Common(self._db)
        self._scrub()
        return len(seqs)

    def _scrub(self) -> None:
        """Make what was removed unfindable in the files."""
        times = self._db.first("SELECT times FROM to_scrub")
        if times is None:
            return
        self._search.scrub()
        compact(self._db.path, self._busy_timeout_s)
        busy = self._db.first("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy is None or busy[0]:
            raise StoreBusy(
                f"what was removed is gone from {self._db.path}, but its log still holds it: another program reads it",
                fix="Close the other program and try again, or start Metnos again: it is emptied then.",
            )
        with self._db.write() as tx:
            # Unless somebody removed something since: its bytes may have come after the writing anew.
            tx.execute("DELETE FROM to_scrub WHERE times = ?", times)

    def tend(self, stop: Callable[[], bool] = lambda: False) -> bool:
        return self._search.tend(stop)

    def close(self) -> None:
        self._search.forget()
        self._db.close()

    # -- moving

    def frozen(self) -> AbstractContextManager[object]:
        return self._db.write()

    def last_seq(self) -> int:
        with self._db.read() as tx:
            return _last_seq(tx)

    def found(self, space: Space | None, last_seq: int) -> None:
        with self._db.write() as tx:
            if space is not None:
                self._space_number(tx, space)
            if last_seq > _last_seq(tx):
                tx.execute("DELETE FROM sqlite_sequence WHERE name = 'episodes'")
                tx.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('episodes', ?)", (last_seq,))

    def copy_in(self, episodes: Sequence[Episode], halves: "Sequence[Halves | None]") -> None:
        with self._db.write() as tx:
            fresh = contract.new_ones(episodes, *_known(tx, episodes))
            given = {episodes[place].seq: half for place in fresh if (half := halves[place]) is not None}
            _insert(tx, [rows.to_row(episodes[place], episodes[place].seq) for place in fresh], given)
            if given:
                current = tx.first("SELECT id FROM spaces WHERE current = 1")
                if current is None:
                    raise StoreError("vectors cannot be copied into a store that has no space yet")
                self._insert_vectors(tx, int(current[0]), given)

    def halves_of(self, episodes: Sequence[Episode]) -> "list[Halves | None]":
        import numpy as np

        found = self._db.query(
            f"""SELECT episode, vector FROM vectors
                WHERE space = (SELECT id FROM spaces WHERE current = 1) AND episode IN {_IDS}""",  # noqa: S608 -- ours
            (json.dumps([each.seq for each in episodes]),),
        )
        known = {seq: np.frombuffer(vector, dtype=np.float16) for seq, vector in found}
        return [known.get(each.seq) for each in episodes]

    # -- inside

    def _space_number(self, tx: Transaction, space: Space) -> int:
        """The number of the current space, which the given one must be; the first one to come becomes it."""
        row = tx.first(f"SELECT id, {_SPACE} FROM spaces WHERE current = 1")  # noqa: S608 -- our own words
        if row is None:
            return self._insert_space(tx, space, current=True)
        contract.require_same(Space(*row[1:]), space)
        return int(row[0])

    def _insert_space(self, tx: Transaction, space: Space, *, current: bool) -> int:
        tx.execute(
            f"INSERT INTO spaces ({_SPACE}, current, ts) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 -- our own words
            (space.model, space.version, space.preprocess_hash, space.dim, current, to_text(self._clock.now())),
        )
        row = tx.first("SELECT last_insert_rowid()")
        return 0 if row is None else int(row[0])

    def _insert_vectors(self, tx: Transaction, space: int, given: "Mapping[int, Halves]") -> None:
        made = to_text(self._clock.now())
        tx.execute_many(_VECTOR, [(seq, space, made, half.tobytes()) for seq, half in given.items()])


def _insert(tx: Transaction, taken: Sequence[rows.Row], embedded: Collection[int]) -> None:
    """Rows, and their words; ``embedded`` names those of which the vectors come in the same transaction."""
    tx.execute_many(_INSERT, [(int(row[0] in embedded), *row) for row in taken])
    tx.execute_many("INSERT INTO episodes_text (rowid, text) VALUES (?, ?)", [(row[0], row[-2]) for row in taken])


def _known(tx: Transaction, episodes: Sequence[Episode]) -> tuple[set[str], set[str]]:
    """Which of the ids and sources are here."""
    ids = tx.query(f"SELECT id FROM episodes WHERE id IN {_IDS}", (_listed([each.id for each in episodes]),))  # noqa: S608
    sources = tx.query(
        f"SELECT source FROM episodes WHERE source <> '' AND source IN {_IDS}",  # noqa: S608 -- our own words
        (_listed([each.source for each in episodes if each.source]),),
    )
    return {key for (key,) in ids}, {source for (source,) in sources}


def _at_hand(held: Held, known: Sequence[tuple[str, int]]) -> "dict[str, Vectors]":
    """Vectors out of memory, or out of the file that is mapped: the table costs a few times as much."""
    import numpy as np

    rows = held.vectors(np.array([seq for _, seq in known], dtype=np.int64))
    return _unpacked({key: row.data for (key, _), row in zip(known, rows, strict=True) if row is not None})


def _unpacked(halves: Mapping[str, bytes | memoryview]) -> "dict[str, Vectors]":
    """All at once: they are of one space, and so of one length."""
    import numpy as np

    if not halves:
        return {}
    made = np.frombuffer(b"".join(halves.values()), dtype=np.float16).astype(np.float32)
    return dict(zip(halves, made.reshape(len(halves), -1), strict=True))


def _seqs(tx: Database | Transaction, ids: Sequence[str], more: str = "") -> dict[str, int]:
    found = tx.query(f"SELECT id, seq FROM episodes WHERE id IN {_IDS} {more}", (_listed(ids),))  # noqa: S608 -- ours
    return dict(found)


def _last_seq(tx: Transaction) -> int:
    row = tx.first("SELECT seq FROM sqlite_sequence WHERE name = 'episodes'")
    return 0 if row is None else int(row[0])


def _require_gathering(tx: Transaction, number: int) -> None:
    if tx.first("SELECT 1 FROM spaces WHERE id = ? AND current = 0", (number,)) is None:
        raise StoreError(
            "another re-embedding of the episodes has begun since; this one was given up and changed nothing",
            fix="Wait for the other one to end.",
        )


def _listed(values: Sequence[str]) -> str:
    return json.dumps([rows.storable(each) for each in values], ensure_ascii=False)
