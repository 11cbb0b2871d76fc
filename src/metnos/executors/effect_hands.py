"""One effect at a time: record it, prepare it, do it at one stroke, record that it is done.

Rules: there are seven ways to change a disk, each with an exact inverse (see `undo_rules`): *place* a finished file or
folder, *take* one into the store, *move*, *make* or *unmake* a folder, *trash*, *restore*. What is replaced is in the
store before it is replaced. What takes time is prepared under a hidden name beside its place, outside the lock; the
stroke itself happens under one lock for all processes. When anything fails, what a crash would have left is settled at
once, by the same code. Does not guarantee anything against another program that replaces the target of a move at the
very moment of the stroke.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import replace as change
from pathlib import Path

from metnos.core import files as core_files
from metnos.core.clock import Clock
from metnos.core.errors import ExecutorFailed, StoreError
from metnos.core.ids import UlidMaker
from metnos.executors import effect_files as files
from metnos.executors import trash as trashing
from metnos.executors.effect_files import FILE, FOLDER, shown
from metnos.executors.effect_names import LOCK, gone_name, live_name, same_disk, stage_name
from metnos.executors.effect_settle import bring_back, settle_effect
from metnos.executors.trash import Trash
from metnos.executors.undo_schema import (
    ACTING,
    BEGUN,
    DONE,
    MAKE,
    MOVE,
    PLACE,
    RESTORE,
    TAKE,
    TRASH,
    UNMAKE,
    Effect,
    Journal,
    Mark,
)  # fmt: skip

_WAIT_S = 30.0  # for another process to finish its stroke
_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Staged:
    """What was prepared: its digest where known, and the file that it was made from, where it adds to one."""

    sha256: str = ""
    base: tuple[int, int, int] | None = None


Staging = Callable[[int, str], Staged]  # makes the named file or folder in the folder of this descriptor


def no_checkpoint(_step: str) -> None:
    """Tests stop here."""


class Hands:
    def __init__(
        self, journal: Journal, store: Path, trash: Trash, clock: Clock, ids: UlidMaker,
        checkpoint: Callable[[str], None] = no_checkpoint, go_on: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._journal = journal
        self._store = store
        self._trash = trash
        self._clock = clock
        self._ids = ids
        self._point = checkpoint
        self._go_on = go_on  # asked before a change and on the long way to one; raises to end it
        self._lock_fd = -1
        self._depth = 0
        self._live: dict[str, int] = {}

    # -- actions

    def enter(self, action: str) -> None:
        """Show that this action is going on, for as long as this process lives."""
        self._live[action] = _open_locked(self._store, live_name(action))

    def leave(self, action: str) -> None:
        (self._store / live_name(action)).unlink(missing_ok=True)
        os.close(self._live.pop(action))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else changes anything meanwhile. May be nested."""
        if self._depth == 0:
            self._lock_fd = _open_locked(self._store, LOCK)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                os.close(self._lock_fd)

    # -- effects

    def do(self, effect: Effect) -> Effect:
        """An effect that needs nothing but what its record says: every inverse does."""
        if effect.how == PLACE:
            return self.place(effect, None, replace=effect.keeps)
        if effect.how == MOVE:
            return self.move(effect, replace=effect.keeps)
        if effect.how == MAKE:
            return self.make(effect, effect.after.mode if effect.after else None)
        plain = {TAKE: self.take, UNMAKE: self.unmake, TRASH: self.trash, RESTORE: self.restore}
        return plain[effect.how](effect)

    def place(self, effect: Effect, staging: Staging | None, *, replace: bool) -> Effect:
        """A finished file or folder gets its name: one that ``staging`` makes, or one from the store."""
        where, key = effect.where, effect.from_key
        with self._folders(where.parent) as (at, store):
            near = key is not None and same_disk(at, store)
            name = key if key is not None and near else stage_name(effect.id)
            stage = (self._store if near else where.parent) / name
            effect = self._write(change(effect, stage=stage, state=BEGUN, keeps=replace))
            with self._settling(effect) as told:
                staged = Staged()
                if staging is not None:
                    staged = staging(at, name)
                elif key is not None and not near:
                    files.copy(store, key, at, name, own=True)
                self._point("staged")
                self._go_on()
                with self.locked():
                    before = self._keep_old(effect, at, where, store, staged.base)
                    after = files.mark(store if near else at, name, staged.sha256)
                    effect = told(change(effect, state=ACTING, before=before, after=after, keeps=before is not None))
                    if before is None:
                        files.rename(store if near else at, name, at, where.name, replace=False)
                    else:
                        files.swap_in(store if near else at, name, at, where.name, before.ino)
                    self._point("renamed")
                    if key is not None and not near:
                        files.remove(store, key)
                    return told(change(effect, state=DONE))

    def take(self, effect: Effect) -> Effect:
        """Something goes from its place into the store."""
        name = effect.path.name
        with self._folders(effect.path.parent) as (at, store):
            near = same_disk(at, store)
            effect = self._write(change(effect, state=BEGUN, keeps=True))
            with self._settling(effect) as told, self.locked():
                before = self.expect(at, effect.path)
                if not near:
                    files.copy(at, name, store, f"{effect.id}.tmp", own=True)
                    self._point("staged")
                    files.rename(store, f"{effect.id}.tmp", store, effect.id, replace=False)
                effect = told(change(effect, state=ACTING, before=before))
                if near:
                    files.rename(at, name, store, effect.id, replace=False)
                else:
                    self._discard(at, name, effect.id)
                self._point("renamed")
                return told(change(effect, state=DONE))

    def move(self, effect: Effect, *, replace: bool) -> Effect:
        """Something changes its name, and what the store holds under ``from_key`` comes to the old one."""
        source, target = effect.path, effect.where
        with self._folders(source.parent) as (at, store), self._at(target.parent) as to:
            near = same_disk(at, to)
            stage = None if near else target.parent / stage_name(effect.id)
            effect = self._write(change(effect, stage=stage, state=BEGUN, keeps=replace))
            with self._settling(effect) as told:
                seen = self.expect(at, source)
                if stage is not None:
                    files.copy(at, source.name, to, stage.name, own=True, go_on=self._go_on)
                    self._point("staged")
                self._go_on()
                with self.locked():
                    if self.expect(at, source) != seen:
                        raise ExecutorFailed(f"{shown(source)} changed while it was moved", kind="conflict")
                    kept = self._keep_old(effect, to, target, store, None)
                    after = seen if stage is None else files.mark(to, stage.name)
                    effect = told(change(effect, state=ACTING, before=seen, after=after, keeps=kept is not None))
                    if stage is None:
                        files.rename(at, source.name, to, target.name, replace=kept is not None)
                    else:
                        files.rename(to, stage.name, to, target.name, replace=kept is not None)
                        self._point("placed")
                        self._discard(at, source.name, effect.id)
                    self._point("renamed")
                    if effect.from_key is not None:
                        bring_back(at, source.name, store, effect)
                        self._point("brought back")
                    return told(change(effect, state=DONE))

    def make(self, effect: Effect, mode: int | None = None) -> Effect:
        """A folder appears; with the mode it once had, or one that the umask decides."""
        with self._at(effect.path.parent) as at:
            effect = self._write(change(effect, state=BEGUN))
            with self._settling(effect) as told, self.locked():
                if files.look(at, effect.path.name) is not None:
                    raise ExecutorFailed(f"{shown(effect.path)} is there already", kind="exists")
                effect = told(change(effect, state=ACTING))
                os.mkdir(effect.path.name, 0o777, dir_fd=at)
                if mode is not None:
                    os.chmod(effect.path.name, mode, dir_fd=at)
                os.fsync(at)
                self._point("renamed")
                return told(change(effect, state=DONE, after=files.mark(at, effect.path.name)))

    def unmake(self, effect: Effect) -> Effect:
        """An empty folder disappears."""
        with self._at(effect.path.parent) as at:
            effect = self._write(change(effect, state=ACTING, before=files.mark(at, effect.path.name)))
            with self._settling(effect) as told, self.locked():
                os.rmdir(effect.path.name, dir_fd=at)
                os.fsync(at)
                self._point("renamed")
                return told(change(effect, state=DONE))

    def trash(self, effect: Effect) -> Effect:
        """Something goes to the trash of its own file system."""
        path = effect.path
        with self._at(path.parent) as at:
            can = self._trash.can_for(path, os.fstat(at).st_dev)
            self._trash.prepare(can)
            first, second = trashing.candidates(path.name, effect.id)
            effect = self._write(change(effect, state=BEGUN, trashed=can.files / first))
            with self._settling(effect) as told, self.locked(), self._at(can.files) as to:
                if not self._trash.reserve(can, first, path, self._clock.now()):
                    effect = told(change(effect, trashed=can.files / second))
                    if not self._trash.reserve(can, second, path, self._clock.now()):
                        raise ExecutorFailed(f"the trash has no free name for {shown(path)}", kind="conflict")
                self._point("staged")
                effect = told(change(effect, state=ACTING, before=self.expect(at, path)))
                files.rename(at, path.name, to, (effect.trashed or path).name, replace=False)
                self._point("renamed")
                return told(change(effect, state=DONE))

    def restore(self, effect: Effect) -> Effect:
        """Something comes back from the trash."""
        trashed = effect.trashed
        assert trashed is not None  # noqa: S101 -- a restoring effect names what it restores
        with self._at(effect.path.parent) as to, self._at(trashed.parent) as at:
            seen = self.expect(at, trashed)
            effect = self._write(change(effect, state=ACTING, before=seen, after=seen))
            with self._settling(effect) as told, self.locked():
                files.rename(at, trashed.name, to, effect.path.name, replace=False)
                self._point("renamed")
                trashing.forget(trashed)
                return told(change(effect, state=DONE))

    # -- inside

    @contextlib.contextmanager
    def _folders(self, path: Path) -> Iterator[tuple[int, int]]:
        """The folder of what changes, and the store."""
        with self._at(path) as at, self._at(self._store) as store:
            yield at, store

    @contextlib.contextmanager
    def _at(self, path: Path) -> Iterator[int]:
        try:
            with files.folder(path) as at:
                yield at
        except OSError as error:
            raise files.failure(error, path) from error

    def _write(self, effect: Effect) -> Effect:
        effect = self._journal.write(effect)
        self._point(effect.state)
        return effect

    @contextlib.contextmanager
    def _settling(self, effect: Effect) -> Iterator[Callable[[Effect], Effect]]:
        """Whatever goes wrong, the effect has either happened or not, nothing is left over, and the journal says so."""
        latest = effect

        def told(now: Effect) -> Effect:
            nonlocal latest
            latest = now
            return self._write(now)

        try:
            yield told
        except BaseException as error:
            # A journal that cannot be written now is settled at the next start, from what it says already.
            with contextlib.suppress(StoreError, OSError):
                settle_effect(self._journal, self._store, latest)
            if isinstance(error, OSError):
                raise files.failure(error, effect.where) from error
            raise

    def expect(self, at: int, path: Path) -> Mark:
        """What is about to be moved, copied or trashed: still there, and still a file or a folder."""
        found = files.mark(at, path.name)
        if found is None:
            raise ExecutorFailed(f"{shown(path)} is not there", kind="not_found")
        if found.kind not in (FILE, FOLDER):
            raise ExecutorFailed(f"{shown(path)} has become something else meanwhile", kind="conflict")
        return found

    def _keep_old(
        self, effect: Effect, at: int, path: Path, store: int, base: tuple[int, int, int] | None
    ) -> Mark | None:
        """What is about to be replaced, after it was put into the store; nothing if the place is free."""
        found = files.mark(at, path.name)
        if found is None and base is None:
            return None
        if found is None or (base is not None and (found.ino, found.size, found.mtime_ns) != base):
            raise ExecutorFailed(f"{shown(path)} changed while something was added to it", kind="conflict")
        if found.kind != FILE:
            raise ExecutorFailed(f"{shown(path)} has become something else meanwhile", kind="conflict")
        if not effect.keeps:
            raise ExecutorFailed(f"{shown(path)} is there already", kind="exists")
        files.keep(at, path.name, store, effect.id)
        self._point("kept")
        return found

    def _discard(self, at: int, name: str, key: str) -> None:
        """Remove what was copied elsewhere: out of sight at one stroke, then piece by piece."""
        files.rename(at, name, at, gone_name(key), replace=False)
        self._point("out of sight")
        files.remove(at, gone_name(key))
        os.fsync(at)


def _open_locked(store: Path, name: str) -> int:
    """A file of the store that this process holds alone; waits for another one to let go of it."""
    try:
        core_files.private_folder(store)
        descriptor = os.open(store / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise files.failure(error, store) from error
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                what = "another process of Metnos has been changing files for too long"
                raise ExecutorFailed(what, kind="unavailable", fix="Try again when it has finished.") from None
            time.sleep(_POLL_S)


def is_live(store: Path, action: str) -> bool:
    """Whether some process is still in the middle of this action."""
    try:
        descriptor = os.open(store / live_name(action), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
