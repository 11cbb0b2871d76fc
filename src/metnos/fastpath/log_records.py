"""What the log of fast paths takes and gives: records, and how they are rows.

Rules: nothing here reads or writes. A path is known by its executors and its shape, whatever their versions.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.fastpath.records import FastPath, Mark, State
from metnos.fastpath.shape import Seen, Shape
from metnos.store.db import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pass:
    """What a planner did about a request, and whether it went well: done, and neither refused nor undone."""

    turn: str
    ts: datetime
    form: str
    said: str
    marks: tuple[Mark, ...]
    shape: Shape
    constants: Mapping[str, Any]
    ok: bool = True
    plan_ms: float = 0.0
    plan_usd: float = 0.0
    origin: str = "turn"  # or `adjacent`
    links: tuple[str, ...] = ()  # turns before this one whose words are in it too


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a path."""

    id: int
    path: str
    turn: str
    ts: datetime
    kind: str
    probability: float | None
    saved_ms: float | None
    saved_usd: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A prediction that was held against what happened. ``form`` is the one that was matched."""

    path: str
    right: bool
    score: float
    exact: bool
    form: str


def path_id(tools: Sequence[str], shape: Shape) -> str:
    """The name of a path: the same executors with the same shape are the same path, in whatever version."""
    return sha256_hex(canonical_json([list(tools), list(shape)]))[:32]


def agreed(own: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Seen]]:
    for place, seen in own.items():
        if seen is None:
            continue
        value, passes = seen
        held = [each.get(place) for each in every]
        same = all(each is seen or (each is not None and _equal(each[0], value)) for each in held)
        yield place, Seen(value, sum(each[1] for each in held if each) if same else passes)


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and canonical_json(one) == canonical_json(other)


def path_of(row: Row) -> FastPath:
    key, marks, shape, state, reason, *counts = row
    return FastPath(key, _marks(marks), tuple(json.loads(shape)), State(state), reason, *counts)


@lru_cache(maxsize=1024)  # many paths have the same executors
def _marks(text: str) -> tuple[Mark, ...]:
    return tuple(Mark(*each) for each in json.loads(text))


def marks_text(marks: Sequence[Mark]) -> str:
    return canonical_json([[mark.name, mark.version, mark.signature] for mark in marks]).decode()


def blob(vector: "Vector") -> bytes:
    return bytes(vector.astype("<f4").tobytes())
