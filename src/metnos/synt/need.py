"""A need: something that no executor does, why it is believed that one should, and how it came up.

Rules: every need carries its evidence; what it says comes from requests and models, so it is data wherever it is shown,
and never an instruction. The way it came decides how often the owner is asked: what Metnos thought of by itself needs a
yes to the direction before anything is made and another one before it lives; what the owner asked for needs the second.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Way(StrEnum):
    """How a need came up."""

    DIRECT = "direct"  # a wish that recurs
    INDIRECT = "indirect"  # a sequence that is used again and again
    EXTERNAL = "external"  # a turn that nothing could finish, and whose owner wants it finished
    OWNER = "owner"  # said in so many words
    REPAIR = "repair"  # an executor of ours that broke
    IMPORTED = "imported"  # brought from another instance, or from a folder of skills

    @property
    def is_internal(self) -> bool:
        """Whether Metnos thought of it by itself: then the owner decides on the direction first."""
        return self in (Way.DIRECT, Way.INDIRECT, Way.REPAIR)


@dataclass(frozen=True, slots=True)
class Example:
    """What was seen, or said: arguments, and what should come of them. ``error`` is the kind of a call that must fail.

    ``files`` are in the box before; ``{box}`` in an argument is where they are, as in birth tests. ``broke``: the call
    broke; what should have come of it nobody knows, but that it must not break again.
    """

    args: Mapping[str, Any]
    entries: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    observed: bool = False  # seen in a real run, not said
    broke: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why one should be made: which turns, how often, what it would have saved."""

    turns: tuple[str, ...] = ()
    uses: int = 0
    days: int = 0  # over which
    saved_ms: float = 0.0
    saved_usd: float = 0.0
    says: str = ""  # one sentence for the owner
    failures: tuple[str, ...] = ()  # what calls said that broke


@dataclass(frozen=True, slots=True)
class Need:
    """What is to be made."""

    text: str  # in one or two sentences
    way: Way
    name: str = ""  # what was wished for; the vocabulary decides
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    mnest: str = ""  # the wish in the mnestome
    path: str = ""  # the fast path of a sequence
    replaces: str = ""  # the executor of which this is to be a new version
    refused: tuple[str, ...] = ()  # why the owner refused earlier drafts
    instead: tuple[str, ...] = ()  # executors whose work it would do: offered to be put away once it lives
