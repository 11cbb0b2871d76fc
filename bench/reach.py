"""Whether experience helps to choose: the rank of the right next executor, with the mnestome's weights and without.

The turns are real ones (`bench.reach_data`). The mnestome learns from the first half of the time, by the passings that
the turns recorded, and is then left alone; the choices of the second half are judged. ``python -m bench.reach`` shows
how the numbers of `metnos.turn.reach.Rules` were chosen: on the first half, each choice by what came before it.

Each choice is made among all built-in executors by the words of its clause, once by words alone and once by meaning
too, as the router does. *within* is a later step of a plan, *follow* begins a turn that works on what the turn before
gave, *fresh* begins one that does not: there experience can only harm. *weak* are those of all where the ranking by
words would abstain. *whole* is a later step by the words of the whole request, as a language model's list of tools is
made. The mnestome of a workspace begins with seeds, so that is what is judged; its parts are measured beside it.

Controls: the same factors with the executors' names permuted must not help. Does not measure whole turns, nor any with
a language model; the conversations are written by hand, and their habits with them. Every figure is of what should not
happen.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path

from bench import reach_data, scratch
from bench.reach_data import Case, Sort, Taken
from bench.router_data import built_in
from bench.runner import Measure
from metnos.app import tables
from metnos.core.clock import MovableClock
from metnos.mnestome import seeds
from metnos.mnestome.record import record_turn
from metnos.models.embed_builtin import Builtin
from metnos.models.embed_cache import Cached
from metnos.store.db import Database
from metnos.turn.plan.rank import Ranker
from metnos.turn.plan.rank_rules import Rules as RankRules
from metnos.turn.reach import Reach, Rules, Weight

PURPOSE = "how far down the right next executor stands with the mnestome's weights, against without"

_SHUFFLES = 20
_ALPHAS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0, 32.0)
_FADES = (0.0, 0.25, 0.5)
_MOST_MS = 1.0  # ours: what asking the mnestome may cost a turn
_TOOLS = built_in()
_NAMES = [tool.name for tool in _TOOLS]

Factors = Callable[[Case], Weight | None]


@dataclass(frozen=True, slots=True)
class Mnestome:
    """One to be judged, and the clock by which it is asked."""

    db: Database
    clock: MovableClock

    def learn(self, turn: Taken, *, across: bool = False) -> None:
        facts = replace(turn.facts, passings=(*turn.facts.passings, *turn.across)) if across else turn.facts
        record_turn(self.db, facts)

    def factors(self, turn: Taken, rules: Rules) -> Factors:
        """What it says of a turn's cases, at that turn's time."""
        self.clock.move(turn.at - self.clock.now())
        reaching = Reach(self.db, self.clock, lambda: _NAMES, rules)(_NAMES)
        return lambda case: reaching(case.context)


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    turns = reach_data.taken()
    first, second = ([turn for turn in turns if turn.first_half is half] for half in (True, False))
    with ExitStack() as opened:
        folder = opened.enter_context(scratch.folder())

        def made(name: str, *, seeded: bool, learnt: bool, across: bool = False) -> Mnestome:
            found = mnestome(folder / f"{name}.sqlite", turns[0], seeded=seeded)
            opened.callback(found.db.close)
            for turn in first if learnt else ():
                found.learn(turn, across=across)
            return found

        ours = made("ours", seeded=True, learnt=True)
        beside = {
            "seeds alone": made("seeds", seeded=True, learnt=False),
            "learnt alone": made("learnt", seeded=False, learnt=True),
            "if what goes from turn to turn were recorded": made("across", seeded=True, learnt=True, across=True),
        }
        weak = _weak(second)
        measures = []
        for name, ranker in rankers().items():
            measures += _judged(name, ranker, second, ours, weak)
            measures += [_beside(name, ranker, second, each, what) for what, each in beside.items()]
            measures.append(_shuffled(name, ranker, second, ours))
        return [*measures, _cost(second, ours)]


def rankers() -> dict[str, Ranker]:
    return {"words": Ranker(_TOOLS, None), "meaning": Ranker(_TOOLS, Cached(Builtin(), 200_000))}


def mnestome(path: Path, begin: Taken, *, seeded: bool) -> Mnestome:
    """An empty one, or one as a new workspace has it."""
    db = Database(path, tables.of_mnestome())
    if seeded:
        seeds.plant(db, seeds.documented({tool.name: tool.version for tool in _TOOLS}), begin.at)
    return Mnestome(db, MovableClock(begin.at))


# -- ranks


def rank(ranker: Ranker, case: Case, weight: Weight | None, *, whole: bool = False) -> int:
    """Where the right executor stands, from 1."""
    text, slots = (case.whole, case.whole_slots) if whole else (case.text, case.slots)
    found = ranker.rank(text, slots=slots, weight=weight)
    return 1 + next(place for place, each in enumerate(found) if each.tool.name == case.right)


def _pairs(
    ranker: Ranker, turns: Sequence[Taken], judged: Mnestome, rules: Rules, *, whole: bool = False
) -> list[tuple[Case, int, int]]:
    """Each case with its rank without weights and with them."""
    found = []
    for turn in turns:
        factors = judged.factors(turn, rules)
        for case in turn.cases:
            if not whole or case.sort is Sort.WITHIN:
                plain = rank(ranker, case, None, whole=whole)
                found.append((case, plain, rank(ranker, case, factors(case), whole=whole)))
    return found


def _weak(turns: Sequence[Taken]) -> set[int]:
    """The cases whose words say too little, by identity: by words alone the ranking would abstain."""
    ranker, found = Ranker(_TOOLS, None), set()
    for turn in turns:
        for case in turn.cases:
            ranked = ranker.rank(case.text, slots=case.slots)
            if ranker.fit(ranked, case.text, case.slots) < RankRules().abstain:
                found.add(id(case))
    return found


def missed(ranks: Sequence[int]) -> float:
    """What the mean reciprocal rank lacks, in per cent."""
    return 100 * (1 - sum(1 / each for each in ranks) / len(ranks))


def _beyond(first: int) -> Callable[[Sequence[int]], float]:
    return lambda ranks: 100 * sum(each > first for each in ranks) / len(ranks)


# -- measures


def _judged(name: str, ranker: Ranker, turns: Sequence[Taken], ours: Mnestome, weak: set[int]) -> list[Measure]:
    pairs = _pairs(ranker, turns, ours, Rules())
    measures = [
        _measure(f"{name}: 1 - MRR", "%", pairs, missed, limit=1.0),
        _measure(f"{name}: not the first", "%", pairs, _beyond(1), limit=1.0),
        _measure(f"{name}: not of the first 3", "%", pairs, _beyond(3), limit=1.0),
        _measure(f"{name}: mean rank", "rank", pairs, lambda ranks: sum(ranks) / len(ranks), limit=1.0),
    ]
    for sort in Sort:
        part = [pair for pair in pairs if pair[0].sort is sort]
        measures.append(_measure(f"{name}, {sort}: 1 - MRR", "%", part, missed))
    part = [pair for pair in pairs if id(pair[0]) in weak]
    measures += [
        _measure(f"{name}, weak: 1 - MRR", "%", part, missed),
        _measure(f"{name}, weak: not of the first 3", "%", part, _beyond(3)),
    ]
    whole = _pairs(ranker, turns, ours, Rules(), whole=True)
    return [*measures, _measure(f"{name}, whole: 1 - MRR", "%", whole, missed), _harm(name, pairs)]


def _measure(
    name: str,
    unit: str,
    pairs: Sequence[tuple[Case, int, int]],
    figure: Callable[[Sequence[int]], float],
    limit: float | None = None,
) -> Measure:
    plain, weighed = figure([before for _, before, _ in pairs]), figure([after for _, _, after in pairs])
    baseline = (plain,) if plain > 0 else ()
    return Measure(
        name, unit, (weighed,), baseline, limit if baseline else None, f"{len(pairs)} choices; {_moved(pairs)}"
    )


def _moved(pairs: Sequence[tuple[Case, int, int]]) -> str:
    better = sum(after < before for _, before, after in pairs)
    worse = sum(after > before for _, before, after in pairs)
    return f"{better} better, {worse} worse, sign test p = {_sign_test(better, worse):.2g}"


def _sign_test(better: int, worse: int) -> float:
    """The chance that a coin falls at least so unevenly, to either side."""
    count = better + worse
    tail = sum(comb(count, each) for each in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / float(2**count))


def _harm(name: str, pairs: Sequence[tuple[Case, int, int]]) -> Measure:
    worse = [(case, before, after) for case, before, after in pairs if after > before]
    told = "; ".join(f"{case.right} after {case.context[-1]}, {case.text!r}: {a} to {b}" for case, a, b in worse)
    lost = sum(before == 1 for _, before, _ in worse)
    note = f"the first place lost by {lost}; from rank to rank: {told or 'none'}"
    return Measure(f"{name}: got worse", "%", (100 * len(worse) / len(pairs),), note=note)


def _beside(name: str, ranker: Ranker, turns: Sequence[Taken], judged: Mnestome, what: str) -> Measure:
    return _measure(f"{name}, {what}: 1 - MRR", "%", _pairs(ranker, turns, judged, Rules()), missed)


def _shuffled(name: str, ranker: Ranker, turns: Sequence[Taken], ours: Mnestome) -> Measure:
    """Each shuffle is a round: the same factors, given to other executors."""
    plain = missed([rank(ranker, case, None) for turn in turns for case in turn.cases])
    figures = []
    for number in range(_SHUFFLES):
        others = dict(zip(_NAMES, random.Random(number).sample(_NAMES, len(_NAMES)), strict=True))
        ranks = []
        for turn in turns:
            factors = ours.factors(turn, Rules())
            for case in turn.cases:
                weight = factors(case)
                ranks.append(rank(ranker, case, weight and _renamed(weight, others)))
        figures.append(missed(ranks))
    note = f"a control, whose ratio must not be below 1: {_SHUFFLES} permutations of the executors' names, each a round"
    return Measure(f"{name}, shuffled: 1 - MRR", "%", tuple(figures), (plain,) * _SHUFFLES, note=note)


def _renamed(weight: Weight, others: dict[str, str]) -> Weight:
    return lambda name: weight(others[name])


def _cost(turns: Sequence[Taken], ours: Mnestome) -> Measure:
    costs = []
    for turn in turns:
        for case in turn.cases:
            factors = ours.factors(turn, Rules())
            began = time.process_time()
            factors(case)
            costs.append((time.process_time() - began) * 1e3)
    note = "CPU of reading the weights after one context, a mnestome of some 50 mnests"
    return Measure("asking the mnestome", "ms", tuple(costs), limit=_MOST_MS, note=note)


# -- choosing the rules


def choose(turns: Sequence[Taken]) -> list[tuple[float, float, float]]:
    """What 1 - MRR is on these turns for each alpha and fade, the best first: the mean over both rankings, with seeds
    and without, each choice by what was learnt before it."""
    totals: dict[tuple[float, float], float] = {}
    grid = [(alpha, fade) for alpha in _ALPHAS for fade in _FADES]
    with scratch.folder() as folder:
        for seeded in (True, False):
            learning = mnestome(folder / f"{seeded}.sqlite", turns[0], seeded=seeded)
            ranks: dict[tuple[str, float, float], list[int]] = {}
            both = rankers()
            for turn in turns:
                for alpha, fade in grid:
                    factors = learning.factors(turn, Rules(alpha=alpha, fade=fade))
                    for name, ranker in both.items():
                        found = [rank(ranker, case, factors(case)) for case in turn.cases]
                        ranks.setdefault((name, alpha, fade), []).extend(found)
                learning.learn(turn)
            learning.db.close()
            for (_, alpha, fade), found in ranks.items():
                totals[alpha, fade] = totals.get((alpha, fade), 0.0) + missed(found) / 4
    return sorted((total, alpha, fade) for (alpha, fade), total in totals.items())


if __name__ == "__main__":
    for total, alpha, fade in choose([turn for turn in reach_data.taken() if turn.first_half]):
        print(f"1 - MRR {total:5.2f} %  alpha {alpha:4.1f}  fade {fade:.2f}")
