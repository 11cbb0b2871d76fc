"""What a turn tells its face while it goes on. A face shows events and answers `Wanted`; it decides nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

ACT, OFFER, BIRTH = "act", "offer", "birth"  # what a question is about: a step, making an executor, letting one live


class Answer(StrEnum):
    """What a face sends back for `Wanted`. No answer at all (``None``) is `LATER`."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"  # yes, and no more questions for this executor and this target
    LATER = "later"  # leave it in the inbox


@dataclass(frozen=True, slots=True)
class Typed:
    """What a face sends back for `Wanted` where a plain yes is not enough: the word that was typed."""

    word: str


Spoken = Answer | Typed


@dataclass(frozen=True, slots=True)
class Started:
    """The turn has begun."""

    turn: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A language model is being asked; ``what`` says for what in a few words."""

    what: str
    model: str


@dataclass(frozen=True, slots=True)
class Planned:
    """There is a plan: the executors in order, which way it was made, and what was assumed.

    ``learnt_from`` is the number of earlier requests that a fast path rests on; nothing of any other plan.
    """

    executors: tuple[str, ...]
    path: str
    notes: tuple[str, ...] = ()
    learnt_from: int = 0


@dataclass(frozen=True, slots=True)
class StepStarted:
    """Step ``number`` of ``of`` begins; ``title`` says in a few words what it does to what."""

    number: int
    of: int
    executor: str
    title: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step ended."""

    number: int
    executor: str
    ok: bool
    message: str  # what went wrong, or what was found in a few words
    count: int
    wall_ms: float
    action: str = ""  # what `metnos undo` takes


@dataclass(frozen=True, slots=True)
class Wanted:
    """The owner's yes is needed. The face sends an `Answer` back.

    ``lines`` is the preview: what exactly would change. ``reversal`` says how it can be taken back. ``why`` are the
    policy's steps, each (step, verdict, reason). ``yes`` of ``needs`` yeses were given. ``always`` says what an
    `ALWAYS` would allow from now on, or is empty where that cannot be had. ``language`` is that of the request.
    ``about`` says what a yes would do; an offer has no ``item``, for it does not wait in the inbox. ``word`` is what
    has to be typed to say yes (`Typed`); where it is empty, a plain yes is enough.
    """

    item: str
    number: int
    executor: str
    title: str
    lines: tuple[str, ...]
    reversal: str
    why: tuple[tuple[str, str, str], ...]
    yes: int
    needs: int
    always: str
    expires: str
    language: str = "en"
    about: str = ACT
    word: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words of a language model as they come. Untrusted: show it inert."""

    delta: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The turn is over and recorded. ``state`` is one of `metnos.grimoire.trace.State`."""

    turn: str
    state: str
    text: str
    steps: tuple[Mapping[str, Any], ...] = ()  # for --json: executor, args, ok, message, reply, action
    undo: tuple[str, ...] = ()
    model_text: bool = False  # whether part of the text is a language model's own words


Event = Started | Thinking | Planned | StepStarted | StepDone | Wanted | Text | Answered
