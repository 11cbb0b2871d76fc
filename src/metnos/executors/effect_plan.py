"""A dry run: the same operations, decided the same way, and none of them done.

Rules: what would be refused for real is refused here with the same class, what earlier planned operations would have
changed counts as changed, and the effects collected are those that the real run has if the disk stays as it is. The
preview says in words what would happen; for text it shows at most 40 lines of difference a file, and of many files only
the first: neither the number nor the content of operations makes it slow or large. Does not guarantee what only trying
shows: a full disk, or rights that the system checks in ways of its own.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from metnos.core.difference import unified
from metnos.executors.effect_files import FILE, inert, shown
from metnos.executors.effect_rules import (
    MAX_FILE,
    MOST_CARRIED,
    Carried,
    Deed,
    Halted,
    Hand,
    Pace,
    Refuse,
    not_halted,
)
from metnos.executors.effect_tree import Node, Tree
from metnos.executors.trash import Trash
from metnos.law import aliases
from metnos.law.self_running import NOTHING_KNOWN, SelfRunning

_MOST_LINES = 40  # of one file's difference
_MOST_SHOWN = 400  # of all differences together
_MOST_COMPARED = 1 << 20  # bytes of all texts that are compared
_MOST_KEPT = 16 << 20  # bytes of planned contents: what comes behind is planned by its size alone
_MOST_BYTES = 256 * 1024  # of one side of a comparison: beyond it, only the sizes are told


class Planning(Hand):
    """The hands of a dry run. ``effects`` and ``preview`` grow with every operation that would succeed."""

    def __init__(
        self,
        refuse: Refuse,
        trash: Trash,
        running: SelfRunning = NOTHING_KNOWN,
        halted: Halted = not_halted,
        *,
        max_writes: int | None = None,
        max_bytes: int | None = None,
        max_file: int = MAX_FILE,
    ) -> None:
        super().__init__(
            refuse, trash, running, Pace(halted), max_writes=max_writes, max_bytes=max_bytes, max_file=max_file
        )
        self._planned = Tree()
        self._preview: list[str] = []
        self._carried: list[Carried] = []
        self._runs: dict[Path, None] = {}
        self._shown = 0
        self._compared = 0
        self._kept = 0

    @property
    def preview(self) -> tuple[str, ...]:
        """What would happen, in lines for the owner; first what something would run by itself."""
        runs = [path for each in self._carried for path in each.runs]
        return (*_listed("high risk, runs by itself", [*map(shown, (*self._runs, *runs))]), *self._preview)

    @property
    def carried(self) -> tuple[Carried, ...]:
        """What the folders of all operations take along that the owner has to see."""
        return tuple(self._carried)

    @property
    def runs(self) -> tuple[Path, ...]:
        """What would be changed by itself, and not in a folder, that something runs; the outermost of each."""
        return tuple(self._runs)

    def _tree(self) -> Tree:
        return self._planned

    def _do(self, deed: Deed) -> None:
        tree, path, target = self._planned, deed.path, deed.target or deed.path
        self._note_running(deed)
        if deed.op in ("write", "put"):
            self._plan_content(deed)
        elif deed.op == "make_folder":
            for each in deed.folders:
                self._preview.append(f"make the folder {shown(each)}")
                tree.put_folder(each)
        elif deed.op == "trash":
            self._preview.append(f"move {shown(path)} to the trash")
            self._plan_carried(deed)
            tree.put(path, None)
        else:
            over = ", replacing the file that is there" if deed.replaced else ""
            size = f" ({deed.size:,} bytes)" if deed.op == "copy" else ""
            self._preview.append(f"{deed.op} {shown(path)} to {shown(target)}{size}{over}")
            self._plan_carried(deed)
            tree.move(path, target) if deed.op == "move" else tree.copy(path, target)

    def _plan_carried(self, deed: Deed) -> None:
        self._carried.append(deed.carried)
        hidden = [shown(path.relative_to(deed.path)) for path in deed.carried.hidden]
        self._preview += _listed("  hidden, goes along", hidden)

    def _note_running(self, deed: Deed) -> None:
        changed = [deed.target] if deed.op == "copy" else [*deed.folders, deed.path, deed.target]
        known = aliases.look()
        for path in filter(None, changed):
            if self._runs.keys().isdisjoint((path, *path.parents)) and self._running.find(known.all_names([path])):
                self._runs[path] = None

    def _plan_content(self, deed: Deed) -> None:
        node = self._planned.look(deed.path) if deed.replaced else None
        old_size = node.size if node is not None else 0
        size = deed.size + (old_size if deed.append else 0)
        old = _content(node)
        new = deed.content if deed.fd is None else _of_descriptor(deed.fd, deed.size)
        if deed.append and new is not None:
            new = None if old is None else old + new
        verb = "add to" if deed.append else "overwrite" if deed.replaced else "write"
        self._preview.append(f"{verb} {shown(deed.path)} {_sizes(deed, old_size, size)}")
        self._preview += self._differ(old, new, deed.path)
        known = new if new is not None and len(new) <= min(_MOST_BYTES, _MOST_KEPT - self._kept) else None
        self._kept += len(known or b"")
        self._planned.put_file(deed.path, size, known)

    def _differ(self, old: bytes | None, new: bytes | None, path: Path) -> list[str]:
        self._compared += len(old or b"") + len(new or b"")
        if self._shown >= _MOST_SHOWN or self._compared > _MOST_COMPARED:
            return ["  (what differs is not shown: there is too much of it)"]
        lines = _difference(old, new, path)
        self._shown += len(lines)
        return lines


def _listed(words: str, names: Sequence[str]) -> list[str]:
    lines = [f"{words}: {name}" for name in names[:MOST_CARRIED]]
    return lines if len(names) <= MOST_CARRIED else [*lines, f"{words}: {len(names) - MOST_CARRIED:,} more"]


def _sizes(deed: Deed, before: int, after: int) -> str:
    return f"({before:,} → {after:,} bytes)" if deed.replaced else f"({after:,} bytes)"


def _content(node: Node | None) -> bytes | None:
    """What a file holds, real or planned; nothing if it is too large to be shown."""
    if node is None:
        return b""
    if node.content is not None or node.origin is None or node.kind != FILE or node.size > _MOST_BYTES:
        return node.content
    try:
        descriptor = os.open(node.origin, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _of_descriptor(descriptor, node.size)
    finally:
        os.close(descriptor)


def _of_descriptor(fd: int, size: int) -> bytes | None:
    return os.pread(fd, size, 0) if size <= _MOST_BYTES else None


def _difference(old: bytes | None, new: bytes | None, path: Path) -> list[str]:
    """A unified difference, at most 40 lines of it; nothing for what is no text."""
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return []
    return [f"  {inert(line)}" for line in unified(before, after, (shown(path), shown(path)), most=_MOST_LINES)]


def _text(content: bytes | None) -> str | None:
    if content is None or len(content) > _MOST_BYTES or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
