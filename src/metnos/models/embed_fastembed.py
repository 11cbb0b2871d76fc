"""An embedder of the library `fastembed`, which is not part of Metnos and fetches its models by itself.

Rules: the library is loaded at the first use, and its absence is said together with how to install it.
"""

import importlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from metnos.core.errors import ModelError
from metnos.models.embed import Preparation, Probed, Space, broken, unit_rows

if TYPE_CHECKING:
    from metnos.models.embed import Vectors

_DEFAULT = "BAAI/bge-small-en-v1.5"  # the library's own
_PREPARATION = Preparation(characters=8000)
_BATCH = 64


class FastEmbed(Probed):
    """Vectors of one of the library's models."""

    def __init__(self, name: str) -> None:
        self._name = name or _DEFAULT
        self._lock = threading.Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        prepared = [_PREPARATION.apply(text) for text in texts]
        if not prepared:
            import numpy as np

            return np.empty((0, self.space.dim), dtype=np.float32)
        with self._lock:
            library = _library()
            try:
                if self._model is None:
                    self._model = library.TextEmbedding(model_name=self._name, threads=1)
                rows = list(self._model.embed(prepared, batch_size=_BATCH))
            except Exception as error:  # a border: the library raises whatever its own libraries raise
                raise broken(f"fastembed cannot use {self._name} ({type(error).__name__})") from error
        made = unit_rows(rows, len(prepared))
        if self._space is None:
            self._space = Space(self._name, f"fastembed {library.__version__}", _PREPARATION.hash, made.shape[1])
        return made


def _library() -> Any:
    try:
        return importlib.import_module("fastembed")
    except ImportError:
        raise ModelError(
            "the embedder fastembed is not installed",
            kind="missing",
            fix="Install it beside Metnos (pip install fastembed), or: metnos config set embed.kind builtin",
        ) from None
