"""Where episodes are kept: one contract, two engines.

Rules, whichever engine: what was added is found a moment later, by this process and by every other; adding is one
commit, so a killed process leaves all of a call or nothing; vectors of two spaces never lie side by side; any text is
a safe query; what was removed is gone from every file, so that a search of their bytes does not find it. Vectors are
kept in half precision, which moves a cosine by less than a thousandth. Times are kept to the millisecond.

Does not guarantee that `nearest` is exact beyond `vectors.IndexRules.from_rows`: a side index answers there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from metnos.core.clock import Clock
from metnos.core.embedding import Space
from metnos.core.errors import SettingsError, StoreError
from metnos.grimoire import episodes_folder
from metnos.grimoire.episode import Episode, Mark, Where
from metnos.grimoire.episodes_rows import Hit, Outline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Halves = NDArray[np.float16]

ENGINES = ("sqlite", "lance")
ANY = Where()

_REEMBED = "Embed every episode anew with the embedder in use: metnos memory reembed"
_NO_UNIT = "a vector that is to be kept or searched for must have length one"
_LENGTH = 0.02  # by which a vector's length may differ from one: half precision of a thousand numbers stays within it


class Episodes(Protocol):
    """Where episodes are kept. Threads may share it."""

    @property
    def space(self) -> Space | None:
        """What the vectors here are made by; none as long as there are none."""
        ...

    def add(
        self, episodes: Sequence[Episode], vectors: "Vectors | None" = None, space: Space | None = None
    ) -> list[str]:
        """Take in, in one commit; the ids of those that are new.

        One that has the id or the source of another is that other. Without vectors they are found by words only, until
        `put_vectors`.
        """
        ...

    def get(self, ids: Sequence[str]) -> list[Episode]:
        """In the order asked for; what is not here is left out."""
        ...

    def vectors_of(self, ids: Sequence[str], seqs: Sequence[int] = ()) -> "dict[str, Vectors]":
        """The vector of each that has one. Whoever knows their ``seqs`` saves looking them up."""
        ...

    def nearest(self, vector: "Vectors", count: int, where: Where = ANY, *, space: Space | None = None) -> list[Hit]:
        """By cosine, the nearest first. Raises if the query is of another space than what is here."""
        ...

    def matching(self, text: str, count: int, where: Where = ANY) -> list[Hit]:
        """By words (BM25), the best first."""
        ...

    def around(
        self, ids: Sequence[str], before: int, after: int, where: Where = ANY
    ) -> dict[str, list[tuple[int, Outline]]]:
        """The neighbours of each in its session, in order, and how far after it they come: before it, less than 0.

        What may not be found is left out, and counts; one that has no neighbours has no entry.
        """
        ...

    def select(self, where: Where, *, after: int = 0, count: int = 1000, newest_first: bool = False) -> list[Episode]:
        """In order of taking in. ``after`` is a ``seq``: those beyond it, or, with the newest first, below it."""
        ...

    def mark(self, marks: Sequence[Mark]) -> None:
        """Note what is thought of episodes now, all of it or nothing; what is not here is passed over."""
        ...

    def remove(self, ids: Sequence[str]) -> int:
        """Take out for good; how many there were. Costs a rewriting of the store: remove many at once."""
        ...

    def count(self, where: Where = ANY) -> int: ...

    def missing_vectors(self, count: int) -> list[Episode]:
        """Those without a vector, in order of taking in."""
        ...

    def put_vectors(self, ids: Sequence[str], vectors: "Vectors", space: Space) -> None:
        """For those that have none; what is not here, or has one, is passed over."""
        ...

    def replace_vectors(self, batches: "Iterator[tuple[Sequence[str], Vectors]]", space: Space) -> None:
        """Put vectors of another space in the place of all that are here, at one stroke at the end.

        Whoever reads meanwhile sees the old ones. An episode of which no new vector came has none afterwards.
        """
        ...

    def tend(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Bring up to date what only makes searching fast; says whether anything was done. For nights, and imports."""
        ...

    def close(self) -> None: ...


class Engine(Episodes, Protocol):
    """What moving from one engine to the other needs besides."""

    def frozen(self) -> AbstractContextManager[object]:
        """As long as it lasts, nobody else writes."""
        ...

    def last_seq(self) -> int:
        """The greatest ``seq`` that was ever given."""
        ...

    def found(self, space: Space | None, last_seq: int) -> None:
        """Begin as the continuation of another store."""
        ...

    def copy_in(self, episodes: Sequence[Episode], halves: "Sequence[Halves | None]") -> None:
        """Take in as they are, ``seq`` included; those that are here already are passed over."""
        ...

    def halves_of(self, episodes: Sequence[Episode]) -> "list[Halves | None]":
        """Vectors as they are kept."""
        ...


def open_episodes(folder: Path, engine: str, clock: Clock, busy_timeout_s: float = 10.0) -> Engine:
    """The store in ``folder``, made if it is not there. Raises if another engine is in charge there."""
    if engine not in ENGINES:
        raise SettingsError(f"no engine for episodes is called {engine!r}", fix=f"There are: {', '.join(ENGINES)}.")
    episodes_folder.claim(folder, engine)
    return open_engine(folder, engine, clock, busy_timeout_s)


def open_engine(folder: Path, engine: str, clock: Clock, busy_timeout_s: float = 10.0) -> Engine:
    """What this engine has in ``folder``, whoever is in charge there."""
    # Imported where used: each of them brings libraries of its own, and one is enough.
    if engine == "lance":
        from metnos.grimoire.episodes_lance import LanceEpisodes

        return LanceEpisodes(folder, clock, busy_timeout_s)
    from metnos.grimoire.episodes_sqlite import SqliteEpisodes

    return SqliteEpisodes(folder, clock, busy_timeout_s)


# -- what both engines check


def require_same(kept: Space | None, given: Space) -> None:
    """Raise unless vectors of ``given`` may lie beside those that are kept."""
    if kept is not None and kept != given:
        raise StoreError(
            f"the episodes here are embedded with {_named(kept)}, and this is a vector of {_named(given)}:"
            " the two cannot be compared",
            fix=_REEMBED,
        )


def query_of(vector: Any, kept: Space, given: Space | None) -> "Halves":
    """The query as engines want it: one row in half precision. Raises if it is of another space."""
    import numpy as np

    if given is not None:
        require_same(kept, given)
    row = np.asarray(vector, dtype=np.float32).reshape(-1)
    if row.shape[0] != kept.dim:
        raise StoreError(
            f"the episodes here are embedded with {_named(kept)} in {kept.dim} numbers; the query has {row.shape[0]}",
            fix=_REEMBED,
        )
    # The same as `halves` asks of many, at a tenth of the cost: a search takes half a millisecond in all.
    if not abs(float(row @ row) - 1) <= 2 * _LENGTH:
        raise StoreError(_NO_UNIT)
    return row.astype(np.float16)


def halves(vectors: Any, count: int, space: Space) -> "Halves":
    """Vectors as they are kept. Raises on what is no vector of that space."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    if rows.shape != (count, space.dim):
        raise StoreError(f"{count} vectors of {space.dim} numbers were to come, and an array of {rows.shape} came")
    lengths = np.linalg.norm(rows, axis=1)
    if not np.isfinite(lengths).all() or (np.abs(lengths - 1) > _LENGTH).any():
        raise StoreError(_NO_UNIT)
    return np.ascontiguousarray(rows.astype(np.float16))


def new_ones(episodes: Sequence[Episode], ids: set[str], sources: set[str]) -> list[int]:
    """Places of those that neither ``ids`` nor ``sources`` know, and that are not twice among themselves."""
    fresh = []
    for place, each in enumerate(episodes):
        if each.id in ids or (each.source and each.source in sources):
            continue
        ids.add(each.id)
        sources.add(each.source)
        fresh.append(place)
    return fresh


def distances(at: int, seqs: Sequence[int]) -> list[tuple[int, int]]:
    """How far after ``at`` each of those around it comes, in their order: one that comes right before it, -1."""
    before = sum(seq < at for seq in seqs)
    return [(place - before + (place >= before), seq) for place, seq in enumerate(seqs)]


def _named(space: Space) -> str:
    return f"{space.model} {space.version}".strip()
