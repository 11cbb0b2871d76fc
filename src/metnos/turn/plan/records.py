"""What planning is about: tools to choose from, candidates, steps, wishes, and the plan that is made of them.

Rules: a plan decides nothing about what may happen; every step of it still needs a permit. A value of a step may be a
reference to an earlier step, written ``{{step1.entries}}`` (see `refs`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

REQUEST = "request"  # the pseudo-executor that feeds a wish when the very first step is what is missing


@dataclass(frozen=True, slots=True)
class Tool:
    """An executor as a planner sees it. ``args`` is the JSON Schema of its arguments (an object)."""

    name: str
    version: str
    digest: str
    purpose: str
    mutates: bool
    args: Mapping[str, Any]
    result_key: str  # `entries` or `results`
    output: Mapping[str, Any]  # the JSON Schema of one entry
    affinity: tuple[str, ...] = ()
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    covers: tuple[tuple[str, ...], ...] = ()  # sequences of executors that it takes the place of
    quiet: bool = False  # whether a call leaves everything as it is and tells nobody; not, unless somebody says so

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.args.get("required", ()))

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        found: Mapping[str, Mapping[str, Any]] = self.args.get("properties", {})
        return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool with what speaks for it; the parts are kept for `metnos why`.

    ``score`` is what the request says of it; the order also heeds ``weight``, a factor for its odds.
    """

    tool: Tool
    score: float
    lexical: float = 0.0
    cosine: float = 0.0
    affinity: float = 0.0
    slots: float = 0.0
    weight: float = 0.0  # what the mnestome says


@dataclass(frozen=True, slots=True)
class Step:
    """One call to make. Steps are numbered from 1 by their place in the plan."""

    executor: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wish:
    """An executor that would be needed and does not exist: what later becomes a proto-mnest.

    ``name`` follows the vocabulary; ``source`` is `REQUEST` or the executor whose output it would take.
    """

    name: str
    source: str
    summary: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


class Path(StrEnum):
    """Which way a plan was made."""

    ROUTER = "router"
    MODEL = "model"
    REACT = "react"
    FAST = "fast"


class Kind(StrEnum):
    """What a plan amounts to."""

    STEPS = "steps"  # there is something to do
    QUESTION = "question"  # one thing is missing: `say` asks for it
    NOTHING = "nothing"  # nothing fits: `say` tells honestly what is missing, `wishes` names it
    TALK = "talk"  # an answer without any step, made by a language model


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done about a request.

    ``certainty`` is the planner's own estimate, 0 to 1, that this is what was meant. ``missing`` names the argument
    that a question is about, as ``executor.argument``; ``steps`` of a question are the plan as far as it goes.
    ``open`` asks for an answer in words, made from what the steps find. ``tainted`` numbers the steps (from 1) that a
    model planned after it had seen content from outside: the owner is asked about them whatever the level. ``unmet``
    says of a plan that is nothing that an executor is what is missing: the request was understood to be one.
    """

    kind: Kind
    path: Path
    steps: tuple[Step, ...] = ()
    say: str = ""
    missing: str = ""
    wishes: tuple[Wish, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    certainty: float = 0.0
    language: str = "en"  # of the request: `en` or `it`
    notes: tuple[str, ...] = field(default=())  # what was assumed, in words for the owner
    open: bool = False
    tainted: tuple[int, ...] = ()
    unmet: bool = False
