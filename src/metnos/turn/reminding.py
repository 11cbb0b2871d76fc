"""What a turn is reminded of: facts that steer its plan, and memories that a model is shown or the owner told.

Rules: memories are content from outside. A model sees them fenced, behind what was said, never in the role of an
instruction; what it may plan after reading them is bounded like after any other content. Being shown strengthens
nothing: only how the turn ended does, later. Everything that had a part is kept in the trace, for `metnos why`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.context.fence import fence
from metnos.grimoire.capture import OWNER, is_owner, particulars
from metnos.grimoire.episode import Viewer
from metnos.grimoire.fact import Fact
from metnos.grimoire.recall import Memory, Recollection
from metnos.models.chat import Message
from metnos.turn.plan.records import Plan
from metnos.turn.playbook import written_for
from metnos.turn.scratch import Scratch
from metnos.turn.steer import Asked, steer

_SHOWN = 5  # episodes, and as many facts
_EACH = 300  # characters of one
_ALL = 2000


@dataclass(frozen=True, slots=True)
class Reminding:
    """What is remembered, as turns ask for it."""

    facts: Callable[[Plan, Viewer], Sequence[Fact]]  # that may be about a plan
    rules: Callable[[], Sequence[Fact]]  # that the owner wrote into the playbook
    recall: Callable[[str, Viewer], Recollection]  # may load the embedder

    def steered(self, plan: Plan, scratch: Scratch) -> Plan:
        """The plan as what was learnt would have it."""
        slots = scratch.heard.data() if scratch.heard else []
        asked = Asked(scratch.canonical, particulars(slots))
        written = written_for(self.rules(), scratch.canonical)
        found = steer(plan, asked, [*written, *self.facts(plan, viewer(scratch))], scratch.tools)
        scratch.memories += [_data(fact.id, "fact", fact.text, steered=True) for fact in found.used]
        return found.plan

    def shown(self, scratch: Scratch) -> tuple[Message, ...]:
        """What a model is shown of it; nothing if nothing answers the request."""
        found = self.recall(scratch.request.text, viewer(scratch))
        memories = [*found.facts[:_SHOWN], *found.episodes[:_SHOWN]]
        if not memories:
            return ()
        scratch.memories += [_of(each) for each in memories]
        lines = "\n".join(_line(each) for each in memories)
        return (Message("user", fence(lines, "what is remembered of earlier times", _ALL)),)

    def told(self, scratch: Scratch) -> list[str]:
        """What the owner is told where nothing can be done: what is remembered about it, the best first."""
        found = self.recall(scratch.request.text, viewer(scratch))
        memories = [*found.facts[:_SHOWN], *found.episodes[:_SHOWN]]
        scratch.memories += [_of(each, told=True) for each in memories]
        return [_line(each) for each in memories]


def viewer(scratch: Scratch) -> Viewer:
    """Who is reminded."""
    asks = scratch.request.principal
    own = is_owner(asks.channel)
    return Viewer(OWNER if own else asks.sender, scratch.request.conversation, is_owner=own)


def _line(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    when = "known" if isinstance(memory.of, Fact) else f"{memory.of.ts:%Y-%m-%d}"
    return f"{when}: {text if len(text) <= _EACH else text[: _EACH - 1] + '…'}"


def _of(memory: Memory, **more: Any) -> Mapping[str, Any]:
    kind = "fact" if isinstance(memory.of, Fact) else "episode"
    return _data(memory.id, kind, memory.text, score=round(memory.factors.score, 4), **more)


def _data(key: str, kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "kind": kind, "text": " ".join(text.split())[:_EACH], **more}
