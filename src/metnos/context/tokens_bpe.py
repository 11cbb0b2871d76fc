"""Byte-pair encoding, as the models of today read text: how many tokens a text is, by the model's own merges.

Rules: a text is first cut into words as its model does (`SPLITS`), then the two neighbours that were joined earliest in
the making of the vocabulary are joined, until none can be. Words are remembered, since texts repeat them. Exact for
the splits named here, but for letters that a newer Unicode knows. Does not count what a server's template puts around
a message.
"""

import re
from collections.abc import Mapping
from functools import cache

_LETTER, _DIGIT = r"[^\W\d_]", r"\d"  # Python's \w has no combining marks, as the models' \p{L} has none
_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r" ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# By the name that a GGUF file gives to its way of cutting (`tokenizer.ggml.pre`).
SPLITS = {
    "qwen2": rf"{_SHORT}|(?:[^\r\n\w]|_)?{_LETTER}+|{_DIGIT}|{_REST}",
    "llama-bpe": rf"{_SHORT}|(?:[^\r\n\w]|_)?{_LETTER}+|{_DIGIT}{{1,3}}|{_REST}",
    "gpt-2": rf"'s|'t|'re|'ve|'m|'ll|'d| ?{_LETTER}+| ?{_DIGIT}+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+",
    "smollm": rf"{_DIGIT}|'s|'t|'re|'ve|'m|'ll|'d| ?{_LETTER}+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+",
}
_REMEMBERED = 50_000  # words; some 5 MB


class BytePairs:
    """A vocabulary. ``merges``: pairs in the order in which they were joined, in the signs that stand for bytes."""

    def __init__(self, merges: Mapping[tuple[str, str], int], split: str) -> None:
        self._ranks = merges
        self._split = re.compile(SPLITS[split])
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        return sum(map(self._word, self._split.findall(text)))

    def _word(self, word: str) -> int:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[word] = self._joined(word)
        return found

    def _joined(self, word: str) -> int:
        signs = byte_signs()
        parts = [signs[byte] for byte in word.encode("utf-8", "replace")]
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda at: self._ranks.get((parts[at], parts[at + 1]), _NEVER))
            pair = (parts[best], parts[best + 1])
            if pair not in self._ranks:
                break
            parts = _replaced(parts, pair)
        return len(parts)


_NEVER = 1 << 60


def _replaced(parts: list[str], pair: tuple[str, str]) -> list[str]:
    """All neighbours that are this pair, joined from left to right."""
    out: list[str] = []
    at = 0
    while at < len(parts):
        if at + 1 < len(parts) and (parts[at], parts[at + 1]) == pair:
            out.append(pair[0] + pair[1])
            at += 2
        else:
            out.append(parts[at])
            at += 1
    return out


@cache
def byte_signs() -> tuple[str, ...]:
    """The printable sign that stands for each byte in such vocabularies, as GPT-2 defined it."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return tuple(chr(byte) if byte in plain else chr(next(others)) for byte in range(256))
