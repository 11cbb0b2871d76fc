"""Keeps a key out of what a server says: one that repeats our key does not get it into answers, traces and logs.

Rules: works on a stream, wherever the pieces are cut; what cannot be part of the key is passed on at once. A key too
short to be told from an ordinary word is not looked for.
"""

HIDDEN = "[key]"
_SHORTEST = 8


def hide(text: str, key: str) -> str:
    """``text`` without the key."""
    return text.replace(key, HIDDEN) if len(key) >= _SHORTEST else text


class Veil:
    """Takes pieces of a text and gives them on without the key."""

    __slots__ = ("_held", "_key")

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= _SHORTEST else ""
        self._held = ""

    def pass_on(self, piece: str) -> str:
        """What may be said now; the beginning of what may become the key waits."""
        text = hide(self._held + piece, self._key)
        self._held = text[len(text) - self._beginning(text) :]
        return text[: len(text) - len(self._held)]

    def rest(self) -> str:
        """What waited, now that nothing follows."""
        held, self._held = self._held, ""
        return held

    def _beginning(self, text: str) -> int:
        """How many characters at the end of ``text`` are how the key begins."""
        for length in range(min(len(self._key) - 1, len(text)), 0, -1):
            if text.endswith(self._key[:length]):
                return length
        return 0
