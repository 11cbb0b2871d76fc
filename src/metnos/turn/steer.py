"""Steering: how what was learnt changes a plan, without a language model.

Three kinds of facts have a say: how a form of request is to be done (an argument that was always the same, or that the
owner corrected), which executor to take instead, and what is known to fail. What they say is heeded only where they are
about this very form of request.

Rules: what the owner says in the request wins over everything learnt, unless a correction is about those very words. An
executor is replaced only by one that takes the same arguments and changes no more. A fact that is not believed enough,
or that is not this agent's own, has no say. Steering only makes plans: each step still needs a permit, and each change
is told to the owner in a note. Does not guarantee that a plan gets better; whether it did is counted (`usefulness`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.turn.plan.records import Kind as PlanKind
from metnos.turn.plan.records import Path, Plan, Step, Tool

LEAST = 0.5  # confidence: what the gate admitted (0.6), until it has faded; never what it doubted (0.3)
_OWN = frozenset({Provenance.SELF, Provenance.OWNER})
_TOLD = {
    "en": {"args": "as before: {what}", "executor": "as before, with {what}", "fails": "careful: {what}"},
    "it": {
        "args": "come prima: {what}",
        "executor": "come prima, con {what}",
        "fails": "attenzione: {what}",
    },
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a fact is held against: the form of the request and its particulars, by name."""

    canonical: str
    slots: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Steered:
    """A plan, and the facts that had a say in it."""

    plan: Plan
    used: tuple[Fact, ...] = ()


def steer(plan: Plan, asked: Asked, facts: Sequence[Fact], tools: Mapping[str, Tool]) -> Steered:
    """The plan as what was learnt would have it. The most believed fact speaks first, and no later one over it."""
    if plan.path is Path.FAST or not plan.steps:
        return Steered(plan)
    used: list[Fact] = []
    settled: set[tuple[int, str]] = set()
    form = " ".join(asked.canonical.split())
    for fact in sorted(filter(_counts, facts), key=lambda each: (-each.confidence, each.id)):
        if fact.kind is Kind.ANTI:
            changed = _warned(plan, fact, form)
        elif _is_about(fact.data.get("when"), form, asked.slots):
            changed = _corrected(plan, fact, asked, tools, settled)
        else:
            continue
        if changed is not None:
            plan = changed
            used.append(fact)
    return Steered(plan, tuple(used))


def _counts(fact: Fact) -> bool:
    own = fact.provenance in _OWN and fact.standing is Standing.ACTIVE
    return own and fact.confidence >= LEAST and fact.kind in (Kind.PROCEDURAL, Kind.ANTI)


def _is_about(when: Any, form: str, slots: Mapping[str, Any]) -> bool:
    if not isinstance(when, Mapping) or not form or when.get("canonical") != form:
        return False
    said = when.get("slots")
    return not isinstance(said, Mapping) or all(slots.get(name) == value for name, value in said.items())


# -- what to do


def _corrected(
    plan: Plan, fact: Fact, asked: Asked, tools: Mapping[str, Tool], settled: set[tuple[int, str]]
) -> Plan | None:
    """The plan with what a fact prefers; nothing if it changes nothing."""
    prefer, instead = _call(fact.data.get("prefer")), _call(fact.data.get("instead_of"))
    if prefer is None or prefer.executor not in tools:
        return None
    if instead is not None and instead.executor != prefer.executor:
        return _exchanged(plan, prefer, instead, tools)
    is_rule = fact.provenance is Provenance.OWNER
    about_words = bool(fact.data.get("when", {}).get("slots"))
    for place, step in enumerate(plan.steps):
        if step.executor != prefer.executor:
            continue
        given = {
            name: value
            for name, value in prefer.args.items()
            if (place, name) not in settled
            and name in tools[step.executor].properties
            and _may_set(step, name, value, instead, frozenset() if about_words else _values(asked.slots), is_rule)
        }
        settled |= {(place, name) for name in prefer.args}
        if given:
            what = ", ".join(f"{name} {value}" for name, value in sorted(given.items()))
            return _filled(plan, place, given, tools, what)
    return None


def _may_set(step: Step, name: str, value: Any, instead: Step | None, said: frozenset[str], is_rule: bool) -> bool:
    """Whether an argument may become this: it is missing, or nobody said it now and the owner wants it otherwise."""
    if name not in step.args:
        return True
    now = step.args[name]
    corrected = instead is not None and instead.args.get(name) == now
    says = [str(each) for each in (now if isinstance(now, list) else [now])]
    return now != value and said.isdisjoint(says) and (corrected or (is_rule and instead is None))


def _filled(plan: Plan, place: int, given: Mapping[str, Any], tools: Mapping[str, Tool], what: str) -> Plan:
    step = plan.steps[place]
    steps = list(plan.steps)
    steps[place] = Step(step.executor, {**step.args, **given})
    told = _noted(plan, tuple(steps), "args", what)
    executor, _, argument = plan.missing.partition(".")
    answers = plan.kind is PlanKind.QUESTION and executor == step.executor and argument in given
    if answers and all(set(tools[each.executor].required) <= set(each.args) for each in steps):
        return replace(told, kind=PlanKind.STEPS, say="", missing="")
    return told


def _exchanged(plan: Plan, prefer: Step, instead: Step, tools: Mapping[str, Tool]) -> Plan | None:
    """The same step by another executor: one that takes what is given, and changes nothing where this one does not."""
    for place, step in enumerate(plan.steps):
        if step.executor != instead.executor or step.executor not in tools:
            continue
        before, after = tools[step.executor], tools[prefer.executor]
        args = {**step.args, **prefer.args}
        fits = set(args) <= set(after.properties) and set(after.required) <= set(args)
        if fits and (before.mutates or not after.mutates):
            steps = list(plan.steps)
            steps[place] = Step(prefer.executor, args)
            return _noted(plan, tuple(steps), "executor", prefer.executor)
    return None


def _noted(plan: Plan, steps: tuple[Step, ...], key: str, what: str) -> Plan:
    words = _TOLD["it" if plan.language == "it" else "en"][key].format(what=what)
    return replace(plan, steps=steps, notes=(*plan.notes, words))


# -- what fails


def _warned(plan: Plan, fact: Fact, form: str) -> Plan | None:
    """A word of warning, where the plan does what is known to fail."""
    when = fact.data.get("when")
    if not isinstance(when, Mapping):
        return None
    args, about = when.get("args"), when.get("canonical")
    for step in plan.steps:
        same = isinstance(args, Mapping) and bool(args) and all(step.args.get(name) == args[name] for name in args)
        if step.executor == fact.data.get("executor") and (same or (about and about == form)):
            return _noted(plan, plan.steps, "fails", fact.text)
    return None


# -- reading what facts hold: an import may have brought anything


def _call(data: Any) -> Step | None:
    if not isinstance(data, Mapping) or not isinstance(data.get("executor"), str):
        return None
    args = data.get("args")
    return Step(data["executor"], dict(args) if isinstance(args, Mapping) else {})


def _values(slots: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(value) for value in slots.values())
