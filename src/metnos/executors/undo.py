"""Taking back what executors did, and doing it again.

Rules: all of an action is taken back or nothing: every conflict is found before the first change, and a failure on the
way (a full disk) puts back what was taken back. Each inverse effect is recorded like any other, so a crash in the
middle is settled like any other. What was interrupted can be undone as far as it went. Undoing and redoing are recorded
in the audit with who wanted it. While everything is halted neither happens; what a crash left is settled all the same.
Doing again is an act that no policy is asked about: only a person may, and not where the level lets nothing be changed.
Actions older than the owner wants to keep are forgotten together with what was stored for them. Does not guarantee that
an action can be undone for ever: the trash may be emptied, and files change.
"""

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace as change
from datetime import datetime
from pathlib import Path
from typing import Protocol

from metnos.core.clock import Clock, to_text
from metnos.core.errors import MetnosError, Refused, StoreError, UndoError
from metnos.core.ids import UlidMaker
from metnos.executors import effect_files as files
from metnos.executors.effect_hands import Hands, is_live, no_checkpoint
from metnos.executors.effect_names import live_name
from metnos.executors.effect_rules import Refuse
from metnos.executors.effect_settle import settle_effect
from metnos.executors.trash import Trash
from metnos.executors.undo_check import Check, Way
from metnos.executors.undo_rules import Action, Piles, State, inverse, needs, piles, state_of
from metnos.executors.undo_schema import CLOSED, DONE, INTERRUPTED, OPEN, ActionRow, Effect, Journal
from metnos.law.audit_line import Entry
from metnos.law.halt import Halt
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.store.db import Database

UNDONE = "action undone"
REDONE = "action redone"
PRUNED = "old actions forgotten"

_PAGE = 50


class Recorder(Protocol):
    """The audit, as far as taking back needs it."""

    def act(self, entry: Entry, /) -> AbstractContextManager[object]: ...


class Undo:
    """The way back, for everything that the journal of this workspace knows."""

    def __init__(
        self,
        db: Database,
        store: Path,
        trash: Trash,
        refuse: Refuse,
        clock: Clock,
        ids: UlidMaker,
        audit: Recorder,
        halted: Callable[[], Halt | None],
        *,
        level: Autonomy = Autonomy.SUPERVISED,
        checkpoint: Callable[[str], None] = no_checkpoint,
    ) -> None:
        self._journal = Journal(db, clock)
        self._store = store
        self._refuse = refuse
        self._ids = ids
        self._audit = audit
        self._halted = halted
        self._level = level
        # Fresh for each turn: hands belong to one thread, and an app is shared by many.
        self._hands: Callable[[], Hands] = lambda: Hands(self._journal, store, trash, clock, ids, checkpoint)

    # -- looking

    def actions(self, limit: int = 20) -> list[Action]:
        """What executors did, the newest first. What is still going on is not listed."""
        return [self._action(row) for row in self._journal.roots(limit) if row.state != OPEN]

    def undone_turns(self) -> list[str]:
        """The turns of which something was undone and not redone, each once."""
        return self._journal.undone_turns()

    def find(self, prefix: str) -> Action:
        """The one action whose id begins so."""
        return self._action(self._journal.find(prefix))

    def last(self, *, redo: bool = False) -> Action:
        """What `undo` or `redo` would take when nothing is named."""
        if redo:
            for root in self._journal.turned():
                row = self._journal.family(root)[0]
                if self._piles(row).taken_back and self._action(row).state is not State.GONE:
                    return self._action(row)
            raise UndoError("nothing was undone that could be done again")
        offset = 0
        while rows := self._journal.roots(_PAGE, offset):
            for row in rows:
                if row.state != OPEN and self._action(row).state in (State.DONE, State.INTERRUPTED, State.REDONE):
                    return self._action(row)
            offset += _PAGE
        raise UndoError("there is nothing to undo")

    def show(self, prefix: str, *, redo: bool = False) -> tuple[str, ...]:
        """What undoing (or redoing) an action would do, line by line; what stands against it comes last."""
        way = self._way(self._journal.find(prefix), redo=redo)
        return (*way.lines, *(f"cannot: {conflict}" for conflict in way.conflicts))

    # -- acting

    def undo(self, action: str | None = None, *, by: Principal) -> Action:
        """Take an action back, by its id or the beginning of it; the last one if none is named."""
        if not (by.is_owner or (by.known and by.channel is Channel.BIRTH)):
            raise Refused(f"{by} may not take anything back", fix="Do it at the terminal: metnos undo")
        return self._turn(action, by, redo=False)

    def redo(self, action: str | None = None, *, by: Principal) -> Action:
        """Do again what was undone; what was undone last if none is named. Only a person may."""
        if not by.may_answer:
            raise Refused(f"{by} may not do anything again: a person has to", fix="Type at a terminal: metnos redo")
        if self._level is Autonomy.READ_ONLY:
            raise Refused("nothing may be changed: the level is read_only", fix="See: metnos policy show")
        return self._turn(action, by, redo=True)

    def settle(self) -> list[Action]:
        """After a crash: find out what of each unfinished action happened, and clean up the rest."""
        interrupted = []
        with self._hands().locked():
            for row in self._journal.open_actions():
                if is_live(self._store, row.id):
                    continue
                try:
                    for effect in self._journal.effects_of(row.id):
                        settle_effect(self._journal, self._store, effect)
                except OSError:
                    continue  # its disk cannot be read now; it stays unfinished until it can
                self._journal.end_action(row.id, INTERRUPTED)
                (self._store / live_name(row.id)).unlink(missing_ok=True)
                family = self._journal.family(row.root)
                interrupted += [self._action(family[0])] if family else []
            self._sweep()
        return interrupted

    def prune(self, before: datetime) -> int:
        """Forget actions that nothing has happened to since, and what was stored for them; how many. None while
        everything is halted."""
        if self._halted() is not None:
            return 0
        with self._hands().locked():
            roots = self._journal.untouched_since(to_text(before))
            if roots:
                with self._audit.act(Entry(PRUNED, counts={"actions": len(roots)})):
                    self._journal.forget(roots)
            self._sweep()
        return len(roots)

    # -- inside

    def _turn(self, named: str | None, by: Principal, *, redo: bool) -> Action:
        if self._journal.open_actions():
            self.settle()
        root = self._journal.find(named if named is not None else self.last(redo=redo).id)
        verb = "redone" if redo else "undone"
        hands = self._hands()
        with hands.locked():
            if any(row.state == OPEN for row in self._journal.family(root.id)):
                raise UndoError(f"{root.title!r} is still going on", fix="Wait until it has ended.")
            way = self._way(root, redo=redo)
            if way.conflicts:
                listed = "\n".join(f"  {conflict}" for conflict in way.conflicts)
                what = f"{root.title!r} cannot be {verb}, and nothing was changed:\n{listed}"
                raise UndoError(what, fix="Put these right by hand, then try again.")
            if (halt := self._halted()) is not None:
                raise Refused(f"nothing was changed: {halt.why}", fix=halt.fix)
            names = {"action": root.id, "channel": by.channel, "sender": by.sender}
            entry = Entry(REDONE if redo else UNDONE, names, counts={"effects": len(way.steps)})
            with self._audit.act(entry):
                self._perform(hands, root, way.steps, redo=redo)
        return self._action(root)

    def _way(self, root: ActionRow, *, redo: bool) -> Way:
        sorted_ = self._piles(root)
        pile = sorted_.taken_back if redo else sorted_.in_force
        if not pile:
            raise UndoError(f"{root.title!r} {'was not undone' if redo else 'is undone already'}")
        pairs = [(effect, inverse(effect, self._ids(), "")) for effect in reversed(pile)]
        return Check(self._store, self._refuse).way(pairs)

    def _perform(self, hands: Hands, root: ActionRow, steps: tuple[Effect, ...], *, redo: bool) -> None:
        """Do the steps as one new action; if one fails, take back those that have happened."""
        ident, verb = self._ids(), "redone" if redo else "undone"
        try:
            self._act(hands, root, ident, steps, inverse_=not redo)
        except MetnosError as error:
            try:
                happened = [effect for effect in self._journal.effects_of(ident) if effect.state == DONE]
                backwards = tuple(inverse(effect, self._ids(), "") for effect in reversed(happened))
                if backwards:
                    self._act(hands, root, self._ids(), backwards, inverse_=redo)
            except MetnosError as second:
                what = f"{root.title!r} was {verb} only in part: {error.what}; going back failed too: {second.what}"
                raise UndoError(what, fix="Put this right, then undo or redo it again.") from error
            what = f"{root.title!r} could not be {verb}: {error.what}. Everything is as it was before."
            raise UndoError(what, fix=error.fix) from error

    def _act(self, hands: Hands, root: ActionRow, ident: str, steps: tuple[Effect, ...], *, inverse_: bool) -> None:
        before = self._journal.family(root.id)[-1].id
        row = ActionRow(
            ident, root.id, self._journal.now(), root.executor, root.digest, root.permit, root.turn, root.title,
            inverse_, before,
        )  # fmt: skip
        hands.enter(ident)
        state = INTERRUPTED
        try:
            self._journal.begin_action(row)
            for step in steps:
                hands.do(change(step, action=ident))
            state = CLOSED
        finally:
            with contextlib.suppress(StoreError):  # then it stays open, and is settled before anything else is undone
                self._journal.end_action(ident, state)
            hands.leave(ident)

    def _piles(self, root: ActionRow) -> Piles:
        return piles(self._journal.family(root.id), self._journal.effects(root.id))

    def _action(self, row: ActionRow) -> Action:
        sorted_ = self._piles(row)
        family = self._journal.family(row.id)
        state = state_of(family, sorted_)
        brought = [needs(inverse(effect, "", ""), self._store) for effect in sorted_.in_force or sorted_.taken_back]
        if any(path is not None and not os.path.lexists(path) for path in brought):
            state = State.GONE
        done = (each.id for each in family if each.inverse_of is None)  # by an executor, or by several for one
        named = tuple(effect.named for each in done for effect in self._journal.effects_of(each))
        return Action(row.id, row.ts, row.executor, row.digest, row.permit, row.turn, row.title, state, named)

    def _sweep(self) -> None:
        """Remove from the store whatever the journal does not know."""
        known = self._journal.keys()
        with files.folder(self._store) as store:
            for name in os.listdir(store):  # noqa: PTH208 -- of a descriptor
                if not name.startswith(".") and name.removesuffix(".tmp") not in known:
                    files.remove(store, name)
