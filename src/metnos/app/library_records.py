"""What the library gives back: plain records, that a program may keep, print and compare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from metnos.grimoire.episode import Episode
from metnos.grimoire.fact import Fact
from metnos.grimoire.recall import Memory as Recalled

FACTORS = ("relevance", "recency", "importance", "affect")


@dataclass(frozen=True, slots=True)
class Memory:
    """Something remembered.

    ``kind`` says what it is: a ``note`` (something told), an ``observation`` (something seen elsewhere), a ``turn``
    (something done) or what sort of fact. ``confidence`` says how far a fact is believed; episodes have none. ``score``
    and ``factors`` (relevance, recency, importance, affect; each from 0 to 1) say why it was recalled.
    """

    id: str
    text: str
    kind: str
    when: datetime  # when it happened, or for a fact when it last proved right
    score: float = 0.0
    factors: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    importance: float | None = None  # none as long as nobody judged it
    pinned: bool = False

    @property
    def is_fact(self) -> bool:
        """Whether it was learnt from several episodes, and is none itself."""
        return self.confidence is not None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Learnt:
    """What learning came to. What is not ``finished`` goes on the next time; ``message`` says why."""

    finished: bool
    counts: Mapping[str, int]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was taken out: episodes, facts that rested on them alone, and whole turns of a workspace."""

    episodes: int
    facts: int
    turns: int = 0

    def __bool__(self) -> bool:
        return bool(self.episodes or self.facts or self.turns)


@dataclass(frozen=True, slots=True)
class Mnest:
    """One passing, and how strongly it is remembered at the moment of asking.

    A wish (``state`` is ``proto``) leads to something that does not exist; ``signature`` says what it should do.
    """

    id: str
    source: str
    target: str
    weight: float
    uses: int
    state: str
    first_used: datetime
    last_used: datetime
    tags: tuple[str, ...] = ()
    signature: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One call of an executor in a turn. ``undo`` is what `Agent.undo` takes; empty if it changed nothing."""

    executor: str
    ok: bool
    message: str
    args: Mapping[str, Any]
    reply: Mapping[str, Any]
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a turn ended.

    ``state`` is one of ``done``, ``partly``, ``failed``, ``refused``, ``waiting``, ``question``, ``talked``,
    ``nothing``, ``rehearsed``. ``waits`` are the questions that are in the inbox now.
    """

    turn: str
    state: str
    text: str
    steps: tuple[Step, ...] = ()
    undo: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether what was asked for is done, or answered."""
        return self.state in ("done", "talked", "rehearsed")

    def __str__(self) -> str:
        return self.text


# -- from what is inside


def memory_of(of: Episode | Fact, recalled: Recalled | None = None) -> Memory:
    score, factors = 0.0, dict[str, float]()
    if recalled is not None:
        score = recalled.factors.score
        factors = {name: getattr(recalled.factors, name) for name in FACTORS}
    if isinstance(of, Fact):
        return Memory(
            of.id,
            of.text,
            str(of.kind),
            of.reinforced,
            score,
            factors,
            of.tags,
            confidence=of.confidence,
            importance=of.quality,
            pinned=of.pinned,
        )
    return Memory(of.id, of.text, of.kind, of.ts, score, factors, of.tags, importance=of.importance, pinned=of.pinned)


def together(one: tuple[Recalled, ...], other: tuple[Recalled, ...], count: int) -> list[Memory]:
    """Two orders made into one, each kept as it is: of the two that come next, the one with the better score."""
    left, right, chosen = list(one), list(other), list[Recalled]()
    while (left or right) and len(chosen) < count:
        first = not right or (bool(left) and left[0].factors.score >= right[0].factors.score)
        chosen.append((left if first else right).pop(0))
    return [memory_of(each.of, each) for each in chosen]
