"""The tables of LanceDB behind `episodes_lance`: opening, locking, writing anew, indexes, errors.

Rules: one writer at a time, by a lock beside the tables; readers never wait and always see the last version. The space
of the vectors is part of the schema, so it changes in the same commit as they do.
"""

import contextlib
import fcntl
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core import files
from metnos.core.embedding import Space
from metnos.core.errors import SettingsError, StoreBusy, StoreError
from metnos.grimoire import episodes_rows as rows
from metnos.grimoire.episode import Episode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves = NDArray[np.float16]

MAIN, STAGED = "episodes", "staged"
VECTOR = "vector"
NONE = "null"  # a row without a vector is no mistake, as the library thinks

_WHOLE = frozenset({"seq", "replays", "used", "pinned", "bloodstain"})
_REALS = frozenset({"curiosity", "pleasure", "arousal", "dominance", "importance"})
_BATCH = 4_096  # rows that are written anew at once
_TRIES = 2  # of reading: another process may drop the version that is being read, once


def require() -> Any:
    """The library, which is an extra."""
    try:
        import lancedb
    except ImportError as error:
        raise SettingsError(
            "episodes are to be kept in LanceDB, which is not installed",
            fix="Install it (pip install 'metnos[lance]'), or keep them in SQLite.",
        ) from error
    return lancedb


@contextlib.contextmanager
def told(folder: Path) -> Iterator[None]:
    """Failures of the library in the owner's words."""
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no types

    try:
        yield
    except (RuntimeError, OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(
            f"LanceDB could not do it in {folder} ({str(error).splitlines()[0][:200]})",
            fix="Check the disk and who owns the folder; if it is damaged, restore it: metnos restore FILE",
        ) from error


class Tables:
    """The tables in one folder. Threads may share it; it must not be carried over a fork."""

    def __init__(self, folder: Path, busy_timeout_s: float) -> None:
        lancedb = require()
        files.private_folder(folder)
        self.folder = folder
        self._busy_timeout_s = busy_timeout_s
        self._lock = threading.RLock()
        self._depth = 0
        self._main: Any = None
        with told(folder):
            self.db = lancedb.connect(folder, read_consistency_interval=timedelta(0))
        with self.writing():
            if MAIN not in self._names():
                self.create(MAIN, schema_of(None))
                index_words(self.main)

    @property
    def main(self) -> Any:
        """The table of episodes, at its last version."""
        if self._main is None:
            self._main = self.db.open_table(MAIN)
        return self._main

    @property
    def staged(self) -> Any | None:
        return self.db.open_table(STAGED) if STAGED in self._names() else None

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Alone among threads and processes."""
        with self._lock, told(self.folder), contextlib.ExitStack() as stack:
            if not self._depth:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                descriptor = os.open(self.folder / "lock", flags, files.PRIVATE_FILE)
                stack.callback(os.close, descriptor)
                self._wait_for(descriptor)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _wait_for(self, descriptor: int) -> None:
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise StoreBusy(
                        f"another process has been writing to {self.folder} for too long",
                        fix="Wait a moment and try again; `store.busy_timeout_s` sets how long Metnos waits.",
                    ) from error
            time.sleep(0.005)

    def reading(self, work: Callable[[], Any]) -> Any:
        with told(self.folder):
            for _ in range(_TRIES - 1):
                try:
                    return work()
                except (RuntimeError, OSError):
                    self._main = None
            return work()

    def create(self, name: str, schema: Any, table: Any | None = None) -> None:
        """A new version of a table with nothing but these rows, or a new table."""
        mode = "overwrite" if name in self._names() else "create"
        self.db.create_table(name, data=table, schema=schema, mode=mode, on_bad_vectors=NONE)
        self._main = None

    def rewrite(self, name: str, schema: Any, change: Callable[[Any], Any] = lambda batch: batch) -> None:
        """Write a table anew, each batch of rows changed, and drop every file of the versions before."""
        import pyarrow as pa

        old = self.db.open_table(name).to_arrow().to_batches(max_chunksize=_BATCH)
        self.create(name, schema, pa.Table.from_batches([change(each) for each in old], schema=schema))
        if name == MAIN:
            index_words(self.main)
        self.sweep(name)

    def sweep(self, name: str) -> None:
        """Drop every version but the last."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of readers in other processes; they try again
            self.db.open_table(name).optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
        self._main = None

    def drop(self, name: str) -> None:
        self.db.drop_table(name)

    def reserve(self, count: int) -> int:
        """The first of so many numbers that nobody else gets."""
        first = self.last_seq() + 1
        files.replace(self.folder / "last_seq", str(first + count - 1).encode(), mode=files.PRIVATE_FILE)
        return first

    def last_seq(self) -> int:
        try:
            return int((self.folder / "last_seq").read_text(encoding="ascii"))
        except FileNotFoundError:
            pass
        seqs = self.main.search().select(["seq"]).limit(None).to_arrow()["seq"].to_pylist()
        return max(seqs, default=0)

    def _names(self) -> list[str]:
        return list(self.db.list_tables().tables)


# -- columns


def schema_of(space: Space | None) -> Any:
    import pyarrow as pa

    fields = [pa.field(name, _type(name)) for name in rows.COLUMNS]
    if space is None:
        return pa.schema(fields)
    fields.append(pa.field(VECTOR, pa.list_(pa.float32(), space.dim)))
    return pa.schema(fields, metadata={b"space": json.dumps(asdict(space)).encode()})


def space_of(schema: Any) -> Space | None:
    written = (schema.metadata or {}).get(b"space")
    return None if written is None else Space(**json.loads(written))


def to_arrow(episodes: Sequence[Episode], seqs: Sequence[int], halves: "Sequence[Halves | None]", schema: Any) -> Any:
    """Episodes as a table; the vectors are left out where the schema has none."""
    import pyarrow as pa

    made = [rows.to_row(each, seq) for each, seq in zip(episodes, seqs, strict=True)]
    columns = dict(zip(rows.COLUMNS, zip(*made, strict=True), strict=True)) if made else dict.fromkeys(rows.COLUMNS, ())
    columns["tags"] = tuple(json.loads(each) for each in columns["tags"])
    arrays = [pa.array(columns[name], type=schema.field(name).type) for name in rows.COLUMNS]
    if VECTOR in schema.names:
        arrays.append(vectors_to_arrow(halves, schema))
    return pa.table(arrays, schema=schema)


def vectors_to_arrow(halves: "Sequence[Halves | None]", schema: Any) -> Any:
    """Numbers of half precision, kept in single precision: the library has no fast code for half on most machines."""
    import numpy as np
    import pyarrow as pa

    given = [None if each is None else each.astype(np.float32) for each in halves]
    return pa.array(given, type=schema.field(VECTOR).type)


def from_arrow(table: Any) -> list[Episode]:
    found = []
    for each in table.select(list(rows.COLUMNS)).to_pylist():
        each["tags"] = json.dumps(each["tags"])
        found.append(rows.from_row([each[name] for name in rows.COLUMNS]))
    return found


def index_words(table: Any) -> None:
    from lancedb.index import FTS

    words = FTS(stem=True, ascii_folding=True, remove_stop_words=False, with_position=False, max_token_length=None)
    table.create_index("text", config=words, replace=True)


def _type(name: str) -> Any:
    import pyarrow as pa

    if name in _WHOLE:
        return pa.int64()
    if name == "tags":
        return pa.list_(pa.string())
    return pa.float64() if name in _REALS else pa.string()
