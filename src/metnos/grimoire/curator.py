"""The curator: every fifty ticks, what happened becomes what is known.

A cycle: judge what is new (`judging`), choose what is replayed (`replay`), group it (`cluster`), learn from each group
(`learning`), let what nothing confirmed fade, move heuristics into the playbook and out of it, make room, report.

Rules:

- Only verified episodes are learnt from.
- A cycle costs what is new: it goes on from the place where the last one stood, and reads beside the new episodes only
  so many old ones as it replays with them and a bounded stretch before them.
- It can be stopped at any time, and stops by itself when its seconds of CPU are used up; the next run goes on. The work
  is laid down as a plan first; each group is one transaction that holds the facts and the note that it is done, so that
  after a kill no group is learnt from twice and none is left out.
- Episodes leave only here, and only when there are more than there is room for: first what was learnt from and is worth
  least; what is pinned or stained with blood last.

Does not guarantee that the count of an episode's replays is exact after a kill.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from metnos.core.clock import Clock, to_text
from metnos.core.embedding import Embedder
from metnos.core.ids import UlidMaker
from metnos.grimoire import bloodstain, happenings
from metnos.grimoire.appraisal import NO_OUTCOME, OutcomeOf
from metnos.grimoire.cluster import RULES as CLUSTER_RULES
from metnos.grimoire.cluster import ClusterRules, clusters
from metnos.grimoire.curator_rules import RULES, CuratorRules, least_worth
from metnos.grimoire.curator_state import CuratorState, Done, Place, Plan
from metnos.grimoire.domain import HOME, Domain
from metnos.grimoire.episode import Episode, Mark
from metnos.grimoire.episodes import ANY, Episodes
from metnos.grimoire.extract import RULES as EXTRACT_RULES
from metnos.grimoire.extract import ExtractRules
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.judging import Judging
from metnos.grimoire.learning import Learning, Think, audience
from metnos.grimoire.offering import Offering, notable
from metnos.grimoire.replay import RULES as REPLAY_RULES
from metnos.grimoire.replay import Chosen, ReplayRules, priority
from metnos.grimoire.reports import Reports
from metnos.store.db import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, and of how much
Stop = Callable[[], bool]
Considered = Callable[
    [Sequence[Fact], int], tuple[int, int]
]  # all heuristics, ticks: how many lines came, how many went
Again = Callable[[int], Sequence[str]]  # of a cycle, from one: episodes that it goes through as if they were new

_SLACK = 50  # room is made when there is a fiftieth too many: taking out means rewriting the store
_POOLS = 8  # stretches that are weighed in one cycle
_HEURISTICS = 2000  # that the playbook is held against: ten times what it may hold


@dataclass(frozen=True, slots=True)
class Numbers:
    """All numbers of a cycle."""

    curator: CuratorRules = RULES
    replay: ReplayRules = REPLAY_RULES
    cluster: ClusterRules = CLUSTER_RULES
    extract: ExtractRules = EXTRACT_RULES


@dataclass(frozen=True, slots=True)
class Cycle:
    """What a run did. Unless it ``finished``, the next run goes on; ``why`` it did not: `stopped` or `cpu`."""

    number: int
    finished: bool
    why: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    cpu_s: float = 0.0


def _nothing(_heuristics: Sequence[Fact], _ticks: int) -> tuple[int, int]:
    return 0, 0


def _none(_cycle: int) -> Sequence[str]:
    return ()


def _quiet(_what: str, _done: int, _of: int) -> None: ...


def _never() -> bool:
    return False


class Curator:
    """Consolidates one memory. One run at a time: whoever starts it holds the lock of the night shift."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: UlidMaker,
        episodes: Episodes,
        facts: Facts,
        *,
        outcome_of: OutcomeOf = lambda _source: NO_OUTCOME,
        playbook: Considered = _nothing,
        tell: happenings.Tell | None = None,
        embedder: Embedder | None = None,
        think: Think | None = None,
        domain: Domain = HOME,
        numbers: Numbers | None = None,
        again: Again = _none,
    ) -> None:
        self._numbers = numbers or Numbers()
        self._again = again
        self._rules = self._numbers.curator
        self._db = db
        self._clock = clock
        self._episodes = episodes
        self._facts = facts
        self._playbook = playbook
        self._tell = tell or happenings.tell(db, clock)
        self._domain = domain
        self._outcome_of = outcome_of
        self._state = CuratorState(db, clock)
        self._reports = Reports(db, clock)
        self._offering = Offering(episodes, domain, self._numbers.replay, self._rules.pools)
        self._judging = Judging(db, clock, episodes, outcome_of, self._doubt, self._rules, self._stain)
        self._learning = Learning(
            clock,
            ids,
            episodes,
            facts,
            domain,
            self._numbers.extract,
            self._numbers.cluster,
            embedder,
            think,
            outcome_of,
        )

    # -- when

    def tick(self, count: int = 1) -> bool:
        """Count ticks; says whether a cycle is due."""
        return self._state.tick(count, self._rules.every)

    def due(self) -> bool:
        """Whether enough has happened, or a cycle was begun and not ended."""
        return self._state.due(self._rules.every)

    # -- the cycle

    def run(self, *, stop: Stop = _never, progress: Progress = _quiet) -> Cycle:
        """One cycle, or the rest of one that was begun."""
        began = time.thread_time()
        reason: list[str] = []

        def over() -> bool:
            why = "stopped" if stop() else "cpu" if time.thread_time() - began > self._rules.cpu_s else ""
            reason.extend([why] if why else [])
            return bool(why)

        counts, finished = Counter[str](), True
        if self._state.plan() is None:
            counts, finished = self._judging.run(over, lambda done: progress("judging", done, self._rules.judged))
            if finished:
                self._lay_plan(counts)
        if finished:
            finished = self._work(over, progress)
        begun = self._state.plan()
        if begun is not None and finished:
            counts = self._end(*begun, over)
        elif begun is not None:
            counts = Counter(begun[1].counts)
        spent = time.thread_time() - began
        return Cycle(self._state.place().cycle, finished, "" if finished else reason[-1], counts, spent)

    def _lay_plan(self, counts: Counter[str]) -> None:
        """Choose what is replayed, group it, and write down what is to be done."""
        place = self._state.place()
        stood_out = self._state.notable()
        fresh = list(dict.fromkeys((*self._state.fresh(), *self._again(place.cycle + 1))))
        chosen, vectors = self._offering.choose(fresh, stood_out, place.learnt, place.cycle)
        groups = self._groups(chosen, vectors)
        waiting = sorted(chosen.waiting, key=lambda each: -priority(each, self._numbers.replay))[: self._rules.waiting]
        counts.update(
            new=len(chosen.recent),
            old=len(chosen.old),
            waiting=len(waiting),
            clusters=len(groups),
            dropped=len(chosen.waiting) - len(waiting),
        )
        plan = Plan(
            cycle=place.cycle + 1,
            started=to_text(self._clock.now()),
            first=place.learnt,
            last=place.judged,
            fresh=tuple(each.id for each in chosen.recent),
            units=tuple(tuple(each.id for each in group) for group in groups),
        )
        with self._db.write() as tx:
            self._state.set_plan(tx, plan)
            self._state.set_done(tx, Done(0, dict(counts)))
            self._state.set_fresh(tx, [each.id for each in waiting])
            stands_out = notable(chosen, stood_out, self._numbers.replay, self._rules.notable)
            self._state.set_notable(tx, stands_out)
            self._state.set_place(tx, replace(place, cycle=plan.cycle))

    def _groups(self, chosen: Chosen, vectors: "Mapping[str, Vector]") -> list[tuple[Episode, ...]]:
        together = [*chosen.recent, *chosen.old]
        new = {each.id for each in chosen.recent}
        return [
            cluster.episodes
            for who in sorted({audience(each) for each in together})
            for cluster in clusters(
                [each for each in together if audience(each) == who], vectors, self._domain, self._numbers.cluster
            )
            if any(each.id in new for each in cluster.episodes)
        ]

    def _work(self, over: Stop, progress: Progress) -> bool:
        """Go through the plan: each group, then the order of things, then fading; says whether it came to its end."""
        begun = self._state.plan()
        if begun is None:
            return True
        plan, done = begun
        steps = len(plan.units) + 2
        while done.units < steps:
            if over():
                return False
            done = self._step(plan, done)
            progress("learning", done.units, steps)
        return True

    def _step(self, plan: Plan, done: Done) -> Done:
        """One step of a plan: what comes of it and the note that it is done are one transaction."""
        place, fresh = done.units, frozenset(plan.fresh)
        ids: Sequence[str] = plan.units[place] if place < len(plan.units) else ()
        # Reading, and a model if there is one, before the transaction: nobody else must wait for them.
        found = (
            self._learning.of_cluster(ids, fresh)
            if ids
            else self._learning.of_stream(*self._stretch(plan))
            if place == len(plan.units)
            else []
        )
        counts = Counter(done.counts)
        with self._db.write() as tx:
            counts += self._learning.admit(found)
            if place > len(plan.units):
                faded = self._facts.decay(self._clock.now())
                counts.update(faded=faded.changed, pruned=len(faded.pruned), expired=len(faded.expired))
            after = Done(place + 1, dict(counts))
            self._state.set_done(tx, after)
        self._episodes.mark([Mark(each, replays=1) for each in ids])
        return after

    def _stretch(self, plan: Plan) -> tuple[list[Episode], frozenset[str]]:
        """The new episodes in their order and a bounded stretch before them; and which of them are new."""
        before = self._episodes.select(ANY, after=plan.first + 1, count=self._rules.context, newest_first=True)
        room = self._rules.judged + self._rules.waiting
        new = [each for each in self._episodes.select(ANY, after=plan.first, count=room) if each.seq <= plan.last]
        return [*reversed(before), *new], frozenset(each.id for each in new)

    def _end(self, plan: Plan, done: Done, over: Stop) -> Counter[str]:
        """The playbook, room for what comes, the report."""
        counts, place = Counter(done.counts), self._state.place()
        heuristics = self._facts.find(kinds=(Kind.HEURISTIC,), count=_HEURISTICS)
        counts["entered"], counts["left"] = self._playbook(heuristics, place.ticks)
        counts["evicted"], place = self._make_room(place, over)
        with self._db.write() as tx:
            self._tell(
                happenings.CYCLE,
                {
                    "entries_pruned": counts["pruned"],
                    "entries_promoted": counts["promoted"] + counts["entered"],
                    "heuristics_proposed": counts["heuristics"],
                },
            )
            self._reports.add("curator", {"cycle": plan.cycle, "started": plan.started, **counts})
            self._state.set_place(tx, replace(place, ticks=0, learnt=plan.last))
            self._state.end_plan(tx)
        return counts

    # -- room

    def _make_room(self, place: Place, over: Stop) -> tuple[int, Place]:
        """Let episodes go that there is no room for. The hand goes round, so that each time only a part is weighed."""
        total = self._episodes.count()
        excess = total - self._rules.capacity
        if excess <= self._rules.capacity // _SLACK:
            return 0, place
        excess, now, gone = min(excess, self._rules.evicted), self._clock.now(), list[str]()
        for _ in range(_POOLS):
            if excess <= len(gone) or over():
                break
            offered = self._episodes.select(ANY, after=place.hand, count=2 * (excess - len(gone)) + 64)
            if not offered:
                place = replace(place, hand=0)
                continue
            # What is marked to stay goes only when a whole round found nothing else.
            protected = place.barren >= total
            worst = least_worth([each for each in offered if each.id not in gone], excess - len(gone), now, protected)
            gone += [each.id for each in worst]
            barren = 0 if worst else place.barren + len(offered)
            place = replace(place, hand=offered[-1].seq, barren=barren)
        return (self._episodes.remove(gone) if gone else 0), place

    def _doubt(self, episodes: Sequence[str]) -> None:
        """Episodes turned out to be wrong: what was learnt from them is believed less."""
        wrong = self._db.query(
            "SELECT s.fact, count(*) * 1.0 / (SELECT count(*) FROM fact_sources o WHERE o.fact = s.fact)"
            " FROM fact_sources s JOIN json_each(?) e ON e.value = s.episode GROUP BY s.fact ORDER BY s.fact",
            (json.dumps(list(episodes)),),
        )
        for fact, share in wrong:
            self._facts.weaken(fact, share)

    def _stain(self, episodes: Sequence[Episode]) -> None:
        """Something ended badly for good: that is a warning at once, and once."""
        made = [
            bloodstain.of(each, self._outcome_of(each.source), self._domain, self._clock.now()) for each in episodes
        ]
        known = {fact.id for fact in self._facts.get([fact.id for fact in made])}
        for fact in made:
            if fact.id not in known:
                self._facts.admit(fact)
