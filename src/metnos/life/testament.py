"""A testament: what an agent leaves to a successor. This file says what it holds; `testament_file` packs and reads it.

The file is two lines of canonical JSON. The first is the **core**, about 5 KB: who died when and why, the reflection in
nine categories, the ancestors, what was counted, and the digest of the second line; ed25519 over it, without
``signature``. The second is the **bundle**: entries, links between them, released episodes, the skeleton of the
mnestome, and executors as a signed bundle of their own (`synt.bundle`). So the core can be read and believed alone, as
a gravestone, and not a byte of the rest can change without it.

Rules: the same testament packed by the same key is the same bytes. A file is read whole or refused with the reason, and
nothing in it is taken on trust: sizes, counts, fields, values, ids and links are checked before anything is handed out,
and so is whether anything in it speaks to the agent (`grimoire.poison`). There are no fast paths, no exact parameters
and no unfinished thoughts in the format: it has no place for them (`barrier` says what is left out of the rest). Does
not guarantee that what it says is true: whoever inherits it discounts it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Kind
from metnos.life.cause import Cause
from metnos.synt.bundle import Bundle

FORMAT = "metnos-testament"
VERSION = 1
PURPOSE = "testament"  # of the signature: one made for anything else is worth nothing here
SUFFIX = ".testament"
MOST_ENTRIES = 2048  # the genomic bottleneck (seed 003)
MOST_EPISODES = 32  # that an owner releases to a direct successor (DESIGN §6)
MOST_LINKS = 4 * MOST_ENTRIES  # a few for each entry; more is a hairball and no structure
MOST_MNESTS = 2048  # as many as entries: a skeleton, and no body
MOST_ANCESTORS = 32  # the latest: 0.85^32 of a belief is half a percent
MOST_DEFAULTS = 32
CORE_BYTES = 16384  # about 5 KB are aimed at (`reflection`); 32 ancestors and 32 settings make it three times that
MOST_BYTES = 24 << 20  # the executors' own 16 MB, and 4 KB for each entry


class Category(StrEnum):
    """The nine categories of the reflection. The seed names four of them; the others fill its nine."""

    WORKED = "what worked"
    FAILED = "what failed"
    SURPRISED = "what surprised me"
    CONFUSED = "what confused me"
    SUSPECT = "what I suspect but cannot prove"
    UNTESTED = "what I never had time to test"
    DIFFERENTLY = "what I would do differently"
    NEVER_AGAIN = "what to never do again"
    UNFINISHED = "what I leave unfinished"


@dataclass(frozen=True, slots=True)
class Descent:
    """What an heir knows of a fact that it inherited: who first learnt it, over how many deaths it came, and in how
    many lives it proved right (this one is counted at its end)."""

    origin: str = ""  # the key of who first learnt it; empty for one's own
    generation: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was learnt. ``generation`` counts the deaths that it crossed before this one (0: learnt in this
    life); ``held`` the lives in which it proved right, this one included; ``of`` the facts that it stands for."""

    id: str
    kind: Kind
    text: str
    domain: str
    confidence: float
    quality: float
    decay: Decay
    provenance: Provenance  # in the life that ended: how it was known there
    origin: str  # the key of who first learnt it
    generation: int
    held: int
    created: datetime
    subject: str = ""
    value: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    episode_count: int = 0
    helped: int = 0
    harmed: int = 0
    bloodstain: bool = False
    pad: Pad = NEUTRAL
    tags: tuple[str, ...] = ()
    of: int = 1


@dataclass(frozen=True, slots=True)
class Link:
    """How two entries hang together; ``relation`` is one of `grimoire.facts.RELATIONS`."""

    src: str
    dst: str
    relation: str
    weight: float


@dataclass(frozen=True, slots=True)
class Left:
    """An episode that the owner released: what happened, in words. Its payload does not cross."""

    id: str
    ts: datetime
    text: str
    domain: str = ""
    curiosity: float = 0.0
    importance: float = 0.0
    pad: Pad = NEUTRAL
    bloodstain: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bone:
    """One passing of the mnestome's skeleton: which executor fed which, and about how strongly. No versions, no use."""

    src: str
    dst: str
    weight: float  # in tenths


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One who died before: its key, the digest of its testament, and its generation."""

    key: str
    testament: str
    generation: int


@dataclass(frozen=True, slots=True)
class Habit:
    """A setting that this life lived with, and in how many lives in a row it was so. The successor's owner is asked
    before it becomes anything (Baldwin effect)."""

    setting: str
    value: str | int | float | bool
    held: int


@dataclass(frozen=True, slots=True)
class Testament:
    """What a testament says, without who signed it. ``lived`` and ``left`` count by kind; ``lived["bytes"]`` is what
    the memory took, for the compression."""

    __test__: ClassVar[bool] = False  # pytest takes what begins with Test for a test

    id: str
    born: datetime
    died: datetime
    cause: Cause
    generation: int  # 0 for one that inherited nothing
    ticks: int
    profile: str
    reflection: Mapping[Category, tuple[str, ...]]
    reflected_by: str  # `extraction`, or `model`
    lived: Mapping[str, int]
    ancestors: tuple[Ancestor, ...] = ()  # the latest first
    habits: tuple[Habit, ...] = ()
    entries: tuple[Entry, ...] = ()
    links: tuple[Link, ...] = ()
    episodes: tuple[Left, ...] = ()
    bones: tuple[Bone, ...] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A testament whose signature was checked. ``digest`` is of the whole file."""

    key: str
    digest: str
    size: int
    core_size: int
    testament: Testament
    executors: Bundle | None

    @property
    def compression(self) -> float:
        """How many bytes of a life one byte of the testament stands for."""
        return self.testament.lived.get("bytes", 0) / self.size

    @property
    def core_compression(self) -> float:
        """The same for the core alone: a whole life in about 5 KB."""
        return self.testament.lived.get("bytes", 0) / self.core_size
