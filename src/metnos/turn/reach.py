"""What the mnestome says to a planner: how strongly the executors whose output is at hand lead to each other one.

The context of a choice is a list of executors: the steps of a plan so far, or the successful steps of the turn before.
From each of them the weight of the mnests that lead on is read; the last one, which is what is really at hand, counts
most. What comes out is a factor for the odds of a tool in a ranking: 1 says nothing.

Rules: it only orders. It says nothing about whether anything is meant, which arguments a call gets, or what may happen.
An executor that is not among the tools (disabled, in quarantine, gone) neither leads anywhere nor is led over. Where
the mnestome is empty, or cannot be read, nothing is said; within one turn always the same. Does not guarantee that what
was done often is meant now: bench/reach.py measures how often it is.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from metnos.core.clock import Clock
from metnos.core.errors import StoreError
from metnos.mnestome import graph
from metnos.store.db import Database

Weight = Callable[[str], float]  # a factor for the odds of a tool, by its name
Reaching = Callable[[Sequence[str]], Weight | None]  # after these executors, the nearest last


@dataclass(frozen=True, slots=True)
class Rules:
    """How much experience counts. Chosen on the first half of the turns of bench/reach.py, and on nothing else."""

    alpha: float = 5.0  # the factor is 1 + alpha * weight: 2.5 for a mnest that was just born, 6 for the heaviest
    fade: float = 0.25  # what each step further back counts, of the one after it; that half does not tell which is best
    steps: int = 3  # how far back


RULES = Rules()


@dataclass(frozen=True, slots=True)
class Reach:
    """The mnestome as planners read it. Threads may share it."""

    db: Database
    clock: Clock
    names: Callable[[], Collection[str]]  # of all executors there are, usable or not
    rules: Rules = RULES

    def __call__(self, usable: Collection[str]) -> Reaching:
        """For one turn, in which these executors can be chosen."""

        @cache
        def hidden() -> frozenset[str]:
            return frozenset(self.names()).difference(usable)

        @cache
        def reaching(context: tuple[str, ...]) -> Weight | None:
            found: Mapping[str, float] = {}
            with suppress(StoreError):  # a plan can be made without experience
                found = self._weights([name for name in context if name in usable], hidden())
            return factors(found, self.rules) if found else None

        return lambda context: reaching(tuple(context))

    def _weights(self, context: Sequence[str], hidden: Collection[str]) -> dict[str, float]:
        now, found = self.clock.now(), dict[str, float]()
        for source, share in shares(context, self.rules).items():
            for name, weight in graph.weights_from(self.db, (source,), now, without=hidden).items():
                found[name] = max(found.get(name, 0.0), share * weight)
        return found


def shares(context: Sequence[str], rules: Rules = RULES) -> dict[str, float]:
    """How much each executor of a context counts: the nearest wholly."""
    found: dict[str, float] = {}
    for back, name in enumerate(reversed(context[-rules.steps :])):
        found.setdefault(name, rules.fade**back)
    return found


def factors(weights: Mapping[str, float], rules: Rules = RULES) -> Weight:
    """The weights that reach executors, as factors for a ranking."""

    def factor(name: str) -> float:
        return 1.0 + rules.alpha * weights.get(name, 0.0)

    return factor
