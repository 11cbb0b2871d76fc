"""Somatic markers: what a situation feels like before anybody has thought about it. Pure rules, no I/O.

A situation is an executor on one thing (a path, a host, a name that was given), or an executor for one form of request.
Each time it comes about it leaves how it ended; the marker is the average of those, the newest counting most and what
went badly double. One bad end on the very same thing is enough for a warning; for a mere form of request it takes two.

This is quicker than knowledge and knows less: anti-knowledge needs three episodes, a consolidation and a reason, a
marker only that it hurt. A marker warns and does nothing else: it changes no plan, no permit and no tone.

Rules (property-tested): a marker lies in [-1, 1]; an end that is worse than it never makes it better, and a better one
never worse; a bad end weighs less the older it is. Without a bad end there is no warning. Numbers, switches and what
flows between steps make no situation: they are the same in everything.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.decay import HalfLife, days_between
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.extract import choices

FORM = "form"  # the place of a situation that is a form of request, and no argument
_LEAST = 3  # characters of a text that names something


@dataclass(frozen=True, slots=True)
class SomaticRules:
    """The numbers, chosen; each says why beside it."""

    failed: float = -0.5  # it did not work: half of the worst
    undone: float = -0.9  # it worked, and was wrong enough to be taken back
    disliked: float = -0.8
    for_good: float = -1.0  # disliked, and cannot be taken back
    well: float = 0.3
    liked: float = 0.6
    bad: float = 2.0  # times that a bad end counts: negative feedback outweighs positive
    half_days: float = 60.0  # after two months a scar hurts half
    warns: float = -0.3  # two bad ends against one good one, or one that is not yet made up for
    ends_form: int = 2  # bad ends of a form of request that warn: its particulars may have been to blame
    ends_thing: int = 1


RULES = SomaticRules()


@dataclass(frozen=True, slots=True)
class Situation:
    """One thing that a step is about: the argument and its value, or the form of the request."""

    executor: str
    place: str
    value: str

    def digest(self, sender: str) -> str:
        """How it is known: it is never written down. What one person met says nothing to another."""
        return sha256_hex(canonical_json([sender, self.executor, self.place, self.value]))


@dataclass(frozen=True, slots=True)
class End:
    """How a situation ended once: the turn, when, whether the step worked, with which kind of error, and whether what
    it did cannot be taken back."""

    source: str
    ts: datetime
    ok: bool
    kind: str = ""
    irreversible: bool = False


@dataclass(frozen=True, slots=True)
class Felt:
    """An end, with what is felt about it now: what came after counts too. ``why`` is one of `WHYS`."""

    end: End
    value: float
    why: str


WHYS = ("failed", "undone", "disliked", "well")


def situations(executor: str, form: str, args: Mapping[str, Any]) -> Iterator[Situation]:
    """What a step is about, in a fixed order: the things it names, then the form of the request."""
    for name, value in choices(args):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and len(each.strip()) >= _LEAST:
                yield Situation(executor, name, each)
    if form.strip():
        yield Situation(executor, FORM, " ".join(form.split()))


def felt(end: End, outcome: Outcome, rules: SomaticRules = RULES) -> Felt:
    """What an end feels like, now that it is known what came after it. The worst that is true counts."""
    if outcome.feedback is False:
        return Felt(end, rules.for_good if end.irreversible else rules.disliked, "disliked")
    if outcome.undone:
        return Felt(end, rules.undone, "undone")
    if outcome.feedback is True:
        return Felt(end, rules.liked, "well")
    return Felt(end, rules.well, "well") if end.ok else Felt(end, rules.failed, "failed")


def marker(ends: Sequence[Felt], now: datetime, rules: SomaticRules = RULES) -> float:
    """What a situation feels like: zero if it was never met."""
    curve = HalfLife(rules.half_days)
    weights = [curve.factor(days_between(each.end.ts, now)) * (rules.bad if each.value < 0 else 1.0) for each in ends]
    total = math.fsum(weights)
    if total <= 0:
        return 0.0
    mean = math.fsum(weight * each.value for weight, each in zip(weights, ends, strict=True)) / total
    return min(1.0, max(-1.0, mean))


def warns(situation: Situation, ends: Sequence[Felt], now: datetime, rules: SomaticRules = RULES) -> bool:
    """Whether a situation went so badly that it is worth a word before it is entered again."""
    bad = sum(each.value < 0 for each in ends)
    least = rules.ends_form if situation.place == FORM else rules.ends_thing
    return bad >= least and marker(ends, now, rules) <= rules.warns
