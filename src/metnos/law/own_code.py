"""Measure the code of Metnos: one digest over every file of its package.

Rules: every file counts, also one that nothing imports yet (a library in machine code would be loaded in place of a
module), except names that begin with a dot and ``__pycache__``, which `own_bytecode` judges. Every file is read each
time: its size and times can be forged. A link to a folder, and anything that cannot be read as a file, is
`UNREADABLE`, and such code is never pinned. Does not guarantee that the process which measures runs what it measures:
code that was changed before the start may hide its change.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metnos.core.canon import canonical_json, sha256_hex

PACKAGE = Path(__file__).parents[1]
UNREADABLE = "unreadable"
CACHE = "__pycache__"


@dataclass(frozen=True, slots=True)
class OwnCode:
    """The digest of each file, by its path in the package, and one digest of them all."""

    files: Mapping[str, str]
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", sha256_hex(canonical_json(dict(self.files))))

    @property
    def unreadable(self) -> tuple[str, ...]:
        return tuple(name for name, digest in self.files.items() if digest == UNREADABLE)


def measure(package: Path = PACKAGE) -> OwnCode:
    """Read every file of the package as it lies on the disk now."""
    found = {}
    for name, path in _walk(str(package), ""):
        content = read_plain(path)
        found[name] = UNREADABLE if content is None else sha256_hex(content)
    return OwnCode(dict(sorted(found.items())))


def compare(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Name each file that differs and how: changed, new or gone."""
    found = []
    for name in sorted(before.keys() | now.keys()):
        if name not in before:
            found.append(f"{name} is new")
        elif name not in now:
            found.append(f"{name} is gone")
        elif before[name] != now[name]:
            found.append(f"{name} was changed")
    return tuple(found)


def name_first(differences: tuple[str, ...], most: int = 1) -> str:
    """The first differences in words, and how many more there are."""
    more = len(differences) - most
    return ", ".join(differences[:most]) + (f" and {more} more" if more > 0 else "")


def read_plain(path: str) -> bytes | None:
    """The content of an ordinary file; nothing if it is none, cannot be read, or changes while it is read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        content = os.read(descriptor, status.st_size + 1)
        return content if len(content) == status.st_size else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _walk(folder: str, above: str) -> Iterator[tuple[str, str]]:
    """Name and path of everything that is no folder."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        yield _printable(above) or ".", folder  # which cannot be read as a file either
        return
    for entry in entries:
        name = entry.name
        if name.startswith(".") or name == CACHE:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{above}{name}/")
        else:
            yield _printable(above + name), entry.path


def _printable(name: str) -> str:
    """A name as the record of it can hold it: bytes of a file name that are no text are written as numbers."""
    return name.encode("utf-8", "backslashreplace").decode()
