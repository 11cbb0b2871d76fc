"""What the memory must know of a walk of life: what belongs together, what is measured, how knowledge is sorted.

A domain pack is data. Nothing else in the Grimoire holds words of one walk of life: another pack, and the same rules
learn from a market, a greenhouse or a fleet of servers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from metnos.grimoire.episode import Episode
from metnos.grimoire.fact import Kind

MEASURES = "measures"  # where an episode's payload keeps numbers of its own: {name: number}
GENERAL = "general"  # the key of what has none
_GREATEST = 1e15  # of what is measured: the square of it can still be summed; what is no number is not below it
_LONGEST = 120  # characters of a key: a longer one is no name


@dataclass(frozen=True, slots=True)
class Domain:
    """One pack.

    ``cluster_key`` are places in an episode, with dots (`domain`, `payload.canonical`): the first that holds text says
    which episodes are consolidated together. ``measures`` are further numbers of a payload, by the name that their
    baseline gets. ``categories`` sorts what is learnt, by kind.
    """

    name: str
    cluster_key: tuple[str, ...]
    measures: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[Kind, str] = field(default_factory=dict)

    def key_of(self, episode: Episode) -> str:
        """What this episode is consolidated under; never empty."""
        for place in self.cluster_key:
            value = _at(episode, place)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())[:_LONGEST]
        return GENERAL

    def measured(self, episode: Episode) -> Iterator[tuple[str, float]]:
        """The numbers of an episode, in order of their names."""
        own = episode.payload.get(MEASURES)
        found = {str(name): value for name, value in own.items()} if isinstance(own, Mapping) else {}
        for name, place in self.measures.items():
            found.setdefault(name, _at(episode, f"payload.{place}"))
        for name, value in sorted(found.items()):
            if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _GREATEST:
                yield name[:_LONGEST], float(value)

    def category(self, kind: Kind) -> str:
        return self.categories.get(kind, "")


HOME = Domain(
    name="home",
    cluster_key=("domain", "payload.canonical"),
    measures={"time taken (ms)": "cost_ms"},
    categories={
        Kind.BASELINE: "measures",
        Kind.PATTERN: "patterns",
        Kind.CAUSAL: "causes",
        Kind.ANTI: "failures",
        Kind.PROCEDURAL: "corrections",
        Kind.INSIGHT: "insights",
        Kind.HEURISTIC: "guidance",
        Kind.WARNING: "failures",
        Kind.LINK: "causes",
    },
)


def _at(episode: Episode, place: str) -> Any:
    first, *rest = place.split(".")
    value: Any = getattr(episode, first, None)
    for name in rest:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
