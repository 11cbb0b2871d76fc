"""What may be done to files: the six operations, decided before anything is touched.

Rules: whoever acts and whoever only plans decides here, in the same order, over the same kind of `Tree`; they differ
only in what they do with a `Deed` that was decided. Nothing is overwritten unless asked; a folder is never overwritten
and never overwrites, and never moves into itself; what is neither file nor folder is refused, and so is a file with
several names (hard links), since one of them may be a forbidden one; everything inside a folder is asked for, at its
old place and at its new one, and what is hidden there, or would run by itself at its new place, is named to whoever
permits (`Carried`). Does not guarantee that the act succeeds: the disk may fill, and others may be faster.
"""

import os
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from metnos.core.errors import ExecutorFailed, LawError
from metnos.executors.effect_files import FILE, FOLDER, LINK, SPECIAL, shown
from metnos.executors.effect_tree import Node, Tree
from metnos.executors.trash import Trash
from metnos.law import aliases
from metnos.law.forbidden import Access
from metnos.law.forbidden_rules import why_named
from metnos.law.guarded import is_hidden_name
from metnos.law.self_running import SelfRunning

Refuse = Callable[[Path, Access], None]  # raises a `LawError` on what must not be touched
Halted = Callable[[], bool]

_LONGEST_S = 1200.0  # of one call's changes, from its beginning to the last that begins
_LOOK_S = 0.05  # between two looks at whether everything is halted
HIDDEN_ALONG, RUNS_ALONG = "hidden along", "runs along"  # effects of a folder that goes as a whole
MOST_CARRIED = 20  # named of what one folder takes along
MAX_FILE = 1 << 30  # bytes: of one file that an executor writes; a folder is bounded by the quota of the day


@dataclass(frozen=True, slots=True)
class Done:
    """What one call did. ``replaced``: something was there before; ``bytes``: how many were written."""

    op: str
    path: Path
    target: Path | None = None
    bytes: int = 0
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """What a folder that goes as a whole takes along and was not named, the outermost of each."""

    hidden: tuple[Path, ...] = ()  # where it is
    runs: tuple[Path, ...] = ()  # runs by itself where it comes to lie, or where it is and will not be any more


Carry = Callable[[Carried, Path | None], None]  # raises unless this may go along, to there if anywhere


class Doing(Protocol):
    """The hands of an executor. Failures are `ExecutorFailed` with one of the closed kinds."""

    def write(self, path: Path, content: bytes, *, overwrite: bool = False, append: bool = False) -> Done: ...
    def put(self, path: Path, fd: int, *, overwrite: bool = False) -> Done: ...
    def make_folder(self, path: Path) -> Done: ...
    def move(self, source: Path, target: Path, *, overwrite: bool = False, carry: Carry | None = None) -> Done: ...
    def copy(self, source: Path, target: Path, *, overwrite: bool = False, carry: Carry | None = None) -> Done: ...
    def trash(self, path: Path, *, carry: Carry | None = None) -> Done: ...


@dataclass(frozen=True, slots=True)
class Deed:
    """One operation that was decided and may happen."""

    op: str
    path: Path
    target: Path | None = None
    size: int = 0  # bytes that will be written
    replaced: bool = False
    content: bytes | None = None  # of a write
    append: bool = False
    fd: int | None = None  # of a put
    folders: tuple[Path, ...] = ()  # to be made, the outermost first
    carried: Carried = Carried()

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        """Its effects as permits and previews name them."""
        if self.op == "make_folder":
            return tuple((self.op, str(each)) for each in self.folders)
        return ((self.op, str(self.path)),) if self.target is None else ((self.op, str(self.path), str(self.target)),)

    def done(self) -> Done:
        return Done(self.op, self.path, self.target, self.size, self.replaced)


class Pace:
    """Ends what takes long before it happens: when everything is halted, or far too much time went by."""

    def __init__(self, halted: Halted) -> None:
        self._halted = halted
        self._end = time.monotonic() + _LONGEST_S
        self._next = 0.0

    def go_on(self) -> None:
        """Raise if it is not to go on; cheap enough to be asked for every file."""
        now = time.monotonic()
        if now < self._next:
            return
        if self._halted():
            raise ExecutorFailed("everything was halted while this went on; it was left as it was", kind="unavailable")
        if now > self._end:
            what = f"it took more than {_LONGEST_S / 60:g} minutes, and was left as it was"
            raise ExecutorFailed(what, kind="too_large", fix="Ask for less at a time.")
        self._next = time.monotonic() + _LOOK_S


def not_halted() -> bool:
    """For hands that nothing halts."""
    return False


class Hand(ABC):
    """The six operations. A subclass says which tree they are decided over, and what becomes of a deed."""

    def __init__(
        self,
        refuse: Refuse,
        trash: Trash,
        running: SelfRunning,
        pace: "Pace",
        *,
        max_writes: int | None,
        max_bytes: int | None,
        max_file: int,
    ) -> None:
        self.writes = 0
        self.write_bytes = 0
        self._effects: list[tuple[str, ...]] = []
        self._refuse = refuse
        self._trash = trash
        self._running = running
        self._go_on = pace.go_on
        self._max_writes = max_writes
        self._max_bytes = max_bytes
        self._max_file = max_file

    @property
    def effects(self) -> tuple[tuple[str, ...], ...]:
        """(operation, path) or (operation, path, target) of everything done or planned so far, in order."""
        return tuple(self._effects)

    def write(self, path: Path, content: bytes, *, overwrite: bool = False, append: bool = False) -> Done:
        """Content to a file; ``append`` makes the file if there is none."""
        tree = self._tree()
        there = self._room(tree, path, overwrite=overwrite or append)
        before = there.size if there and append else 0
        self._refuse_large(path, before + len(content))
        replaced = there is not None
        return self._go(Deed("write", path, None, len(content), replaced, content, append and replaced))

    def put(self, path: Path, fd: int, *, overwrite: bool = False) -> Done:
        """What an untrusted descriptor holds becomes a file."""
        size = self._size_of(fd, path)
        replaced = self._room(self._tree(), path, overwrite=overwrite) is not None
        return self._go(Deed("put", path, None, size, replaced, fd=fd))

    def make_folder(self, path: Path) -> Done:
        """A folder with its parents. One that is there already is left as it is, and is no effect."""
        tree = self._tree()
        missing: list[Path] = []
        for each in reversed((path, *path.parents)):
            node = tree.look(each) if not missing else None
            if node is None:
                self._ask(each, Access.WRITE)
                missing.append(each)
            elif node.kind != FOLDER:
                raise ExecutorFailed(f"{shown(each)} is there and is no folder", kind=_in_the_way(node))
        if missing:
            self._parent(tree, missing[0])
        return self._go(Deed("make_folder", path, folders=tuple(missing)))

    def move(self, source: Path, target: Path, *, overwrite: bool = False, carry: Carry | None = None) -> Done:
        tree = self._tree()
        node = self._source(tree, source, Access.WRITE)
        self._parent(tree, source)
        replaced = self._target(tree, source, node, target, overwrite)
        far = node.device != self._parent(tree, target).device
        _, carried = self._inside(tree, source, node, Access.WRITE, target, reads=far)
        self._carry(carry, carried, target)
        return self._go(Deed("move", source, target, replaced=replaced, carried=carried))

    def copy(self, source: Path, target: Path, *, overwrite: bool = False, carry: Carry | None = None) -> Done:
        tree = self._tree()
        node = self._source(tree, source, Access.READ)
        replaced = self._target(tree, source, node, target, overwrite)
        size, carried = self._inside(tree, source, node, Access.READ, target, reads=True)
        self._carry(carry, carried, target)
        return self._go(Deed("copy", source, target, size, replaced, carried=carried))

    def trash(self, path: Path, *, carry: Carry | None = None) -> Done:
        tree = self._tree()
        node = self._source(tree, path, Access.WRITE)
        self._parent(tree, path)
        self._trash.can_for(path, node.device)
        _, carried = self._inside(tree, path, node, Access.WRITE, None, reads=False)
        self._carry(carry, carried, None)
        return self._go(Deed("trash", path, carried=carried))

    # -- what subclasses say

    @abstractmethod
    def _tree(self) -> Tree: ...

    @abstractmethod
    def _do(self, deed: Deed) -> None: ...

    # -- deciding

    def _go(self, deed: Deed) -> Done:
        named = deed.named
        if self._max_writes is not None and self.writes + len(named) > self._max_writes:
            raise ExecutorFailed(
                f"{shown(deed.path)} was left alone: no more than {self._max_writes:,} changes are left for today",
                kind="not_permitted", fix="`executors.writes` sets how many an executor may make in a day.",
            )  # fmt: skip
        if self._max_bytes is not None and self.write_bytes + deed.size > self._max_bytes:
            raise ExecutorFailed(
                f"{shown(deed.path)} was left alone: no more than {self._max_bytes:,} bytes are left for today",
                kind="not_permitted", fix="`executors.write_mb` sets how much an executor may write in a day.",
            )  # fmt: skip
        self._do(deed)
        self.writes += len(named)
        self.write_bytes += deed.size
        self._effects.extend(named)
        return deed.done()

    def _ask(self, path: Path, access: Access) -> None:
        try:
            self._refuse(path, access)
        except LawError as error:
            raise ExecutorFailed(error.what, kind="not_permitted", fix=error.fix) from error

    def _ask_inside(self, folder: Path, path: Path, access: Access) -> None:
        """The same of what lies in a folder that goes as a whole: some of that may go along as it is."""
        try:
            self._ask(folder / path, access)
        except ExecutorFailed:
            if why_named(f"/{path}", Access.WRITE) is None:  # what it is depends on where the folder lies
                raise
            self._ask(folder / path, Access.CARRY)

    def _carry(self, carry: Carry | None, carried: Carried, target: Path | None) -> None:
        if carry is not None and (carried.hidden or carried.runs):
            carry(carried, target)

    def _parent(self, tree: Tree, path: Path) -> Node:
        """The folder that a change of ``path`` changes."""
        parent = tree.look(path.parent) if path != path.parent else None
        if parent is None:
            raise ExecutorFailed(f"the folder {shown(path.parent)} is not there", kind="not_found")
        if parent.kind != FOLDER:
            raise ExecutorFailed(f"{shown(path.parent)} is no folder", kind="conflict")
        if not parent.may(os.R_OK | os.W_OK | os.X_OK):  # it is read to be synced
            raise ExecutorFailed(f"nothing may be changed in the folder {shown(path.parent)}", kind="not_permitted")
        return parent

    def _room(self, tree: Tree, path: Path, *, overwrite: bool) -> Node | None:
        """What a file that comes to ``path`` replaces, if anything and if that is allowed."""
        self._ask(path, Access.WRITE)
        self._parent(tree, path)
        node = tree.look(path)
        if node is None:
            return None
        if node.kind != FILE:
            words = {FOLDER: "a folder", LINK: "a symbolic link", SPECIAL: "neither a file nor a folder"}[node.kind]
            raise ExecutorFailed(f"{shown(path)} is {words} and is not overwritten", kind=_in_the_way(node))
        if not overwrite:
            raise ExecutorFailed(f"{shown(path)} is there already", kind="exists")
        if not node.may(os.R_OK):
            what = f"{shown(path)} may not be read, so it could not be kept to be put back"
            raise ExecutorFailed(what, kind="unreadable")
        return node

    def _source(self, tree: Tree, path: Path, access: Access) -> Node:
        self._ask(path, access)
        node = tree.look(path)
        if node is None or path == path.parent:
            raise ExecutorFailed(f"{shown(path)} is not there", kind="not_found")
        if node.kind == LINK:
            raise ExecutorFailed(f"{shown(path)} is a symbolic link now, which is not followed", kind="conflict")
        parent = tree.look(path.parent)
        if parent is None or not parent.may(os.R_OK | os.X_OK):
            raise ExecutorFailed(f"the folder {shown(path.parent)} may not be read", kind="unreadable")
        if parent.device != node.device:
            raise ExecutorFailed(f"{shown(path)} is where another file system begins", kind="not_permitted")
        _refuse_odd(path, node, links=True)
        return node

    def _target(self, tree: Tree, source: Path, node: Node, target: Path, overwrite: bool) -> bool:
        if target == source or source in target.parents:
            what = "itself" if target == source else "a place inside itself"
            raise ExecutorFailed(f"{shown(source)} cannot go to {what}", kind="conflict")
        there = self._room(tree, target, overwrite=overwrite)
        if there is not None and node.kind == FOLDER:
            raise ExecutorFailed(f"{shown(target)} is a file, and no folder replaces it", kind="exists")
        return there is not None

    @aliases.held()
    def _inside(
        self, tree: Tree, source: Path, node: Node, access: Access, target: Path | None, *, reads: bool
    ) -> tuple[int, Carried]:
        """Ask for everything in what is moved, copied or trashed, where it is and where it goes; its size, and what of
        it is for the owner to see."""
        if reads and not node.may(os.R_OK | (os.X_OK if node.kind == FOLDER else 0)):
            raise ExecutorFailed(f"{shown(source)} may not be read", kind="unreadable")
        if node.kind == FILE:
            return node.size, Carried()
        size = 0
        found = _Finding(source, target, self._running, leaves=access is Access.WRITE)
        for path, each in tree.walk(node):
            self._go_on()
            self._ask_inside(source, path, access)
            if target is not None:
                self._ask_inside(target, path, Access.WRITE)
            found.note(path, each)
            if each.device != node.device:
                raise ExecutorFailed(
                    f"{shown(source / path)} is where another file system begins", kind="not_permitted"
                )
            _refuse_odd(source / path, each, links=reads)
            if reads and each.kind != LINK and not each.may(os.R_OK | (os.X_OK if each.kind == FOLDER else 0)):
                raise ExecutorFailed(f"{shown(source / path)} may not be read", kind="unreadable")
            size += each.size
        return size, Carried(tuple(found.hidden), tuple(found.runs))

    def _size_of(self, fd: int, path: Path) -> int:
        """How much a descriptor from the sandbox holds; it must be a plain file that can be read."""
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise ExecutorFailed(f"what should become {shown(path)} is no plain file", kind="not_permitted")
            os.pread(fd, 1, 0)
        except OSError as error:
            raise ExecutorFailed(f"what should become {shown(path)} cannot be read", kind="unreadable") from error
        self._refuse_large(path, status.st_size)
        return status.st_size

    def _refuse_large(self, path: Path, size: int) -> None:
        if size > self._max_file:
            what = f"{shown(path)} would have {size:,} bytes; no file may have more than {self._max_file:,}"
            raise ExecutorFailed(what, kind="too_large")


class _Finding:
    """Collects what a folder takes along, from its entries in the order of a walk, by every name that they have."""

    def __init__(self, source: Path, target: Path | None, running: SelfRunning, *, leaves: bool) -> None:
        self._source, self._target = str(source), str(target)
        self._known, self._running = aliases.look(), running
        # Of a folder that runs itself more is not said: it was asked for as that.
        self._lands = target is not None and running.find(self._known.all_names([target])) is None
        self._leaves = leaves and running.find(self._known.all_names([source])) is None
        self._places = running.places_below(source) if self._leaves else frozenset()
        self._above = frozenset(str(above) for place in self._places for above in Path(place).parents)
        self._below: tuple[set[Path], set[Path]] = (set(), set())
        self.hidden: list[Path] = []
        self.runs: list[Path] = []

    def note(self, path: Path, node: Node) -> None:
        hidden, runs = self._below
        here = f"{self._source}/{path}"
        if path.parent in hidden:
            hidden.add(path)
        elif is_hidden_name(path.name, folder=node.kind == FOLDER) or here in self._known.hidden:
            hidden.add(path)
            self.hidden.append(Path(here))
        if path.parent in runs:
            runs.add(path)
        elif self._lands and self._will_run(f"{self._target}/{path}"):
            runs.add(path)
            self.runs.append(Path(self._target, path))
        elif self._leaves and self._is_run(here, node):
            runs.add(path)
            self.runs.append(Path(here))

    def _will_run(self, there: str) -> bool:
        """Whether what comes to a place runs there, or is hidden there by the name of a link."""
        return there in self._known.hidden or self._running.find((there, *self._known.names_of(there))) is not None

    def _is_run(self, here: str, node: Node) -> bool:
        """Whether something is run where it lies, and not because of names that go along with it."""
        if here in self._places or (here in self._above and node.kind == LINK):
            return True
        return self._running.find(self._known.names_of(here)) is not None


def _refuse_odd(path: Path, node: Node, *, links: bool) -> None:
    if node.kind == SPECIAL:
        raise ExecutorFailed(f"{shown(path)} is neither a file nor a folder", kind="not_permitted")
    if links and node.kind == FILE and node.links > 1:
        what = f"{shown(path)} is one file with {node.links} names (hard links), so it is not clear what it is"
        raise ExecutorFailed(what, kind="not_permitted", fix="Make a copy of it by hand and use that.")


def _in_the_way(node: Node) -> str:
    return {FOLDER: "exists", FILE: "exists", LINK: "conflict"}.get(node.kind, "not_permitted")
