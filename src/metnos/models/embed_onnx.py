"""An embedder from a folder: ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``, run by onnxruntime.

Rules: a model that gives one vector for each text is taken at its word; of one that gives a vector for each token the
mean is taken over the tokens of the text, not over the padding. The version of the space is the digest of the model
file, so that another file of the same name is another space. One thread of one text batch at a time.

Does not guarantee that a model that was trained with another pooling than the mean is used as it should be.
"""

import hashlib
import importlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core.errors import ModelError
from metnos.models.embed import Preparation, Probed, Space, broken, unit_rows

if TYPE_CHECKING:
    from metnos.models.embed import Vectors

_BATCH = 32
_MOST_TOKENS = 512  # attention costs the square of it
_MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_FEEDS = ("input_ids", "attention_mask", "token_type_ids")
_WHOLE = ("sentence_embedding", "sentence_embeddings", "text_embeds")  # outputs that are pooled already


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any
    tokenizer: Any
    feeds: tuple[str, ...]
    output: str
    digest: str
    preparation: Preparation


class Folder(Probed):
    """Vectors of the model in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        if not texts:
            return np.empty((0, self.space.dim), dtype=np.float32)
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder)
            loaded = self._loaded
            prepared = [loaded.preparation.apply(text) for text in texts]
            made = np.concatenate([_run(loaded, batch) for batch in _batches(prepared)])
            if self._space is None:
                self._space = Space(self._folder.name, loaded.digest, loaded.preparation.hash, made.shape[1])
        return made


def _load(folder: Path) -> _Loaded:
    model = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
    words = folder / "tokenizer.json"
    if model is None or not words.is_file():
        raise ModelError(
            f"{folder} holds no embedder: it needs model.onnx and tokenizer.json",
            kind="missing",
            fix="metnos config set embed.folder FOLDER, or embed.kind builtin",
        )
    runtime, tokenizers = _library("onnxruntime"), _library("tokenizers")
    try:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what it has to say comes as an error
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = tokenizers.Tokenizer.from_file(str(words))
        most = _most_tokens(folder, tokenizer)
        tokenizer.enable_truncation(most)
        tokenizer.enable_padding()
    except Exception as error:  # a border: both libraries raise classes of their own for a bad file
        raise broken(f"the files in {folder} cannot be loaded ({type(error).__name__})") from error
    with model.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    output, pooling = _output(session)
    # Some 20 characters a token is more than any language needs.
    preparation = Preparation(characters=20 * most, tokens=most, pooling=pooling)
    return _Loaded(session, tokenizer, _feeds(session), output, digest[:16], preparation)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ModelError(
            f"an embedder from a folder needs {name}, which is not installed",
            kind="missing",
            fix="Install Metnos with its extra `onnx` (pip install 'metnos[onnx]'), or set embed.kind to builtin",
        ) from None


def _most_tokens(folder: Path, tokenizer: Any) -> int:
    """What the tokenizer is set to, or else what its settings say, within what we can afford."""
    if tokenizer.truncation:
        return max(8, min(_MOST_TOKENS, int(tokenizer.truncation["max_length"])))
    try:
        said = json.loads((folder / "tokenizer_config.json").read_bytes())["model_max_length"]
        return max(8, int(min(_MOST_TOKENS, said)))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _MOST_TOKENS


def _feeds(session: Any) -> tuple[str, ...]:
    wanted = tuple(each.name for each in session.get_inputs())
    if not set(wanted) <= set(_FEEDS):
        raise broken("its model wants something else than tokens")
    return wanted


def _output(session: Any) -> tuple[str, str]:
    """Which output to take, and how it becomes one vector for each text."""
    given = {each.name: each.shape or [] for each in session.get_outputs()}
    for name in (*(name for name in _WHOLE if name in given), *given):
        if len(given[name]) == 2:
            return name, "model"
        if len(given[name]) == 3:
            return name, "mean"
    raise broken("its model gives no vectors")


def _run(loaded: _Loaded, texts: list[str]) -> "Vectors":
    import numpy as np

    encoded = loaded.tokenizer.encode_batch(texts)
    columns = {
        "input_ids": [each.ids for each in encoded],
        "attention_mask": [each.attention_mask for each in encoded],
        "token_type_ids": [each.type_ids for each in encoded],
    }
    fed = {name: np.asarray(columns[name], dtype=np.int64) for name in loaded.feeds}
    try:
        rows = loaded.session.run([loaded.output], fed)[0]
    except Exception as error:  # a border: the runtime raises classes of its own
        raise broken(f"its model failed ({type(error).__name__})") from error
    if loaded.preparation.pooling == "mean":
        mask = np.asarray(columns["attention_mask"], dtype=np.float32)[:, :, None]
        rows = (rows * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
    return unit_rows(rows, len(texts))


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _BATCH):
        yield texts[start : start + _BATCH]
