"""Choosing who plans: the router where it is certain or alone, a language model otherwise.

Before both comes a fast path, if one may answer: where the request was made in the same words before, at once; where
only its meaning is known, when the router is not certain.

Rules: a model that fails never fails the turn: the router's plan stands, and the answer says what happened. Both choose
from the same ranked list. What fast paths said is kept either way: it is how they are judged.
"""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from metnos.context import window
from metnos.core.errors import ModelError, StoreError
from metnos.fastpath.language import language
from metnos.grimoire.trace import Kept, State, Trace
from metnos.turn.events import Event, Planned, Spoken
from metnos.turn.plan import coverage, phrases
from metnos.turn.plan.model import EVIDENCE
from metnos.turn.plan.model_scene import Done, Scene
from metnos.turn.plan.rank import Ranker, rank_by_words
from metnos.turn.plan.records import Candidate, Kind, Path, Plan, Step, Tool
from metnos.turn.plan.router import LONGEST, Last, Router
from metnos.turn.reach import Reaching
from metnos.turn.scratch import Scratch
from metnos.turn.thinking import Thinker
from metnos.turn.tools import Kit

if TYPE_CHECKING:
    from metnos.turn.reminding import Reminding
    from metnos.turn.shortcut import Shortcut, Shortcuts

CERTAIN = 0.8  # from here on the router's plan needs no second opinion; bench/router.py measures what that means
_SHORTLIST = 6

Planning = Generator[Event, Spoken | None, Plan]


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for one turn."""

    kit: Kit
    home: FilePath
    choice: str  # `auto`, `router` or `model`
    thinker: Thinker | None
    scene: Scene | None  # there is one where there is a thinker
    reach: Reaching | None = None  # what the mnestome says; nothing: no experience is asked
    shortcuts: "Shortcuts | None" = None
    reminding: "Reminding | None" = None  # what was learnt; nothing: nothing is asked

    def plan(self, scratch: Scratch) -> Planning:
        """A plan for the request, whoever makes it."""
        began = time.perf_counter()
        plan = self._shortcut(scratch, self.shortcuts.exact) if self.shortcuts else None
        if plan is None:
            plan = self._with_off((yield from self._planned(scratch)), scratch)
            plan = self._asked_about(plan, scratch)
            plan = self._reminded(plan, scratch, lambda memory, made: memory.steered(made, scratch))
        plan = self._reminded(plan, scratch, lambda memory, made: memory.warned(made, scratch))
        scratch.plan, scratch.plan_ms = plan, (time.perf_counter() - began) * 1000
        fast = scratch.shortcut.path.passes if scratch.shortcut and plan.path is Path.FAST else 0
        yield Planned(tuple(step.executor for step in plan.steps), str(plan.path), plan.notes, fast)
        return plan

    def _planned(self, scratch: Scratch) -> Planning:
        routed = self._route(scratch)
        certain = _certain(routed) and self.choice != "model"
        if not certain and self.shortcuts and (plan := self._shortcut(scratch, self.shortcuts.alike)):
            return plan
        if not certain and self.choice != "router" and self.thinker is not None and self.scene is not None:
            return (yield from self._think(scratch, routed, self.thinker, self.scene))
        return routed

    def _with_off(self, plan: Plan, scratch: Scratch) -> Plan:
        """The plan; where there is none because an executor is switched off, it says so instead of missing it."""
        if plan.kind is not Kind.NOTHING or not self.kit.off:
            return plan
        every = (*self.kit.shown.values(), *self.kit.off.values())
        wanted = self._routed(scratch, rank_by_words(every), every)
        names = [step.executor for step in wanted.steps if step.executor in self.kit.off]
        if wanted.kind is Kind.NOTHING or not names:
            return plan
        say = phrases.say("off", plan.language, names=", ".join(names), first=names[0])
        return replace(plan, say=say, wishes=(), path=Path.ROUTER, unmet=False)

    def _asked_about(self, plan: Plan, scratch: Scratch) -> Plan:
        """The plan with every step marked that touches what the request does not cover.

        A fast path, and what was learnt, are not looked at: both say what the owner's own turns did in these words.
        """
        if plan.path is Path.FAST or not plan.steps:
            return plan
        request, tools = scratch.request, scratch.tools
        named = coverage.draw(
            request.text,
            window.owner_words(self.scene.window) if self.scene else "",
            cwd=str(request.cwd),
            home=str(self.home),
            before=_agreed(scratch.last),
            done=_given(scratch.last),
            known=tools,
        )
        tainted = {*plan.tainted, *coverage.beyond(plan.steps, tools, named)}
        return replace(plan, tainted=tuple(sorted(tainted)))

    def _reminded(self, plan: Plan, scratch: Scratch, ask: "Callable[[Reminding, Plan], Plan]") -> Plan:
        """The plan as memory would have it. One that cannot be read takes nothing away but its advice."""
        if self.reminding is None:
            return plan
        try:
            return ask(self.reminding, plan)
        except StoreError as error:
            scratch.notes.append(error.what)
            return plan

    def _shortcut(self, scratch: Scratch, look: "Callable[[Scratch], Shortcut | None]") -> Plan | None:
        """The plan of a fast path, if one may answer. An answer to a question of ours is no request."""
        request = scratch.request
        if scratch.fell_back or _pending(scratch.last) is not None or len(request.text) > LONGEST:
            return None
        try:
            found = look(scratch)
        except ModelError as error:  # as above: nothing is lost but the shortcut
            scratch.notes.append(error.what)
            return None
        scratch.shortcut = found or scratch.shortcut
        if found is None or not found.may:
            return None
        certainty, spoken = found.match.probability, language(request.text)
        return Plan(Kind.STEPS, Path.FAST, found.steps, certainty=certainty, language=spoken)

    def _route(self, scratch: Scratch) -> Plan:
        """By words alone where that is certain: loading and asking the embedder costs more than all the rest."""
        plan = self._routed(scratch, self.kit.by_words)
        if _certain(plan) and self.choice != "model":
            return plan
        try:
            by_meaning = self.kit.by_meaning()
            return plan if by_meaning is None else self._routed(scratch, by_meaning)
        except ModelError as error:  # an embedder that is not there takes nothing away but the second opinion
            scratch.notes.append(error.what)
            return plan

    def _routed(self, scratch: Scratch, ranker: Ranker, tools: Sequence[Tool] = ()) -> Plan:
        request = scratch.request
        router = Router(ranker, tuple(tools or self.kit.shown.values()), home=self.home, exists=FilePath.exists)
        return router.route(
            request.text,
            now=request.asked,
            cwd=request.cwd,
            last=_last(scratch.last, self.kit),
            pending=_pending(scratch.last),
            reach=self.reach,
            before=_before(scratch.last),
        )

    def _think(self, scratch: Scratch, routed: Plan, thinker: Thinker, scene: Scene) -> Planning:
        candidates = shortlist(routed, self.kit.tools.get(scratch.made))
        try:
            thought = yield from thinker.plan(scratch.request.text, candidates, scene)
        except ModelError as error:
            scratch.notes.append(f"{error.what} The plan was made without it.")
            return routed
        # A model that finds nothing may still be wrong where the router has a plan, but it saw that plan's tools.
        return replace(thought, candidates=thought.candidates or candidates)


def shortlist(routed: Plan, made: Tool | None = None) -> tuple[Candidate, ...]:
    """What a model is shown: what was made for this very request, the tools of the router's plan, the best ranked.

    That the owner had it made for these words speaks for it as much as its words need to.
    """
    wanted = [step.executor for step in routed.steps]
    chosen = sorted(routed.candidates, key=lambda each: each.tool.name not in wanted)  # stable: rank order within
    if made is not None:
        first = next((each for each in chosen if each.tool.name == made.name), Candidate(made, 0.0))
        others = [each for each in chosen if each.tool.name != made.name]
        chosen = [replace(first, score=max(first.score, EVIDENCE)), *others]
    return tuple(chosen[:_SHORTLIST])


def _certain(plan: Plan) -> bool:
    return plan.kind is Kind.STEPS and plan.certainty >= CERTAIN


def _last(trace: Trace | None, kit: Kit) -> Last | None:
    """What the previous turn gave, for "them" and "it"."""
    if trace is None:
        return None
    for step in reversed(trace.steps):
        tool = kit.tools.get(step.executor)
        key = tool.result_key if tool else "entries"
        entries = step.reply.get(key)
        if step.ok and isinstance(entries, list) and not step.reply.get("cut"):
            fields = frozenset(name for each in entries[:50] if isinstance(each, dict) for name in each)
            return Last(step.executor, key, fields, len(entries), step.args)
    return None


def _before(trace: Trace | None) -> tuple[str, ...]:
    """The executors whose output is at hand: those of the previous turn that succeeded."""
    return tuple(step.executor for step in trace.steps if step.ok) if trace else ()


def _given(trace: Trace | None) -> list[Done]:
    """What the previous turn found, which is what *them* means."""
    steps = trace.steps if trace else ()
    return [Done(each.number, each.executor, each.args, each.ok, each.kind, "", each.reply) for each in steps]


def _agreed(trace: Trace | None) -> list[Step]:
    """The steps of the previous turn's plan that the owner's words covered: an answer to its question is about them."""
    if trace is None or trace.kept is not Kept.WHOLE:
        return []
    tainted = trace.plan.get("tainted", ())
    steps = enumerate(trace.plan.get("steps", ()), start=1)
    return [Step(each["executor"], each.get("args", {})) for number, each in steps if number not in tainted]


def _pending(trace: Trace | None) -> Plan | None:
    """The plan that a question of the previous turn was about. A model's own it has to make anew, in sight of both."""
    if trace is None or trace.state is not State.QUESTION or trace.kept is not Kept.WHOLE:
        return None
    data = trace.plan
    if data.get("cut") or data.get("path") != Path.ROUTER:
        return None
    return Plan(
        Kind.QUESTION,
        Path.ROUTER,
        tuple(Step(each["executor"], each["args"]) for each in data.get("steps", ())),
        data.get("say", ""),
        data.get("missing", ""),
        certainty=CERTAIN,  # what was asked for and is answered needs no second opinion
        language=data.get("language", "en"),
    )


def zone_of(moment: datetime) -> str:
    """A moment as a model is told: date, weekday, time and offset."""
    return f"{moment:%Y-%m-%d %A %H:%M %z}"
