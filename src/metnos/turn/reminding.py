"""What a turn is reminded of: facts that steer its plan, and memories that a model is shown or the owner told.

Rules: memories are content from outside. What came with a file that nobody here vouches for is told to whoever asks,
with whose word it is, and no model that plans is shown it. A model sees all others fenced, behind what was said, never
in the role of an instruction; what it may plan after reading them is bounded like after any other content. Being shown
strengthens nothing: only how the turn ended does, later. Everything that had a part is kept in the trace, for
`metnos why`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metnos.context.blocks import Block, Kind, Trust
from metnos.context.compress import Part
from metnos.context.order import u_curve
from metnos.fastpath.slots import Kind as Slotted
from metnos.grimoire.capture import OWNER, is_owner, particulars, sender_of
from metnos.grimoire.episode import Episode, Viewer
from metnos.grimoire.exchange_strangers import is_imported
from metnos.grimoire.fact import Fact
from metnos.grimoire.question import FUNCTION_WORDS, words
from metnos.grimoire.recall import Memory, Recollection
from metnos.grimoire.stem import stem
from metnos.grimoire.trace import State
from metnos.turn import feeling
from metnos.turn.plan.fill_text import swallows
from metnos.turn.plan.records import Plan
from metnos.turn.playbook import written_for
from metnos.turn.questions import asks, is_statement, wants_to_know
from metnos.turn.scratch import Scratch
from metnos.turn.steer import Asked, steer

__all__ = ["Reminding", "asks", "viewer"]

_SHOWN = 5  # episodes, and as many facts
_EACH = 300  # characters of one
_MORE = 2  # that are told beside an answer
# An answer has two of three of the question's words. What passes recall's floor with less, or by its meaning, is near
# to what was asked, and more often than not about something else of the same kind.
_SHARE = 2 / 3
_ASKING = ("know", "known", "sapete", "sappiamo")  # *what do you know about ...*, which no memory says of itself
_FROM = {"en": "from memory", "it": "dalla memoria"}
_LEARNT = {"en": "learnt, {:.0f} % sure", "it": "imparato, sicuro al {:.0f} %"}
_BY = {"en": ", said by {}", "it": ", detto da {}"}
_NOT_OURS = {"en": "said by {}, and nobody vouches for it", "it": "detto da {}, e nessuno ne risponde"}
_ALSO = {"en": "Also remembered:", "it": "Ricordo anche questo:"}
# Turns in which only the request says something.
_IN_VAIN = frozenset(State) - {State.DONE, State.PARTLY, State.TALKED}
_THERE = frozenset({Slotted.PATH, Slotted.FOLDER})  # who names a place wants it looked at, and not what once was there


@dataclass(frozen=True, slots=True)
class Reminding:
    """What is remembered, as turns ask for it."""

    facts: Callable[[Plan, Viewer], Sequence[Fact]]  # that may be about a plan
    rules: Callable[[], Sequence[Fact]]  # that the owner wrote into the playbook
    recall: Callable[[str, Viewer], Recollection]  # may load the embedder
    feel: feeling.Feel = lambda _steps, _form, _sender: ()  # situations that went badly
    taken_back: Callable[[], Collection[str]] = tuple  # turns whose changes the owner undid: what they say is not so

    def steered(self, plan: Plan, scratch: Scratch) -> Plan:
        """The plan as what was learnt would have it."""
        slots = scratch.heard.data() if scratch.heard else []
        asked = Asked(scratch.canonical, particulars(slots))
        written = written_for(self.rules(), scratch.canonical)
        found = steer(plan, asked, [*written, *self.facts(plan, viewer(scratch))], scratch.tools)
        scratch.memories += [_data(fact.id, "fact", fact.text, steered=True) for fact in found.used]
        return found.plan

    def warned(self, plan: Plan, scratch: Scratch) -> Plan:
        """The plan with a word before each step that enters a situation which went badly."""
        made, said = feeling.warned(plan, scratch.canonical, viewer(scratch).sender, self.feel)
        scratch.memories += [_data(each.last.end.source, "warning", words) for each, words in said]
        return made

    def shown(self, scratch: Scratch) -> tuple[Block, ...]:
        """What a model is shown of it; nothing if nothing answers the request."""
        found = self.recall(scratch.request.text, viewer(scratch))
        facts, episodes = (
            tuple(each for each in some if not is_imported(each.of.sender)) for some in (found.facts, found.episodes)
        )
        scratch.memories += [_of(each) for each in (*facts, *episodes)]
        kinds = ((Kind.FACTS, facts, "what was learnt"), (Kind.EPISODES, episodes, "what happened before"))
        return tuple(_block(kind, memories, source) for kind, memories, source in kinds if memories)

    def told(self, scratch: Scratch) -> list[str]:
        """What is told beside a plan that came to nothing, if somebody asked something: what is remembered about it.

        Where they wanted to know something and nothing else, and it is remembered, that is the answer: it takes the
        place of what the plan says, nothing was missing, and there is nothing to tell beside it.
        """
        text, who = scratch.request.text, viewer(scratch)
        if not asks(text) or any(each.kind in _THERE for each in scratch.slots):
            return []
        found = self._in_force(self.recall(text, who))
        memories = [*found.facts[:_SHOWN], *filter(_says_something, found.episodes[:_SHOWN])]
        answers = _best_first(found) if scratch.plan is not None and wants_to_know(text, scratch.slots) else []
        if scratch.plan is None or not answers:
            scratch.memories += [_of(each, told=True) for each in memories]
            return [_line(each) for each in memories]
        scratch.memories += [_of(each, told=True) for each in answers]
        scratch.plan = replace(scratch.plan, say=_answer(answers, who, scratch.language), wishes=())
        scratch.stop(State.TALKED)
        return []

    def _in_force(self, found: Recollection) -> Recollection:
        gone = self.taken_back() if found.episodes else ()
        left = tuple(each for each in found.episodes if isinstance(each.of, Episode) and each.of.source not in gone)
        return replace(found, episodes=left)


def viewer(scratch: Scratch) -> Viewer:
    """Who is reminded."""
    asks = scratch.request.principal
    sender = sender_of(asks.channel, asks.sender)
    return Viewer(sender, scratch.request.conversation, is_owner=is_owner(asks.channel))


def _best_first(found: Recollection) -> list[Memory]:
    """What answers a question: in the order of recall, and what was learnt first only where it says more of it."""
    asked = {stem(word) for word in found.question.words if word not in FUNCTION_WORDS and word not in _ASKING}
    facts, episodes = (
        [each for each in some if _share(each, asked) >= _SHARE and _says_something(each)]
        for some in (found.facts, found.episodes)
    )
    learnt = facts and (not episodes or _share(facts[0], asked) > _share(episodes[0], asked))
    return [*facts, *episodes][: 1 + _MORE] if learnt else [*episodes, *facts][: 1 + _MORE]


def _share(memory: Memory, asked: Collection[str]) -> float:
    """How much of what was asked a memory speaks of."""
    said = {stem(word) for word in words(_said(memory))}
    return len(said.intersection(asked)) / len(asked) if asked else 0.0


def _says_something(memory: Memory) -> bool:
    """Whether it is more than an order, or a question, that came to nothing."""
    of = memory.of
    in_vain = isinstance(of, Episode) and of.payload.get("state") in _IN_VAIN
    return not in_vain or is_statement(_said(memory)) or swallows(_said(memory))


def _answer(memories: Sequence[Memory], who: Viewer, language: str) -> str:
    """The first in so many words, and where each is from."""
    language = language if language in _FROM else "en"
    first, *others = memories
    lines = [_said(first), f"({_FROM[language]}, {_whence(first, who, language)})"]
    also = [f"  {_said(each)} ({_whence(each, who, language)})" for each in others if _said(each) != _said(first)]
    return "\n".join([*lines, *([_ALSO[language], *also] if also else [])])


def _whence(memory: Memory, who: Viewer, language: str) -> str:
    """Which day, or how sure; who said it, if it was somebody else; and for the owner how to see it whole."""
    of = memory.of
    when = _LEARNT[language].format(100 * of.confidence) if isinstance(of, Fact) else f"{of.ts.astimezone():%Y-%m-%d}"
    if is_imported(of.sender):
        when = _NOT_OURS[language].format(of.sender)
    elif isinstance(of, Episode) and of.sender not in (who.sender, OWNER):
        when += _BY[language].format(of.sender)  # a program's word is not the owner's, and must not look like it
    return f"{when}: metnos memory show {memory.id}" if who.is_owner else when


def _said(memory: Memory) -> str:
    """A memory in one line; of a turn that came to nothing or only took words down, those and not what came of it."""
    of, text = memory.of, memory.text
    request = text.partition("\n")[0]
    if isinstance(of, Episode) and (of.payload.get("state") in _IN_VAIN or swallows(request)):
        text = request
    text = " ".join(text.split())
    return text if len(text) <= _EACH else text[: _EACH - 1] + "…"


def _block(kind: Kind, memories: Sequence[Memory], source: str) -> Block:
    """Memories for a prompt: the best at both ends, where models look most."""
    ordered = u_curve(memories, lambda each: each.factors.score)
    parts = tuple(Part(_line(each), weight=each.factors.score) for each in ordered)
    return Block(kind, parts, Trust.OUTSIDE, source, refs=tuple(each.id for each in ordered))


def _line(memory: Memory) -> str:
    when = "known" if isinstance(memory.of, Fact) else f"{memory.of.ts:%Y-%m-%d}"
    if is_imported(memory.of.sender):
        when = f"said by {memory.of.sender}"
    return f"{when}: {_said(memory)}"


def _of(memory: Memory, **more: Any) -> Mapping[str, Any]:
    kind = "fact" if isinstance(memory.of, Fact) else "episode"
    made = memory.factors
    factors = {name: round(getattr(made, name), 4) for name in ("relevance", "recency", "importance", "affect")}
    return _data(memory.id, kind, memory.text, score=round(made.score, 4), factors=factors, **more)


def _data(key: str, kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "kind": kind, "text": " ".join(text.split())[:_EACH], **more}
