"""A fact: what several episodes taught, with how far it is believed and why. A fact is never what one episode said.

Rules: confidence lies in [0, 1] and fades unless the fact proves useful; anti-knowledge never fades below a floor. What
contradicts something known is kept beside it, linked, and quarantined until one of the two is shown to be right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.episode import Provenance, Scope


class Kind(StrEnum):
    """What a fact says. The first five are consolidated from episodes, the rest are entries that are written down."""

    BASELINE = "baseline"  # data: metric, mean, stddev, count
    PATTERN = "pattern"  # data: pattern (what repeats), and what it was counted over
    CAUSAL = "causal"  # data: cause, effect, lag (seconds), count, lift
    ANTI = "anti"  # anti-knowledge; data: warning, and what it is about
    PROCEDURAL = "procedural"  # data: strategy, observation, and what to do: see `grimoire.steer`
    INSIGHT = "insight"
    HEURISTIC = "heuristic"  # a candidate for the playbook; data: strategy
    WARNING = "warning"
    LINK = "link"  # a causal link, written down; data: cause, effect


class Standing(StrEnum):
    """Whether a fact counts."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"  # contradicted, or waiting for consent
    EXPIRED = "expired"  # its validity ended, or a dream that nothing confirmed
    PRUNED = "pruned"  # faded away; its row is history until the next clean-up


class Decay(StrEnum):
    """How fast a fact fades when nothing confirms it. Half-lives are in `fact_rules`."""

    STRUCTURAL = "structural"  # how things are built
    STRATEGIC = "strategic"  # what works
    TACTICAL = "tactical"  # how things are just now
    EPHEMERAL = "ephemeral"  # a dream, a mood
    NEVER = "never"  # said by the owner


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known. ``subject`` and ``value`` say what it is about and what of it: so contradictions show."""

    id: str
    kind: Kind
    text: str
    domain: str
    confidence: float
    quality: float
    provenance: Provenance
    decay: Decay
    created: datetime
    reinforced: datetime  # when it last proved right
    applied: datetime  # up to when fading has been taken off
    subject: str = ""
    value: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()  # episodes
    episode_count: int = 0
    generation: int = 0
    scope: Scope = Scope.OWNER
    sender: str = "owner"
    standing: Standing = Standing.ACTIVE
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    pad: Pad = NEUTRAL
    bloodstain: bool = False
    pinned: bool = False
    shown: int = 0  # memetic counters: how often it was shown, helped, did harm
    helped: int = 0
    harmed: int = 0
    low_cycles: int = 0  # consolidations in a row that found it below the least confidence
    contradicts: tuple[str, ...] = ()  # facts
    confirm_by: datetime | None = None  # a dream's: until then it has to be confirmed
    tags: tuple[str, ...] = ()
