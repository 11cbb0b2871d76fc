"""A memory as lines of JSON: what each kind of line holds, and reading it back with nothing taken on trust. Pure.

Rules: what is read is what was written; what lacks a field, has one too many, or a value that cannot be, is refused
whole. Vectors are float32, little-endian, in base64.
"""

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from metnos.core.canon import Json, canonical_json
from metnos.core.clock import from_text, to_text
from metnos.core.embedding import Space
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict
from metnos.grimoire.fact import Decay, Fact, Kind, Standing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_TIMES = frozenset(("ts", "used_at", "created", "reinforced", "applied", "valid_from", "valid_until", "confirm_by"))
_ENUMS: Mapping[str, type[StrEnum]] = {
    "scope": Scope, "verdict": Verdict, "provenance": Provenance, "decay": Decay, "standing": Standing,
}  # fmt: skip
_SHARES = frozenset(("confidence", "quality", "curiosity", "importance"))
_LISTS = frozenset(("tags", "sources", "contradicts"))
_OBJECTS = frozenset(("payload", "data"))
_COUNTS = frozenset(("replays", "used", "episode_count", "generation", "shown", "helped", "harmed", "low_cycles"))
_FLAGS = frozenset(("pinned", "bloodstain"))
_OPTIONAL = frozenset(("importance", "used_at", "valid_from", "valid_until", "confirm_by"))
_LONGEST_ID = 200


def encoded(kind: str, value: Json) -> bytes:
    """One line."""
    return canonical_json({kind: value}) + b"\n"


def decoded(line: bytes) -> tuple[str, Any]:
    """The kind and the value of a line. Raises ``ValueError``."""
    try:
        found = json.loads(line, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("a value without end") from error
    if not isinstance(found, dict) or len(found) != 1:
        raise ValueError("no line of a memory")
    ((kind, value),) = found.items()
    return kind, value


def episode_out(episode: Episode) -> dict[str, Json]:
    return {each.name: _out(getattr(episode, each.name)) for each in fields(Episode) if each.name != "seq"}


def episode_in(value: Any) -> Episode:
    return Episode(**_fields(value, {each.name for each in fields(Episode)} - {"seq"}))


def fact_out(fact: Fact) -> dict[str, Json]:
    return {each.name: _out(getattr(fact, each.name)) for each in fields(Fact)}


def fact_in(value: Any) -> Fact:
    given = _fields(value, {each.name for each in fields(Fact)})
    return Fact(**given | {"kind": Kind(given["kind"])})


def vector_out(vector: "Vector") -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def vector_in(text: Any, space: Space | None) -> "Vector":
    import numpy as np

    if space is None or not isinstance(text, str):
        raise ValueError("a vector without a space")
    found: Vector = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    if found.shape != (space.dim,) or not math.isclose(float(np.linalg.norm(found)), 1.0, abs_tol=0.02):
        raise ValueError("no vector of its space")
    return found


def space_out(space: Space | None) -> Json:
    return None if space is None else {each.name: getattr(space, each.name) for each in fields(Space)}


def space_in(value: Any) -> Space | None:
    if value is None:
        return None
    space = Space(**{name: value[name] for name in ("model", "version", "preprocess_hash", "dim")})
    if type(space.dim) is not int or not 0 < space.dim <= 65536 or len(value) != len(fields(Space)):
        raise ValueError("no space")
    return space


def text_in(value: Any, most: int = 4_000_000) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("no text")
    value.encode()  # half a character is none
    return value


def _out(value: Any) -> Json:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Pad):
        return [value.pleasure, value.arousal, value.dominance]
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple):
        return [_out(each) for each in value]
    plain: Json = value
    return plain


def _fields(value: Any, names: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != names:
        raise ValueError("other fields than there should be")
    found = {name: _in(name, each) for name, each in value.items()}
    if not 0 < len(found["id"]) <= _LONGEST_ID:
        raise ValueError("no id")
    return found


def _in(name: str, value: Any) -> Any:
    """A field's value, as what a field of that name holds."""
    if value is None and name in _OPTIONAL:
        return None
    for names, read in _READ:
        if name in names:
            return read(value)
    return _ENUMS[name](value) if name in _ENUMS else text_in(value)


def _moment(value: Any) -> datetime:
    return from_text(text_in(value))


def _share(value: Any) -> float:
    return _number(value, 0.0, 1.0)


def _pad(value: Any) -> Pad:
    return Pad(*(_number(each, -1.0, 1.0) for each in value))


def _list(value: Any) -> tuple[str, ...]:
    return tuple(text_in(each) for each in _of(list, value))


def _object(value: Any) -> Any:
    return _of(dict, value)


def _flag(value: Any) -> Any:
    return _of(bool, value)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise ValueError("no count")
    return value


def _of(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"no {kind.__name__}")
    return value


def _number(value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError("no number that can be")
    return float(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


_READ: tuple[tuple[frozenset[str], Callable[[Any], Any]], ...] = (
    (_TIMES, _moment),
    (frozenset(("pad",)), _pad),
    (_SHARES, _share),
    (_LISTS, _list),
    (_OBJECTS, _object),
    (_COUNTS, _count),
    (_FLAGS, _flag),
)
