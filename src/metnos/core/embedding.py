"""Vectors of texts, as those who make them and those who keep them agree on it.

Rule: vectors of two spaces are never compared. Vectors are rows of float32, each of length one, so that a dot product
is a cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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
