"""The files as they are, or as they will be once what is planned has happened.

Rules: a `Tree` is read from the disk as it is asked, and remembers what it is told has changed; a node that was moved
or copied in it still knows the place on the disk where its content lies (``origin``). Nothing on the disk changes. One
view serves both real acts (a fresh tree for each) and plans (one tree for all), so both see the same things in the same
way. Never follows a symbolic link. Does not guarantee that the disk still is as it was when it was asked.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from metnos.core.errors import ExecutorFailed
from metnos.executors.effect_files import FILE, FOLDER, LINK, failure, kind_of, shown

_MOST_ENTRIES = 200_000  # of one folder that is moved, copied or trashed: beyond it, nobody could have meant it
_DEEPEST = 100


@dataclass(slots=True)
class Node:
    """One file or folder. ``children`` are those that were asked for or changed; the rest are on the disk."""

    kind: str
    device: int  # the file system it lies on, or will lie on
    origin: Path | None = None
    size: int = 0
    links: int = 1
    content: bytes | None = None  # of a planned file, where it is known
    children: dict[str, "Node | None"] = field(default_factory=dict)
    disk: int = 0  # the file system that its origin lies on
    mode: int = 0  # of a planned folder, where it is known

    def may(self, access: int) -> bool:
        """Whether the system lets us; for what is only planned it will."""
        return self.origin is None or os.access(self.origin, access, effective_ids=True)


class Tree:
    def __init__(self) -> None:
        root = _read(Path("/"))
        assert root is not None  # noqa: S101 -- there is always a root
        self._root = root

    def look(self, path: Path) -> Node | None:
        """What is at an absolute path, if anything."""
        node: Node | None = self._root
        for part in path.parts[1:]:
            if node is None:
                return None
            if node.kind == LINK:
                raise ExecutorFailed(f"{shown(path)} lies below a symbolic link now", kind="conflict")
            if node.kind != FOLDER:
                raise ExecutorFailed(f"{shown(path)} lies below something that is no folder", kind="conflict")
            node = self.child(node, part)
        return node

    def child(self, node: Node, name: str) -> Node | None:
        if name not in node.children:
            found = None if node.origin is None else _read(node.origin / name)
            if found is not None and found.disk == node.disk:
                found.device = node.device
            node.children[name] = found
        return node.children[name]

    def names(self, node: Node) -> list[str]:
        """What a folder holds."""
        names: set[str] = set()
        if node.origin is not None:
            try:
                names = {each.name for each in os.scandir(node.origin)}
            except OSError as error:
                raise failure(error, node.origin) from error
        return sorted(name for name in names | set(node.children) if self.child(node, name) is not None)

    def walk(self, node: Node, depth: int = 0) -> Iterator[tuple[Path, Node]]:
        """Everything below a folder, with its path relative to it."""
        for count, (path, each) in enumerate(self._below(node, Path(), depth)):
            if count >= _MOST_ENTRIES:
                raise ExecutorFailed(f"the folder holds more than {_MOST_ENTRIES:,} entries", kind="too_large")
            yield path, each

    def _below(self, node: Node, at: Path, depth: int) -> Iterator[tuple[Path, Node]]:
        if depth > _DEEPEST:
            raise ExecutorFailed(f"the folder is more than {_DEEPEST} levels deep", kind="too_large")
        for name in self.names(node):
            each = self.child(node, name)
            if each is not None:
                yield at / name, each
                if each.kind == FOLDER:
                    yield from self._below(each, at / name, depth + 1)

    # -- what changes

    def put(self, path: Path, node: Node | None) -> None:
        """From now on this is there, or nothing is."""
        parent = self.look(path.parent)
        if parent is None:
            raise ExecutorFailed(f"{shown(path.parent)} is not there", kind="not_found")
        parent.children[path.name] = node
        if node is not None:
            _land(node, parent.device)

    def put_file(self, path: Path, size: int, content: bytes | None) -> None:
        self.put(path, Node(FILE, 0, None, size, 1, content))

    def put_folder(self, path: Path, mode: int = 0) -> None:
        self.put(path, Node(FOLDER, 0, mode=mode))

    def move(self, source: Path, target: Path) -> None:
        node = self.look(source)
        self.put(source, None)
        self.put(target, node)

    def copy(self, source: Path, target: Path) -> None:
        node = self.look(source)
        self.put(target, None if node is None else _clone(node))

    def bring(self, path: Path, origin: Path) -> None:
        """What lies at ``origin`` on the disk appears at ``path``."""
        self.put(path, _read(origin))


def _read(path: Path) -> Node | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(error, path) from error
    kind = kind_of(status)
    size = status.st_size if kind == FILE else 0
    return Node(kind, status.st_dev, path, size, status.st_nlink, disk=status.st_dev)


def _land(node: Node, device: int) -> None:
    """What was moved or copied lies on the file system of the folder it came into."""
    node.device = device
    for child in node.children.values():
        if child is not None:
            _land(child, device)


def _clone(node: Node) -> Node:
    children = {name: None if child is None else _clone(child) for name, child in node.children.items()}
    return Node(node.kind, node.device, node.origin, node.size, 1, node.content, children, node.disk, node.mode)
