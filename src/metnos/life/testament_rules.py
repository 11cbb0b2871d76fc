"""The genomic bottleneck: which of all that was learnt crosses a death. Pure.

In this order, until the limit is reached:

1. **anti-knowledge** (warnings, and what is known to fail): all of it, however little it is believed. Where there is
   more of it than the limit, what is about one thing is folded into one, so that none of it is dropped;
2. **bloodstains**: what something ended badly by, up to a quarter of the places;
3. **proven across generations**: what proved right in two lives or more, up to a quarter of the places;
4. **spread over domains**: the best of every domain that has none yet;
5. **quality**: the rest by worth, where each further entry of one domain counts for less, so that no domain takes all.

Worth is belief, quality, and what use showed, times 1.2 for a bloodstain.

Rules: the same facts in any order give the same selection. Never more than the limit. What is quarantined, over, a
dream that nobody confirmed, or hardly believed does not cross; what nobody in three lives proved again falls below that
by the discount alone. Does not guarantee that what crosses is fit to be told: the barrier decides that first.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from metnos.core.decay import clamp01
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.life.testament import MOST_ENTRIES

ANTI = frozenset({Kind.ANTI, Kind.WARNING})
_FOLDED = 1500  # characters of what several warnings become


@dataclass(frozen=True, slots=True)
class BottleneckRules:
    """Numbers of the memory's source document (its chapters on the bottleneck and on death), and chosen ones."""

    limit: int = MOST_ENTRIES  # seed 003: max 2048 entries
    bloodstain: float = 1.2  # seed 003: retrieval boost; the same here, so that both agree on what matters
    # Chosen: a testament's 0.4 times 0.85^3 is 0.2457, and seed 003 says that what is inherited fades within 2-3 lives.
    least: float = 0.25
    stained_share: float = 0.25  # chosen: so that a life that went badly still leaves what went well
    proven_share: float = 0.25  # chosen: so that tradition never takes more than half together with the stains
    proven: int = 2  # lives; one is only our own
    belief: float = 0.4  # chosen weights of worth, which add up to one
    quality: float = 0.3
    use: float = 0.2  # helped against harmed
    tradition: float = 0.1  # lives in which it held


RULES = BottleneckRules()


@dataclass(frozen=True, slots=True)
class Selection:
    """What crosses, in the order of choosing, and why the rest does not. ``stands_for`` counts what was folded."""

    kept: tuple[Fact, ...]
    why: Mapping[str, str] = field(default_factory=dict)  # id: the stage that took it
    dropped: Mapping[str, int] = field(default_factory=dict)  # reason: how many
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # id: the facts folded into it


def select(facts: Iterable[Fact], held: Mapping[str, int] | None = None, rules: BottleneckRules = RULES) -> Selection:
    """At most ``rules.limit`` of these facts. ``held`` says in how many lives each proved right, this one included."""
    lives = held or {}
    dropped: Counter[str] = Counter()
    anti: list[Fact] = []
    others: list[Fact] = []
    for fact in sorted(facts, key=lambda each: each.id):
        reason = unfit(fact, rules)
        if reason:
            dropped[reason] += 1
        else:
            (anti if fact.kind in ANTI else others).append(fact)
    warned, stands_for = folded(_by_worth(anti, lives, rules), rules.limit)
    choosing = _Choosing(others, lives, rules, rules.limit - len(warned))
    choosing.choose()
    dropped["no place left"] += len(others) - len(choosing.kept)
    why = {fact.id: "anti-knowledge" for fact in warned} | choosing.why
    return Selection((*warned, *choosing.kept), why, dict(sorted((+dropped).items())), stands_for)


def unfit(fact: Fact, rules: BottleneckRules = RULES) -> str:
    """Why a fact does not cross, whatever room there is; empty if it may."""
    if fact.standing is not Standing.ACTIVE:
        return f"it is {fact.standing}"
    if fact.confirm_by is not None or fact.provenance is Provenance.DREAM:
        return "nobody confirmed the dream"
    if fact.confidence < rules.least and fact.kind not in ANTI:
        return "hardly believed"
    return ""


def worth(fact: Fact, held: int = 0, rules: BottleneckRules = RULES) -> float:
    """How much a fact is worth being kept, from 0 to the bloodstain's boost."""
    used = fact.helped + fact.harmed
    use = (fact.helped + 1) / (used + 2)  # a half for what was never used
    tradition = 1.0 - 1.0 / (1.0 + max(0, held))
    found = (
        rules.belief * clamp01(fact.confidence)
        + rules.quality * clamp01(fact.quality)
        + rules.use * use
        + rules.tradition * tradition
    )
    return found * (rules.bloodstain if fact.bloodstain else 1.0)


class _Choosing:
    """The stages after anti-knowledge."""

    def __init__(self, facts: Sequence[Fact], held: Mapping[str, int], rules: BottleneckRules, room: int) -> None:
        self._worth = {fact.id: worth(fact, held.get(fact.id, 0), rules) for fact in facts}
        self._left = {fact.id: fact for fact in _by_worth(facts, held, rules)}
        self._held = held
        self._rules = rules
        self._room = max(0, room)
        self._taken: Counter[str] = Counter()  # by domain
        self.kept: list[Fact] = []
        self.why: dict[str, str] = {}

    def choose(self) -> None:
        rules, all_ = self._rules, self._room
        stained = [fact for fact in self._left.values() if fact.bloodstain]
        self._take(stained[: math.floor(all_ * rules.stained_share)], "bloodstain")
        proven = [fact for fact in self._left.values() if self._held.get(fact.id, 0) >= rules.proven]
        self._take(proven[: math.floor(all_ * rules.proven_share)], "proven across generations")
        self._take(self._first_of_each(), "the best of its domain")
        self._take_by_worth()

    def _take(self, facts: Sequence[Fact], why: str) -> None:
        for fact in facts[: self._room - len(self.kept)]:
            self.kept.append(self._left.pop(fact.id))
            self.why[fact.id] = why
            self._taken[fact.domain] += 1

    def _first_of_each(self) -> list[Fact]:
        found: dict[str, Fact] = {}
        for fact in self._left.values():
            if not self._taken[fact.domain]:
                found.setdefault(fact.domain, fact)
        return list(found.values())

    def _take_by_worth(self) -> None:
        """The most worth first; a domain that has its fair share already counts half, twice it a third."""
        waiting: dict[str, list[Fact]] = defaultdict(list)
        for fact in reversed(self._left.values()):
            waiting[fact.domain].append(fact)  # the best last, to be popped
        fair = max(1.0, self._room / max(1, len(waiting)))

        def ranked(fact: Fact) -> tuple[float, str]:
            return -self._worth[fact.id] / (1.0 + self._taken[fact.domain] / fair), fact.id

        heap = [(*ranked(many[-1]), domain) for domain, many in waiting.items()]
        heapq.heapify(heap)
        while heap and len(self.kept) < self._room:
            domain = heapq.heappop(heap)[2]
            self._take([waiting[domain].pop()], "quality")
            if waiting[domain]:
                heapq.heappush(heap, (*ranked(waiting[domain][-1]), domain))


def _by_worth(facts: Iterable[Fact], held: Mapping[str, int], rules: BottleneckRules) -> list[Fact]:
    return sorted(facts, key=lambda each: (-worth(each, held.get(each.id, 0), rules), each.id))


def folded(anti: Sequence[Fact], limit: int) -> tuple[list[Fact], dict[str, tuple[str, ...]]]:
    """Warnings in at most so many entries, none of them lost: first what is about one subject becomes one, then what
    is about one domain, then everything. Also which facts each of them stands for, where it is more than itself."""
    keys = (lambda each: each.id, lambda each: (each.domain, each.subject), lambda each: each.domain, lambda _each: "")
    groups: dict[object, list[Fact]] = {}
    for key in keys:
        groups = {}
        for fact in anti:
            groups.setdefault(key(fact), []).append(fact)
        if len(groups) <= limit:
            break
    else:
        groups = {}  # a limit of none
    made = [_joined(many) for many in groups.values()]
    return made, {
        each.id: tuple(f.id for f in many) for each, many in zip(made, groups.values(), strict=True) if many[1:]
    }


def _joined(many: Sequence[Fact]) -> Fact:
    """One warning that says what several said, the most worth first; as much of it as fits, and how many there are."""
    first = many[0]
    if len(many) == 1:
        return first
    said = list(dict.fromkeys(fact.text for fact in many))
    text = f"{len(many)} warnings: {' | '.join(said)}"
    short = text if len(text) <= _FOLDED else text[: _FOLDED - 1] + "…"
    return replace(
        first,
        text=short,
        confidence=max(fact.confidence for fact in many),
        episode_count=sum(fact.episode_count for fact in many),
        bloodstain=any(fact.bloodstain for fact in many),
        data={**first.data, "warning": short},
    )
