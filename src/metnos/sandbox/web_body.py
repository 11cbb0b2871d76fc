"""A web server's answer, unpacked within bounds.

Rules: gzip and deflate only, one layer; never more than the caller's limit in memory, plus one piece; what is cut is
said to be cut. Does not guarantee that a body is complete when its packing has no end mark: then it counts as cut.
"""

import zlib
from collections.abc import Iterable

from metnos.core.errors import ExecutorFailed

ACCEPTED = "gzip, deflate"

_GZIP, _ZLIB, _RAW = 31, 15, -15  # as zlib numbers them
_SLACK = 64 * 1024  # packed bytes beyond the limit: packing makes small bodies larger
_CODINGS = {"": "", "identity": "", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


def coding(header: str, host: str) -> str:
    """How a body is packed: ``gzip``, ``deflate`` or not at all; anything else cannot be read."""
    word = header.strip().lower()
    if word not in _CODINGS:
        raise ExecutorFailed(f"{host} packed its answer in a way that Metnos does not read")
    return _CODINGS[word]


def collect(pieces: Iterable[bytes], packed: str, most: int, host: str) -> tuple[bytes, bool]:
    """At most ``most`` bytes of the unpacked body, and whether it was cut."""
    unpack = _Unpack(packed) if packed else None
    parts: list[bytes] = []
    size = wire = 0
    for piece in pieces:
        wire += len(piece)
        room = most - size + 1  # one more than wanted tells that there is more
        try:
            part = unpack.feed(piece, room) if unpack else piece[:room]
        except zlib.error as error:
            raise ExecutorFailed(f"the answer of {host} is damaged: it cannot be unpacked") from error
        parts.append(part)
        size += len(part)
        if size > most or wire > most + _SLACK:
            return b"".join(parts)[:most], True
    return b"".join(parts), bool(unpack and wire and not unpack.complete)


class _Unpack:
    """Unpacks piece by piece, never more than there is room for."""

    def __init__(self, packed: str) -> None:
        self._packed = packed
        self._start = b""
        self._engine: zlib._Decompress | None = None
        self._members = 0
        self.complete = False

    def feed(self, data: bytes, room: int) -> bytes:
        if self._engine is None and not self.complete:
            data = self._start = self._start + data
            if len(data) < 2:
                return b""
            self._engine = zlib.decompressobj(self._kind(data))
        out = bytearray()
        while data and len(out) < room and self._engine is not None:
            out += self._step(self._engine, data, room - len(out))
            data = self._rest(self._engine)
        return bytes(out)

    def _step(self, engine: "zlib._Decompress", data: bytes, room: int) -> bytes:
        try:
            return engine.decompress(data, room)
        except zlib.error:
            if not self._members:
                raise
            # Behind a whole member stands something that is none: padding, which others ignore too.
            self._engine, self.complete = None, True
            return b""

    def _rest(self, engine: "zlib._Decompress") -> bytes:
        """What is left to unpack; behind the end of a gzip member another may follow."""
        if self._engine is None:
            return b""
        self.complete = engine.eof
        if not engine.eof:
            return engine.unconsumed_tail
        self._members += 1
        rest = engine.unused_data
        self._engine = zlib.decompressobj(_GZIP) if self._packed == "gzip" and rest[:1] == b"\x1f" else None
        return rest

    def _kind(self, start: bytes) -> int:
        if self._packed == "gzip":
            return _GZIP
        # "deflate" should be zlib's format, and some servers send the bare one.
        return _ZLIB if start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0 else _RAW
