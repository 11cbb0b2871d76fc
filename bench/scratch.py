"""Where benchmarks write: a folder on a real disk, gone when they end.

Rules: the system's temporary folder, unless that lives in memory, where a sync costs nothing and every figure about
durability would be a lie; then the project's own. Does not guarantee a disk: if both are in memory the result says so
by the file system's name.
"""

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A fresh folder to write in."""
    with tempfile.TemporaryDirectory(prefix="metnos-bench-", dir=place()) as name:
        yield Path(name)


def place() -> Path:
    system = Path(tempfile.gettempdir())
    return Path(__file__).parent if filesystem(system) in _IN_MEMORY else system


def filesystem(path: Path) -> str:
    """The kind of file system that ``path`` is on, by name only; "unknown" where the system does not tell."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return "unknown"
    return kind_of(path.resolve(), mounts)


def kind_of(path: Path, mounts: str) -> str:
    """The kind of the deepest mount above ``path``; of two at one point the later hides the earlier."""
    kind, depth = "unknown", 0
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        point = Path(_ESCAPED.sub(lambda match: chr(int(match.group(1), 8)), before.split()[4]))
        if len(point.parts) >= depth and path.is_relative_to(point):
            kind, depth = after.split()[0], len(point.parts)
    return kind
