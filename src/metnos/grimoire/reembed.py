"""To another embedder: everything is embedded again into a side file, and then exchanged at one stroke.

Rules:

- Until the exchange the memory works on as it was, also while this runs in another process; what is taken in meanwhile
  is embedded too. Nothing is exchanged before there is a vector of the new space for everything.
- Never a mix: each store exchanges all its vectors in one transaction, and a store refuses vectors of another space.
  Episodes and facts lie in two files, which cannot commit together: between the two, facts are found by words only, and
  whoever runs this next finishes the exchange before anything else.
- Killed at any moment, it goes on where it was: the side file knows how far it came, and every batch is one
  transaction. One at a time: the kernel holds the lock, and it goes with the process.
- What was forgotten meanwhile does not come back: `forgotten` takes it out of the side file, and the exchange asks the
  stores what is still there.

Does not guarantee that it is fast: the embedder sets the pace. The side file is as large as the vectors are.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.core import files
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock
from metnos.core.embedding import Embedder, Space
from metnos.core.errors import ModelError, StoreBusy
from metnos.grimoire.vectored import Text, Vectored
from metnos.store.db import Database, Durability
from metnos.store.migrations import Migration

if TYPE_CHECKING:
    from metnos.core.embedding import Vectors

SIDE = "reembed.db"
LOCK = "reembed.lock"
FILLING, SWITCHING = "filling", "switching"
_BATCH = 64  # texts: seconds of work for a slow embedder, so that stopping is prompt
_ROWS = 1000  # vectors that the exchange holds in memory at a time
MIGRATIONS = (
    Migration(
        "0001_reembed",
        (
            "CREATE TABLE vectors (store TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL,"
            " PRIMARY KEY (store, id)) STRICT, WITHOUT ROWID",
            "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
        ),
    ),
)

Progress = Callable[[int, int], None]
Stop = Callable[[], bool]


def _quiet(_done: int, _of: int) -> None:
    """For whoever does not watch."""


def _never() -> bool:
    """For whoever does not stop it."""
    return False


@dataclass(frozen=True, slots=True)
class Moved:
    """How far it came. ``switched``: everything is in the new space now."""

    done: int = 0
    of: int = 0
    embedded: int = 0  # in this run
    switched: bool = False


def reembed(
    folder: Path,
    stores: dict[str, Vectored],
    embedder: Embedder,
    clock: Clock,
    *,
    again: bool = False,
    progress: Progress = _quiet,
    stop: Stop = _never,
) -> Moved:
    """Embed everything of these stores with this embedder, then exchange. ``again`` also if the space is the same."""
    space = embedder.space
    with _locked(folder):
        begun = unfinished(folder)
        if not begun and not again and all(store.space in (space, None) for store in stores.values()):
            return Moved(switched=True)
        side = _Side(folder, clock)
        try:
            side.aim_at(space)
            work = _Work(side, stores, embedder, space, progress, stop)
            moved = work.run()
        finally:
            side.close()
        if moved.switched:
            discard(folder)
        return moved


def unfinished(folder: Path) -> str:
    """What a run before this one was at: filling the side file, exchanging, or nothing."""
    if not (folder / SIDE).exists():
        return ""
    side = Database(folder / SIDE, MIGRATIONS)
    try:
        return _phase(side)
    finally:
        side.close()


def forgotten(folder: Path, store: str, ids: Sequence[str]) -> int:
    """Take what was forgotten out of the side file, if there is one; says how many vectors that were."""
    if not (folder / SIDE).exists():
        return 0
    side = Database(folder / SIDE, MIGRATIONS)
    try:
        with side.write() as tx:
            gone = "DELETE FROM vectors WHERE store = ? AND id IN (SELECT value FROM json_each(?))"
            return tx.execute(gone, (store, json.dumps(list(ids))))
    finally:
        side.close()


def discard(folder: Path) -> None:
    """Give up what was embedded; the memory stays as it is."""
    for suffix in ("", "-wal", "-shm"):
        (folder / f"{SIDE}{suffix}").unlink(missing_ok=True)


# -- the work


@dataclass(slots=True)
class _Work:
    side: "_Side"
    stores: dict[str, Vectored]
    embedder: Embedder
    space: Space
    progress: Progress
    stop: Stop
    embedded: int = 0

    def run(self) -> Moved:
        if self.side.phase != SWITCHING:
            if not all(self._fill(name) for name in self.stores):
                return self._moved()
            self.side.phase = SWITCHING
        for name in self.stores:
            self._switch(name)
        for name in self.stores:
            self._catch_up(name)
        return replace(self._moved(), switched=True)

    def _fill(self, name: str) -> bool:
        """Embed what has no vector in the side file yet; says whether it came to the end."""
        store = self.stores[name]
        after = 0 if self.side.filled(name) else self.side.cursor(name)  # facts may have changed since: look again
        while texts := store.texts(after, _BATCH):
            if self.stop():
                return False
            fresh = self.side.lacking(name, texts)
            self.side.put(name, fresh, self._embed(fresh), texts[-1].seq)
            after = texts[-1].seq
            self.progress(*self._place())
        self.side.mark_filled(name)
        return True

    def _embed(self, texts: Sequence[Text]) -> "Vectors":
        vectors = self.embedder.embed([each.text for each in texts]) if texts else _no_vectors(self.space.dim)
        if self.embedder.space != self.space or vectors.shape != (len(texts), self.space.dim):
            raise ModelError(
                "the embedder became another one in the middle of the work; nothing was exchanged",
                kind="broken",
                fix="Run the same command again: it goes on with the embedder that is set now.",
            )
        self.embedded += len(texts)
        return vectors

    def _switch(self, name: str) -> None:
        store = self.stores[name]
        store.replace_vectors(self.side.batches(name, store.texts_of), self.space)

    def _catch_up(self, name: str) -> None:
        """What was taken in during the last moments before the exchange."""
        store = self.stores[name]
        while texts := store.missing(_BATCH):
            store.put_vectors([each.id for each in texts], self._embed(texts), self.space)

    def _place(self) -> tuple[int, int]:
        total = sum(store.count() for store in self.stores.values())
        return min(total, self.side.count()), total

    def _moved(self) -> Moved:
        done, total = self._place()
        return Moved(done, total, self.embedded)


class _Side:
    """The side file: vectors of the new space, and how far the work came."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._db = Database(folder / SIDE, MIGRATIONS, durability=Durability.NORMAL, clock=clock)

    def close(self) -> None:
        self._db.close()

    def aim_at(self, space: Space) -> None:
        """Begin, or go on with what is there if it is of this space. An exchange that was begun is not given up."""
        target = canonical_json(asdict(space)).decode()
        with self._db.write() as tx:
            if _state(self._db, "space") == target:
                return
            if self.phase == SWITCHING:
                raise ModelError(
                    "an exchange of vectors was begun for another embedder and must be finished first",
                    kind="broken",
                    fix="Set the embedder to the one before, and run the same command again.",
                )
            tx.execute("DELETE FROM vectors")
            tx.execute("DELETE FROM state")
            tx.execute("INSERT INTO state (name, value) VALUES ('space', ?), ('phase', ?)", (target, FILLING))

    @property
    def phase(self) -> str:
        return _phase(self._db)

    @phase.setter
    def phase(self, phase: str) -> None:
        with self._db.write() as tx:
            tx.execute("INSERT OR REPLACE INTO state (name, value) VALUES ('phase', ?)", (phase,))

    def cursor(self, store: str) -> int:
        return int(_state(self._db, f"after {store}") or 0)

    def filled(self, store: str) -> bool:
        return bool(_state(self._db, f"filled {store}"))

    def mark_filled(self, store: str) -> None:
        with self._db.write() as tx:
            tx.execute("INSERT OR REPLACE INTO state (name, value) VALUES (?, '1')", (f"filled {store}",))

    def lacking(self, store: str, texts: Sequence[Text]) -> list[Text]:
        """Those of which there is no vector, or one of another text."""
        known: dict[str, str] = dict(
            self._db.query(
                "SELECT id, digest FROM vectors WHERE store = ? AND id IN (SELECT value FROM json_each(?))",
                (store, json.dumps([each.id for each in texts])),
            )
        )
        return [each for each in texts if known.get(each.id) != _digest(each.text)]

    def put(self, store: str, texts: Sequence[Text], vectors: "Vectors", after: int) -> None:
        rows = [
            (store, each.id, _digest(each.text), vector.astype("<f4").tobytes())
            for each, vector in zip(texts, vectors, strict=True)
        ]
        with self._db.write() as tx:
            tx.execute_many("INSERT OR REPLACE INTO vectors (store, id, digest, vector) VALUES (?, ?, ?, ?)", rows)
            tx.execute("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", (f"after {store}", str(after)))

    def count(self) -> int:
        return int(self._db.query("SELECT count(*) FROM vectors")[0][0])

    def batches(
        self, store: str, texts_of: Callable[[Sequence[str]], dict[str, str]]
    ) -> "Iterator[tuple[Sequence[str], Vectors]]":
        """Everything of a store that is still there and reads as it did, in order of id."""
        import numpy as np

        after = ""
        while True:
            rows = self._db.query(
                "SELECT id, digest, vector FROM vectors WHERE store = ? AND id > ? ORDER BY id LIMIT ?",
                (store, after, _ROWS),
            )
            if not rows:
                return
            after = rows[-1][0]
            now = texts_of([each for each, _, _ in rows])
            kept = [(each, vector) for each, digest, vector in rows if each in now and _digest(now[each]) == digest]
            if kept:
                yield [each for each, _ in kept], np.vstack([np.frombuffer(vector, dtype="<f4") for _, vector in kept])


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with files.held(folder / LOCK) as mine:
        if not mine:
            raise StoreBusy(
                "everything is being embedded again already, by another process",
                fix="Wait until it is done; it can be stopped and goes on later where it was.",
            )
        yield


def _phase(db: Database) -> str:
    return _state(db, "phase")


def _state(db: Database, name: str) -> str:
    row = db.first("SELECT value FROM state WHERE name = ?", (name,))
    return "" if row is None else str(row[0])


def _digest(text: str) -> str:
    return sha256_hex(text.encode("utf-8", "surrogatepass"))


def _no_vectors(dim: int) -> "Vectors":
    import numpy as np

    return np.empty((0, dim), dtype=np.float32)
