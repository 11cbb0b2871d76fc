"""A GGUF file of a few keys and no weights, for tests that need a model's vocabulary."""

import struct
from typing import Any

GOOD: dict[str, Any] = {
    "general.architecture": "qwen2",
    "qwen2.block_count": 24,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "qwen2",
    "tokenizer.ggml.tokens": ["a", "b", "ab"],
    "tokenizer.ggml.token_type": [1, 1, 1],
    "tokenizer.ggml.merges": ["a b", "ab ab"],
}


def gguf(table: dict[str, Any] = GOOD) -> bytes:
    out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(table))
    for key, value in table.items():
        out += _text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + _text(value)
        elif isinstance(value, int):
            out += struct.pack("<II", 4, value)
        elif isinstance(value[0], int):
            out += struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
        else:
            out += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    return out


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()
