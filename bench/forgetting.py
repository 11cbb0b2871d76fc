"""Whether forgetting helps: an agent must predict from what it knows, in worlds that change and worlds that do not.

Each tick a request is made, the agent says from its facts what will turn out right, and then it turns out. What
happened becomes an episode, and every fifty ticks there is a consolidation. Three arms:

- *forgetting*: the product as it is (curator, admission, facts that fade, give way, and lose belief when they mislead);
- *keep everything*: the same curator and gate, but nothing fades, nothing is weakened, and what was set aside still has
  its say; what most episodes speak for is believed;
- *keep nothing*: no facts, so every answer is a guess, or in the measured world the middle of the scale.

Two more show what is possible with every raw observation at hand: *all seen* (the commonest of all, or their mean) and
*last seen* (the newest alone). Figures are wrong predictions in per cent, or the mean error in units of the noise, over
several seeds. A ratio below one says that forgetting was better than keeping everything; above one, that it cost
something. All are reported, whatever they show; there is no target. Writes docs/img/forgetting.svg.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Protocol

from bench.forgetting_data import DAYS, MEANS, NOISE, PER_DAY, SPREAD, STREAMS, WAYS, Stream, Tick, ticks
from bench.forgetting_plot import Bar, svg
from bench.runner import Measure
from metnos.core.clock import MovableClock
from metnos.core.ids import UlidMaker
from metnos.grimoire.curator import Curator
from metnos.grimoire.episode import Episode
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.fact_rules import RULES as FACT_RULES
from metnos.grimoire.facts import Facts
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.store.db import Database, Durability

PURPOSE = "wrong predictions of an agent that forgets, beside one that keeps everything and one that keeps nothing"

_SEEDS = (1, 2, 3)
_START = datetime(2026, 1, 1, tzinfo=UTC)
_EVERY = 50  # ticks between consolidations
_FOR_EVER = 1e6  # days of half-life: nothing fades in the time that this takes
_PLOT = Path(__file__).resolve().parent.parent / "docs" / "img" / "forgetting.svg"
_LIVE = (Standing.ACTIVE, Standing.QUARANTINED)
FORGETTING, KEEPING, NOTHING = "forgetting", "keep everything", "keep nothing"
ALL_SEEN, LAST_SEEN = "all seen", "last seen"


class Arm(Protocol):
    """An agent."""

    def predict(self, form: str) -> tuple[str, float]:
        """The way that will turn out right, and the number."""
        ...

    def see(self, tick: Tick) -> None: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """How an arm did on one stream: wrong in per cent, and its mean error in units of the noise."""

    wrong: float
    error: float


# -- arms


class Guess:
    """Keeps nothing: one way for all, and the middle of the scale."""

    def predict(self, form: str) -> tuple[str, float]:  # noqa: ARG002 -- it knows nothing about any
        return "/papers/0", sum(MEANS) / 2

    def see(self, tick: Tick) -> None:
        """Nothing stays."""


class Seen(Guess):
    """Every observation at hand. ``last``: of these only the newest counts."""

    def __init__(self, last: bool) -> None:
        self._ways: dict[str, list[str]] = defaultdict(list)
        self._numbers: dict[str, list[float]] = defaultdict(list)
        self._last = last

    def predict(self, form: str) -> tuple[str, float]:
        if not self._ways[form]:
            return super().predict(form)
        if self._last:
            return self._ways[form][-1], self._numbers[form][-1]
        return Counter(self._ways[form]).most_common(1)[0][0], fmean(self._numbers[form])

    def see(self, tick: Tick) -> None:
        self._ways[tick.form].append(tick.right)
        self._numbers[tick.form].append(tick.measured)


class Remembering(Guess):
    """The product's memory: real episodes, curator and facts. ``keeping``: with everything that forgets taken out."""

    def __init__(self, folder: Path, keeping: bool) -> None:
        self._clock = MovableClock(_START)
        ids = UlidMaker(self._clock)
        db = Database(folder / "grimoire.db", MIGRATIONS, clock=self._clock, durability=Durability.NORMAL)
        self._keeping = keeping
        self._episodes = open_episodes(folder / "episodes", "sqlite", self._clock)
        self._facts = Facts(db, self._clock, ids, rules=_KEEPING if keeping else FACT_RULES)
        self._curator = Curator(db, self._clock, ids, self._episodes, self._facts)
        self._waiting: list[Episode] = []
        self._count = 0
        self._known: dict[str, tuple[Fact | None, Fact | None]] = {}

    def predict(self, form: str) -> tuple[str, float]:
        way, number = super().predict(form)
        procedure, usual = self._about(form)
        if procedure is not None:
            way = procedure.data["prefer"]["args"]["to"]
        return way, float(usual.data["mean"]) if usual is not None else number

    def see(self, tick: Tick) -> None:
        self._clock.move(_START + timedelta(days=tick.day) - self._clock.now())
        procedure, _ = self._about(tick.form)
        if procedure is not None and not self._keeping:
            right = procedure.data["prefer"]["args"]["to"] == tick.right
            (self._facts.helped if right else self._facts.harmed)([procedure.id])
            self._known.pop(tick.form)
        self._waiting.append(self._episode(tick))
        if len(self._waiting) == _EVERY:
            self._consolidate()

    def close(self) -> None:
        self._episodes.close()
        self._facts.db.close()

    def _consolidate(self) -> None:
        self._episodes.add(self._waiting)
        self._waiting = []
        self._curator.tick(_EVERY)
        while not self._curator.run().finished:
            pass
        self._known.clear()

    def _about(self, form: str) -> tuple[Fact | None, Fact | None]:
        """What is known of a form: what to do, and what is usual."""
        if form not in self._known:
            self._known[form] = (self._best(Kind.PROCEDURAL, form), self._best(Kind.BASELINE, form))
        return self._known[form]

    def _best(self, kind: Kind, form: str) -> Fact | None:
        standings = _LIVE if self._keeping else (Standing.ACTIVE,)
        found = [
            fact
            for fact in self._facts.find(kinds=(kind,), domains=(form,), standings=standings)
            if kind is Kind.PROCEDURAL or fact.data.get("metric") == "amount"
        ]
        if self._keeping:
            found.sort(key=lambda fact: (-fact.episode_count, fact.id))
        return found[0] if found else None

    def _episode(self, tick: Tick) -> Episode:
        self._count += 1
        step = {"executor": "move_files", "ok": True, "kind": "", "args": {"to": tick.right}}
        payload = {
            "canonical": tick.form,
            "state": "done",
            "feedback": True,
            "steps": [step],
            "measures": {"amount": tick.measured},
        }
        return Episode(f"E{self._count:06}", self._clock.now(), tick.form, f"turn {self._count}", payload=payload)


_KEEPING = replace(
    FACT_RULES,
    structural_days=_FOR_EVER,
    strategic_days=_FOR_EVER,
    tactical_days=_FOR_EVER,
    ephemeral_days=_FOR_EVER,
    weakening=0.0,
    prune=0.0,
)


# -- running


def run(_: Path) -> list[Measure]:
    measures: list[Measure] = []
    bars: list[Bar] = []
    for stream in STREAMS:
        scored = [trial(stream, seed) for seed in _SEEDS]
        measures += _measures(stream, scored)
        bars.append(Bar(stream.name, {arm: median(each[arm].wrong for each in scored) for arm in scored[0]}))
    title = f"Wrong predictions over {DAYS} days, by how often what is right changes"
    _PLOT.write_text(svg(title, bars, 100 * NOISE * (1 - 1 / WAYS)), encoding="utf-8")
    return measures


def trial(stream: Stream, seed: int) -> dict[str, Scored]:
    """Every arm on the same ticks."""
    with tempfile.TemporaryDirectory() as folder:
        keeping, forgetting = Path(folder) / "keeping", Path(folder) / "forgetting"
        for each in (keeping, forgetting):
            each.mkdir()
        remembering = {FORGETTING: Remembering(forgetting, False), KEEPING: Remembering(keeping, True)}
        arms: dict[str, Arm] = {**remembering, NOTHING: Guess(), ALL_SEEN: Seen(False), LAST_SEEN: Seen(True)}
        scored = _run(arms, list(ticks(stream, seed)))
        for arm in remembering.values():
            arm.close()
    return scored


def _run(arms: dict[str, Arm], stream: Sequence[Tick]) -> dict[str, Scored]:
    wrong, off = Counter[str](), Counter[str]()
    for tick in stream:
        for name, arm in arms.items():
            way, number = arm.predict(tick.form)
            wrong[name] += way != tick.right
            off[name] += abs(number - tick.measured) / SPREAD  # type: ignore[assignment]  # a sum of parts
            arm.see(tick)
    return {name: Scored(100 * wrong[name] / len(stream), off[name] / len(stream)) for name in arms}


def _measures(stream: Stream, scored: Sequence[dict[str, Scored]]) -> list[Measure]:
    made = []
    for other in (KEEPING, NOTHING, ALL_SEEN, LAST_SEEN):
        note = f"{stream.said}; forgetting beside {other}, {PER_DAY * DAYS} ticks"
        wrong = tuple(each[FORGETTING].wrong for each in scored), tuple(each[other].wrong for each in scored)
        made.append(Measure(f"{stream.name}: beside {other}", "% wrong", *wrong, note=note))
    for other in (KEEPING, NOTHING, ALL_SEEN, LAST_SEEN):
        note = f"{stream.said}; the mean error of a number, forgetting beside {other}"
        error = tuple(each[FORGETTING].error for each in scored), tuple(each[other].error for each in scored)
        made.append(Measure(f"{stream.name}, measured: beside {other}", "noises off", *error, note=note))
    return made
