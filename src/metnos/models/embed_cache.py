"""An embedder that remembers the vectors of the texts that it saw last.

Rules: a text is embedded once while it is remembered, however often it is in a batch; what is handed out is a copy.
Two threads that ask for one new text at the same time may both embed it.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from metnos.core.canon import sha256_hex
from metnos.models.embed import Embedder, Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metnos.models.embed import Vectors

_LONGEST_KEY = 256  # characters; a longer text is known by its digest, so that what is remembered stays small


class Cached:
    """Another embedder, with a memory of ``most`` vectors."""

    def __init__(self, inner: Embedder, most: int) -> None:
        self._inner = inner
        self._most = most
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def space(self) -> Space:
        return self._inner.space

    @property
    def size(self) -> int:
        """How many vectors are remembered."""
        return len(self._rows)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        keys = [_key(text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        with self._lock:
            known = {key: row for key in wanted if (row := self._rows.get(key)) is not None}
            for key in known:
                self._rows.move_to_end(key)
        missing = [key for key in wanted if key not in known]
        if missing:
            fresh = self._inner.embed([wanted[key] for key in missing])
            new = {key: row.copy() for key, row in zip(missing, fresh, strict=True)}
            self._remember(new)
            known |= new
        if not keys:
            return np.empty((0, self.space.dim), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _remember(self, new: "dict[str, NDArray[np.float32]]") -> None:
        with self._lock:
            self._rows.update(new)
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)


def _key(text: str) -> str:
    if len(text) <= _LONGEST_KEY:
        return text
    return f"\0{sha256_hex(text.encode('utf-8', 'surrogatepass'))}"  # no text of a person begins like this
