import struct
from pathlib import Path

import pytest

from context.gguf import GOOD, gguf
from metnos.context.tokens_gguf import NoVocabulary, read


def test_the_vocabulary_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf() + b"weights")
    assert read(path).count("ababa") == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 something else",
        b"GGUF",
        gguf()[:-3],
        b"GGUF" + struct.pack("<IQQ", 9, 0, 1),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60),
        b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62),
        gguf({**GOOD, "tokenizer.ggml.model": "llama"}),
        gguf({**GOOD, "tokenizer.ggml.pre": "of-tomorrow"}),
        gguf({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2"}),
    ],
)
def test_a_file_without_a_vocabulary_that_is_known_says_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(NoVocabulary):
        read(path)


def test_no_file_is_no_vocabulary(tmp_path: Path) -> None:
    with pytest.raises(NoVocabulary):
        read(tmp_path / "none.gguf")
