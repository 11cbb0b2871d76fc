"""The side index: an HNSW graph over vectors in half precision, in one file beside the database, by `usearch`.

Rules: the file is never the truth: it is written whole, then named in the database together with its digest, and one
that is missing, or does not look as it was written, is as good as none. It is read by mapping it. It is keyed by the
``seq`` of episodes. Vectors that were removed are overwritten in place.

Does not guarantee to find the very nearest: it finds nearly all of them (see `bench/episodes.py`).
"""

import os
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core import files
from metnos.core.canon import sha256_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves = NDArray[np.float16]
    Keys = NDArray[np.int64]
    Scores = NDArray[np.float32]

PATTERN = "vectors-*.usearch*"

_HEADER = 8  # bytes before the rows: their number and the bytes of one, four each
_LEAD = 8  # bytes of a row by which it is looked for first


@dataclass(frozen=True, slots=True)
class IndexRules:
    """When there is a side index, and how thorough it is."""

    from_rows: int = 50_000  # below, looking at every row takes less than 5 ms
    tail_least: int = 2_000  # rows that are not worth a rebuilding: looking at them takes a fifth of a millisecond
    tail_share: float = 0.05  # of all rows that may be outside, for the same reason
    gone_share: float = 0.2  # of the index that may be holes before it is made anew
    connectivity: int = 16  # the library's own default
    expansion_add: int = 128  # as above
    expansion_search: int = 96  # half as many again as the default: 0.5 ms at 100,000 rows (ADR 18)
    batch: int = 1_000  # rows between two looks at whether to stop


@dataclass(frozen=True, slots=True)
class Record:
    """What the database knows of the file. ``upto`` is the place of the last vector in it."""

    file: str
    space: int
    upto: int
    rows: int
    size: int
    mtime_ns: int
    digest: str


class Side:
    """An index of which the file is mapped. Threads may share it."""

    def __init__(self, index: Any, record: Record) -> None:
        self._index = index
        self._lock = threading.Lock()  # one search at a time: the library gives each thread number one set of buffers
        self.record = record

    def search(self, query: "Halves", count: int) -> "tuple[Keys, Scores]":
        """Keys and cosines of about the nearest, the nearest first."""
        import numpy as np

        with self._lock:
            found = self._index.search(query, min(count, len(self._index)), threads=1)
        return found.keys.astype(np.int64), 1 - found.distances

    def keys(self) -> "Keys":
        import numpy as np

        return np.asarray(self._index.keys).astype(np.int64)

    def vectors(self, keys: "Keys") -> "list[Halves | None]":
        """The vector of each that is here."""
        import numpy as np

        with self._lock:
            return list(self._index.get(keys.astype(np.uint64))) if len(keys) else []


def empty(dim: int, rules: IndexRules) -> Any:
    """An index of nothing, in memory."""
    from usearch.index import Index

    return Index(
        ndim=dim,
        metric="ip",
        dtype="f16",
        connectivity=rules.connectivity,
        expansion_add=rules.expansion_add,
        expansion_search=rules.expansion_search,
    )


def load(folder: Path, record: Record, rules: IndexRules, *, mapped: bool) -> Any | None:
    """The index in the file that the record names, or nothing if it is not as it was written."""
    from usearch.index import Index

    path = folder / record.file
    if not _unchanged(path, record):
        return None
    try:
        index: Any = Index.restore(path, view=mapped)
    except (RuntimeError, ValueError, OSError):
        return None
    if index is None or len(index) != record.rows:
        return None
    index.expansion_search = rules.expansion_search  # the file does not keep it
    return index


def save(index: Any, folder: Path, space: int, upto: int) -> Record:
    """Write an index to a new file, on the disk when this returns."""
    descriptor, name = tempfile.mkstemp(prefix=f"vectors-{space}-{upto}-", suffix=".usearch", dir=folder)
    os.close(descriptor)  # made private first: what the library writes into keeps its mode
    path = Path(name)
    try:
        index.save(path)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        files.sync_folder(folder)
        return record_of(path, space, upto, len(index))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def record_of(path: Path, space: int, upto: int, rows: int) -> Record:
    status = path.stat()
    return Record(path.name, space, upto, rows, status.st_size, status.st_mtime_ns, sha256_file(path))


def blank(path: Path, gone: "Halves") -> bool:
    """Overwrite rows of removed vectors in the file with zeros; says whether every one was found.

    Where more rows are alike than were removed, a vector that stays is among them: which is whose cannot be told, and
    they are left, since their bytes belong to what stays.
    """
    import numpy as np

    wanted = Counter(row.tobytes() for row in gone if row.any())
    raw = np.memmap(path, dtype=np.uint8, mode="r+")
    rows, width = (int(each) for each in raw[:_HEADER].view(np.uint32))
    if width != gone.shape[1] * gone.itemsize or raw.size < _HEADER + rows * width:
        return False
    matrix = raw[_HEADER : _HEADER + rows * width].reshape(rows, width)
    leads = np.ascontiguousarray(matrix[:, :_LEAD]).view(np.uint64).reshape(-1)
    looked_for = np.frombuffer(b"".join(each[:_LEAD] for each in wanted), dtype=np.uint64)
    places: dict[bytes, list[int]] = {}
    for place in np.flatnonzero(np.isin(leads, looked_for)):
        places.setdefault(matrix[place].tobytes(), []).append(int(place))
    if any(len(places.get(content, ())) < count for content, count in wanted.items()):
        return False
    for content, count in wanted.items():
        if len(places[content]) == count:
            matrix[places[content]] = 0
    raw.flush()
    return True


def _unchanged(path: Path, record: Record) -> bool:
    """By size and time; one that was copied or restored by its digest."""
    try:
        status = path.stat()
        if status.st_size != record.size:
            return False
        return status.st_mtime_ns == record.mtime_ns or sha256_file(path) == record.digest
    except OSError:
        return False
