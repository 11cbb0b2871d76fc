"""What a fact that had a say in a plan foretold about its steps, and whether it came true. Pure.

Rules: a fact about how something is to be done foretells that the step it had a say in goes well; one about what is
known to fail foretells that it does not. A step went well if it succeeded, was not taken back, and the owner did not
complain. Only steps that really ran count: what was refused, rehearsed or waits shows nothing. A fact about no step
that ran is not scored. Nothing here reads a word: names and numbers are enough.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.trace import StepTrace


@dataclass(frozen=True, slots=True)
class Foretold:
    """What a fact says of one step: whether it ``expects`` it to go well, and whether the step ended ``ok``."""

    fact: str
    confidence: float
    step: int
    expects: bool
    ok: bool


def foretold(facts: Sequence[Fact], steps: Sequence[StepTrace]) -> Iterator[Foretold]:
    """What these facts, which steered a plan, foretold about those of its steps that ran."""
    for fact in facts:
        executor = executor_of(fact)
        for step in steps:
            if executor and step.executor == executor and step.audit:
                yield Foretold(fact.id, fact.confidence, step.number, fact.kind is not Kind.ANTI, step.ok)


def executor_of(fact: Fact) -> str:
    """The executor whose steps a fact has a say in; empty if it has none. An import may have brought anything."""
    if fact.kind is Kind.ANTI:
        return _name(fact.data)
    return _name(fact.data.get("prefer")) if fact.kind is Kind.PROCEDURAL else ""


def went(ok: bool, outcome: Outcome) -> bool:
    """Whether a step went well, as far as it is known by now."""
    return ok and not outcome.undone and outcome.feedback is not False


def is_final(outcome: Outcome, is_old: bool) -> bool:
    """Whether nobody is expected to say more about it: the owner has, or did not in time."""
    return is_old or outcome.undone or outcome.feedback is not None


def _name(data: Any) -> str:
    found = data.get("executor") if isinstance(data, Mapping) else None
    return found if isinstance(found, str) else ""
