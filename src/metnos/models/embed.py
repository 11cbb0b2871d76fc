"""Texts as vectors: the protocol, the space that every vector belongs to, and the embedder that the settings name.

Rules: vectors of two spaces are never compared; `require_same` is the one check. Vectors are rows of float32, each of
length one, so that a dot product is a cosine. Every embedder prepares its texts with `Preparation`, whose hash is part
of the space: no text, however broken, empty or long, makes one fail. Embedders may be used by several threads at once.

Does not guarantee that a text that was cut, because it is too long, is told from another with the same beginning.
"""

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.embedding import Embedder as Embedder
from metnos.core.embedding import Space as Space
from metnos.core.errors import ModelError
from metnos.core.sections_models import EmbedSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Key = Callable[[str], str]  # gives the secret that a setting such as `env:VARIABLE` names


class Probed(ABC):
    """An embedder that learns its space from the first vector that it makes."""

    _space: Space | None = None

    @property
    def space(self) -> Space:
        if self._space is None:
            self.embed([""])
        assert self._space is not None  # noqa: S101 -- embed sets it or raises
        return self._space

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> "Vectors": ...


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is done to a text before a model sees it; models that cut by tokens say so in ``tokens``."""

    characters: int
    tokens: int = 0
    pooling: str = "model"
    empty: str = "."  # what a text of no characters is read as: some servers refuse an empty one

    @property
    def hash(self) -> str:
        return sha256_hex(canonical_json(asdict(self)))[:16]

    def apply(self, text: str) -> str:
        """One line of valid characters, not longer than a model should be asked to read."""
        # Some characters become several in this form, so it is cut before, for speed, and after.
        whole = text[: 4 * self.characters].encode("utf-8", "replace").decode("utf-8")
        shown = unicodedata.normalize("NFC", whole)
        line = " ".join("".join(each if each.isprintable() else " " for each in shown).split())
        return line[: self.characters].rstrip() or self.empty


def require_same(one: Space, other: Space) -> None:
    """Raise unless vectors of both may be compared."""
    if one != other:
        raise ModelError(
            f"vectors of {one.model} {one.version} cannot be compared with those of {other.model} {other.version}",
            kind="broken",
            fix="Embed both with the same embedder.",
        )


def unit_rows(rows: Any, count: int, dim: int | None = None) -> "Vectors":
    """What a model gave, as the protocol wants it: ``count`` rows, each of length one. Raises `ModelError`."""
    import numpy as np

    try:
        given = np.asarray(rows, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        given = np.empty(0, dtype=np.float32)
    if given.ndim != 2 or given.shape[0] != count or given.shape[1] == 0 or (dim and given.shape[1] != dim):
        raise broken("it gave vectors of another number or length than was asked for")
    if not np.isfinite(given).all():
        raise broken("it gave numbers that are none")
    lengths = np.linalg.norm(given.astype(np.float64), axis=1, keepdims=True)
    # A row of zeros points nowhere: it becomes the one direction that is as far from any text as from any other.
    safe = np.where(lengths > 0, given / np.where(lengths > 0, lengths, 1), 1 / np.sqrt(given.shape[1]))
    return np.ascontiguousarray(safe, dtype=np.float32)


def broken(why: str) -> ModelError:
    return ModelError(
        f"the embedder does not work: {why}", kind="broken", fix="Choose another: metnos config set embed.kind builtin"
    )


def make(settings: EmbedSettings, key: Key) -> Embedder | None:
    """The embedder that the settings name, or none. Nothing is loaded or fetched before its first use."""
    made = _make(settings, key)
    if made is None or settings.cache == 0:
        return made
    from metnos.models.embed_cache import Cached

    return Cached(made, settings.cache)


def _make(settings: EmbedSettings, key: Key) -> Embedder | None:
    # Imported where used: each of them brings a library of its own, and one is enough.
    if settings.kind == "builtin":
        from metnos.models.embed_builtin import Builtin

        return Builtin()
    if settings.kind == "openai":
        from metnos.models.embed_openai import Server

        return Server(settings.url, settings.name, secret=lambda: key(settings.key))
    if settings.kind == "fastembed":
        from metnos.models.embed_fastembed import FastEmbed

        return FastEmbed(settings.name)
    if settings.kind == "onnx":
        from metnos.models.embed_onnx import Folder

        return Folder(settings.folder)
    return None
