"""Dreams: what the memory does when nobody needs it. Replays what happened, asks what might have been, joins what was
never thought together, and takes the excitement off what it replayed.

Rules:

- A dream can never act. It holds a store of episodes, the facts and a clock; no executor, no permit, no path to either.
  A language model has a say only if a ``think`` is given, and what it says is text like any stranger's: one short line,
  screened, believed as little as the rest.
- What comes out is admitted like everything else, at the lowest confidence, as a dream, to be confirmed by an own,
  verified episode that happens after it and in time; else it expires. A thing that was dreamt before, or is known, is
  not dreamt again: dreaming something twice does not make it truer.
- It stops at any moment: when ``stop`` says so, or when its seconds of CPU are used up. The next dream goes on where
  this one was; every product is written together with the note that it was, and every episode is calmed once for each
  dream that replayed it.
- The same memory and the same seed give the same dream.

Does not guarantee that anything comes of it: most nights nothing does.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, to_text
from metnos.core.embedding import Embedder
from metnos.grimoire import dream_fate
from metnos.grimoire.domain import HOME, Domain
from metnos.grimoire.dream_fate import Fate
from metnos.grimoire.dream_make import SCOPES, Maker, Think
from metnos.grimoire.dream_rules import (
    Product,
    Rules,
    Scene,
    World,
    backward,
    counterfactuals,
    depotentiated,
    forward,
    perturbed,
    scene,
)
from metnos.grimoire.episode import Episode, Mark, Provenance, Verdict, Where
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.fact import Standing
from metnos.grimoire.fact_rules import OURS
from metnos.grimoire.facts import Facts
from metnos.grimoire.recombine import RecombineRules
from metnos.grimoire.replay import ReplayRules, choose
from metnos.grimoire.reports import Reports

NAME = "dream"  # of the row in `progress`, and the kind of the report
LAST = "dream last"  # the row that says up to which episode was dreamt
_WHERE = Where(verdicts=(Verdict.VERIFIED,), scopes=SCOPES, senders=tuple(sorted(OURS)))
_OWN = (Provenance.SELF, Provenance.OWNER)
_CALMED = 50  # episodes in one transaction
_HEARD = 5000  # episodes that earlier dreams are held against: two busy weeks
_PLACES = 5  # of the past, from which old episodes are taken

Progress = Callable[[str, int, int], None]
Stop = Callable[[], bool]


def _quiet(_phase: str, _done: int, _of: int) -> None:
    """For whoever does not watch."""


def _never() -> bool:
    """For whoever does not stop it."""
    return False


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What a dream did, over all the times that it was gone on with. ``stopped``: nothing, `asked` or `cpu`."""

    seed: int
    replayed: int = 0
    counterfactuals: int = 0  # products of either kind, whatever became of them
    recombinations: int = 0
    admitted: int = 0
    known: int = 0  # known, or dreamt before
    refused: int = 0
    calmed: int = 0
    confirmed: int = 0
    expired: int = 0
    stopped: str = ""
    cpu_s: float = 0.0  # of the last time


@dataclass(frozen=True, slots=True)
class _Night:
    """How far a dream came: what it replays, each with its count of replays before, and what it made already."""

    seed: int
    upto: int
    chosen: tuple[tuple[str, int], ...]
    made: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    def counted(self, **more: int) -> "_Night":
        return replace(self, counts=self.counts | {name: self.counts.get(name, 0) + n for name, n in more.items()})


class _Enough(Exception):
    """Ends a dream before its end."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """Whoever watches a dream: shows how far it is, and ends it."""

    progress: Progress
    stop: Stop
    cpu: Callable[[], float]
    until: float

    def check(self) -> None:
        if self.stop():
            raise _Enough("asked")
        if self.cpu() >= self.until:
            raise _Enough("cpu")


class Dreamer:
    """Who dreams in one memory. Writes the rows `dream` and `dream last` of ``progress``."""

    def __init__(
        self,
        episodes: Episodes,
        facts: Facts,
        clock: Clock,
        *,
        embedder: Embedder | None = None,
        think: Think | None = None,
        rules: Rules | None = None,
        joining: RecombineRules | None = None,
        pack: Domain = HOME,
    ) -> None:
        self._db = facts.db
        self._episodes = episodes
        self._facts = facts
        self._clock = clock
        self._rules = rules or Rules()
        self._pack = pack
        self._maker = Maker(facts, clock, embedder, think, joining or RecombineRules())

    def dream(
        self,
        seed: int,
        *,
        cpu_s: float = 60.0,
        progress: Progress = _quiet,
        stop: Stop = _never,
        cpu: Callable[[], float] = time.thread_time,
    ) -> DreamReport:
        """Go on with the dream that was interrupted, or begin one. ``cpu_s`` bounds its own work, not a model's."""
        start, stopped = cpu(), ""
        watch = _Watch(progress, stop, cpu, start + cpu_s)
        self._begin(seed)
        try:
            self._settle(watch)
            self._make(self._products(self._replay(watch)), watch)
            self._calm(watch)
        except _Enough as enough:
            stopped = str(enough)
        night = self._night()
        report = DreamReport(night.seed, **night.counts, stopped=stopped, cpu_s=round(max(0.0, cpu() - start), 3))
        if not stopped:
            self._end(night, report)
        return report

    # -- how far it came

    def _begin(self, seed: int) -> None:
        """Choose what to replay, unless a dream was interrupted."""
        if self._row(NAME) is not None:
            return
        last = int(self._row(LAST) or 0)
        chosen = self._choose(last, random.Random(seed))  # noqa: S311 -- a dream is no secret
        upto = max([last, *(each.seq for each in chosen)])
        self._keep(_Night(seed, upto, tuple((each.id, each.replays) for each in chosen)))

    def _night(self) -> _Night:
        """The dream that was begun."""
        found = json.loads(self._row(NAME) or "{}")
        chosen = tuple((str(name), int(replays)) for name, replays in found["chosen"])
        return _Night(found["seed"], found["upto"], chosen, tuple(found["made"]), found["counts"])

    def _keep(self, night: _Night) -> None:
        self._put(NAME, canonical_json(asdict(night)).decode())

    def _end(self, night: _Night, report: DreamReport) -> None:
        with self._db.write() as tx:
            Reports(self._db, self._clock).add(NAME, asdict(report))
            self._put(LAST, str(night.upto))
            tx.execute("DELETE FROM progress WHERE name = ?", (NAME,))

    def _row(self, name: str) -> str | None:
        row = self._db.first("SELECT value FROM progress WHERE name = ?", (name,))
        return None if row is None else str(row[0])

    def _put(self, name: str, value: str) -> None:
        with self._db.write() as tx:
            put = "INSERT OR REPLACE INTO progress (name, value, ts) VALUES (?, ?, ?)"
            tx.execute(put, (name, value, to_text(self._clock.now())))

    # -- what it dreams of

    def _choose(self, last: int, chance: random.Random) -> list[Episode]:
        """What is new since the last dream, and some of the past that has to do with it."""
        most = self._rules.episodes
        newest = self._episodes.select(_WHERE, count=most, newest_first=True)
        new = [each for each in newest if each.seq > last and each.provenance in _OWN]
        old: list[Episode] = []
        for _ in range(_PLACES if new and last else 0):
            some = self._episodes.select(_WHERE, after=chance.randrange(last), count=most // _PLACES)
            old += [each for each in some if each.seq <= last and each.provenance in _OWN]
        key = {each.id: self._pack.key_of(each) for each in (*new, *old)}
        chosen = choose(new, old, self._nearness(new, old), key, ReplayRules(batch=most))
        return sorted((*chosen.recent, *chosen.old), key=lambda each: each.seq)

    def _nearness(self, new: Sequence[Episode], old: Sequence[Episode]) -> dict[str, float]:
        """How near what is old is to the middle of what is new, of that which has vectors."""
        fresh = self._episodes.vectors_of([each.id for each in new])
        past = self._episodes.vectors_of([each.id for each in old])
        if not fresh or not past:
            return {}
        middle = sum(fresh.values()) / len(fresh)
        return {name: float(vector @ middle) for name, vector in past.items()}

    def _scenes(self, episodes: Sequence[Episode]) -> list[Scene]:
        made = [scene(each, self._pack.key_of) for each in episodes if each.provenance in _OWN]
        return [each for each in made if each is not None]

    # -- what it does

    def _settle(self, watch: _Watch) -> None:
        """What became of earlier dreams."""
        waiting = self._db.query(
            "SELECT id FROM facts WHERE confirm_by IS NOT NULL AND standing IN ('active', 'quarantined') ORDER BY seq"
        )
        dreams = self._facts.get([name for (name,) in waiting])
        scenes = self._since(min(each.created for each in dreams)) if dreams else []
        now = self._clock.now()
        for place, dream in enumerate(dreams, start=1):
            watch.check()
            said = dream_fate.heard(dream, scenes)
            becomes = Fate.CONFIRMED if self._maker.was_used(dream) else dream_fate.fate(dream, now, said)
            with self._db.write():
                if becomes is Fate.CONFIRMED:
                    self._facts.put(dream_fate.confirmed(dream, said.confirming, now))
                    self._keep(self._night().counted(confirmed=1))
                elif becomes is Fate.EXPIRED:
                    self._facts.put(replace(dream, standing=Standing.EXPIRED))
                    self._keep(self._night().counted(expired=1))
            watch.progress("settle", place, len(dreams))

    def _since(self, moment: datetime) -> list[Scene]:
        """What own, verified episodes have shown since then, in order of time; of very many, the newest."""
        found = self._episodes.select(replace(_WHERE, since=moment), count=_HEARD, newest_first=True)
        return sorted(self._scenes(found), key=lambda each: (each.ts, each.id))

    def _replay(self, watch: _Watch) -> World:
        """Forward, backward and perturbed. It stays in memory, so a dream that is gone on with does it again."""
        night, world = self._night(), World()
        chosen = self._episodes.get([name for name, _ in night.chosen])
        scenes = self._scenes(chosen)
        for seen in (*scenes, *self._witnesses(chosen, scenes)):
            forward(world, seen)
        chance = random.Random(night.seed)  # noqa: S311 -- a dream is no secret
        for place, seen in enumerate(scenes, start=1):
            watch.check()
            backward(world, seen, self._rules)
            others = [each for each in world.scenes if each.domain == seen.domain and each.id != seen.id and each.steps]
            for _ in range(self._rules.perturbations if others and not seen.good else 0):
                perturbed(world, seen, others, chance)
            watch.progress("replay", place, len(scenes))
        return world

    def _witnesses(self, chosen: Sequence[Episode], scenes: Sequence[Scene]) -> list[Scene]:
        """Further episodes of the domains in which something went wrong."""
        bad = {seen.id for seen in scenes if not seen.good}
        domains = tuple(sorted({each.domain for each in chosen if each.id in bad}))
        if not domains:
            return []
        where = replace(_WHERE, domains=() if "" in domains else domains)
        known = {each.id for each in chosen}
        found = self._episodes.select(where, count=self._rules.witnesses, newest_first=True)
        return self._scenes([each for each in reversed(found) if each.id not in known])

    def _products(self, world: World) -> list[Product]:
        """What came out; half of the room is for what might have been."""
        most = self._rules.products
        return [*counterfactuals(world, self._rules)[: most // 2], *self._maker.joined(most // 2)]

    def _make(self, products: Sequence[Product], watch: _Watch) -> None:
        """Let each be admitted, together with the note that it was."""
        for place, product in enumerate(products, start=1):
            watch.check()
            night = self._night()
            if product.key not in night.made:
                ready = self._maker.ready(product)  # a model may take its time: not inside a transaction
                with self._db.write():
                    became = {str(self._maker.take(ready)): 1, product.counted_as: 1}
                    self._keep(replace(night, made=(*night.made, product.key)).counted(**became))
            watch.progress("products", place, len(products))

    def _calm(self, watch: _Watch) -> None:
        """Take the excitement off what was replayed. Who has been replayed once more already was calmed already."""
        chosen = self._night().chosen
        before = dict(chosen)
        for start in range(0, len(chosen), _CALMED):
            watch.check()
            some = self._episodes.get([name for name, _ in chosen[start : start + _CALMED]])
            left = [each for each in some if each.replays <= before[each.id]]
            marks = [Mark(each.id, pad=depotentiated(each.pad, self._rules), replays=1) for each in left]
            self._episodes.mark(marks)
            self._keep(self._night().counted(calmed=len(marks), replayed=len(some)))
            watch.progress("calm", min(start + _CALMED, len(chosen)), len(chosen))
