"""What the memory must know of a walk of life: what happens there, what belongs together, what is measured, how
knowledge is sorted, what a model is shown.

A domain pack is data. Nothing else in the Grimoire holds words of one walk of life: another pack, and the same rules
learn from a market, a greenhouse or a fleet of servers.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from metnos.grimoire.episode import Episode
from metnos.grimoire.fact import Kind

MEASURES = "measures"  # where an episode's payload keeps numbers of its own: {name: number}
EVENT = "event"  # where it says which kind of event it is
GENERAL = "general"  # the key of what has none
_GREATEST = 1e15  # of what is measured: the square of it can still be summed; what is no number is not below it
_LONGEST = 120  # characters of a key: a longer one is no name


@dataclass(frozen=True, slots=True)
class EventKind:
    """One kind of event. ``signature`` is what a chain's log of it looks like; ``weight`` is how much such an event
    matters before anything is known of it, from 0 to 1; ``category`` sorts what is learnt from it; ``bad`` says that
    something went wrong, so that a place where it keeps happening is warned of."""

    about: str = ""
    signature: str = ""
    weight: float = 0.2
    category: str = ""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class TaskBudget:
    """What a language model is shown for one type of task: tokens by block, of which ``great`` gets the share ``part``
    of all instead, and what is kept for the reply. ``stands_for`` names the house's own task that it is; without tokens
    it has that one's budget."""

    stands_for: str
    tokens: Mapping[str, int] = field(default_factory=dict)
    great: str = ""
    part: float = 0.0
    reserve: int = 0


@dataclass(frozen=True, slots=True)
class Domain:
    """One pack.

    ``cluster_key`` are places in an episode, with dots (`domain`, `payload.canonical`): the first that holds text says
    which episodes are consolidated together. ``measures`` are further numbers of a payload, by the name that their
    baseline gets. ``insights`` are the categories of what is learnt; ``categories`` sorts by kind of fact, ``sorting``
    by measure, which says more. ``source`` is where events come from by themselves; ``names`` are what addresses are
    called, by `chain:address`.
    """

    name: str
    cluster_key: tuple[str, ...]
    measures: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[Kind, str] = field(default_factory=dict)
    sorting: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, EventKind] = field(default_factory=dict)
    tasks: Mapping[str, TaskBudget] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    insights: tuple[str, ...] = ()

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

    def category(self, kind: Kind, metric: str = "", events: Collection[str] = ()) -> str:
        """What a fact is sorted under: by what it measures, else by the one kind of event that it rests on, else by its
        own kind."""
        if metric in self.sorting:
            return self.sorting[metric]
        rests_on = {self.events[each].category for each in events if each in self.events}
        by_event = rests_on.pop() if len(rests_on) == 1 else ""
        return by_event or self.categories.get(kind, "")


def event_of(episode: Episode) -> str:
    """The kind of event that an episode is, if it is one."""
    event = episode.payload.get(EVENT)
    return event if isinstance(event, str) else ""


# The pack of a memory that nobody gave another. `metnos.life` ships the same as a file, to be copied and changed.
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
    events={
        "turn": EventKind("something was asked for and done"),
        "note": EventKind("the owner said to remember it"),
        "message": EventKind("somebody wrote"),
        "observation": EventKind("something was measured"),
        "report": EventKind("Metnos's own work"),
    },
    insights=("measures", "patterns", "causes", "failures", "corrections", "insights", "guidance"),
    tasks={name: TaskBudget(name) for name in ("plan", "answer", "summarise", "reflect")},
)


def _at(episode: Episode, place: str) -> Any:
    first, *rest = place.split(".")
    value: Any = getattr(episode, first, None)
    for name in rest:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
