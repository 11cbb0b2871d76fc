"""Making executors in the middle of a turn: what `metnos.turn.extend` needs, from an open workspace.

Rules: the making is that of everything else (`metnos.app.growing`): the same stages, the same gates, the same question
in the inbox, the same one door to a signature. Here is only what is special about a turn: that its purse bounds the
making too, that whoever stops it stops the making, and that it goes on when the owner says yes later.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from metnos.core.errors import InboxError, TurnError
from metnos.executors import index
from metnos.grimoire.trace import State as Ended
from metnos.law.inbox import ACTIVATION, Item, State
from metnos.law.principal import Autonomy, Principal
from metnos.models.budget import Budget, Within
from metnos.models.chat import Chat, OnText, Prompt, Reply
from metnos.synt.draft import Made
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Proposal, subject_of
from metnos.synt.proposals import State as Stand
from metnos.turn import extend
from metnos.turn.purse import Purse
from metnos.turn.thinking import Face

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.grimoire.trace import Trace
    from metnos.turn.loop import Turn

_PURPOSE = "making an executor"
_UNANSWERED = "no answer in time"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Extending:
    """How turns of an open workspace get executors that they lack."""

    app: "App"

    def can(self) -> bool:
        """Whether it is wanted, there is a model, and what would be made could live today."""
        app = self.app
        settings, db = app.settings, app.catalog.db
        if not settings.synt.in_turns or Autonomy(settings.policy.autonomy) is Autonomy.READ_ONLY:
            return False
        born = index.births_since(db, app.clock.now() - _DAY)
        room = born < settings.executors.births and len(index.active_synthesised(db)) < settings.executors.active
        return room and app.models.tier("main") is not None

    def living(self, need: Need) -> str:
        usable = {each.name for each in self.app.catalog.usable()}
        born = [each.name for each in self._of(need) if each.state is Stand.ACTIVE and each.name in usable]
        return born[0] if born else ""

    def standing(self, need: Need) -> Item | None:
        drafted = [each for each in self._of(need) if each.state is Stand.DRAFTED]
        item = self._found(drafted[0].activation) if drafted else None
        return item if item is not None and item.state in (State.WAITING, State.APPROVED, State.USED) else None

    def tried(self, need: Need) -> str:
        given_up = [each for each in self._of(need) if each.state is Stand.ABANDONED]
        return given_up[0].reason if given_up else ""

    def take_up(self, need: Need) -> Proposal:
        proposals = self.app.growing.proposals
        proposal, _ = proposals.take_up(need, "the owner wants the request finished")
        if proposal.state is not Stand.DRAFTED:
            return proposal
        proposals.refused(proposal, _UNANSWERED)  # its question is over, or `standing` had found it
        return proposals.take_up(need, "the owner wants the request finished")[0]

    def draft(self, need: Need, purse: Purse, face: Face) -> Made:
        app = self.app
        meter = Within(Budget(app.settings.synt.tokens, app.settings.synt.usd), purse.meter)
        chat = app.models.metered("main", meter)
        asked = None if chat is None else _Heard(chat, purse.lent(chat), face)
        return app.growing.draft(need, lambda stage, again: face.tell(extend.progress(stage, again, purse.name)), asked)

    def put(self, proposal: Proposal, made: Made) -> Proposal:
        return self.app.growing.put(proposal, made)

    def drop(self, proposal: Proposal, reason: str) -> None:
        """Give it up, unless somebody else has brought it further meanwhile."""
        growing = self.app.growing
        if growing.proposals.get(proposal.id).state is Stand.COMMISSIONED:
            growing.give_up(proposal, reason)

    def question(self, proposal: Proposal) -> Item:
        return self.app.inbox.find(proposal.activation)

    def activate(self, item: Item, by: Principal, typed: str) -> str:
        app = self.app
        if item.state is State.WAITING:
            item = app.inbox.approve(item.id, by, seen=item.yes_count, typed=typed)
        app.growing.answered(item)
        return str(item.body["name"])

    def refuse(self, item: Item, by: Principal) -> None:
        # Without a reason: one would have another draft made, and this request is over.
        self.app.growing.refused(self.app.inbox.refuse(item.id, by), "")

    def _of(self, need: Need) -> list[Proposal]:
        """Every proposal about this very request, the newest first."""
        subject = subject_of(need)
        return [each for each in self.app.growing.proposals.all() if each.subject == subject]

    def _found(self, item: str) -> Item | None:
        try:
            return self.app.inbox.find(item)
        except InboxError:
            return None


@dataclass(frozen=True, slots=True)
class _Heard:
    """The model that makes, as the turn hears of it: counted in its purse, and stopped when it is."""

    chat: Chat
    purse: Purse
    face: Face

    @property
    def name(self) -> str:
        return self.chat.name

    @property
    def outside(self) -> bool:
        return self.chat.outside

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        def heard(delta: str) -> None:
            self.face.go_on()
            if on_text is not None:
                on_text(delta)

        self.face.go_on()
        return self.purse.ask(_PURPOSE, prompt, heard)


def go_on(app: "App", item: Item, principal: Principal) -> "Turn | None":
    """Finish the request for which something was made that lives now; nothing if no turn waits for it."""
    proposal = app.growing.proposals.of_question(item.id) if item.kind == ACTIVATION else None
    if proposal is None or proposal.need.way is not Way.EXTERNAL or proposal.state is not Stand.ACTIVE:
        return None
    waiting = app.medium.waiting_for(item.id) or _asked_in(app, proposal)
    return None if waiting is None else app.turns.finish(waiting, proposal.name, principal)


def _asked_in(app: "App", proposal: Proposal) -> "Trace | None":
    """The turn that waits for it, where what it waited for was edited or made again and is another question now."""
    for turn in proposal.need.evidence.turns:
        try:
            trace = app.medium.load(turn)
        except TurnError:  # forgotten
            continue
        if trace.state is Ended.WAITING and trace.item:
            return app.medium.waiting_for(trace.item)
    return None
