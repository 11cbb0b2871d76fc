"""Whether an action can be taken back: everything is looked at before anything is touched.

Rules: the inverse effects are played through on a `Tree`, so that each is judged by the disk as the ones before it
leave it. What was written, copied or put back must be as it was left (size and digest, else size and time); what was
moved or trashed must be the same file or folder, whose content may have changed, since moving it back loses nothing. A
folder that was made is removed only if it is empty then, and otherwise stays. Anything in the way is a conflict, and
one conflict refuses the whole. Does not guarantee that others keep still between the look and the act.
"""

from dataclasses import dataclass
from dataclasses import replace as change
from pathlib import Path

from metnos.core.errors import ExecutorFailed, LawError
from metnos.executors import effect_files as files
from metnos.executors.effect_files import FILE, FOLDER, shown
from metnos.executors.effect_rules import Refuse
from metnos.executors.effect_tree import Node, Tree
from metnos.executors.undo_rules import line, needs
from metnos.executors.undo_schema import MAKE, MOVE, PLACE, RESTORE, TAKE, TRASH, UNMAKE, Effect, Mark
from metnos.law.forbidden import Access


@dataclass(frozen=True, slots=True)
class Way:
    """The way back: the effects to perform, what they are in words, and what stands against it."""

    steps: tuple[Effect, ...]
    lines: tuple[str, ...]
    conflicts: tuple[str, ...]


class Check:
    """One look at the way back."""

    def __init__(self, store: Path, refuse: Refuse) -> None:
        self._store = store
        self._refuse = refuse
        self._tree = Tree()
        self._steps: list[Effect] = []
        self._lines: list[str] = []
        self._conflicts: list[str] = []

    def way(self, pairs: list[tuple[Effect, Effect]]) -> Way:
        """``pairs`` are an effect and its inverse, in the order in which the inverses would happen."""
        for effect, inverse in pairs:
            try:
                self._judge(effect, inverse)
            except ExecutorFailed as error:
                self._conflicts.append(error.what)
            except OSError as error:
                self._conflicts.append(files.failure(error, inverse.path).what)
        return Way(tuple(self._steps), tuple(self._lines), tuple(dict.fromkeys(self._conflicts)))

    def _judge(self, effect: Effect, inverse: Effect) -> None:
        for path in {inverse.path, inverse.where}:
            try:
                self._refuse(path, Access.WRITE)
            except LawError as error:
                raise _against(error.what) from error
        if inverse.how in (MAKE, UNMAKE) and self._needless(inverse):
            return
        self._present(effect, inverse)
        if inverse.how in (PLACE, MOVE, MAKE, RESTORE):
            self._free(inverse)
        self._apply(inverse)
        self._steps.append(inverse)
        self._lines.append(line(inverse))

    def _needless(self, inverse: Effect) -> bool:
        """A folder that is there or gone already needs nothing, and one that others use stays."""
        node = self._tree.look(inverse.path)
        if inverse.how == MAKE:
            return node is not None and node.kind == FOLDER
        if node is None or node.kind != FOLDER:
            return True
        if self._tree.names(node):
            self._lines.append(f"leave the folder {shown(inverse.path)}: it is not empty")
            return True
        return False

    def _present(self, effect: Effect, inverse: Effect) -> None:
        """What the inverse works on is there, and is what the effect left."""
        needed = needs(inverse, self._store)
        if needed is not None and not (needed.is_symlink() or needed.exists()):
            place = "the trash" if inverse.how == RESTORE else "Metnos's store"
            raise _against(f"what was at {shown(inverse.path)} is no longer in {place}")
        if inverse.how in (MAKE, UNMAKE, RESTORE) or (inverse.how == PLACE and not inverse.keeps):
            return
        node = self._tree.look(inverse.path)
        if node is None:
            raise _against(f"{shown(inverse.path)} is gone")
        loose = inverse.how in (MOVE, TRASH)
        expected = effect.before if effect.how == RESTORE else effect.after
        if expected is None or not self._same(expected, node, loose=loose):
            raise _against(f"{shown(inverse.path)} was changed since")

    def _free(self, inverse: Effect) -> None:
        """Where something comes back to, its folder is there and the place is free."""
        where = inverse.where
        parent = self._tree.look(where.parent)
        if parent is None or parent.kind != FOLDER:
            raise _against(f"the folder {shown(where.parent)} is gone")
        there = self._tree.look(where)
        if there is None:
            return
        if not inverse.keeps:
            raise _against(f"something else is at {shown(where)} now")
        if there.kind != FILE:
            raise _against(f"{shown(where)} is no file any more")

    def _apply(self, inverse: Effect) -> None:
        tree, path = self._tree, inverse.path
        needed = needs(inverse, self._store)
        if inverse.how == MOVE:
            tree.move(path, inverse.where)
        if inverse.how == MAKE:
            tree.put_folder(path, inverse.after.mode if inverse.after else 0)
        elif inverse.how in (TAKE, UNMAKE, TRASH):
            tree.put(path, None)
        elif needed is not None:
            tree.bring(path, needed)

    def _same(self, expected: Mark, node: Node, *, loose: bool) -> bool:
        """Whether this is what was recorded: the same file, or, if not loose, the same content."""
        found = self._mark(node)
        if found is None or found.kind != expected.kind:
            return False
        if loose and found.ino == expected.ino:
            return True
        if found.kind == FOLDER:
            return found.sha256 == expected.sha256
        if found.size != expected.size:
            return False
        digest = self._digest(node) if expected.sha256 else ""
        return digest == expected.sha256 if digest else found.mtime_ns == expected.mtime_ns

    def _mark(self, node: Node) -> Mark | None:
        """The mark of what a node will be: a folder's depends on what will be in it."""
        found: Mark | None = Mark(node.kind, 0, 0, 0, node.mode)
        if node.origin is not None:
            with files.folder(node.origin.parent) as at:
                status = files.look(at, node.origin.name)
            found = None if status is None else files.mark_of(status)
        if found is None or found.kind != FOLDER:
            return found
        marks = [
            (name, self._mark(child)) for name in self._tree.names(node) if (child := self._tree.child(node, name))
        ]
        return change(found, sha256=files.digest_entries((name, each) for name, each in marks if each is not None))

    def _digest(self, node: Node) -> str:
        """The digest of a file's content; nothing if we may not read it."""
        if node.origin is None:
            return ""
        try:
            with files.folder(node.origin.parent) as at:
                return files.digest_of(at, node.origin.name)
        except PermissionError:
            return ""


def _against(what: str) -> ExecutorFailed:
    return ExecutorFailed(what, kind="conflict")
