"""Episodes in LanceDB: rows, words and vectors in one columnar table, which may lie on object storage too.

Rules: see `episodes`. An episode is known by its id and by its source, so writers take turns. A number is reserved
before it is given: a killed process leaves a gap and never a repetition. Removing, and the first vectors or others,
write the table anew as one version, and drop the versions before. Words are found at once, indexed or not.

Does not guarantee the speed of single additions: each is a version and a file of its own until `tend` joins them.
"""

import bisect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core.clock import Clock
from metnos.core.embedding import Space
from metnos.core.errors import StoreError
from metnos.core.ids import UlidMaker
from metnos.grimoire import episodes as contract
from metnos.grimoire import episodes_folder
from metnos.grimoire import episodes_lance_table as tables
from metnos.grimoire import episodes_rows as rows
from metnos.grimoire.episode import Episode, Mark, Where
from metnos.grimoire.episodes import ANY
from metnos.grimoire.episodes_lance_table import MAIN, NONE, STAGED, VECTOR, Tables
from metnos.grimoire.episodes_rows import Hit, Outline
from metnos.grimoire.episodes_search import words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Halves = NDArray[np.float16]

FOLDER = "lance"

_HAS_TAG = "array_has_any(tags, [{}])"
_MARKED = (
    *("importance", "verdict", "pleasure", "arousal", "dominance", "pinned", "bloodstain", "used_at"),
    *("replays", "used"),
)
_MANY = 500  # ids in one condition
_INDEX_FROM = 100_000  # rows, as the specification says
_PROBES, _REFINE = 20, 10  # parts that a search looks into; candidates for each result that are compared exactly


class LanceEpisodes:
    """The contract of `episodes.Engine`, in LanceDB."""

    def __init__(self, folder: Path, clock: Clock, busy_timeout_s: float = 10.0) -> None:
        self._folder = folder
        self._tables = Tables(folder / FOLDER, busy_timeout_s)
        self._ids = UlidMaker(clock)

    # -- taking in

    def add(
        self, episodes: Sequence[Episode], vectors: "Vectors | None" = None, space: Space | None = None
    ) -> list[str]:
        if vectors is not None and space is None:
            raise StoreError("vectors without their space cannot be kept")
        kept = None if vectors is None or space is None else contract.halves(vectors, len(episodes), space)
        with self._tables.writing():
            fresh = contract.new_ones(episodes, *self._known(episodes))
            if not fresh:
                return []
            if space is not None and kept is not None:
                self._settle(space)
            first = self._tables.reserve(len(fresh))
            chosen = [episodes[place] for place in fresh]
            halves = [None if kept is None else kept[place] for place in fresh]
            self._append(chosen, range(first, first + len(fresh)), halves)
        return [rows.storable(each.id) for each in chosen]

    def put_vectors(self, ids: Sequence[str], vectors: "Vectors", space: Space) -> None:
        kept = contract.halves(vectors, len(ids), space)
        with self._tables.writing():
            self._settle(space)
            bare = {each for (each,) in self._columns(["id"], _any_of("id", ids), f"{VECTOR} IS NULL")}
            chosen = {each: kept[place] for place, each in reversed(list(enumerate(ids))) if each in bare}
            if chosen:
                self._merge({"id": list(chosen)}, list(chosen.values()))

    def replace_vectors(self, batches: "Iterator[tuple[Sequence[str], Vectors]]", space: Space) -> None:
        import pyarrow as pa  # type: ignore[import-untyped]  # it has no types

        token = self._ids()
        schema = tables.schema_of(space)
        fields = [pa.field("id", pa.string()), schema.field(VECTOR)]
        staged = pa.schema(fields, metadata={b"token": token.encode()})
        with self._tables.writing():
            self._tables.create(STAGED, staged)
        for ids, vectors in batches:
            kept = contract.halves(vectors, len(ids), space)
            with self._tables.writing():
                given = pa.array([rows.storable(each) for each in ids])
                self._gathered(token).add(pa.table([given, tables.vectors_to_arrow(list(kept), schema)], schema=staged))
        with self._tables.writing():
            gathered = self._gathered(token).to_arrow()
            self._tables.rewrite(MAIN, schema, _with_vectors(gathered, schema))
            self._tables.drop(STAGED)

    def mark(self, marks: Sequence[Mark]) -> None:
        with self._tables.writing():
            names = ["id", *_MARKED]
            found = self._columns(names, _any_of("id", [each.id for each in marks]))
            known = {row[0]: dict(zip(names, row, strict=True)) for row in found}
            for each in marks:
                row = known.get(each.id)
                if row is not None:
                    row.update(rows.changes(each))
                    row.update({name: row[name] + more for name, more in rows.additions(each).items()})
            if known:
                self._merge({name: [row[name] for row in known.values()] for name in names}, None)

    # -- reading

    @property
    def space(self) -> Space | None:
        return tables.space_of(self._tables.reading(lambda: self._tables.main.schema))

    def get(self, ids: Sequence[str]) -> list[Episode]:
        known = {each.id: each for each in self._episodes(_any_of("id", ids))}
        return [known[each] for each in ids if each in known]

    def vectors_of(self, ids: Sequence[str], seqs: Sequence[int] = ()) -> "dict[str, Vectors]":  # noqa: ARG002 -- as the other
        import numpy as np

        if self.space is None:
            return {}
        found = self._columns(["id", VECTOR], _any_of("id", ids))
        return {key: np.array(vector, dtype=np.float32) for key, vector in found if vector is not None}

    def select(self, where: Where, *, after: int = 0, count: int = 1000, newest_first: bool = False) -> list[Episode]:
        beyond = f"seq {'<' if newest_first else '>'} {after}" if after or not newest_first else ""
        seqs = sorted((seq for (seq,) in self._columns(["seq"], beyond, _literal(where))), reverse=newest_first)
        return self._by_seq(seqs[:count], newest_first=newest_first)

    def around(
        self, ids: Sequence[str], before: int, after: int, where: Where = ANY
    ) -> dict[str, list[tuple[int, Outline]]]:
        asked = self._columns(["id", "seq", "session"], _any_of("id", ids), "session <> ''")
        sessions: dict[str, list[int]] = {}
        for seq, session in sorted(self._columns(["seq", "session"], _any_of("session", [each[2] for each in asked]))):
            sessions.setdefault(session, []).append(seq)
        beside: dict[str, list[tuple[int, int]]] = {}
        for key, seq, session in asked:
            place = bisect.bisect_left(sessions[session], seq)
            near = sessions[session][max(0, place - before) : place + 1 + after]
            beside[key] = contract.distances(seq, [each for each in near if each != seq])
        wanted = {str(seq) for near in beside.values() for _, seq in near}
        found = self._outlines(f"seq IN ({', '.join(wanted)})", _literal(where)) if wanted else []
        known = {each.seq: each for each in found}
        made = {key: [(far, known[seq]) for far, seq in near if seq in known] for key, near in beside.items()}
        return {key: each for key, each in made.items() if each}

    def count(self, where: Where = ANY) -> int:
        counted: int = self._tables.reading(lambda: self._tables.main.count_rows(_literal(where) or None))
        return counted

    def missing_vectors(self, count: int) -> list[Episode]:
        bare = "" if self.space is None else f"{VECTOR} IS NULL"
        seqs = sorted(seq for (seq,) in self._columns(["seq"], bare))
        return self._by_seq(seqs[:count])

    # -- searching

    def nearest(self, vector: "Vectors", count: int, where: Where = ANY, *, space: Space | None = None) -> list[Hit]:
        kept = self.space
        if kept is None or count <= 0:
            return []
        query = contract.query_of(vector, kept, space)
        condition = _literal(where)

        def search() -> Any:
            asked = self._tables.main.search(query.astype("float32"), vector_column_name=VECTOR).distance_type("cosine")
            asked = asked.nprobes(_PROBES).refine_factor(_REFINE)
            asked = asked.where(condition, prefilter=True) if condition else asked
            return asked.select([*rows.OUTLINE, "_distance"]).limit(count).to_arrow()

        found = _as_rows(self._tables.reading(search), [*rows.OUTLINE, "_distance"])
        found.sort(key=lambda each: (each[-1], each[0]))
        return [Hit(rows.outline(each[:-1]), 1 - each[-1]) for each in found]

    def matching(self, text: str, count: int, where: Where = ANY) -> list[Hit]:
        words = " ".join(words_of(text))
        condition = _literal(where)
        if not words or count <= 0:
            return []

        def search() -> Any:
            asked = self._tables.main.search(_match(words), query_type="fts")
            asked = asked.where(condition, prefilter=True) if condition else asked
            return asked.select([*rows.OUTLINE, "_score"]).limit(count).to_arrow()

        found = _as_rows(self._tables.reading(search), [*rows.OUTLINE, "_score"])
        found.sort(key=lambda each: (-each[-1], each[0]))
        return [Hit(rows.outline(each[:-1]), each[-1]) for each in found]

    # -- removing

    def remove(self, ids: Sequence[str]) -> int:
        episodes_folder.drop_copies(self._folder, "lance")
        with self._tables.writing():
            found = [each for (each,) in self._columns(["id"], _any_of("id", ids))]
            if not found:
                return 0
            for start in range(0, len(found), _MANY):
                self._tables.main.delete(_any_of("id", found[start : start + _MANY]))
            self._tables.rewrite(MAIN, self._tables.main.schema)
            staged = self._tables.staged
            if staged is not None:
                staged.delete(_any_of("id", found))
                self._tables.rewrite(STAGED, staged.schema)
        return len(found)

    def tend(self, stop: Callable[[], bool] = lambda: False) -> bool:
        from lancedb.index import BTree, IvfPq

        with self._tables.writing():
            table = self._tables.main
            before = table.version
            table.optimize()
            names = {each.columns[0] for each in table.list_indices()}
            for column in ("seq", "id", "source", "session"):
                if column not in names and not stop():
                    table.create_index(column, config=BTree())
            if VECTOR not in names and self.space is not None and table.count_rows() >= _INDEX_FROM and not stop():
                table.create_index(VECTOR, config=IvfPq(distance_type="cosine"))
            return bool(table.version != before)

    def close(self) -> None:
        """There is nothing to close: every version on the disk is whole."""

    # -- moving

    def frozen(self) -> AbstractContextManager[object]:
        return self._tables.writing()

    def last_seq(self) -> int:
        return self._tables.last_seq()

    def found(self, space: Space | None, last_seq: int) -> None:
        with self._tables.writing():
            if space is not None:
                self._settle(space)
            self._tables.reserve(max(0, last_seq - self._tables.last_seq()))

    def copy_in(self, episodes: Sequence[Episode], halves: "Sequence[Halves | None]") -> None:
        with self._tables.writing():
            fresh = contract.new_ones(episodes, *self._known(episodes))
            if fresh:
                chosen = [episodes[place] for place in fresh]
                self._append(chosen, [each.seq for each in chosen], [halves[place] for place in fresh])

    def halves_of(self, episodes: Sequence[Episode]) -> "list[Halves | None]":
        import numpy as np

        if self.space is None:
            return [None] * len(episodes)
        known: dict[int, Any] = {}
        for start in range(0, len(episodes), _MANY):
            numbers = ", ".join(str(each.seq) for each in episodes[start : start + _MANY])
            known.update(self._columns(["seq", VECTOR], f"seq IN ({numbers})"))
        found = [known.get(each.seq) for each in episodes]
        return [None if each is None else np.array(each, dtype=np.float16) for each in found]

    # -- inside

    def _append(self, episodes: Sequence[Episode], seqs: Sequence[int], halves: "Sequence[Halves | None]") -> None:
        table = self._tables.main
        table.add(tables.to_arrow(episodes, seqs, halves, table.schema), on_bad_vectors=NONE)

    def _merge(self, columns: dict[str, list[Any]], halves: "Sequence[Halves | None] | None") -> None:
        """Put other values into columns of rows that are there."""
        import pyarrow as pa

        schema = self._tables.main.schema
        given = {name: pa.array(values, type=schema.field(name).type) for name, values in columns.items()}
        if halves is not None:
            given[VECTOR] = tables.vectors_to_arrow(halves, schema)
        self._tables.main.merge_insert("id").when_matched_update_all().execute(pa.table(given))

    def _settle(self, space: Space) -> None:
        """The first vectors that come say which space it is; those that come later must be of it."""
        kept = tables.space_of(self._tables.main.schema)
        if kept is None:
            schema = tables.schema_of(space)
            self._tables.rewrite(MAIN, schema, _with_vectors(None, schema))
        else:
            contract.require_same(kept, space)

    def _gathered(self, token: str) -> Any:
        staged = self._tables.staged
        if staged is None or (staged.schema.metadata or {}).get(b"token") != token.encode():
            raise StoreError(
                "another re-embedding of the episodes has begun since; this one was given up and changed nothing",
                fix="Wait for the other one to end.",
            )
        return staged

    def _known(self, episodes: Sequence[Episode]) -> tuple[set[str], set[str]]:
        ids, sources = [each.id for each in episodes], [each.source for each in episodes if each.source]
        known: tuple[set[str], set[str]] = (set(), set())
        for found, column, values in ((known[0], "id", ids), (known[1], "source", sources)):
            for start in range(0, len(values), _MANY):
                found.update(
                    each for (each,) in self._columns([column], _any_of(column, values[start : start + _MANY]))
                )
        return known

    def _by_seq(self, seqs: Sequence[int], *, newest_first: bool = False) -> list[Episode]:
        found: list[Episode] = []
        for start in range(0, len(seqs), _MANY):
            found += self._episodes(f"seq IN ({', '.join(map(str, seqs[start : start + _MANY]))})")
        return sorted(found, key=lambda each: each.seq, reverse=newest_first)

    def _episodes(self, condition: str) -> list[Episode]:
        def search() -> Any:
            return self._tables.main.search().where(condition).select(list(rows.COLUMNS)).limit(None).to_arrow()

        return tables.from_arrow(self._tables.reading(search))

    def _outlines(self, *conditions: str) -> list[Outline]:
        return [rows.outline(row) for row in self._columns(list(rows.OUTLINE), *conditions)]

    def _columns(self, names: list[str], *conditions: str) -> list[tuple[Any, ...]]:
        condition = " AND ".join(each for each in conditions if each)

        def search() -> Any:
            asked = self._tables.main.search()
            asked = asked.where(condition) if condition else asked
            return asked.select(names).limit(None).to_arrow()

        return _as_rows(self._tables.reading(search), names)


def _as_rows(found: Any, names: Sequence[str]) -> list[rows.Row]:
    return list(zip(*(found[name].to_pylist() for name in names), strict=True))


def _match(words: str) -> Any:
    """A query for any of the words; none of them means anything but itself."""
    from lancedb import query

    made: Any = query.MatchQuery  # its types ask for what has defaults
    return made(words, "text")


def _literal(where: Where) -> str:
    return rows.condition(where, has_tag=_HAS_TAG).literal


def _any_of(column: str, values: Sequence[str]) -> str:
    if not values:
        return "false"
    return rows.Condition(f"{column} IN ({rows.marks(len(values))})", tuple(map(rows.storable, values))).literal


def _with_vectors(gathered: Any | None, schema: Any) -> Callable[[Any], Any]:
    """Gives each batch of rows the vectors that were gathered, by id; none where there is none."""
    import pyarrow as pa

    places = {} if gathered is None else {key: place for place, key in enumerate(gathered["id"].to_pylist())}
    vectors = None if gathered is None else gathered[VECTOR].combine_chunks()

    def change(batch: Any) -> Any:
        arrays = [batch.column(name) for name in rows.COLUMNS]
        if vectors is None or not len(vectors):
            added = pa.nulls(batch.num_rows, type=schema.field(VECTOR).type)
        else:
            added = vectors.take(pa.array([places.get(key) for key in batch.column("id").to_pylist()], type=pa.int64()))
        return pa.record_batch([*arrays, added], schema=schema)

    return change
