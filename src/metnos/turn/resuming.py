"""Going on with a turn that waited for a yes: its request and its plan again, with what its steps had given.

Rules: what goes on is the request that was asked, as it was understood then, and so teaches what that would have
taught; but what somebody else asked teaches nothing when the owner only says yes to it. Nothing is planned or read
anew: what was approved is done, and what stood behind it in the same plan.
"""

from metnos.core.errors import TurnError
from metnos.executors.call import wanted
from metnos.fastpath.heard import Heard
from metnos.grimoire.capture import sender_of
from metnos.grimoire.trace import StepTrace, Trace
from metnos.law.inbox import Item
from metnos.turn.plan.records import Kind, Plan, Step
from metnos.turn.plan.records import Path as PlanPath
from metnos.turn.recipe import Given
from metnos.turn.scratch import Scratch


def heard(waiting: Trace, scratch: Scratch) -> None:
    """What was asked: the form and the particulars of the turn that waited, if the same one goes on with it."""
    now = scratch.request.principal
    if sender_of(waiting.channel, waiting.sender) != sender_of(now.channel, now.sender):
        return
    scratch.canonical = waiting.canonical
    scratch.heard = Heard.from_data(waiting.text, waiting.slots, waiting.asked)
    scratch.slots = scratch.heard.slots if scratch.heard else ()


def rest(waiting: Trace, done: list[StepTrace], item: Item, scratch: Scratch) -> tuple[Plan, int]:
    """The plan of a turn that waited, with what its steps gave so far, and the step to go on with: the approved one.

    A step that a model added while it reasoned is in no plan, and is all that is left to do.
    """
    data = waiting.plan
    steps = tuple(Step(each["executor"], each["args"]) for each in data.get("steps", ()))
    tainted = set(data.get("tainted", ()))
    call = wanted(item)
    asked = Step(call.name, call.args)
    if len(done) >= len(steps):
        steps = (*(Step(step.executor, {}) for step in done), asked)
    if data.get("cut") or steps[len(done)].executor != asked.executor:
        raise TurnError(f"the plan of turn {waiting.id} is not kept whole", fix="Ask again.")
    if call.tainted:
        tainted.add(len(done) + 1)
    plan = Plan(
        Kind.STEPS,
        PlanPath(data.get("path", PlanPath.ROUTER)),
        steps,
        notes=tuple(data.get("notes", ())),
        language=waiting.language,
        tainted=tuple(sorted(tainted)),
    )
    for place, step in enumerate(done, start=1):
        if step.executor != steps[place - 1].executor:
            raise TurnError(f"what turn {waiting.id} found is not kept whole", fix="Ask again.")
        scratch.given[f"step{place}"] = Given(step.executor, step.args, step.reply, waiting.cwd)
    return plan, len(done) + 1
