"""Following a plan: step after step, each through the one door, until it is done or cannot go on.

Rules: a step gets what its references stand for and nothing else; a reference to an empty list means that there is
nothing to do, which is no failure. A step that fails ends the turn, unless a language model planned it: then one repair
call sees the error. After a change that did not wholly succeed nothing else is changed: what follows may rely on it.
What a model plans after it has seen content, and what takes a path that no executor vouches for, is marked, and the
owner is asked about it. The plan that is kept is the one that was followed. The number of steps is bounded.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metnos.core.errors import ExecutorFailed, ModelError
from metnos.executors import refs
from metnos.executors.run import Call
from metnos.grimoire.trace import State
from metnos.turn.act import Door, Ended, act, done
from metnos.turn.answer import words
from metnos.turn.events import Event, Spoken
from metnos.turn.named import named_paths
from metnos.turn.plan.chain_state import ROWS
from metnos.turn.plan.fill import fitted
from metnos.turn.plan.model_scene import Done, Scene
from metnos.turn.plan.prompts import is_shown_whole
from metnos.turn.plan.records import Kind, Path, Plan, Step
from metnos.turn.recipe import Given, complete
from metnos.turn.scratch import Scratch, Taken
from metnos.turn.thinking import Thinker
from metnos.turn.vouching import is_vouched_for, steps_of

_REPAIRS = 1
_ROUNDS = 4  # of reasoning about an open question

Following = Generator[Event, Spoken | None, None]


@dataclass(frozen=True, slots=True)
class Way:
    """What following needs beside the scratchpad. No thinker: no language model."""

    door: Door
    most_steps: int
    thinker: Thinker | None
    scene: Scene | None
    approved: Call | None = None  # the call that the owner said yes to: the first step is it, to the byte


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
            if _fell_short(taken, scratch) and _changes(steps[place:], scratch):
                _leave(steps[place:], scratch)
                return
            place += 1
            continue
        repaired = None
        # What a fast path cannot do is planned anew, and not mended: its plan was nobody's thought.
        mendable = taken.ended.state is State.FAILED and plan.path is not Path.FAST
        if mendable and repairs and not scratch.request.dry_run:
            repairs -= 1
            repaired = yield from _repair(way, scratch, plan)
        if repaired is None:
            ended = taken.ended
            scratch.stop(ended.state, ended.message, ended.fix, ended.item)
            return
        tainted = {number for number in tainted if number < place} | {place - 1 + each for each in repaired.tainted}
        steps[place - 1 :] = repaired.steps
        scratch.plan = replace(plan, steps=tuple(steps), tainted=tuple(sorted(tainted)))
    if plan.open:
        yield from _reason(way, scratch)
    _settle(scratch)


def _is_strangers(scratch: Scratch, executor: str) -> bool:
    """Whether a program wants something changed or sent: nobody knows what had been read before it asked."""
    tool = scratch.tools.get(executor)
    return scratch.strangers and not (tool is not None and tool.quiet)


def _take(way: Way, scratch: Scratch, steps: list[Step], place: int, tainted: bool) -> Following:
    step, request = steps[place - 1], scratch.request
    left = len(steps) - place + 1
    args: Mapping[str, Any] = {}
    resumes = ""
    try:
        if way.approved is not None and not scratch.taken:
            # Never looked up again: what a reference stands for may be another by now.
            args, resumes, carries = way.approved.args, way.approved.resumes, way.approved.carries
        else:
            args = refs.resolve(dict(step.args), scratch.replies)
            if _is_empty(step.args, args):
                scratch.nothing_to_do = True
                return
            args = complete(step.executor, step.args, args, scratch.given)
            if (tool := scratch.tools.get(step.executor)) is not None:
                args = fitted(tool, args)
            carries = any(refs.named(dict(step.args)))
            tainted = tainted or not is_vouched_for(step, _before(scratch, steps, place), scratch.tools)
        tainted = tainted or _is_strangers(scratch, step.executor)
        call = Call(step.executor, args, request.principal, request.cwd, request.id, now=request.asked, tainted=tainted)
        said = request.text if request.principal.may_answer else ""
        named = named_paths(said, request.cwd, way.door.home)
        call = replace(call, resumes=resumes, carries=carries, named=named)
        ended = yield from act(way.door, call, place, len(steps), dry_run=request.dry_run, language=scratch.language)
    except ExecutorFailed as error:
        ended = Ended(State.FAILED, None, error.what, error.kind, error.fix)
    except GeneratorExit:
        raise  # whoever left did so between two acts
    except BaseException:
        # Perhaps in the middle of an act: then `metnos undo` and the audit know how far it came.
        begun = words(scratch.language)["begun"].format(step.executor)
        scratch.taken.append(
            Taken(place, step.executor, step.args, args, Ended(State.CANCELLED, None, begun, "failed"), left, left)
        )
        raise
    went_well = ended.state in (State.DONE, State.PARTLY, State.REHEARSED)
    # Before anybody is told: whoever leaves when they hear of it leaves a turn that knows what it did.
    scratch.taken.append(Taken(place, step.executor, step.args, args, ended, left, left - went_well))
    if went_well and ended.outcome is not None:
        scratch.given[f"step{place}"] = Given(step.executor, args, ended.outcome.reply, str(request.cwd))
    yield done(ended, step.executor, place)


def _before(scratch: Scratch, steps: Sequence[Step], place: int) -> dict[str, Sequence[Step]]:
    """The steps that each name a reference may begin with stands for."""
    found: dict[str, Sequence[Step]] = {f"step{number}": steps[:number] for number in range(1, place)}
    if scratch.last is not None:
        succeeded = [step.executor for step in scratch.last.steps if step.ok]
        found[refs.LAST] = steps_of(scratch.last.plan, succeeded)
    return found


def _fell_short(taken: Taken, scratch: Scratch) -> bool:
    """Whether a step was to change something and did not manage all of it."""
    return taken.ended.state is State.PARTLY and _changes([Step(taken.executor, {})], scratch)


def _changes(steps: Sequence[Step], scratch: Scratch) -> bool:
    return any(step.executor not in scratch.tools or scratch.tools[step.executor].mutates for step in steps)


def _leave(steps: Sequence[Step], scratch: Scratch) -> None:
    """End here, and say what was not done."""
    names = ", ".join(dict.fromkeys(step.executor for step in steps))
    scratch.notes.append(f"{words(scratch.language)['rest']}: {names}")
    scratch.stop(State.PARTLY)


def _is_empty(planned: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    """Whether something that a step was to work on turned out to be nothing at all."""
    return any(args[name] == [] and any(refs.named(value)) for name, value in planned.items())


def _repair(way: Way, scratch: Scratch, plan: Plan) -> Generator[Event, Spoken | None, Plan | None]:
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
                scratch.notes += _seen_in_part(scratch)
            return
        if len(scratch.taken) >= way.most_steps:
            return
        taken = {each.place: Step(each.executor, each.planned) for each in scratch.taken}
        steps = [*(taken[place] for place in sorted(taken)), found.steps[0]]
        yield from _take(way, scratch, steps, len(steps), bool(found.tainted))
        if scratch.nothing_to_do:
            scratch.nothing_to_do = False
            return
        ended = scratch.taken[-1].ended
        if ended.state in (State.WAITING, State.REFUSED):
            scratch.stop(ended.state, ended.message, ended.fix, ended.item)
            return


def _seen_in_part(scratch: Scratch) -> list[str]:
    """A word for each table of which a model that answered had seen the beginning alone."""
    names = [each.executor for each in done_steps(scratch) if each.executor in ROWS and not is_shown_whole(each)]
    return [words(scratch.language)["beginning"].format(name) for name in dict.fromkeys(names)]


def done_steps(scratch: Scratch) -> list[Done]:
    """What was done so far, as a model is told."""
    told = []
    for taken in scratch.taken:
        outcome, ended = taken.ended.outcome, taken.ended
        reply = outcome.reply if outcome else {}
        told.append(Done(taken.place, taken.executor, taken.planned, taken.went_well, ended.kind, ended.message, reply))
    return told


def _settle(scratch: Scratch) -> None:
    """How the turn ended, when every step was taken."""
    if scratch.state is not State.DONE:
        return
    if scratch.request.dry_run:
        scratch.state = State.REHEARSED
    elif any(taken.ended.state is not State.DONE for taken in scratch.taken):
        scratch.state = State.PARTLY
