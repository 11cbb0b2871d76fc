"""Texts as vectors: the protocol, and the space that every vector belongs to.

Rules: vectors of two spaces are never compared; `require_same` is the one check. Vectors are rows of float32, each of
length one, so that a dot product is a cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from metnos.core.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Space:
    """Where vectors can be compared: same model, same version, same preparation of the text."""

    model: str
    version: str
    preprocess_hash: str
    dim: int


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def space(self) -> Space: ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row for each text, in order. Raises `ModelError`."""
        ...


def require_same(one: Space, other: Space) -> None:
    """Raise unless vectors of both may be compared."""
    if one != other:
        raise ModelError(
            f"vectors of {one.model} {one.version} cannot be compared with those of {other.model} {other.version}",
            kind="broken",
            fix="Embed both with the same embedder.",
        )
