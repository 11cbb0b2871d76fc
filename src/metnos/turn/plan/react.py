"""Reasoning about an open question: look, think, look again, answer. One round at a time; the loop bounds the rounds.

Only what changes nothing is on offer here: an open question is answered, not acted on, so whatever content says, there
is no executor to do it with. What reaches out is held within the owner's words like any plan after reading
(`model_bounds`). A model that wants to repeat what it did, or whose step falls away, has to answer with what there is.

Rules: returns a plan of exactly one step, or the answer; the numbering goes on from what was done. Does not guarantee
a true answer: it is a model's, made of what it read.
"""

from collections.abc import Sequence

from metnos.context.fence import visible
from metnos.turn.plan import model_bounds, model_read, prompts
from metnos.turn.plan.model import Situation, settle
from metnos.turn.plan.model_read import MOST_SAID
from metnos.turn.plan.model_scene import Ask, Done, Scene
from metnos.turn.plan.records import Candidate, Kind, Path, Plan, Step, Tool

REASON, ANSWER = "reason", "answer"  # purposes of a call, for the account
_MOST_TOOLS = 4  # beside what was found there is little room


def reason(text: str, done: Sequence[Done], candidates: Sequence[Candidate], scene: Scene, ask: Ask) -> Plan:
    """The next step towards an answer, or the answer."""
    known = {each.tool.name: each.tool for each in candidates if not each.tool.mutates}
    tools = list(known.values())[:_MOST_TOOLS]
    situation = _situation(text, done, candidates, known, scene)
    if tools and not _went_in_circles(done):
        reply = ask(REASON, prompts.to_reason(text, done, tools, scene))
        draft = model_read.read(reply.data, situation.first)
        if not draft.steps and draft.answer:
            return _answered(draft.answer, situation)
        found = settle(draft, situation)
        if found.kind is Kind.STEPS and not _is_done(found.steps[0], done):
            return _first(found)
    reply = ask(ANSWER, prompts.to_answer(text, done, scene))
    return _answered(reply.text, situation)


def _situation(
    text: str, done: Sequence[Done], candidates: Sequence[Candidate], known: dict[str, Tool], scene: Scene
) -> Situation:
    every = {each.tool.name: each.tool for each in candidates}
    sources: dict[str, Tool | None] = {f"step{each.number}": every.get(each.executor) for each in done if each.ok}
    own = [Step(each.executor, each.args) for each in done]
    bounds = model_bounds.draw(text, scene, own=own, done=done, known=every, sources=sources, strict=True)
    first = max((each.number for each in done), default=0) + 1
    return Situation(text, scene, tuple(candidates), known, sources, first, bounds, Path.REACT)


def _first(plan: Plan) -> Plan:
    """The first step alone: what comes behind it is thought about when it has been taken."""
    tainted = tuple(number for number in plan.tainted if number == 1)
    return Plan(
        Kind.STEPS,
        Path.REACT,
        plan.steps[:1],
        candidates=plan.candidates,
        certainty=plan.certainty,
        language=plan.language,
        notes=plan.notes,
        tainted=tainted,
    )


def _answered(text: str, situation: Situation) -> Plan:
    said = visible(text)[:MOST_SAID].strip()
    kind = Kind.TALK if said else Kind.NOTHING
    return Plan(kind, Path.REACT, say=said, candidates=situation.candidates, language=situation.language, certainty=0.5)


def _went_in_circles(done: Sequence[Done]) -> bool:
    return any(_is_done(Step(each.executor, each.args), done[:place]) for place, each in enumerate(done))


def _is_done(step: Step, done: Sequence[Done]) -> bool:
    return any(step.executor == each.executor and dict(step.args) == dict(each.args) for each in done)
