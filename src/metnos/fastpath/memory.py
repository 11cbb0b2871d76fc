"""What fast paths know at this moment, ready for matching.

Rules: made anew when what is stored changed, in whatever process; what it hands out never changes. Vectors belong to
one space: those of another embedder are not looked at, and missing ones are computed when somebody asks by meaning.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from metnos.fastpath.calibrate import Calibration
from metnos.fastpath.log import Log
from metnos.fastpath.match import Matcher
from metnos.fastpath.records import FastPath, Form

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Meaning(Protocol):
    """Texts as vectors. ``space`` names what they can be compared with."""

    @property
    def space(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> "Vectors": ...


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that is known, as of one moment."""

    paths: Mapping[str, FastPath]
    forms: tuple[Form, ...]
    calibration: Calibration | None
    matcher: Matcher
    _observed: Mapping[str, Any]

    def observed(self, path: str) -> Any:
        """The literals that were the same in every pass of a path."""
        return self._observed.get(path)


class Memory:
    """The fast paths of one workspace. Threads may share it."""

    def __init__(self, logs: Sequence[Log], meaning: Callable[[], Meaning | None]) -> None:
        self.logs = tuple(logs)
        self._meaning = meaning
        self._lock = Lock()
        self._mark: object = None
        self._known: Known | None = None
        self._by_meaning: Known | None = None
