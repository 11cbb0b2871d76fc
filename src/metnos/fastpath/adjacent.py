"""Requests that follow one another: each takes what the one before it gave, so that together they are one sequence.

*Download this page*, then *tell me what it says*: after three times the pair is a path of its own, for the request that
says both. Longer chains likewise.

Rules: a chain begins with a request that takes nothing of an earlier turn; each of the others takes something of the
turn right before it, in the same conversation; all went well. The form of a chain is that of its requests joined, and
connectors do not count when forms are compared. So nothing is done that was not asked for. Each turn counts once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from metnos.fastpath.heard import Heard
from metnos.fastpath.log import Log, Pass
from metnos.fastpath.records import Mark
from metnos.fastpath.shape import Unresolved, learn
from metnos.fastpath.slots_records import Slot

PROJECTION = "adjacent"
LONGEST = 4  # turns of one chain: what is longer is a conversation and no request
_JOINT = " and "
_REF = re.compile(r"(\{\{\s*)(step([1-9]\d{0,2})|last)\b")
_END = " \t\n.!?;,"


@dataclass(frozen=True, slots=True)
class Turned:
    """A turn as a link of a chain: what was asked and what was planned for it, with references as planned."""

    turn: str
    ts: datetime
    conversation: str
    heard: Heard
    said: str
    marks: tuple[Mark, ...]
    plan: tuple[Mapping[str, Any], ...]
    ok: bool
    last: str = ""  # the turn that its references call `last`
    plan_ms: float = 0.0
    plan_usd: float = 0.0
    here: str = ""  # the folder in which it was asked


def chain(turns: Sequence[Turned]) -> tuple[Turned, ...]:
    """The chain that the newest of these turns ends, the oldest first; empty if it ends none."""
    found: list[Turned] = []
    for turn in reversed(turns):
        if not turn.ok or not turn.plan or (found and not _follows(found[0], turn)):
            return ()
        found.insert(0, turn)
        if not _takes(turn.plan):
            break
        if len(found) == LONGEST:
            return ()
    return tuple(found) if len(found) > 1 and not _takes(found[0].plan) else ()


def join(links: Sequence[Turned]) -> Pass | Unresolved:
    """A chain as one request and one plan."""
    text, slots, plan = "", list[Slot](), list[Mapping[str, Any]]()
    for link in links:
        text = text.rstrip(_END) + _JOINT if text else ""
        slots += [replace(slot, start=slot.start + len(text), end=slot.end + len(text)) for slot in link.heard.slots]
        text += link.heard.text
        before = len(plan)
        plan += [{name: _shifted(value, before) for name, value in args.items()} for args in link.plan]
    newest = links[-1]
    heard = Heard.of(text, slots, newest.heard.now)
    if len({link.here for link in links}) > 1:
        return Unresolved("", "its parts were asked for in different folders")
    learnt = learn(plan, heard, newest.here)
    if isinstance(learnt, Unresolved):
        return learnt
    return Pass(
        turn=newest.turn,
        ts=newest.ts,
        form=heard.form,
        said=_JOINT.join(link.said.rstrip(_END) for link in links),
        marks=tuple(mark for link in links for mark in link.marks),
        shape=learnt.shape,
        constants=learnt.constants,
        plan_ms=sum(link.plan_ms for link in links),
        plan_usd=sum(link.plan_usd for link in links),
        origin=PROJECTION,
        links=tuple(link.turn for link in links[:-1]),
    )


def record(log: Log, turns: Sequence[Turned]) -> bool:
    """Count the chain that the newest of these turns ends; says whether there was one that was not counted yet."""
    links = chain(turns)
    joined = join(links) if links else None
    if isinstance(joined, Pass):
        return log.record(joined, PROJECTION)
    if turns:
        log.skip(turns[-1].turn, turns[-1].ts, PROJECTION)
    return False


def _follows(later: Turned, earlier: Turned) -> bool:
    same = bool(later.conversation) and later.conversation == earlier.conversation
    return same and later.last == earlier.turn


def _takes(value: Any) -> bool:
    """Whether something of the turn before goes into it."""
    if isinstance(value, str):
        return any(found[2] == "last" for found in _REF.finditer(value))
    if isinstance(value, Mapping):
        return any(map(_takes, value.values()))
    return isinstance(value, list | tuple) and any(map(_takes, value))


def _shifted(value: Any, before: int) -> Any:
    """A value whose references count the steps of the whole chain; what was `last` is the step right before."""
    if isinstance(value, str):
        return _REF.sub(lambda found: f"{found[1]}step{before + int(found[3] or 0)}", value)
    if isinstance(value, Mapping):
        return {name: _shifted(each, before) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shifted(each, before) for each in value]
    return value
