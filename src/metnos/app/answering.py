"""What follows an answer to a question of the inbox, whichever face it was given at.

Rules: the answer itself is the law's (`metnos.law.inbox`); what it allows is done here, as whoever gave it.
What goes on for a while is handed back as a turn, for the face to follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metnos.app import adopting, ageing, defaulting, extending, keeping, selecting, skilled
from metnos.core.errors import MetnosError, UsageError
from metnos.executors import words
from metnos.executors.call import asked
from metnos.grimoire import tiers
from metnos.law.inbox import ACT, ACTIVATION, DIRECTION, Item, State
from metnos.law.principal import Principal
from metnos.synt.proposals import Proposal

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.executors.outcome import Outcome
    from metnos.turn.loop import Turn

GROWING = (DIRECTION, ACTIVATION)
ARGS, TEXT, CODE = "args", "text", "code"
_EDITABLE = {ACT: ARGS, tiers.KIND: TEXT, ACTIVATION: CODE}
_STAYS = "It was used again since you were asked, so it stays."


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of a yes: in words, as a turn that goes on because of it, or as one call that was made."""

    said: str = ""
    turn: "Turn | None" = None
    outcome: "Outcome | None" = None


def carry_out(app: "App", item: Item, by: Principal) -> Carried:
    """Do what was approved: go on with the turn that waited for it, or make the one call, or keep the one line."""
    if item.kind == tiers.KIND:
        keeping.apply(app, item)
        return Carried()
    if item.kind == ageing.ARCHIVAL:
        return Carried("" if ageing.archive(app, item) else _STAYS)
    if item.kind in GROWING:
        said = app.growing.answered(item)
        return Carried(said, extending.go_on(app, item, by))
    if item.kind == adopting.KIND:
        return Carried(adopting.answered(app, item))
    if item.kind == skilled.KIND:
        return Carried(skilled.answered(app, item))
    if item.kind == defaulting.KIND:
        return Carried(defaulting.answered(app, item))
    if item.kind in selecting.KINDS:
        return Carried(selecting.answered(app, item))
    if item.kind != ACT:
        return Carried()
    turn = app.turns.go_on(item, by)
    return Carried(turn=turn) if turn is not None else Carried(outcome=app.runner.resume(item))


def standing(app: "App", item: Item) -> tuple[list[tuple[str, str, str]], str]:
    """What the policy's steps say of an act that waits, and how it could be taken back; nothing where it cannot be
    said, because what it is about has changed since."""
    if item.kind != ACT or item.state is not State.WAITING:
        return [], ""
    try:
        call = asked(item)
        return app.runner.explain(call, item), words.effect(app.catalog.get(call.name).manifest)
    except MetnosError:
        return [], ""


def refuse(app: "App", item: Item, by: Principal, reason: str = "") -> tuple[Item, Proposal | None]:
    """Say no, or take a yes back that was not used yet; returns the question, and the proposal behind it if there is
    one: a draft that was refused with a reason is made again."""
    closed = app.inbox.refuse(item.id, by, reason)
    return closed, app.growing.refused(closed, reason) if closed.kind in GROWING else None


# -- changing what is asked


def editable(item: Item) -> str:
    """What of a question can be changed: its arguments, its words or its code; nothing of one that does not wait."""
    return _EDITABLE.get(item.kind, "") if item.state is State.WAITING else ""


def require_editable(item: Item) -> str:
    """The same; raises where there is nothing to change."""
    found = editable(item)
    if not found:
        raise UsageError(
            f"question {item.id} is {item.state} and about: {item.kind}",
            fix="Only what waits can be edited: an act, a new executor, or a line for long memory.",
        )
    return found


def edit_args(app: "App", item: Item, args: Mapping[str, Any], by: Principal) -> Item:
    """The same act with other arguments; returns the question that takes the place of this one."""
    return app.runner.edit(item, args, by)


def edit_text(app: "App", item: Item, text: str, by: Principal) -> Item:
    """The same line in other words."""
    return keeping.tiers(app).edit(item, text.strip(), by)


def edit_code(app: "App", item: Item, code: str, by: Principal) -> Item:
    """The same executor with other code, which passes every gate again."""
    return app.growing.edited(item, code, by)
