"""The hands that change the owner's files, outside the sandbox: each change is recorded before it happens.

Rules: one *action* is one call of an executor; each change it makes is an effect of it, and can be taken back (see
`undo`). An effect is in the journal, with the old content in the store, before the disk is touched; it happens at one
stroke; then it is marked done. Of several processes that change files at once, one changes at a time. A failure leaves
the disk as it was before that effect. Does not check the permit: the broker does, before it calls.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from metnos.core.clock import Clock
from metnos.core.errors import ExecutorFailed, StoreError
from metnos.core.ids import UlidMaker
from metnos.executors import effect_files as files
from metnos.executors.effect_hands import Hands, Staged, no_checkpoint
from metnos.executors.effect_rules import MAX_FILE, Deed, Doing, Done, Halted, Hand, Pace, Refuse, not_halted
from metnos.executors.effect_tree import Tree
from metnos.executors.trash import Trash
from metnos.executors.undo_schema import CLOSED, INTERRUPTED, MAKE, MOVE, PLACE, TRASH, ActionRow, Effect, Journal
from metnos.law.self_running import SelfRunning
from metnos.store.db import Database

__all__ = ["MAX_FILE", "Acting", "Doing", "Done", "Effects", "Refuse"]


class Effects:
    """Begins actions. ``refuse`` raises a `LawError` on a path that must not be touched."""

    def __init__(
        self,
        db: Database,
        store: Path,
        trash: Trash,
        clock: Clock,
        ids: UlidMaker,
        refuse: Refuse,
        running: Callable[[], SelfRunning] = SelfRunning,
        *,
        halted: Halted = not_halted,
        max_file: int = MAX_FILE,
        checkpoint: Callable[[str], None] = no_checkpoint,
    ) -> None:
        self._journal = Journal(db, clock)
        self._store = store
        self._trash = trash
        self._clock = clock
        self._ids = ids
        self._refuse = refuse
        self._running = running
        self._halted = halted
        self._max_file = max_file
        self._checkpoint = checkpoint

    def begin(
        self,
        *,
        executor: str,
        digest: str = "",
        permit_id: str = "",
        turn: str = "",
        title: str = "",
        root: str = "",
        max_writes: int | None = None,
        max_bytes: int | None = None,
    ) -> "Acting":
        """One call of an executor. It is in the journal from its first effect on; with a ``root``, as one with that
        action, which is taken back together with it."""
        ident = self._ids()
        pace = Pace(self._halted)
        hands = Hands(
            self._journal, self._store, self._trash, self._clock, self._ids, self._checkpoint, pace.go_on
        )  # fmt: skip
        row = ActionRow(ident, root or ident, self._journal.now(), executor, digest, permit_id, turn, title or executor)
        return Acting(
            row, hands, self._journal, self._refuse, self._trash, self._ids, self._running(), pace,
            max_writes=max_writes, max_bytes=max_bytes, max_file=self._max_file,
        )  # fmt: skip

    def stands(self, action: str) -> bool:
        """Whether an action is known and was not taken back."""
        family = self._journal.family(action)
        return bool(family) and not family[-1].inverse


class Acting(Hand):
    """One action, for as long as the executor runs. Leaving it by an exception marks it as interrupted."""

    def __init__(
        self,
        row: ActionRow,
        hands: Hands,
        journal: Journal,
        refuse: Refuse,
        trash: Trash,
        ids: UlidMaker,
        running: SelfRunning,
        pace: Pace,
        *,
        max_writes: int | None,
        max_bytes: int | None,
        max_file: int,
    ) -> None:
        super().__init__(refuse, trash, running, pace, max_writes=max_writes, max_bytes=max_bytes, max_file=max_file)
        self._row = row
        self._hands = hands
        self._journal = journal
        self._ids = ids
        self._begun = False
        self._deeds = {
            "write": self._write, "put": self._write, "copy": self._copy, "move": self._move,
            "make_folder": self._make_folder, "trash": self._to_trash,
        }  # fmt: skip

    @property
    def id(self) -> str:
        return self._row.id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._begun:
            try:
                with self._telling(self._row.executor):
                    self._journal.end_action(self.id, CLOSED if error is None else INTERRUPTED)
            finally:
                self._hands.leave(self.id)

    def write(self, path: Path, content: bytes, *, overwrite: bool = False, append: bool = False) -> Done:
        # What is added depends on what is there: another process must not add between the look and the act.
        with self._hands.locked() if append else contextlib.nullcontext():
            return super().write(path, content, overwrite=overwrite, append=append)

    def _tree(self) -> Tree:
        return Tree()

    def _do(self, deed: Deed) -> None:
        with self._telling(deed.path.name):
            self._begin()
            self._deeds[deed.op](deed)

    def _begin(self) -> None:
        if not self._begun:
            self._hands.enter(self.id)
            try:
                self._journal.begin_action(self._row)
            except StoreError:
                self._hands.leave(self.id)
                raise
            self._begun = True

    # -- the six operations, done

    def _write(self, deed: Deed) -> None:
        def staging(at: int, name: str) -> Staged:
            return stage_content(at, name, deed)

        self._hands.place(self._effect(deed, PLACE), staging, replace=deed.replaced)

    def _copy(self, deed: Deed) -> None:
        def staging(at: int, name: str) -> Staged:
            with files.folder(deed.path.parent) as source:
                self._hands.expect(source, deed.path)
                return Staged(files.copy(source, deed.path.name, at, name, own=False, go_on=self._go_on))

        self._hands.place(self._effect(deed, PLACE), staging, replace=deed.replaced)

    def _move(self, deed: Deed) -> None:
        self._hands.move(self._effect(deed, MOVE), replace=deed.replaced)

    def _make_folder(self, deed: Deed) -> None:
        for each in deed.folders:
            self._hands.make(Effect(self._ids(), self.id, deed.op, MAKE, each))

    def _to_trash(self, deed: Deed) -> None:
        self._hands.trash(self._effect(deed, TRASH))

    def _effect(self, deed: Deed, how: str) -> Effect:
        return Effect(self._ids(), self.id, deed.op, how, deed.path, deed.target, bytes=deed.size)

    @contextlib.contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """What cannot be recorded does not happen; whoever asked is told so in the executors' own terms."""
        try:
            yield
        except StoreError as error:
            raise ExecutorFailed(f"{what}: {error.what}", kind="unavailable", fix=error.fix) from error


def stage_content(at: int, name: str, deed: Deed) -> Staged:
    """The new content of a file, under a hidden name; with the mode and owner of what it replaces."""
    with contextlib.ExitStack() as stack:
        old = None
        if deed.replaced:
            flags = os.O_RDONLY if deed.append else os.O_PATH
            old = os.open(deed.path.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
            stack.callback(os.close, old)
        made = files.new_file(at, name)
        stack.callback(os.close, made)
        status = None if old is None else os.fstat(old)
        base = (status.st_ino, status.st_size, status.st_mtime_ns) if status and deed.append else None
        digest = files.fill(made, _content(deed, old, status))
        if status is not None:
            files.imitate(made, status, own=True, times=False)
        os.fsync(made)
        return Staged(digest, base)


def _content(deed: Deed, old: int | None, status: os.stat_result | None) -> Iterator[bytes]:
    if deed.append and old is not None and status is not None:
        yield from files.chunks_of(old, status.st_size, deed.path)
    if deed.fd is not None:
        yield from files.chunks_of(deed.fd, deed.size, deed.path)
    elif deed.content:
        yield deed.content
