"""What fast paths are made of: forms of requests, the calls they led to, and how sure a match is.

A *fast path* is a sequence of executors with the shape of their arguments. A *form* is one way in which it was asked
for: the request without its particulars. One path has many forms; one with a single executor is an L1 path, a longer
one is an L2 path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# What can happen to a path, by the kind of its event, in words for a person.
HAPPENED = {
    "pass": "planned so, and it went well",
    "fail": "planned so, and taken back or disliked",
    "agree": "predicted what was planned",
    "disagree": "predicted something else than was planned",
    "hit": "answered",
    "fell_back": "could not do it; it was planned anew",
    "wrong": "an answer was wrong",
    "good": "an answer was liked",
    "state": "changed its state",
    "offered": "offered to be made an executor",
    "link": "the first part of it was done, and it went well",
}


class State(StrEnum):
    """How far a path is trusted. Only an active one answers, and only where a match is sure enough."""

    CANDIDATE = "candidate"  # seen, and not often enough
    SHADOW = "shadow"  # predicts, while the planner decides
    ACTIVE = "active"
    DEMOTED = "demoted"  # it was wrong, or something covers it


@dataclass(frozen=True, slots=True)
class Mark:
    """The very executor that a step was learnt with: another version or other arguments make it another."""

    name: str
    version: str
    signature: str  # digest of the schema of its arguments


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a path was asked for. ``said`` is the request with its particulars masked: what is embedded."""

    path: str
    canonical: str
    said: str
    uses: int = 1


@dataclass(frozen=True, slots=True)
class FastPath:
    """A sequence of executors with the shape of their arguments (see `shape`), and what came of it so far."""

    id: str
    marks: tuple[Mark, ...]  # one for each step
    shape: tuple[Mapping[str, Any], ...]  # one for each step
    state: State
    reason: str = ""  # why it is in this state
    passes: int = 0  # turns in which the planner did this and it went well
    agreed: int = 0  # shadow predictions that were what the planner did
    disagreed: int = 0
    hits: int = 0  # requests that it answered
    wrong: int = 0  # hits that were undone, refused or disliked
    plan_ms: float = 0.0  # what planning this took on average without it
    plan_usd: float = 0.0

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(mark.name for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Match:
    """The path that a request seems to mean. ``probability`` is calibrated: how likely that is right."""

    path: str
    form: str  # the canonical form that is nearest
    probability: float
    exact: bool  # whether the canonical form is the same, and no other path has it
    score: float  # before calibration
    cosine: float = 0.0
    margin: float = 0.0  # between this path and the next
    runner_up: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)  # what the score was made of
