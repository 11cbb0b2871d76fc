"""A life, put together: turns become ticks, facts are scored against steps, and a phase changes what it changes.

- **context**: what a language model is shown shrinks with the phase (`Sight`, through `phase`);
- **curation**: consolidations come sooner, so that less is left undistilled (`curator_every`);
- **sharing**: an old agent shares what it is less sure of (`share`);
- **money**: every call of a model is counted, and the reserve is kept for the end (`account`).

Rules: reads closed turns and can be done again at any time; each turn is one tick, and each steering fact one score for
a step. A rehearsal is no tick. A household is told of a new phase, and that a clock ran out, and goes on; what ends a
golem by itself is done by whoever lets it beat (`metnos.app.beating`). While ``life.db`` cannot be read, what a phase
changes is as at the start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from metnos.app import profiles, retired
from metnos.context.budgets import Phase
from metnos.core.clock import to_text
from metnos.core.errors import StoreError
from metnos.grimoire.consent import needs_consent
from metnos.grimoire.fact import Fact
from metnos.grimoire.trace import State, Trace
from metnos.life import vitality_rules
from metnos.life.cause import Cause
from metnos.life.fitness import Fitness
from metnos.life.vitality import Point, Ticked, Vitality
from metnos.life.vitality_rules import Effects, Terms
from metnos.models.account import Account
from metnos.night.notices import News, Notices

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.life.profile import Profile

PROJECTION = "vitality"
ENDS: Mapping[str, str] = {
    Cause.ECONOMIC: "the money it had to live on is spent",
    Cause.EPISTEMIC: "what it learnt turns out wrong more often than right",
    Cause.STOCHASTIC: "its time has come, by the dice or by its age",
}
_AT_ONCE = 200  # turns in one transaction: a workspace that is older than this part has many to catch up with
_FACTS = 10_000  # that are looked at for what could be shared


@dataclass(frozen=True)
class Living:
    """How alive the agent of an open workspace is."""

    app: "App"

    @cached_property
    def profile(self) -> "Profile":
        return profiles.profile(self.app)

    @cached_property
    def terms(self) -> Terms:
        """What the profile says, with the owner's own balance over it."""
        clocks, budgets = self.profile.clocks, self.profile.budgets
        return Terms(
            economic=clocks.economic,
            epistemic=clocks.epistemic,
            stochastic=clocks.stochastic,
            balance_usd=self.app.settings.life.balance_usd or budgets.balance_usd,
            hayflick=budgets.ticks,
        )

    @cached_property
    def account(self) -> Account:
        """The money of this life."""
        return Account(lambda: self.app.life_db, self.terms.balance_usd, self.app.clock)

    @cached_property
    def fitness(self) -> Fitness:
        return Fitness(self.app.life_db, self.app.clock)

    @cached_property
    def vitality(self) -> Vitality:
        app = self.app
        return Vitality(
            app.life_db,
            app.seat.signer,
            app.audit,
            self.terms,
            spent=self.account.spent,
            fitness=self.fitness.value,
        )

    # -- living

    def catch_up(self) -> int:
        """Live every turn that was not lived yet, and score what it foretold; returns how many turns."""
        medium = self.app.medium
        offered = medium.pending(PROJECTION)
        if offered and not self.profile.beats and self.vitality.last() is None:
            medium.offer_again(PROJECTION)  # nothing was ever lived, or its file was lost
            offered = medium.pending(PROJECTION)
        for start in range(0, len(offered), _AT_ONCE):
            turns = offered[start : start + _AT_ONCE]
            with self.app.life_db.write():
                for turn in turns:
                    self._live(medium.load(turn))
            medium.applied(PROJECTION, *turns)
        self.fitness.settle(self.app.grimoire.outcome)
        return len(offered)

    def beat(self, source: str) -> Ticked | None:
        """Live one heartbeat, which ``source`` names; nothing if it was lived already."""
        with self.app.life_db.write():
            return self._tick(source, self.app.clock.now())

    def _live(self, trace: Trace) -> None:
        if trace.state is State.REHEARSED:
            return
        steered = [str(each["id"]) for each in trace.memories if each.get("steered") and each.get("kind") == "fact"]
        if steered:
            self.fitness.note(trace.id, trace.closed, self.app.grimoire.facts.get(steered), trace.steps)
        if not self.profile.beats:
            self._tick(trace.id, trace.closed)

    def _tick(self, source: str, ts: datetime) -> Ticked | None:
        """Told before it is committed, by a name of its own: a crash between the two tells it once."""
        ticked = self.vitality.tick(source, ts)
        if ticked is not None and (news := list(_news(ticked))):
            Notices(self.app.night_db, self.app.clock).tell(news)
        return ticked

    # -- what it changes

    def phase(self) -> Phase:
        try:
            return self.vitality.phase()
        except StoreError:
            return Phase.THRIVING  # the doctor says that the file is broken; turns go on as at the start

    def effects(self) -> Effects:
        try:
            return self.vitality.effects()
        except StoreError:
            return vitality_rules.effects(Phase.THRIVING)

    def shareable(self) -> list[Fact]:
        """What is believed enough to be shared with others just now, and not about the owner."""
        least = self.effects().share
        found = self.app.grimoire.facts.find(count=_FACTS)
        return [fact for fact in found if fact.confidence >= least and not needs_consent(fact)]

    # -- looking

    def status(self, points: int) -> dict[str, Any]:
        """Everything there is to see, for whoever shows it; with about so many points of the past."""
        vitality, account, terms = self.vitality, self.account, self.terms
        last, foretold = vitality.last(), self.fitness.counts()
        tick = last.tick if last else 0
        clocks = vitality.clocks(tick, ended=last is not None and last.clocks.stochastic <= 0 and terms.ages)
        effects, phase = self.effects(), self.phase()
        over = last.cause if last and vitality_rules.cause_of(clocks) else None  # more money may have come since
        return {
            "profile": self.profile.name,
            "tick_is": str(self.profile.ticks),
            "tick": tick,
            "last": to_text(last.ts) if last else None,
            "vitality": clocks.vitality,
            "phase": str(phase),
            "next_phase": str(vitality_rules.phase_of(clocks.vitality, phase)),
            "over": str(over) if over else None,
            "retired": self._retired(),
            "clocks": {
                "economic": {"value": clocks.economic, "runs": terms.economic and terms.balance_usd > 0},
                "epistemic": {"value": clocks.epistemic, "runs": terms.epistemic},
                "stochastic": {"value": clocks.stochastic, "runs": terms.ages},
            },
            "money": {
                "balance_usd": terms.balance_usd,
                "reserve_usd": account.reserve,
                "spent_usd": account.spent(),
                "left_usd": account.left(),
            },
            "knowledge": {"foretold": foretold[0], "came_true": foretold[1]},
            "age": {
                "limit": terms.hayflick if terms.ages else 0,
                "hayflick_ratio": vitality.hayflick_ratio(),
                "hazard": last.hazard if last else 0.0,
                "throw": last.roll if last else None,
            },
            "effects": {
                "context": effects.context,
                "curator_every": effects.curator_every,
                "share": effects.share,
                "shareable": len(self.shareable()),
            },
            "points": [point_data(each) for each in vitality.points(points)],
        }

    def _retired(self) -> dict[str, str] | None:
        death = retired.thanatopsis(self.app).death()
        return {"died": to_text(death.died), "testament": death.wishes.to} if death and death.ended else None


def point_data(point: Point) -> dict[str, Any]:
    """One tick, for JSON."""
    return {
        "tick": point.tick,
        "ts": to_text(point.ts),
        "vitality": point.vitality,
        "economic": point.clocks.economic,
        "epistemic": point.clocks.epistemic,
        "stochastic": point.clocks.stochastic,
        "phase": str(point.phase),
    }


def _news(ticked: Ticked) -> "list[News]":
    point, news = ticked.point, []
    if ticked.is_over and point.cause is not None:
        told = f"this agent is at its end: {ENDS[point.cause]}. To let it end well, and leave what it learnt:"
        news.append(News("life", f"{told} metnos life retire", once=f"life over {point.tick}"))
    elif ticked.has_changed:
        told = f"this agent is now in the phase {point.phase}: its vitality is {point.vitality:.2f}."
        news.append(News("life", f"{told} See: metnos life status", once=f"life phase {point.tick}"))
    return news
