"""Which shared libraries a program needs, read from its file as the loader would; nothing is run for it.

Rules: reads the dynamic section of 64-bit little-endian ELF files, which is what the machines that we run on have;
what is no such file, or damaged, needs nothing. Looks in one folder: what lies elsewhere is not its business.
"""

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

_MAGIC = b"\x7fELF\x02\x01"
_LOADED, _DYNAMIC = 1, 2  # kinds of segments
_NEEDED, _STRINGS, _STRINGS_SIZE = 1, 5, 10  # tags of the dynamic section
_MOST_BYTES = 4 << 20  # of one table


def needed_beside(programs: Iterable[Path], folder: Path) -> tuple[Path, ...]:
    """The shared libraries in ``folder`` that these programs need, and those that they need in turn."""
    try:
        there = {name for name in os.listdir(folder) if ".so" in name}  # noqa: PTH208 -- names alone
    except OSError:
        return ()
    # A link to one that is found, as the linker wants them, and the stub of Python's own are asked for by none.
    open_ends = {name for name in there if not name.startswith("libpython")}
    found: set[str] = set()
    waiting = list(programs)
    for program in waiting:
        fresh = (needed_by(program) & there) - found
        found |= fresh
        waiting += [folder / name for name in fresh]
        if not open_ends - found:
            break  # an interpreter has seventy parts, and most have nothing beside them but itself
    return tuple(folder / name for name in sorted(found))


def needed_by(path: Path) -> frozenset[str]:
    """The names of the shared libraries that this file asks the loader for."""
    try:
        with path.open("rb", buffering=0) as file:
            return frozenset(_names(file))
    except (OSError, struct.error, KeyError, ValueError, OverflowError):
        return frozenset()


def _names(file: BinaryIO) -> list[str]:
    head = file.read(64)
    if head[:6] != _MAGIC:
        return []
    (at,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    table = _read(file, at, size * count)
    segments = [struct.unpack_from("<IIQQQQ", table, size * place) for place in range(count)]
    dynamic = [(offset, length) for kind, _, offset, _, _, length in segments if kind == _DYNAMIC]
    if not dynamic:
        return []
    entries = list(struct.iter_unpack("<QQ", _read(file, *dynamic[0])))
    tags = dict(entries)
    strings = _read(file, _offset(segments, tags[_STRINGS]), tags[_STRINGS_SIZE])
    return [os.fsdecode(_word(strings, value)).rpartition("/")[2] for tag, value in entries if tag == _NEEDED]


def _offset(segments: list[tuple[int, ...]], address: int) -> int:
    """Where in the file lies what the loader puts at this address."""
    for kind, _, offset, start, _, length in segments:
        if kind == _LOADED and start <= address < start + length:
            return offset + address - start
    raise KeyError(address)


def _word(strings: bytes, at: int) -> bytes:
    return strings[at : strings.index(b"\0", at)] if b"\0" in strings[at:] else b""


def _read(file: BinaryIO, at: int, length: int) -> bytes:
    file.seek(at)
    return file.read(min(length, _MOST_BYTES))
