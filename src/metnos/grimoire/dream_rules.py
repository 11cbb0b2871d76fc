"""What dreams are made of: replays, what might have been, and what was never thought together. Pure rules, no I/O.

Dreams look at recorded steps only: which executor, with which arguments, and how it ended. From these:

- A replay walks through an episode's steps: forward (what follows what), backward (which step the bad end began with,
  the nearest before it bearing most of it), or perturbed (one step left out, swapped with the next, or done as another
  episode did it). A perturbed one proves nothing by itself: it is a question to the other episodes.
- A counterfactual answers such a question with what other episodes show: of those that did it the other way, so many
  went well; of those that did it this way, so many. Both sides need enough episodes, and their bounds must not meet.

Facts that were never used together are joined in `recombine`.

Everything that comes out is a hypothesis: it starts at the lowest confidence, and an own, verified episode has to show
the same within days. Deterministic: the same episodes, facts and seed give the same dream.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.grimoire.affect import Pad
from metnos.grimoire.appraisal import steps_of
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Episode
from metnos.grimoire.evidence import sure
from metnos.grimoire.extract import canonical_of, choices, quoted
from metnos.grimoire.fact import Kind
from metnos.grimoire.trace import State

_ENDS = frozenset({State.DONE, State.PARTLY, State.FAILED})


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of dreams; those of a dream's belief and time are in `fact_rules`. Each says why beside it."""

    witnesses: int = 400  # further episodes of the domains where something went wrong: asked, and not replayed
    episodes: int = 200  # replayed in one dream: the day's turns of a busy house, and some older ones
    perturbations: int = 5  # of each episode that ended badly: as many questions as it may raise
    least: int = 3  # episodes on either side of a counterfactual: as many as a pattern needs
    # Of the bounds on either side: a hypothesis that a week tests may be wrong one time in six.
    z: float = 1.0
    products: int = 20  # of one dream: more hypotheses than a week can confirm only crowd recall
    blame: float = 0.7  # each step further from the bad end bears so much less of it
    # Sleep takes the excitement off a memory more than its value (depotentiation): so much is left after one replay.
    arousal: float = 0.7
    pleasure: float = 0.9
    dominance: float = 0.9


class Shape(StrEnum):
    """What kind of hypothesis a dream made."""

    ARGUMENT = "argument"  # had the argument been Y
    STEP = "step"  # had the step not failed
    INSTEAD = "instead"  # had another executor done it
    CHAIN = "chain"  # A brings B and B brings C: does A bring C?
    PAIR = "pair"  # two facts that may belong together


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded step. ``args`` are those that somebody chose, with their values as JSON."""

    executor: str
    ok: bool
    kind: str = ""
    args: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What dreams see of an episode."""

    id: str
    ts: datetime
    domain: str
    steps: tuple[Step, ...]
    good: bool
    form: str = ""  # of the request
    names: tuple[str, ...] = ()  # what happened, as causes and effects are called


@dataclass(frozen=True, slots=True)
class Question:
    """What if: the argument had been ``value``; the step had not failed; ``value`` had done it instead."""

    shape: Shape
    domain: str
    executor: str
    argument: str = ""
    value: str = ""

    @property
    def wanted(self) -> Any:
        """The value that the argument would have had."""
        return json.loads(self.value) if self.shape is Shape.ARGUMENT else self.value

    def as_dict(self) -> dict[str, str]:
        return {"shape": str(self.shape), "executor": self.executor, "argument": self.argument, "value": self.value}

    @classmethod
    def of(cls, data: Mapping[str, Any], domain: str) -> "Question | None":
        """The question that a dream's data answers, if it is one."""
        asked = [data.get(name) for name in ("shape", "executor", "argument", "value")]
        if asked[0] not in (Shape.ARGUMENT, Shape.STEP, Shape.INSTEAD) or not all(isinstance(x, str) for x in asked):
            return None
        return cls(Shape(str(asked[0])), domain, *map(str, asked[1:]))


@dataclass(frozen=True, slots=True)
class Seen:
    """How something went: ``good`` of ``count``, with bounds that hold five times in six."""

    good: int
    count: int

    @property
    def rate(self) -> float:
        return self.good / self.count if self.count else 0.0

    def bounds(self, z: float) -> tuple[float, float]:
        """Between which the share lies: honest for few episodes."""
        return sure(self.good, self.count, z), 1.0 - sure(self.count - self.good, self.count, z)


@dataclass(frozen=True, slots=True)
class Product:
    """A hypothesis with what it rests on. ``key`` tells it from every other, however often it is dreamt."""

    shape: Shape
    kind: Kind
    text: str
    domain: str
    subject: str
    value: str
    data: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    weight: float = 0.0  # how much it would change: what comes first if there is no room for all

    @property
    def counted_as(self) -> str:
        return "recombinations" if self.facts else "counterfactuals"

    @property
    def key(self) -> str:
        return sha256_hex(canonical_json([self.shape, self.kind, self.domain, self.subject, self.value]))[:26]


# -- what is seen of an episode


def scene(episode: Episode, key: Callable[[Episode], str] = HOME.key_of) -> Scene | None:
    """What an episode shows: its steps and how it ended, or an event; nothing if it has neither."""
    state, event = episode.payload.get("state"), episode.payload.get("event")
    steps = tuple(_step(each) for each in steps_of(episode.payload)) if state in _ENDS else ()
    named = isinstance(event, str) and bool(event.strip())
    if not steps and not named:
        return None
    form = canonical_of(episode)
    called = [quoted(form)] * bool(form) + [quoted(str(event))] * named
    called += [f"{step.executor} fails with {step.kind or 'failed'}" for step in steps if not step.ok]
    good = state == State.DONE or not steps
    return Scene(episode.id, episode.ts, key(episode), steps, good, form, tuple(dict.fromkeys(called)))


def _step(recorded: Mapping[str, Any]) -> Step:
    args = tuple((name, canonical_json(value).decode()) for name, value in choices(recorded["args"]))
    return Step(recorded["executor"], recorded["ok"], recorded["kind"], args)


# -- replay


@dataclass(slots=True)
class World:
    """What the replayed episodes showed. Dreams ask it; it is never stored."""

    scenes: list[Scene] = field(default_factory=list)
    follows: Counter[tuple[str, str]] = field(default_factory=Counter)
    blame: Counter[tuple[str, str]] = field(default_factory=Counter)  # of an executor in a domain
    questions: dict[Question, set[str]] = field(default_factory=dict)  # with the episodes that raise them


def forward(world: World, seen: Scene) -> None:
    """What was done, and what came after it."""
    world.scenes.append(seen)
    world.follows.update(pairwise(step.executor for step in seen.steps))


def backward(world: World, seen: Scene, rules: Rules) -> None:
    """From a bad end back to its beginning: a failed step bears all that is left, any other a part of it."""
    if seen.good:
        return
    left = 1.0
    for step in reversed(seen.steps):
        share = left * (1 - rules.blame) if step.ok else left
        world.blame[seen.domain, step.executor] += share  # type: ignore[assignment]  # shares, not whole numbers
        left -= share


def perturbed(world: World, seen: Scene, others: Sequence[Scene], chance: random.Random) -> None:
    """Change one step of what ended badly, as another episode has it, and so ask: what if it had been done that way?

    ``others`` are of the same domain, and at least one.
    """
    place = chance.randrange(len(seen.steps))
    step, other = seen.steps[place], chance.choice(others)
    if not step.ok:
        _ask(world, Question(Shape.STEP, seen.domain, step.executor, value=step.kind), seen)
    before = [each.executor for each in seen.steps[:place]]
    for where, theirs in enumerate(other.steps):
        if theirs.executor == step.executor:
            for name, value in sorted(set(theirs.args) - set(step.args)):
                _ask(world, Question(Shape.ARGUMENT, seen.domain, step.executor, name, value), seen)
        elif [each.executor for each in other.steps[:where]] == before:
            _ask(world, Question(Shape.INSTEAD, seen.domain, step.executor, value=theirs.executor), seen)


def _ask(world: World, question: "Question", seen: Scene) -> None:
    world.questions.setdefault(question, set()).add(seen.id)


def depotentiated(pad: Pad, rules: Rules) -> Pad:
    """The affect of an episode after it was replayed: nearer to neutral, never across it."""
    return Pad(pad.pleasure * rules.pleasure, pad.arousal * rules.arousal, pad.dominance * rules.dominance)


# -- what might have been


def counterfactuals(world: World, rules: Rules) -> list[Product]:
    """The questions that the recorded episodes answer, what would change most first."""
    made = [_answer(question, raised, world, rules) for question, raised in world.questions.items()]
    found = [product for product in made if product is not None]
    return sorted(found, key=lambda product: (-product.weight, product.key))


def _answer(question: Question, raised: set[str], world: World, rules: Rules) -> Product | None:
    so, otherwise = _both_ways(question, world.scenes)
    one, other = _counted(so), _counted(otherwise)
    if min(one.count, other.count) < rules.least or one.bounds(rules.z)[0] <= other.bounds(rules.z)[1]:
        return None
    blame = world.blame[question.domain, question.executor] / max(1, len(world.scenes))
    forms = {seen.form for seen, _ in so}
    data = {
        **question.as_dict(),
        **_lesson(question),
        "when": {"canonical": forms.pop()} if len(forms) == 1 and "" not in forms else {},
        "support": one.count,
        "against": other.count,
        "raised": len(raised),
        "count": one.count + other.count,
        "rate": round(one.rate, 4),
        "rate_otherwise": round(other.rate, 4),
        "lift": round(one.rate - other.rate, 4),
    }
    # Its sources are the episodes that hold what it says: when all of these are forgotten, so is it.
    sources = tuple(seen.id for seen, _ in so)
    made = _told(question, one, other)
    return replace(made, data=data, sources=sources, weight=(one.rate - other.rate) * (1 + blame))


Cases = list[tuple[Scene, bool]]  # episodes, and whether it went well there


def _both_ways(question: Question, scenes: Sequence[Scene]) -> tuple[Cases, Cases]:
    """The episodes in which it was as the question has it, and those in which it was not."""
    so: Cases = []
    otherwise: Cases = []
    for each in scenes:
        seen = shown(question, each)
        if seen is not None:
            (so if seen[0] else otherwise).append((each, seen[1]))
    return so, otherwise


def shown(question: Question, seen: Scene) -> tuple[bool, bool] | None:
    """Whether it was so in this episode, and whether that went well; nothing if the episode says nothing about it."""
    if seen.domain != question.domain:
        return None
    mine = [step for step in seen.steps if step.executor == question.executor]
    if question.shape is Shape.INSTEAD:
        theirs = any(step.executor == question.value for step in seen.steps)
        return None if theirs == bool(mine) else (theirs, seen.good)
    if not mine:
        return None
    if question.shape is Shape.STEP:
        return all(step.ok for step in mine), seen.good
    having = [step for step in mine if (question.argument, question.value) in step.args]
    return bool(having), all(step.ok for step in (having or mine))


def _counted(cases: Cases) -> Seen:
    return Seen(sum(good for _, good in cases), len(cases))


def _told(question: Question, one: Seen, other: Seen) -> Product:
    about, place = question.executor, f"In {quoted(question.domain)}: "
    shown = f"({one.good} of {one.count} went well, otherwise {other.good} of {other.count})"
    if question.shape is Shape.ARGUMENT:
        kind, subject, value = Kind.PROCEDURAL, f"{question.domain}: {about} {question.argument}", question.value
        text = f"{place}{about} may go better with {question.argument} {quoted(str(question.wanted))} {shown}."
    elif question.shape is Shape.INSTEAD:
        kind, subject, value = Kind.PROCEDURAL, f"{question.domain}: {question.value} instead of {about}", "better"
        text = f"{place}{question.value} may do better than {about} {shown}."
    else:
        kind, subject, value = Kind.CAUSAL, f"{question.domain}: {about} failed", "the request failed"
        text = f"{place}without the failing of {about} the request may go well {shown}."
    return Product(question.shape, kind, text, question.domain, subject, value)


def _lesson(question: Question) -> dict[str, Any]:
    """What a plan could be steered by, once it is confirmed."""
    if question.shape is Shape.STEP:
        return {"cause": f"{question.executor} failed", "effect": "the request failed", "lag": 0.0}
    if question.shape is Shape.INSTEAD:
        wish, avoid = {"executor": question.value, "args": {}}, {"executor": question.executor, "args": {}}
    else:
        wish, avoid = {"executor": question.executor, "args": {question.argument: question.wanted}}, {}
    return {"strategy": wish["executor"], "observation": "seen in a dream", "prefer": wish, "instead_of": avoid}
