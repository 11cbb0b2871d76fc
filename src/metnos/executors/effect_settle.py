"""Whether an effect that was begun has happened: decided by looking at the disk, after a failure or a crash.

Rules: a stroke is a rename, so it has happened or it has not, and what was prepared is either in place or still beside
it. An effect that happened is completed and marked done, one that did not is cleaned up and marked void. Nothing that
could be the only copy is removed: what was kept goes only when what it was kept for is in its place. Where others
changed things since and it cannot be told, the effect counts as done, so that what it kept is kept on.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace as change
from pathlib import Path

from metnos.executors import effect_files as files
from metnos.executors import trash as trashing
from metnos.executors.effect_names import gone_name, same_disk, stage_name
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
    VOID,
    Effect,
    Journal,
    Mark,
)  # fmt: skip


def settle_effect(journal: Journal, store: Path, effect: Effect) -> Effect:
    """Decide, clean up, and record. An effect that is settled already stays as it is."""
    if effect.state in (DONE, VOID):
        return effect
    settled = _SETTLERS[effect.how](store, effect)
    return journal.write(settled)


def bring_back(at: int, name: str, store: int, effect: Effect) -> None:
    """What the store holds under ``from_key`` comes to a free place."""
    key = effect.from_key or ""
    if same_disk(at, store):
        files.rename(store, key, at, name, replace=False)
        return
    files.remove(at, stage_name(effect.id))
    files.copy(store, key, at, stage_name(effect.id), own=True)
    files.rename(at, stage_name(effect.id), at, name, replace=False)
    files.remove(store, key)


def _settle_place(store: Path, effect: Effect) -> Effect:
    where, stage = effect.where, effect.stage or effect.where
    from_store = stage.parent == store
    now, staged = _ino(where), _ino(stage)
    if effect.state == BEGUN or effect.after is None:
        happened = False
    else:
        # Something may still have the stage's name then: the old content, or a link that was about to be removed.
        happened = now == effect.after.ino or (staged is None and not _is(effect.before, now))
    if happened:
        if effect.before and effect.after and staged not in (None, effect.before.ino, effect.after.ino):
            _keep_instead(store, effect.id, stage)
        _remove(stage)
        if effect.from_key is not None:
            _remove(store / effect.from_key)
        return change(effect, state=DONE)
    if not from_store:
        _remove(stage)
    if effect.keeps:
        _remove(store / effect.id)
    return change(effect, state=VOID)


def _settle_take(store: Path, effect: Effect) -> Effect:
    kept = _ino(store / effect.id)
    _remove(store / f"{effect.id}.tmp")
    if effect.state == BEGUN or kept is None or (effect.before and _ino(effect.path) == effect.before.ino):
        if kept is not None and _ino(effect.path) is not None:
            _remove(store / effect.id)
        return change(effect, state=VOID)
    _remove(effect.path.with_name(gone_name(effect.id)))
    return change(effect, state=DONE)


def _settle_move(store: Path, effect: Effect) -> Effect:
    source, target = effect.path, effect.where
    before, after = effect.before, effect.after
    if effect.state == BEGUN or before is None or after is None or not _moved(effect, before, after):
        if effect.stage is not None:
            _remove(effect.stage)
        if effect.keeps and _ino(target) is not None:
            _remove(store / effect.id)
        return change(effect, state=VOID)
    if _ino(source) == before.ino:
        if effect.stage is not None and not _unchanged(source, before):
            # Copied, and the original was changed before it could be removed: then a copy is what has happened.
            return change(effect, op="copy", how=PLACE, state=DONE)
        _remove(source)
    _remove(source.with_name(gone_name(effect.id)))
    if effect.from_key is not None and _ino(store / effect.from_key) is not None and _ino(source) is None:
        with files.folder(source.parent) as at, files.folder(store) as held:
            bring_back(at, source.name, held, effect)
    return change(effect, state=DONE)


def _moved(effect: Effect, before: Mark, after: Mark) -> bool:
    if effect.stage is not None and _ino(effect.stage) is not None:
        return False
    return _ino(effect.where) == after.ino or _ino(effect.path) != before.ino


def _settle_make(_store: Path, effect: Effect) -> Effect:
    if effect.state == BEGUN:
        return change(effect, state=VOID)
    with _parent(effect.path) as at:
        found = None if at is None else files.mark(at, effect.path.name)
    made = found is not None and found.kind == files.FOLDER
    return change(effect, state=DONE if made else VOID, after=found)


def _settle_unmake(_store: Path, effect: Effect) -> Effect:
    return change(effect, state=DONE if _ino(effect.path) is None else VOID)


def _settle_trash(_store: Path, effect: Effect) -> Effect:
    trashed = effect.trashed or effect.path
    if effect.state == ACTING and effect.before and _ino(effect.path) != effect.before.ino:
        return change(effect, state=DONE)
    can = trashing.can_of(trashed)
    with contextlib.suppress(OSError):
        if _ino(trashed) is None and trashing.path_in(can.info(trashed.name).read_bytes(), can) == effect.path:
            trashing.forget(trashed)
    return change(effect, state=VOID)


def _settle_restore(_store: Path, effect: Effect) -> Effect:
    trashed = effect.trashed or effect.path
    if effect.before is None or _ino(effect.path) != effect.before.ino:
        return change(effect, state=VOID)
    with contextlib.suppress(OSError):
        _remove(trashed)  # only the second name of what is back already, where renaming is linking and unlinking
        trashing.forget(trashed)
    return change(effect, state=DONE)


_SETTLERS = {
    PLACE: _settle_place, TAKE: _settle_take, MOVE: _settle_move, MAKE: _settle_make, UNMAKE: _settle_unmake,
    TRASH: _settle_trash, RESTORE: _settle_restore,
}  # fmt: skip


@contextlib.contextmanager
def _parent(path: Path) -> Iterator[int | None]:
    """The folder that ``path`` is in, if it can still be reached."""
    try:
        descriptor = files.open_folder(path.parent)
    except OSError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _ino(path: Path) -> int | None:
    with _parent(path) as at:
        status = None if at is None else files.look(at, path.name)
    return None if status is None else status.st_ino


def _is(before: Mark | None, now: int | None) -> bool:
    return now == (None if before is None else before.ino)


def _unchanged(path: Path, before: Mark) -> bool:
    with _parent(path) as at:
        return at is not None and files.mark(at, path.name) == before


def _keep_instead(store: Path, key: str, stage: Path) -> None:
    """Another program's file was exchanged away at the last moment: then that is what was replaced."""
    with files.folder(stage.parent) as at, files.folder(store) as held:
        files.keep(at, stage.name, held, key)


def _remove(path: Path) -> None:
    with _parent(path) as at:
        if at is not None:
            files.remove(at, path.name)
