"""What the mnestome says to a planner: how strongly the executors whose output is at hand lead to each other one.

The context of a choice is a list of executors: the steps of a plan so far, or the successful steps of the turn before.
From each of them the weight of the mnests that lead on is read; the last one, which is what is really at hand, counts
most. What comes out is a factor for the odds of a tool in a ranking: 1 says nothing.

Rules: it only orders. It says nothing about whether anything is meant, which arguments a call gets, or what may happen.
An executor that is not among the tools (disabled, in quarantine, gone) neither leads anywhere nor is led over. Where
the mnestome is empty, or cannot be read, nothing is said. Does not guarantee that what was done often is meant now.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from metnos.core.clock import Clock
from metnos.core.errors import StoreError
from metnos.mnestome import graph
from metnos.store.db import Database

Weight = Callable[[str], float]  # a factor for the odds of a tool, by its name


@dataclass(frozen=True, slots=True)
class Rules:
    """How much experience counts. Chosen on the first half of the turns of bench/reach.py, and on nothing else."""

    alpha: float = 4.0  # the factor is 1 + alpha * weight: a mnest of the greatest weight makes the odds five times
    fade: float = 0.5  # what each step further back counts, of the one after it
    steps: int = 3  # how far back


RULES = Rules()


@dataclass(frozen=True, slots=True)
class Reach:
    """The mnestome as planners read it."""

    db: Database
    clock: Clock
    names: Callable[[], Collection[str]]  # of all executors, usable or not
    rules: Rules = RULES

    def __call__(self, context: Sequence[str], usable: Collection[str]) -> Weight | None:
        """Factors for what may come next. ``context``: the executors whose output is at hand, the nearest last."""
        found: Mapping[str, float] = {}
        with suppress(StoreError):  # a plan can be made without experience
            found = self._reaching(context, usable)
        return factors(found, self.rules) if found else None

    def _reaching(self, context: Sequence[str], usable: Collection[str]) -> dict[str, float]:
        hidden = frozenset(self.names()).difference(usable)
        found: dict[str, float] = {}
        for source, share in shares(context, self.rules).items():
            if source not in usable:
                continue
            for name, weight in graph.weights_from(self.db, (source,), self.clock.now(), without=hidden).items():
                found[name] = max(found.get(name, 0.0), share * weight)
        return found


def shares(context: Sequence[str], rules: Rules = RULES) -> dict[str, float]:
    """How much each executor of a context counts: the nearest whole."""
    found: dict[str, float] = {}
    for back, name in enumerate(reversed(context[-rules.steps :])):
        found.setdefault(name, rules.fade**back)
    return found


def factors(reaching: Mapping[str, float], rules: Rules = RULES) -> Weight:
    """The weights that reach executors as factors for a ranking."""

    def factor(name: str) -> float:
        return 1.0 + rules.alpha * reaching.get(name, 0.0)

    return factor
