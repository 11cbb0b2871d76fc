"""Vectors of texts that are the same at every start, such as what executors say of themselves, kept in a file.

Rules: only what is embedded while it is being filled is kept; afterwards it only looks up, so nothing that a person
says ever gets into the file. Vectors of another space are thrown away. A file that cannot be read is made anew: it
holds nothing that cannot be computed again. Texts are known by their digest.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.core import files
from metnos.core.canon import canonical_json, sha256_hex
from metnos.models.embed import Embedder, Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metnos.models.embed import Vectors


class Kept:
    """Another embedder, with a file of vectors beside it. One thread fills it; then any may use it."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._rows: dict[str, NDArray[np.float32]] = _read(path, inner.space)
        self._used: set[str] = set()
        self._filling = True
        self._new = False

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        keys = [sha256_hex(text.encode("utf-8", "surrogatepass")) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        fresh = dict(zip(missing, self._inner.embed(list(missing.values())), strict=True)) if missing else {}
        if self._filling:
            self._rows |= fresh
            self._used |= set(keys)
            self._new = self._new or bool(fresh)
        if not keys:
            return np.empty((0, self.space.dim), dtype=np.float32)
        return np.stack([fresh[key] if key in fresh else self._rows[key] for key in keys])

    def finish(self) -> None:
        """Stop filling, and write what was used if any of it is new."""
        self._filling = False
        if self._new:
            files.replace(self._path, _written(self._rows, self._used, self.space), mode=files.PRIVATE_FILE)


def _mark(space: Space) -> str:
    return sha256_hex(canonical_json([space.model, space.version, space.preprocess_hash, space.dim]))


def _written(rows: "dict[str, NDArray[np.float32]]", used: set[str], space: Space) -> bytes:
    import numpy as np

    keys = sorted(used)
    target = io.BytesIO()
    np.savez(
        target,
        space=np.array(_mark(space)),
        keys=np.array(keys),
        rows=np.stack([rows[key] for key in keys]) if keys else np.empty((0, space.dim), dtype=np.float32),
    )
    return target.getvalue()


def _read(path: Path, space: Space) -> "dict[str, NDArray[np.float32]]":
    import zipfile

    import numpy as np

    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            keys, rows = data["keys"].tolist(), data["rows"]
            if str(data["space"]) != _mark(space) or rows.shape != (len(keys), space.dim) or rows.dtype != np.float32:
                return {}
            return dict(zip(map(str, keys), rows, strict=True))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}
