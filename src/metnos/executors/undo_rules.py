"""What of an action is in force, what of it was taken back, and which change takes back which.

Rules: every effect has one inverse, which is an effect itself and has one in turn, so that redoing is undoing an undo.
The effects of an action, with those of every undo and redo of it, form two piles: what is in force and what was taken
back. Undoing moves effects from the first pile to the second, from the top, redoing the other way; one that was
interrupted left some on each, and either can go on from there. Decides only; touches nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as change
from enum import StrEnum
from pathlib import Path

from metnos.executors.effect_files import shown
from metnos.executors.undo_schema import (
    CLOSED,
    DONE,
    INTERRUPTED,
    MAKE,
    MOVE,
    PLACE,
    RESTORE,
    TAKE,
    TRASH,
    UNMAKE,
    ActionRow,
    Effect,
)  # fmt: skip


class State(StrEnum):
    """How an action stands."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    UNDONE = "undone"
    REDONE = "redone"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Piles:
    """The done effects of an action that count: in force, and taken back; the newest last."""

    in_force: tuple[Effect, ...]
    taken_back: tuple[Effect, ...]
    turned: bool  # whether anything of it was ever undone


@dataclass(frozen=True, slots=True)
class Action:
    """What an executor did in one call, and how it stands now."""

    id: str
    ts: str
    executor: str
    digest: str
    permit: str
    turn: str
    title: str
    state: State
    effects: tuple[tuple[str, ...], ...]


def piles(rows: Sequence[ActionRow], effects: Sequence[Effect]) -> Piles:
    """Sort the effects of an action and of all its undos and redos, in the order in which they happened."""
    backward = {row.id for row in rows if row.inverse}
    in_force: list[Effect] = []
    taken_back: list[Effect] = []
    turned = False
    for effect in effects:
        if effect.state != DONE:
            continue
        undoing = effect.action in backward
        theirs, ours = (in_force, taken_back) if undoing else (taken_back, in_force)
        theirs[:] = [each for each in theirs if each.id != effect.inverse_of]
        ours.append(effect)
        turned = turned or undoing
    return Piles(tuple(in_force), tuple(taken_back), turned)


def state_of(rows: Sequence[ActionRow], sorted_: Piles) -> State:
    """How an action stands, as far as the journal knows."""
    if rows and rows[-1].inverse and rows[-1].state == CLOSED:
        return State.UNDONE  # effects that are left needed no undoing: a folder that is gone, or not empty any more
    if sorted_.in_force and sorted_.taken_back:
        return State.INTERRUPTED
    if sorted_.taken_back:
        return State.UNDONE
    if sorted_.turned:
        return State.REDONE
    return State.INTERRUPTED if any(row.state == INTERRUPTED for row in rows) else State.DONE


def inverse(effect: Effect, ident: str, action: str) -> Effect:
    """The effect that takes this one back."""
    where, key = effect.where, effect.id
    back = Effect(ident, action, "", effect.how, where, inverse_of=effect.id)
    if effect.how == PLACE and not effect.keeps:
        return change(back, op="remove", how=TAKE)
    if effect.how in (PLACE, TAKE):
        return change(back, op="put_back", how=PLACE, from_key=key, keeps=effect.how == PLACE)
    if effect.how == MOVE:
        # Taking back a move that was followed by a return replaces what had returned, as the first move did.
        returns = key if effect.keeps else None
        return change(back, op="move", target=effect.path, from_key=returns, keeps=effect.from_key is not None)
    if effect.how == MAKE:
        return change(back, op="remove_folder", how=UNMAKE)
    if effect.how == UNMAKE:
        return change(back, op="make_folder", how=MAKE, after=effect.before)
    if effect.how == TRASH:
        return change(back, op="restore", how=RESTORE, trashed=effect.trashed)
    return change(back, op="trash", how=TRASH)


def line(effect: Effect) -> str:
    """An inverse effect in words for the owner."""
    path, where = shown(effect.path), shown(effect.where)
    return {
        PLACE: f"put back what was {'at' if effect.keeps else 'removed from'} {where}",
        TAKE: f"remove {path}",
        MOVE: f"move {path} to {where}",
        MAKE: f"make the folder {path}",
        UNMAKE: f"remove the empty folder {path}",
        TRASH: f"move {path} to the trash",
        RESTORE: f"restore {path} from the trash",
    }[effect.how] + (f", and put back what was at {path}" if effect.how == MOVE and effect.from_key else "")


def needs(effect: Effect, store: Path) -> Path | None:
    """What an inverse effect brings back, which must still be there."""
    if effect.how == RESTORE:
        return effect.trashed
    return None if effect.from_key is None else store / effect.from_key
