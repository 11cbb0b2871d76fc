"""An episode: what happened, verbatim. What consolidation, recall and dreams read; nothing of it is ever rewritten.

Rules: the text and the payload of an episode never change. What may change is what was thought of it later: importance,
verification, affect, how often it was replayed and how often it proved useful. An episode is known by its source too,
so taking the same thing in twice makes one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from metnos.grimoire.affect import NEUTRAL, Pad

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Scope(StrEnum):
    """Who may be reminded of it."""

    OWNER = "owner"  # the owner's own conversations, on any of the owner's channels
    SENDER = "sender"  # only whoever said it
    AGENT = "agent"  # Metnos's own work: nights, dreams, executors
    SESSION = "session"  # only the conversation that it belongs to
    SHARED = "shared"  # everybody

    def hears(self, other: "Scope") -> bool:
        """Whether both have the same listeners: the agent's own work is the owner's to know."""
        return self is other or {self, other} == {Scope.OWNER, Scope.AGENT}


class Verdict(StrEnum):
    """What the quality gate said. Only what is verified consolidates."""

    UNJUDGED = "unjudged"
    VERIFIED = "verified"
    REJECTED = "rejected"


class Provenance(StrEnum):
    """Where knowledge comes from; sets how far it is believed at first."""

    SELF = "self"
    OWNER = "owner"  # told by the owner, in so many words
    DREAM = "dream"
    CLADE = "clade"
    TESTAMENT = "testament"
    ARCHIVE = "archive"
    QUERY = "query"
    LETHE = "lethe"
    MARKET = "market"
    DEATH = "death_reflection"


@dataclass(frozen=True, slots=True)
class Episode:
    """What happened. ``seq`` is the order of taking in, given by the store: a clock may be set back."""

    id: str
    ts: datetime  # when it happened
    text: str  # what is searched and shown
    source: str  # the turn, the message or the file that it was taken from: two of one source are one
    kind: str = "turn"  # `turn`, `note`, `message`, `observation`, `report`
    payload: Mapping[str, Any] = field(default_factory=dict)  # all there is: steps, outcomes, measures
    sender: str = "owner"
    session: str = ""  # the conversation
    scope: Scope = Scope.OWNER
    domain: str = ""  # what it is about: episodes of one domain are consolidated together
    tags: tuple[str, ...] = ()
    provenance: Provenance = Provenance.SELF
    curiosity: float = 0.0  # at capture: how surprising, from 0 to 1
    pad: Pad = NEUTRAL
    importance: float | None = None  # judged later
    verdict: Verdict = Verdict.UNJUDGED
    replays: int = 0
    used: int = 0  # how often it proved useful
    used_at: datetime | None = None
    pinned: bool = False
    bloodstain: bool = False  # something ended badly here
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Where:
    """Which episodes may be found. An empty tuple means any."""

    scopes: tuple[Scope, ...] = ()
    senders: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # any of them
    verdicts: tuple[Verdict, ...] = ()
    since: datetime | None = None  # at or after
    until: datetime | None = None  # before
    visible_to: "Viewer | None" = None


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks. The owner sees everything that is not bound to another session or sender."""

    sender: str = "owner"
    session: str = ""
    is_owner: bool = True


@dataclass(frozen=True, slots=True)
class Mark:
    """What is thought of an episode now; what is None stays as it is. ``replays`` and ``used`` are added."""

    id: str
    importance: float | None = None
    verdict: Verdict | None = None
    pad: Pad | None = None
    pinned: bool | None = None
    bloodstain: bool | None = None
    replays: int = 0
    used: int = 0
    used_at: datetime | None = None
