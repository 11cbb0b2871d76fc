"""The vocabulary of a model, read from its own GGUF file.

Rules: only the table at the beginning of the file is read, with bounds on every length in it; the weights are not
touched. Raises `NoVocabulary` for a file that is not GGUF, is cut short, or cuts text in a way that is not known here:
then its tokens are estimated.
"""

import struct
from pathlib import Path
from typing import Any, BinaryIO

from metnos.context.tokens_bpe import SPLITS, BytePairs

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_KEYS, _MOST_ITEMS, _MOST_TEXT = 1000, 2_000_000, 1 << 20
_SIMPLE = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _LIST = 8, 9
_WANTED = ("tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.merges")


class NoVocabulary(Exception):
    """Why there is none that can be used, in a few words."""


def read(path: Path) -> BytePairs:
    """The vocabulary of the model in ``path``. Takes about half a second for a usual one."""
    try:
        with path.open("rb") as file:
            table = _table(file)
    except (OSError, struct.error, UnicodeDecodeError) as error:
        raise NoVocabulary("the file cannot be read as GGUF") from error
    split = str(table.get("tokenizer.ggml.pre", "gpt-2"))
    merges = table.get("tokenizer.ggml.merges")
    if table.get("tokenizer.ggml.model") != "gpt2" or split not in SPLITS or not isinstance(merges, list):
        raise NoVocabulary("its way of cutting text is not known here")
    pairs = (merge.split(" ", 1) for merge in merges)
    return BytePairs({(pair[0], pair[-1]): rank for rank, pair in enumerate(pairs)}, split)


def _table(file: BinaryIO) -> dict[str, Any]:
    if file.read(4) != _MAGIC:
        raise NoVocabulary("it is no GGUF file")
    version, _tensors, keys = struct.unpack("<IQQ", file.read(20))
    if version not in _VERSIONS or keys > _MOST_KEYS:
        raise NoVocabulary("it is GGUF of a kind that is not known here")
    found: dict[str, Any] = {}
    for _ in range(keys):
        key = _text(file)
        value = _value(file, _number(file, "<I"), key in _WANTED)
        if key in _WANTED:
            found[key] = value
        if len(found) == len(_WANTED):
            break
    return found


def _value(file: BinaryIO, kind: int, wanted: bool) -> Any:
    if kind in _SIMPLE:
        return _number(file, _SIMPLE[kind])
    if kind == _TEXT:
        return _text(file)
    if kind != _LIST:
        raise NoVocabulary("it is GGUF of a kind that is not known here")
    inner, count = _number(file, "<I"), _number(file, "<Q")
    if count > _MOST_ITEMS or inner == _LIST:
        raise NoVocabulary("it holds more than a vocabulary has")
    if inner in _SIMPLE:
        file.seek(struct.calcsize(_SIMPLE[inner]) * count, 1)
        return None
    if wanted:
        return [_text(file) for _ in range(count)]
    for _ in range(count):
        file.seek(_length(file), 1)
    return None


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _length(file: BinaryIO) -> int:
    length = int(_number(file, "<Q"))
    if length > _MOST_TEXT:
        raise NoVocabulary("it holds more than a vocabulary has")
    return length


def _text(file: BinaryIO) -> str:
    length = _length(file)
    content = file.read(length)
    if len(content) != length:
        raise NoVocabulary("the file is cut short")
    return content.decode("utf-8", "replace")
