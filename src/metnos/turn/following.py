"""Following a plan: step after step, each through the one door, until it is done or cannot go on.

Rules: a step gets what its references stand for and nothing else; a reference to an empty list means that there is
nothing to do, which is no failure. A step that fails ends the turn, unless a language model planned it: then one repair
call sees the error. What a model plans after it has seen content is marked, and the owner is asked about it. The number
of steps is bounded.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.core.errors import ModelError, TurnError
from metnos.executors.run import Call
from metnos.grimoire.trace import State
from metnos.turn import refs
from metnos.turn.act import Door, Ended, act
from metnos.turn.events import Answer, Event
from metnos.turn.plan.fill import fitted
from metnos.turn.plan.model_scene import Done, Scene
from metnos.turn.plan.records import Kind, Plan, Step
from metnos.turn.scratch import Scratch, Taken
from metnos.turn.thinking import Thinker

_REPAIRS = 1
_ROUNDS = 4  # of reasoning about an open question

Following = Generator[Event, Answer | None, None]


@dataclass(frozen=True, slots=True)
class Way:
    """What following needs beside the scratchpad. No thinker: no language model."""

    door: Door
    most_steps: int
    thinker: Thinker | None
    scene: Scene | None


def follow(way: Way, scratch: Scratch, plan: Plan, first: int = 1) -> Following:
    """Take the steps of a plan, from the ``first`` on."""
    steps, tainted = list(plan.steps), set(plan.tainted)
    place, repairs = first, _REPAIRS
    while place <= len(steps):
        if len(scratch.taken) >= way.most_steps:
            scratch.stop(State.FAILED, f"this takes more than {way.most_steps} steps", "Ask for less at a time.")
            return
        yield from _take(way, scratch, steps, place, place in tainted)
        if scratch.nothing_to_do:
            return
        taken = scratch.taken[-1]
        if taken.went_well:
            place += 1
            continue
        repaired = None
        if taken.ended.state is State.FAILED and repairs and not scratch.request.dry_run:
            repairs -= 1
            repaired = yield from _repair(way, scratch, plan)
        if repaired is None:
            ended = taken.ended
            scratch.stop(ended.state, ended.message, ended.fix, ended.item)
            return
        tainted |= {place - 1 + number for number in repaired.tainted}
        steps[place - 1 :] = repaired.steps
    if plan.open:
        yield from _reason(way, scratch)
    _settle(scratch)


def _take(way: Way, scratch: Scratch, steps: list[Step], place: int, tainted: bool) -> Following:
    step, request = steps[place - 1], scratch.request
    left = len(steps) - place + 1
    try:
        args = refs.resolve(dict(step.args), scratch.replies)
        if _is_empty(step.args, args):
            scratch.nothing_to_do = True
            return
        if (tool := scratch.tools.get(step.executor)) is not None:
            args = fitted(tool, args)
        call = Call(step.executor, args, request.principal, request.cwd, request.id, now=request.asked, tainted=tainted)
        ended = yield from act(way.door, call, place, len(steps), dry_run=request.dry_run)
    except TurnError as error:
        args, ended = {}, Ended(State.FAILED, None, error.what, "invalid", error.fix)
    went_well = ended.state in (State.DONE, State.PARTLY, State.REHEARSED)
    scratch.taken.append(Taken(place, step.executor, step.args, args, ended, left, left - went_well))
    if went_well and ended.outcome is not None:
        scratch.replies[f"step{place}"] = ended.outcome.reply


def _is_empty(planned: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    """Whether something that a step was to work on turned out to be nothing at all."""
    return any(args[name] == [] and any(refs.named(value)) for name, value in planned.items())


def _repair(way: Way, scratch: Scratch, plan: Plan) -> Generator[Event, Answer | None, Plan | None]:
    """Other steps in the place of the one that failed and those behind it; nothing if no model helps."""
    thinker, scene = way.thinker, way.scene
    if thinker is None or scene is None:
        return None
    *before, failed = done_steps(scratch)
    try:
        found = yield from thinker.repair(scratch.request.text, plan, before, failed, plan.candidates, scene)
    except ModelError as error:
        scratch.notes.append(error.what)
        return None
    return found if found.kind is Kind.STEPS and found.steps else None


def _reason(way: Way, scratch: Scratch) -> Following:
    """Look further and answer in words, as long as a model finds something to look at."""
    thinker, scene, plan = way.thinker, way.scene, scratch.plan
    if thinker is None or scene is None or plan is None:
        return
    for _ in range(_ROUNDS):
        try:
            found = yield from thinker.reason(scratch.request.text, done_steps(scratch), plan.candidates, scene)
        except ModelError as error:
            scratch.notes.append(error.what)
            return
        if found.kind is not Kind.STEPS or not found.steps:
            if found.say:
                scratch.words.append(found.say)
            return
        if len(scratch.taken) >= way.most_steps:
            return
        places = [taken.place for taken in scratch.taken]
        steps = [Step("", {})] * max(places, default=0) + [found.steps[0]]
        yield from _take(way, scratch, steps, len(steps), bool(found.tainted))
        if scratch.nothing_to_do:
            scratch.nothing_to_do = False
            return
        ended = scratch.taken[-1].ended
        if ended.state in (State.WAITING, State.REFUSED):
            scratch.stop(ended.state, ended.message, ended.fix, ended.item)
            return


def done_steps(scratch: Scratch) -> list[Done]:
    """What was done so far, as a model is told."""
    done = []
    for taken in scratch.taken:
        outcome, ended = taken.ended.outcome, taken.ended
        reply = outcome.reply if outcome else {}
        done.append(Done(taken.place, taken.executor, taken.planned, taken.went_well, ended.kind, ended.message, reply))
    return done


def _settle(scratch: Scratch) -> None:
    """How the turn ended, when every step was taken."""
    if scratch.state is not State.DONE:
        return
    if scratch.request.dry_run:
        scratch.state = State.REHEARSED
    elif any(taken.ended.state is not State.DONE for taken in scratch.taken):
        scratch.state = State.PARTLY
