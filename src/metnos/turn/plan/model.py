"""Planning with a language model: one call for the whole turn, and one more if a step fails.

A reply goes through four hands, each of them code: read (`model_read`), mended (`model_mend`), checked against the
executors' own schemas (`model_check`), and held within the owner's words (`model_bounds`). What the model names and
nobody has becomes a wish (`model_wish`), never a step.

Rules: whatever the model replies, the result is a `Plan`; only `ModelError` is raised, by ``ask``. The router ranked
the candidates from the request alone, so content has no say in what can be chosen. What was planned in sight of content
is numbered in ``tainted`` where the owner has to be asked, and dropped where it reaches beyond their words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from metnos.executors import refs
from metnos.fastpath.language import language
from metnos.fastpath.slots import Kind as Particular
from metnos.fastpath.slots import Slot, extract
from metnos.turn.plan import coverage, model_bounds, model_mend, model_read, phrases, prompts
from metnos.turn.plan.model_bounds import Bounds, Verdict
from metnos.turn.plan.model_check import check
from metnos.turn.plan.model_leaks import Request
from metnos.turn.plan.model_read import Draft, renumbered
from metnos.turn.plan.model_scene import Ask, Done, Scene
from metnos.turn.plan.model_wish import wish
from metnos.turn.plan.records import REQUEST, Candidate, Kind, Path, Plan, Step, Tool, Wish

PLAN, REPAIR = "plan", "repair"  # purposes of a call, for the account
CERTAINTY = 0.8  # what a small model was measured at (bench/results); its own estimate is worth nothing
# What the router's score of a tool means: below the first it is not worth showing; a plan none of whose tools reaches
# the second, for a request that names no place, is made up. Of what tools are there for, none scored less than 0.4.
WORTH, EVIDENCE = 0.2, 0.35
_BEYOND = {
    "en": "The model wanted {} for something that you did not name, after reading content; this was left out.",
    "it": "Dopo aver letto un contenuto, il modello voleva {} per qualcosa che non hai nominato; è stato tralasciato.",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """What a reply is judged by. Steps count from ``first``; ``bounds`` are there if content was in sight."""

    text: str
    scene: Scene
    candidates: tuple[Candidate, ...]
    known: Mapping[str, Tool]
    sources: Mapping[str, Tool | None]
    first: int = 1
    bounds: Bounds | None = None
    path: Path = Path.MODEL

    @property
    def language(self) -> str:
        return language(self.text)


def plan(text: str, candidates: Sequence[Candidate], scene: Scene, ask: Ask) -> Plan:
    """One call plans the whole turn as typed steps."""
    known = _known(candidates)
    slots = _slots(text, scene)
    named = _places(slots)
    worth = [each for each in tuple(candidates)[: prompts.MOST_TOOLS] if named or each.score >= WORTH]
    orders = {slot.value for slot in slots if slot.kind is Particular.ORDER}
    chosen = sorted(worth, key=lambda each: bool(orders) and not _orders(each.tool) & orders)
    sources: dict[str, Tool | None] = {refs.LAST: None} if scene.last else {}
    bounds = None
    if scene.window or scene.last or scene.memory:
        bounds = model_bounds.draw(text, scene, known=known, sources=sources, strict=False)
    reply = ask(PLAN, prompts.to_plan(text, [each.tool for each in chosen], scene, slots))
    situation = Situation(text, scene, tuple(candidates), known, sources, bounds=bounds)
    return settle(model_read.read(reply.data), situation)


def repair(
    text: str,
    plan: Plan,
    done: Sequence[Done],
    failed: Done,
    candidates: Sequence[Candidate],
    scene: Scene,
    ask: Ask,
) -> Plan:
    """One call that sees the error: the steps in the place of the failed one and those behind it."""
    known = _known(candidates)
    planned = {step.executor for step in plan.steps}
    first = sorted(candidates, key=lambda each: each.tool.name not in planned)  # stable: by rank among the others
    tools = [each.tool for each in first[: prompts.MOST_TOOLS]]
    sources: dict[str, Tool | None] = {f"step{each.number}": known.get(each.executor) for each in done if each.ok}
    own = tuple(step for number, step in enumerate(plan.steps, start=1) if number not in plan.tainted)
    bounds = model_bounds.draw(text, scene, own=own, done=done, known=known, sources=sources, strict=True)
    reply = ask(REPAIR, prompts.to_repair(text, plan, done, failed, tools, scene))
    situation = Situation(text, scene, tuple(candidates), known, sources, failed.number, bounds)
    draft = model_read.read(reply.data, failed.number)
    return settle(replace(draft, missing=None) if draft.steps else draft, situation)


def settle(draft: Draft, situation: Situation) -> Plan:
    """A draft as a plan that can be followed, or as what is to be said instead."""
    if not draft.readable:
        return _nothing(situation, draft.notes)
    unknown = [step for step in draft.steps if step.executor not in situation.known]
    wishes = _wishes(draft, unknown, situation)
    if unknown or (not draft.steps and draft.missing is not None):
        return _unmet(situation, draft.notes, wishes)
    if not draft.steps:
        return _words(draft, situation)
    return _steps(draft, situation, wishes)


def _steps(draft: Draft, situation: Situation, wishes: tuple[Wish, ...]) -> Plan:
    where = situation.scene
    fresh = situation.bounds is None or not situation.bounds.strict
    here = frozenset({".", "./", "~", "~/", where.cwd, where.home} if fresh else ())
    slots = _slots(situation.text, where)
    if fresh and not _places(slots) and not _is_spoken_for(draft.steps, situation.candidates):
        return _unmet(situation, draft.notes)
    asked = Request(situation.text, slots, here, where.now, fresh)
    mended = model_mend.mend(draft.steps, situation.known, asked, situation.first)
    kept: list[Step] = []
    sources = dict(situation.sources)
    for number, step in enumerate(mended, start=situation.first):
        tool = situation.known[step.executor]
        checked = check(step, tool, sources)
        if checked.missing:
            say = phrases.question(checked.missing, tool, situation.language)
            return _plan(situation, Kind.QUESTION, tuple(kept), say=say, missing=checked.missing)
        if checked.problem:
            return _nothing(situation, (*draft.notes, checked.problem))
        kept.append(checked.step)
        sources[f"step{number}"] = tool
    notes = [*draft.notes, *(phrases.say("wish", situation.language, name=each.name) for each in wishes)]
    bounded = _bounded(kept, situation, notes)
    if not bounded.steps:
        return _nothing(situation, tuple(bounded.notes))
    return _plan(
        situation,
        Kind.STEPS,
        bounded.steps,
        wishes=wishes,
        notes=tuple(bounded.notes),
        tainted=bounded.tainted,
        open=draft.answer is not None,
        certainty=CERTAINTY,
    )


def _is_hopeful(situation: Situation) -> bool:
    """Whether there is anything to do once a question is answered."""
    slots = _slots(situation.text, situation.scene)
    return _places(slots) or any(each.score >= WORTH for each in situation.candidates)


def _is_spoken_for(steps: Sequence[Step], candidates: Sequence[Candidate]) -> bool:
    """Whether the request speaks for any of the tools, so that the plan is not merely what was at hand."""
    scores = {each.tool.name: each.score for each in candidates}
    return any(scores[step.executor] >= EVIDENCE for step in steps)


@dataclass(frozen=True, slots=True)
class _Bounded:
    steps: tuple[Step, ...]
    tainted: tuple[int, ...]
    notes: list[str]


def _bounded(steps: Sequence[Step], situation: Situation, notes: list[str]) -> _Bounded:
    """The steps that the owner's words allow, and the numbers, from 1, of those that they must be asked about."""
    if situation.bounds is None:
        return _Bounded(tuple(steps), (), notes)
    verdicts = model_bounds.judge(steps, situation.known, situation.bounds, situation.first)
    places: dict[int, int] = {}
    kept: list[Step] = []
    tainted: list[int] = []
    for number, (step, verdict) in enumerate(zip(steps, verdicts, strict=True), start=situation.first):
        if verdict is Verdict.DROPPED:
            notes.append(_BEYOND[situation.language].format(step.executor))
            continue
        kept.append(Step(step.executor, renumbered(step.args, places)))
        places[number] = situation.first + len(kept) - 1
        if verdict is Verdict.TAINTED:
            tainted.append(len(kept))
    return _Bounded(tuple(kept), tuple(tainted), notes)


# -- what is said instead of done


def _words(draft: Draft, situation: Situation) -> Plan:
    if draft.ask and (situation.bounds is not None or _is_hopeful(situation)):
        return _plan(situation, Kind.QUESTION, say=draft.ask)
    if draft.answer:
        return _plan(situation, Kind.TALK, say=draft.answer, certainty=CERTAINTY)
    return _nothing(situation, draft.notes)


def _nothing(situation: Situation, notes: Sequence[str] = (), wishes: tuple[Wish, ...] = ()) -> Plan:
    names = [each.name for each in wishes]
    summary = " ".join(situation.text.split())[:120]
    say = phrases.nothing(summary, (), names[0] if names else None, situation.language)
    return _plan(situation, Kind.NOTHING, say=say, wishes=wishes, notes=tuple(notes))


def _unmet(situation: Situation, notes: Sequence[str] = (), wishes: tuple[Wish, ...] = ()) -> Plan:
    """Nothing, because no tool does it. After content of this turn was read nobody can say that of the request."""
    read = situation.bounds is not None and situation.bounds.strict
    return replace(_nothing(situation, notes, wishes), unmet=not read)


def _wishes(draft: Draft, unknown: Sequence[Step], situation: Situation) -> tuple[Wish, ...]:
    """What is missing, by names of the vocabulary.

    None after content of this turn was read; with earlier content in sight only what the request itself asks for.
    """
    if situation.bounds is not None and situation.bounds.strict:
        return ()
    names = [*([draft.missing] if draft.missing else []), *(step.executor for step in unknown)]
    if situation.bounds is not None:
        names = [name for name in names if coverage.says_verb(name, situation.text)]
    have = [step.executor for step in draft.steps if step.executor in situation.known]
    source = have[-1] if have else REQUEST
    found = [wish(name, situation.text, source, situation.known) for name in names]
    return tuple({each.name: each for each in found if each is not None}.values())


def _plan(situation: Situation, kind: Kind, steps: tuple[Step, ...] = (), **rest: object) -> Plan:
    made = Plan(kind, situation.path, steps, candidates=situation.candidates, language=situation.language)
    return replace(made, **rest)  # type: ignore[arg-type]  # fields of `Plan`, by name


def _slots(text: str, scene: Scene) -> tuple[Slot, ...]:
    return extract(text, now=coverage.ANY_DAY, home=FilePath(scene.home or "/"), cwd=FilePath(scene.cwd or "/"))


def _orders(tool: Tool) -> set[object]:
    """The orders that a tool knows: one that is asked for speaks for it."""
    return {each for inner in tool.properties.values() for each in inner.get("enum", ())}


def _places(slots: Sequence[Slot]) -> bool:
    """Whether the owner named a file, a folder or an address: then something is to be done with it."""
    return any(slot.kind in (Particular.PATH, Particular.FOLDER, Particular.NAME, Particular.URL) for slot in slots)


def _known(candidates: Sequence[Candidate]) -> dict[str, Tool]:
    return {each.tool.name: each.tool for each in candidates}
