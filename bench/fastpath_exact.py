"""How often an answer is wrong that a fast path gives to a request of a form it was asked in before.

Every request of the house is asked in many variants (`bench.fastpath_exact_data`). Where three of one form were planned
by the router, all the others of that form are matched, filled and held against what the router plans for them: the
same executors with the same arguments, or the answer is wrong. All forms are learnt at once, in real logs, as turns
teach them; nothing is executed.

Variants of one request are not independent, so that what counts is families: a request with all its variants is one
trial, and it is wrong if a single answer in it is. Requests of an even checksum were looked at while the fast paths
were repaired (``python -m bench.fastpath_exact`` shows what goes wrong with them), the others were kept for the report.
Does not guarantee that an owner asks as these requests do, nor that the router is right: an answer counts as right when
it is what the planner would have done.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from bench import router_data, scratch
from bench.fastpath_exact_data import HOME, Asked, Variants, requests, there
from bench.runner import Measure
from metnos.executors import schema as executors
from metnos.fastpath.heard import Heard
from metnos.fastpath.log import Log, Pass
from metnos.fastpath.mask import mask
from metnos.fastpath.memory import Known, Memory
from metnos.fastpath.rules import Factory, upper
from metnos.fastpath.saying import plain
from metnos.fastpath.schema import L1, L2, MIGRATIONS_L1, MIGRATIONS_L2
from metnos.fastpath.shape import Learnt, Unresolved, learn
from metnos.fastpath.slots import extract
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database
from metnos.turn.plan.fill_files import Ground, resolved
from metnos.turn.plan.rank import Ranker
from metnos.turn.plan.records import Kind, Plan
from metnos.turn.plan.router import Router
from metnos.turn.shortcut import mark_of

PURPOSE = "wrong answers of fast paths to requests in a form that was seen before, by what the router plans"

PASSES = 3
SEED, TUNED_WITH = 7, 1  # of the variants that are reported, and of those that were looked at
_EACH = 24  # variants of a request, itself among them
_CONFIDENCE = 0.95
_MOST_WRONG = 1.0  # per cent, with that confidence


@dataclass(frozen=True, slots=True)
class Case:
    """A request, as it is heard and as the router plans it."""

    asked: Asked
    heard: Heard
    plan: Plan

    @cached_property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        return [(step.executor, dict(step.args)) for step in self.plan.steps]


@dataclass(frozen=True, slots=True)
class Wrong:
    """An answer that the router would not have given."""

    case: Case
    given: Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(slots=True)
class Tally:
    """What came of requests: by family, how many were answered; and every wrong one."""

    hits: Counter[int] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)
    unmatched: int = 0
    wrong: list[Wrong] = field(default_factory=list)

    @property
    def wrong_families(self) -> set[int]:
        return {each.case.asked.family for each in self.wrong}
