"""The vectors that SQLite holds, searched in this process.

Rules: rows that the side index does not hold yet are kept in memory, in half precision, and every one of them is looked
at; below `IndexRules.from_rows` that is all of them. Each search first asks the database what is new, whoever wrote it,
and reads only that. What is found may have been removed meanwhile: whoever asks looks it up anyway.
Nothing here is the truth: lost, damaged or behind, it is read from the database again.

Does not build the side index while somebody waits: `tend` does, in its own time. Until then all rows are looked at.
"""

import contextlib
import fcntl
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core import files
from metnos.core.embedding import Space
from metnos.grimoire import vectors_side as side
from metnos.grimoire.vectors_side import IndexRules, Record, Side
from metnos.store.db import Database, Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves = NDArray[np.float16]
    Keys = NDArray[np.int64]
    Scores = NDArray[np.float32]

_CHUNK = 4_096  # rows read at once: a few megabytes
_ROOM = 1.25  # by which memory for rows grows
_FIELDS = "file, space, upto, rows, size, mtime_ns, digest"
_STATE = """SELECT s.id, s.model, s.version, s.preprocess_hash, s.dim,
        (SELECT max(place) FROM vectors WHERE space = s.id), x.file, x.digest
    FROM spaces s LEFT JOIN side_index x ON x.space = s.id WHERE s.current = 1"""


def scores(rows: "Halves", query: "Halves") -> "Scores":
    """The cosine of each row with the query."""
    import numkong
    import numpy as np

    if len(rows) == 0:
        return np.empty(0, dtype=np.float32)
    found: Scores = np.asarray(numkong.cdist(query[None, :], rows, metric="dot"), dtype=np.float32)[0]
    return found


def best(keys: "Keys", found: "Scores", count: int) -> "tuple[Keys, Scores]":
    """The ``count`` best of them, the best first; of two that are equal the earlier one."""
    import numpy as np

    if len(found) > count:
        chosen = np.argpartition(-found, count - 1)[:count] if count else np.empty(0, dtype=np.intp)
        keys, found = keys[chosen], found[chosen]
    order = np.lexsort((keys, -found))
    return keys[order], found[order]


def exact(chunks: "Iterable[Sequence[tuple[int, bytes]]]", query: "Halves", count: int) -> "tuple[Keys, Scores]":
    """The nearest of rows that come as keys and bytes, holding only the best of them."""
    import numpy as np

    keys, found = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    for chunk in chunks:
        more, rows = _unpacked(chunk, len(query))
        keys, found = best(np.concatenate([keys, more]), np.concatenate([found, scores(rows, query)]), count)
    return keys, found


class Rows:
    """Rows in memory, with room to grow. What was handed out stays as it was."""

    def __init__(self, dim: int) -> None:
        import numpy as np

        self._keys = np.empty(0, dtype=np.int64)
        self._rows = np.empty((0, dim), dtype=np.float16)
        self._count = 0
        self.all: tuple[Keys, Halves] = (self._keys, self._rows)

    def reserve(self, more: int) -> None:
        import numpy as np

        needed = self._count + more
        if needed <= len(self._keys):
            return
        keys = np.empty(needed, dtype=np.int64)
        rows = np.empty((needed, self._rows.shape[1]), dtype=np.float16)
        keys[: self._count], rows[: self._count] = self.all
        self._keys, self._rows = keys, rows

    def append(self, keys: "Keys", rows: "Halves") -> None:
        end = self._count + len(keys)
        if end > len(self._keys):
            self.reserve(int(end * _ROOM) - self._count)
        self._keys[self._count : end], self._rows[self._count : end] = keys, rows
        self._count = end
        self.all = self._keys[:end], self._rows[:end]  # at one stroke: others read while this one appends

    def __len__(self) -> int:
        return self._count


@dataclass(slots=True)
class Held:
    """What of one space is in memory. ``upto`` is the place of the last vector of which anything is known."""

    number: int
    space: Space
    known: tuple[str | None, str | None]  # the file and the digest of the side index that the database names
    side: Side | None
    tail: Rows
    upto: int

    def vectors(self, keys: "Keys") -> "list[Halves | None]":
        """The vector of each episode that has one, by ``seq``."""
        import numpy as np

        found: list[Halves | None] = [None] * len(keys) if self.side is None else self.side.vectors(keys)
        late, rows = self.tail.all
        if len(late):
            order = np.argsort(keys)
            for place in np.flatnonzero(np.isin(late, keys)).tolist():
                found[int(order[np.searchsorted(keys, late[place], sorter=order)])] = rows[place]
        return found

    def nearest(self, query: "Halves", count: int) -> "tuple[Keys, Scores]":
        """Episodes by ``seq`` and their cosines, the nearest first; some may have been removed."""
        import numpy as np

        keys, rows = self.tail.all
        indexed = None if self.side is None else self.side.search(query, count)
        if indexed is not None and not len(keys):
            return indexed
        found = best(keys, scores(rows, query), count)
        if indexed is None:
            return found
        return best(np.concatenate([indexed[0], found[0]]), np.concatenate([indexed[1], found[1]]), count)


class VectorSearch:
    """Nearest vectors of the current space of one database. Threads may share it."""

    def __init__(self, db: Database, folder: Path, rules: IndexRules) -> None:
        self._db = db
        self._folder = folder
        self._rules = rules
        self._lock = threading.Lock()
        self._held: Held | None = None

    def now(self) -> Held | None:
        """What is in memory, with all that was committed until now; nothing if there are no vectors."""
        with self._lock:
            return self._fresh()

    def at_hand(self) -> Held | None:
        """The same if somebody has searched already: for whom reading all there is would cost more than it saves."""
        return self.now() if self._held is not None else None

    def forget(self) -> None:
        """Let go of everything in memory."""
        with self._lock:
            self._held = None

    # -- what is in memory

    def _fresh(self) -> Held | None:
        row = self._db.first(_STATE)
        if row is None:
            self._held = None
            return None
        number, model, version, preprocess_hash, dim, last, file, digest = row
        held = self._held
        if held is None or held.number != number or held.known != (file, digest):
            record = self._record()
            mapped = self._mapped(record)
            upto = 0 if mapped is None else mapped.record.upto
            space = Space(model, version, preprocess_hash, dim)
            held = self._held = Held(number, space, (file, digest), mapped, Rows(dim), upto)
        if last is not None and last > held.upto:
            self._read_on(held)
        return held

    def _read_on(self, held: Held) -> None:
        with self._db.read() as tx:
            held.tail.reserve(_how_many(tx, held.number, held.upto))
            for chunk in _chunks(tx, held.number, held.upto):
                keys, rows = _unpacked([(seq, vector) for _, seq, vector in chunk], held.space.dim)
                held.tail.append(keys, rows)
                held.upto = chunk[-1][0]

    def _record(self) -> Record | None:
        row = self._db.first(f"SELECT {_FIELDS} FROM side_index")  # noqa: S608 -- our own words
        return None if row is None else Record(*row)

    def _mapped(self, record: Record | None) -> Side | None:
        if record is None:
            return None
        index = side.load(self._folder, record, self._rules, mapped=True)
        return None if index is None else Side(index, record)

    # -- the side index

    def tend(self, stop: Callable[[], bool]) -> bool:
        """Build the side index, or add what it lacks; says whether there was anything to do."""
        with self._alone() as mine:
            current = self._db.first("SELECT id, dim FROM spaces WHERE current = 1")
            if not mine or current is None:
                return False
            space, dim = current
            begun = self._begun(space)
            if begun is None:
                return False
            index, upto = begun if begun[0] is not None else (side.empty(dim, self._rules), 0)
            self._extend(index, space, dim, upto, stop)
            return True

    def _begun(self, space: int) -> tuple[Any, int] | None:
        """What to go on with: an index and up to where it is, (nothing, 0) for a new one; nothing if all is well."""
        with self._db.read() as tx:
            total = _how_many(tx, space, 0)
            record = self._record()
            tail = total if record is None else _how_many(tx, space, record.upto)
        if total < self._rules.from_rows:
            return None
        mapped = None if record is None or record.space != space else self._mapped(record)
        if mapped is None:
            return None, 0
        holes = mapped.record.rows - (total - tail)
        if holes > self._rules.gone_share * mapped.record.rows:
            return None, 0
        if tail <= max(self._rules.tail_least, self._rules.tail_share * total):
            return None
        return side.load(self._folder, mapped.record, self._rules, mapped=False), mapped.record.upto

    def _extend(self, index: Any, space: int, dim: int, upto: int, stop: Callable[[], bool]) -> None:
        after = upto
        while not stop():
            chunk = self._db.query(
                "SELECT place, episode, vector FROM vectors WHERE space = ? AND place > ? ORDER BY place LIMIT ?",
                (space, after, self._rules.batch),
            )
            if not chunk:
                break
            keys, rows = _unpacked([(seq, vector) for _, seq, vector in chunk], dim)
            index.add(keys, rows, threads=1)
            after = chunk[-1][0]
        if after > upto:
            self._publish(side.save(index, self._folder, space, after))

    def _publish(self, record: Record) -> None:
        """Name a new file in the database, without what was removed while it was made; the old one goes."""
        with self._db.write() as tx:
            # What another embedder's vectors have replaced meanwhile is of no use to anybody.
            if tx.first("SELECT 1 FROM spaces WHERE id = ? AND current = 1", (record.space,)) is not None:
                self._put(tx, self._blanked(tx, record))
        self._clean()

    def _put(self, tx: Transaction, record: Record | None) -> None:
        tx.execute("DELETE FROM side_index")
        if record is not None:
            sql = f"INSERT INTO side_index (one, {_FIELDS}) VALUES (1, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 -- our own words
            tx.execute(sql, astuple(record))

    def scrub(self) -> None:
        """Overwrite what the side index still holds of removed vectors, or drop it; drop files that nobody names."""
        with self._db.write() as tx:
            record = self._record()
            if record is not None:
                self._put(tx, self._blanked(tx, record))
        with self._alone() as mine:
            if mine:
                self._clean()
        self.forget()

    def _blanked(self, tx: Transaction, record: Record) -> Record | None:
        """The record of the file without what was removed; nothing if it cannot be had so."""
        import numpy as np

        path = self._folder / record.file
        mapped = self._mapped(record)
        if mapped is None:
            return None
        here = np.array(tx.query("SELECT episode FROM vectors WHERE space = ?", (record.space,)), dtype=np.int64)
        gone = np.setdiff1d(mapped.keys(), here.reshape(-1))
        if not len(gone):
            return record
        removed = np.stack([row for row in mapped.vectors(gone) if row is not None])  # all are: they are its own keys
        if not removed.any():
            return record  # all of it is overwritten already
        if not side.blank(path, removed):
            return None
        return side.record_of(path, record.space, record.upto, record.rows)

    def _clean(self) -> None:
        record = self._record()
        for path in self._folder.glob(side.PATTERN):
            if record is None or path.name != record.file:
                path.unlink(missing_ok=True)
        files.sync_folder(self._folder)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether nobody else builds: two at once would do the same work twice, and drop each other's files."""
        descriptor = os.open(self._folder / "tend.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)


def _how_many(tx: Transaction, space: int, after: int) -> int:
    row = tx.first("SELECT count(*) FROM vectors WHERE space = ? AND place > ?", (space, after))
    return 0 if row is None else int(row[0])


def _chunks(tx: Transaction, space: int, after: int) -> Iterator[list[Any]]:
    while chunk := tx.query(
        "SELECT place, episode, vector FROM vectors WHERE space = ? AND place > ? ORDER BY place LIMIT ?",
        (space, after, _CHUNK),
    ):
        yield chunk
        after = chunk[-1][0]


def _unpacked(chunk: Sequence[tuple[int, bytes]], dim: int) -> "tuple[Keys, Halves]":
    import numpy as np

    keys = np.array([key for key, _ in chunk], dtype=np.int64)
    return keys, np.frombuffer(b"".join(vector for _, vector in chunk), dtype=np.float16).reshape(-1, dim)
