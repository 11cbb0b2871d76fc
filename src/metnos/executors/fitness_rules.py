"""Selection by gap reduction: what one call was worth, what an executor is worth, and who is offered to a planner.

The *gap* is what is still missing to reach a goal; a call's utility is the gap before it less the gap after it, and an
executor's fitness for a class of goals is the sum of its utilities there, faded by the curve of Ebbinghaus.

- A *goal class* is verb and object of the executor that a plan ends with, such as ``move files``: two words of the
  closed vocabulary, so it holds nothing that anybody said, in whatever language. Every step of the plan serves it.
- *Concrete*: steps still to do, time taken, and whether it ended as it should. Steps on the way to a fuzzy goal are
  measured so too: their own work is concrete.
- *Fuzzy*: executors whose verb asks for a judgement (`FUZZY`). What they are worth only the owner can say, or a critic
  if there is one; a failure still counts.
- *Unknown*: nobody can tell. It counts as a use and adds nothing.

Rules (property-tested): a utility lies between -`Rules.bad` and 1; a bad word weighs more than a good one; fading never
turns a sign; the order in which calls are told changes nothing. Pure: nothing here is read or written.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from metnos.core.canon import sha256_hex
from metnos.core.decay import Ebbinghaus, clamp01, days_between
from metnos.core.errors import ManifestError
from metnos.executors import vocabulary

# Verbs whose results are good or bad rather than right or wrong.
FUZZY = frozenset({"ask", "label", "plan", "summarise", "translate"})
# Kinds of failure that speak of the executor; all others speak of the world or of whoever called it.
OWN = frozenset({"failed", "too_large"})


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers. DESIGN 7 names them; where it gives none, the reason stands beside it."""

    decay_lambda: float = 0.018  # a day, as mnests fade: what works together and what works are forgotten alike
    failed: float = 1.0  # the step is still to do, and what it left has to be seen to: one step more
    hindered: float = 0.2  # what it could not help costs the try: five such weigh as one failure
    slow: float = 0.25  # the most that time takes off: a slow success is still a success
    slow_s: float = 30.0  # what counts as slow: the longest that one call may take by default
    good: float = 1.0  # the owner's good word: as much as a step that went well
    bad: float = 2.0  # the owner's bad word: twice as much, as everywhere else
    undone: float = 1.0  # taken back: as if it had failed, and no more: the owner may have changed their mind
    critic: float = 0.5  # how much of a word of the owner's a critic's is worth
    trial: int = 10  # K: uses without any signal before it is hidden; what introspection calls enough to judge by
    enough: int = 5  # signals before it can be unfit: more than the strikes of a day, which have their own consequence
    unfit: float = -1.0  # below it in every class: at least one failure more than successes, lately
    explore: float = 0.05  # share of turns in which one hidden executor can be chosen again: as often as fast paths are
    dormant_days: int = 90  # on which the owner was there and it was not used (000 §4)
    extinct_days: int = 30  # M, owner-active too: a month to look at what was quarantined
    keep_days: int = 400  # of observations: less than a thousandth of one is left of it by then

    @property
    def curve(self) -> Ebbinghaus:
        return Ebbinghaus.per_day(self.decay_lambda)


class Step(Protocol):
    """What is read of a step that was taken."""

    @property
    def number(self) -> int: ...

    @property
    def executor(self) -> str: ...

    @property
    def digest(self) -> str: ...

    @property
    def ok(self) -> bool: ...

    @property
    def kind(self) -> str: ...

    @property
    def reply(self) -> Mapping[str, Any]: ...

    @property
    def wall_ms(self) -> float: ...

    @property
    def action(self) -> str: ...

    @property
    def audit(self) -> int: ...

    @property
    def gap_before(self) -> int: ...

    @property
    def gap_after(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of a turn afterwards. ``critic`` is between -1 and 1."""

    owner: bool | None = None
    undone: bool = False
    critic: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """One utility, when it was seen; nothing where nobody can tell."""

    ts: datetime
    utility: float | None


@dataclass(frozen=True, slots=True)
class Fitness:
    """What an executor is worth for one class of goals. ``signals`` are the uses of which somebody could tell."""

    goal: str
    value: float
    uses: int
    signals: int
    last: datetime


class Why(StrEnum):
    """Why an executor is hidden from planners."""

    UNFIT = "unfit"
    UNPROVEN = "unproven"
    DORMANT = "dormant"


# -- goals


def goal_of(executors: Sequence[str]) -> str:
    """The class of a plan's goal, from the executors it uses, in order; empty if there is no telling."""
    if not executors:
        return ""
    try:
        name = vocabulary.parse_name(executors[-1])
    except ManifestError:
        return ""
    return f"{name.verb} {name.object}"


def is_fuzzy(executor: str) -> bool:
    """Whether only a judgement can tell what a call of it was worth."""
    return executor.partition("_")[0] in FUZZY


def goals_like(text: str, goals: Iterable[str]) -> list[str]:
    """The classes that somebody means by ``text``, the nearest first: its words and their synonyms count."""
    said = _meant(text)
    scored = [(len(said & set(goal.split())), goal) for goal in goals]
    most = max((score for score, _ in scored), default=0)
    return sorted(goal for score, goal in scored if score == most and most)


def _meant(text: str) -> set[str]:
    words = text.casefold().replace("_", " ").split()
    parts = {" ".join(words[first:last]) for first in range(len(words)) for last in range(first + 1, first + 4)}
    known = (vocabulary.canonical_verb, vocabulary.canonical_object)
    return {found for part in parts for meaning in known if (found := meaning(part)) is not None}


# -- one call


def gaps(step: Step, rules: Rules) -> tuple[float, float]:
    """What was missing before a call and after it: steps to do, and what it took, spoilt or left undone on top."""
    before = float(step.gap_before)
    done = clamp01(before - step.gap_after)  # one call is one step, whatever the plan says
    time = rules.slow * clamp01(step.wall_ms / 1000 / rules.slow_s)
    blamed = rules.failed if step.kind in OWN else rules.hindered
    spoilt = done * _undone_share(step.reply) if step.ok else blamed
    return before, before - done + time + spoilt


def measured(step: Step, rules: Rules) -> float | None:
    """What a call was worth by what can be measured; nothing where only a judgement can tell."""
    if step.ok and is_fuzzy(step.executor):
        return None
    before, after = gaps(step, rules)
    return before - after


def utility(found: float | None, said: Said, rules: Rules, *, changed: bool) -> float | None:
    """What a call was worth when everybody was heard. The owner's no counts before everything that was measured."""
    if said.owner is False:
        return -rules.bad
    if said.undone and changed:
        return min(-rules.undone, found if found is not None else 0.0)
    if found is not None:
        return found
    if said.owner is True:
        return rules.good
    if said.critic is not None:
        return rules.critic * (rules.good if said.critic > 0 else rules.bad) * min(1.0, max(-1.0, said.critic))
    return None


def _undone_share(reply: Mapping[str, Any]) -> float:
    """The share of items that a call did not manage, as its reply counts them."""
    count, failed = reply.get("count", 0), reply.get("failed", 0)
    if not isinstance(count, int) or not isinstance(failed, int) or failed <= 0:
        return 0.0
    return failed / (max(0, count) + failed)


# -- all calls


def fitness(goal: str, seen: Sequence[Seen], now: datetime, rules: Rules) -> Fitness:
    """The sum of what is left of each utility; ``seen`` is not empty."""
    told = [(each.ts, each.utility) for each in seen if each.utility is not None]
    left = math.fsum(value * rules.curve.factor(days_between(ts, now)) for ts, value in told)
    return Fitness(goal, left, len(seen), len(told), max(each.ts for each in seen))


def decline(classes: Sequence[Fitness], quiet_days: int, rules: Rules) -> Why | None:
    """Why an executor is not to be offered to planners; mostly nothing. ``quiet_days``: since it was used or born."""
    if quiet_days >= rules.dormant_days:
        return Why.DORMANT
    told = [each for each in classes if each.signals]
    if not told:
        return Why.UNPROVEN if sum(each.uses for each in classes) >= rules.trial else None
    if sum(each.signals for each in told) >= rules.enough and all(each.value < rules.unfit for each in told):
        return Why.UNFIT
    return None


def explored(turn: str, hidden: Iterable[str], rules: Rules) -> str:
    """The hidden executor that may be chosen in this turn; mostly none. The same turn always gets the same."""
    names = sorted(hidden)
    drawn = sha256_hex(turn.encode())
    if not names or not turn or int(drawn[:8], 16) >= rules.explore * 2**32:
        return ""
    return names[int(drawn[8:16], 16) % len(names)]
