"""What a turn is reminded of: facts that steer its plan, and memories that a model is shown or the owner told.

Rules: memories are content from outside. A model sees them fenced, behind what was said, never in the role of an
instruction; what it may plan after reading them is bounded like after any other content. Being shown strengthens
nothing: only how the turn ended does, later. Everything that had a part is kept in the trace, for `metnos why`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.context.blocks import Block, Kind, Trust
from metnos.context.compress import Part
from metnos.context.order import u_curve
from metnos.grimoire.capture import is_owner, particulars, sender_of
from metnos.grimoire.episode import Viewer
from metnos.grimoire.fact import Fact
from metnos.grimoire.recall import Memory, Recollection
from metnos.turn.plan.records import Plan
from metnos.turn.playbook import written_for
from metnos.turn.scratch import Scratch
from metnos.turn.steer import Asked, steer

_ASKS = re.compile(  # a question, or a request to be reminded; an order that nobody can follow is neither
    r"\?\s*$|^\W*(?:what|when|where|who|whose|which|why|how|did|was|were|is|are|has|have|remember"
    r"|do you (?:remember|know)|cosa|che|quando|dove|chi|quale|quali|perch[eé]|come|quant[oiae]"
    r"|ho|ha|hai|ricordi|ti ricordi)\b",
    re.IGNORECASE,
)
_SHOWN = 5  # episodes, and as many facts
_EACH = 300  # characters of one


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

    def shown(self, scratch: Scratch) -> tuple[Block, ...]:
        """What a model is shown of it; nothing if nothing answers the request."""
        found = self.recall(scratch.request.text, viewer(scratch))
        scratch.memories += [_of(each) for each in (*found.facts, *found.episodes)]
        kinds = ((Kind.FACTS, found.facts, "what was learnt"), (Kind.EPISODES, found.episodes, "what happened before"))
        return tuple(_block(kind, memories, source) for kind, memories, source in kinds if memories)

    def told(self, scratch: Scratch) -> list[str]:
        """What the owner is told where nothing can be done and they asked something: what is remembered about it."""
        if not asks(scratch.request.text):
            return []
        found = self.recall(scratch.request.text, viewer(scratch))
        memories = [*found.facts[:_SHOWN], *found.episodes[:_SHOWN]]
        scratch.memories += [_of(each, told=True) for each in memories]
        return [_line(each) for each in memories]


def asks(text: str) -> bool:
    """Whether somebody wants to know something."""
    return _ASKS.search(text) is not None


def viewer(scratch: Scratch) -> Viewer:
    """Who is reminded."""
    asks = scratch.request.principal
    sender = sender_of(asks.channel, asks.sender)
    return Viewer(sender, scratch.request.conversation, is_owner=is_owner(asks.channel))


def _block(kind: Kind, memories: Sequence[Memory], source: str) -> Block:
    """Memories for a prompt: the best at both ends, where models look most."""
    ordered = u_curve(memories, lambda each: each.factors.score)
    parts = tuple(Part(_line(each), weight=each.factors.score) for each in ordered)
    return Block(kind, parts, Trust.OUTSIDE, source, refs=tuple(each.id for each in ordered))


def _line(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    when = "known" if isinstance(memory.of, Fact) else f"{memory.of.ts:%Y-%m-%d}"
    return f"{when}: {text if len(text) <= _EACH else text[: _EACH - 1] + '…'}"


def _of(memory: Memory, **more: Any) -> Mapping[str, Any]:
    kind = "fact" if isinstance(memory.of, Fact) else "episode"
    made = memory.factors
    factors = {name: round(getattr(made, name), 4) for name in ("relevance", "recency", "importance", "affect")}
    return _data(memory.id, kind, memory.text, score=round(made.score, 4), factors=factors, **more)


def _data(key: str, kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "kind": kind, "text": " ".join(text.split())[:_EACH], **more}
