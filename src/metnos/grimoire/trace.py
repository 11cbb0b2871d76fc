"""The trace of a turn: all that is kept of it, written whole when it closes, or not at all.

Everything that learns later (mnestome, fast paths, episodes, fitness) reads traces; nothing else is written by a turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Kept(StrEnum):
    """How much of a turn is still there. Names, counts, states and times always are."""

    WHOLE = "whole"
    SUMMARISED = "summarised"  # too old to be kept whole: a summary has its content
    FORGOTTEN = "forgotten"  # the owner wanted it gone


class State(StrEnum):
    """How a turn ended."""

    DONE = "done"
    PARTLY = "partly"  # some steps succeeded, or some items of one failed
    FAILED = "failed"
    REFUSED = "refused"  # the policy or the owner said no
    WAITING = "waiting"  # a question is in the inbox
    QUESTION = "question"  # Metnos asked back
    NOTHING = "nothing"  # no executor fits
    TALKED = "talked"  # an answer without a step
    CANCELLED = "cancelled"  # Ctrl-C
    INTERRUPTED = "interrupted"  # its process died; found at the next start
    REHEARSED = "rehearsed"  # --dry-run


@dataclass(frozen=True, slots=True)
class StepTrace:
    """One step: the call as it was made, and how it ended. ``gap`` counts the steps that were still to do."""

    number: int
    executor: str
    version: str
    digest: str
    args: Mapping[str, Any]  # with every reference filled in
    ok: bool
    kind: str  # the error class, empty if it went well
    message: str
    reply: Mapping[str, Any]
    wall_ms: float
    cpu_ms: float
    action: str  # what `metnos undo` takes
    audit: int  # the audit line that says how it ended; 0 if there is none
    item: str  # the question in the inbox that it rested on, if any
    gap_before: int
    gap_after: int


@dataclass(frozen=True, slots=True)
class Passing:
    """A's output was B's input and B succeeded. ``how``: `reference`, `content` (same value) or `call` (nested)."""

    src: str
    src_version: str
    dst: str
    dst_version: str
    how: str
    src_step: int
    dst_step: int


@dataclass(frozen=True, slots=True)
class Desired:
    """An executor that was wished for: becomes a proto-mnest."""

    name: str
    source: str
    source_version: str
    signature: Mapping[str, Any]  # summary, inputs, outputs, errors


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a language model: what for, which, what it used."""

    purpose: str
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float
    wall_ms: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a language model was sent in one call, to the letter, and ``record``: the tokens of each block."""

    task: str
    system: str
    body: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trace:
    """One turn, whole.

    What `metnos why` reads of the mappings: a candidate has ``executor``, ``score`` and the parts of its score, each a
    number; a memory has ``kind`` and ``text``; a permit has ``step``, ``executor``, ``because``, ``permit``, ``item``
    and may have ``why``, which are the policy's steps, each (step, verdict, reason). More keys do no harm.
    """

    id: str
    conversation: str
    channel: str
    sender: str
    cwd: str
    asked: datetime
    closed: datetime
    text: str
    language: str
    path: str
    state: State
    answer: str
    plan: Mapping[str, Any]  # kind, steps with their references, say, missing, notes, certainty
    canonical: str  # the request without its particulars
    slots: tuple[Mapping[str, Any], ...]
    candidates: tuple[Mapping[str, Any], ...]
    steps: tuple[StepTrace, ...] = ()
    passings: tuple[Passing, ...] = ()
    desired: tuple[Desired, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    contexts: tuple[Context, ...] = ()
    memories: tuple[Mapping[str, Any], ...] = ()
    permits: tuple[Mapping[str, Any], ...] = ()  # what the policy said about each step
    continues: str = ""  # the turn that this one goes on with
    item: str = ""  # the question in the inbox that it waits for
    cpu_ms: float = 0.0  # of Metnos itself
    error: str = ""
    tags: tuple[str, ...] = field(default=())
    kept: Kept = Kept.WHOLE
