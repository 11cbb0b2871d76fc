"""The records of a testament as JSON, and reading them back with nothing taken on trust. Pure.

Rules: what is read is what was written; what lacks a field, has one too many, or a value that cannot be, raises
``ValueError`` with what it is about, never with the text itself. Numbers are finite and within their bounds, texts have
a length, ids are told apart, links lead to entries that are there, and nobody died before being born.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from metnos.core.canon import Json, canonical_json
from metnos.core.clock import from_text, to_text
from metnos.executors import vocabulary
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Kind
from metnos.grimoire.facts import RELATIONS
from metnos.life.cause import Cause
from metnos.life.testament import (
    MOST_ANCESTORS,
    MOST_DEFAULTS,
    MOST_ENTRIES,
    MOST_EPISODES,
    MOST_LINKS,
    MOST_MNESTS,
    Ancestor,
    Bone,
    Category,
    Entry,
    Habit,
    Left,
    Link,
    Testament,
)

TEXT, NAME, LINE = 4000, 300, 400  # characters of an entry, of a name, of a line of the reflection
DATA = 8192  # bytes of an entry's data
DEEP = 8
LARGEST = 1e300  # of a number: beyond it sums and roundings fail, in whatever life comes across it
LINES = 12  # of a category
GENERATIONS = 10_000
COUNT = 1 << 53
_ID = re.compile(r"[0-9A-Za-z_.:-]{1,80}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_WORD = re.compile(r"[a-z0-9_. -]{1,80}")
BODY = ("entries", "links", "episodes", "bones")

T = TypeVar("T")


class Body(Protocol):
    """What has the four parts of the second line: a testament, or what was gathered for one."""

    @property
    def entries(self) -> Sequence[Entry]: ...

    @property
    def links(self) -> Sequence[Link]: ...

    @property
    def episodes(self) -> Sequence[Left]: ...

    @property
    def bones(self) -> Sequence[Bone]: ...


# -- out


def core_out(testament: Testament) -> dict[str, Json]:
    named = (each.name for each in fields(Testament) if each.name not in BODY)
    return {name: _out(getattr(testament, name)) for name in named}


def plain_out(record: Entry | Link | Left | Bone | Ancestor | Habit) -> dict[str, Json]:
    return {each.name: _out(getattr(record, each.name)) for each in fields(record)}


def _out(value: Any) -> Json:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Pad):
        return [value.pleasure, value.arousal, value.dominance]
    if isinstance(value, Ancestor | Habit):
        return plain_out(value)
    if isinstance(value, tuple | list):
        return [_out(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _out(each) for name, each in value.items()}
    if isinstance(value, StrEnum):
        return str(value)
    plain: Json = value
    return plain


# -- in


def testament_in(core: Any, body: Mapping[str, Any]) -> Testament:
    """The whole of it. Raises ``ValueError``."""
    made = Testament(**_fields("core", core, _CORE), **body_in(body))
    _check_whole(made)
    return made


def body_out(record: Body) -> dict[str, Json]:
    """Entries, links, episodes and bones."""
    return {name: [plain_out(each) for each in getattr(record, name)] for name in BODY}


def body_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same again, as records. Raises ``ValueError``."""
    return {
        "entries": tuple(_record(Entry, _ENTRY, each) for each in _listed(body["entries"], MOST_ENTRIES, "entries")),
        "links": tuple(_record(Link, _LINK, each) for each in _listed(body["links"], MOST_LINKS, "links")),
        "episodes": tuple(_record(Left, _LEFT, each) for each in _listed(body["episodes"], MOST_EPISODES, "episodes")),
        "bones": tuple(_record(Bone, _BONE, each) for each in _listed(body["bones"], MOST_MNESTS, "bones")),
    }


def _check_whole(made: Testament) -> None:
    ids = {each.id for each in made.entries}
    if len(ids) < len(made.entries) or len({each.id for each in made.episodes}) < len(made.episodes):
        raise ValueError("two of one id")
    pairs = {(each.src, each.dst, each.relation) for each in made.links}
    if len(pairs) < len(made.links) or any(a == b or a not in ids or b not in ids for a, b, _ in pairs):
        raise ValueError("a link that leads nowhere, or twice")
    if len({(each.src, each.dst) for each in made.bones}) < len(made.bones):
        raise ValueError("two bones of one passing")
    if made.died < made.born:
        raise ValueError("a death before the birth")
    if any(each.generation > made.generation or each.held > made.generation + 1 for each in made.entries):
        raise ValueError("an entry that is older than its line")
    before = [each.generation for each in made.ancestors]
    if before != list(range(made.generation - 1, made.generation - 1 - len(before), -1)):
        raise ValueError("ancestors out of order")
    if len(before) != min(made.generation, MOST_ANCESTORS):
        raise ValueError("ancestors that are missing")
    if len({each.setting for each in made.habits}) < len(made.habits):
        raise ValueError("two values of one setting")
    if any(each.held > made.generation + 1 for each in made.habits):
        raise ValueError("a habit that is older than its line")


def _record(kind: Callable[..., T], readers: Mapping[str, Callable[[Any], Any]], value: Any) -> T:
    name = getattr(kind, "__name__", "record").casefold()
    return kind(**_fields(name, value, readers))


def _fields(what: str, value: Any, readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(readers):
        raise ValueError(f"{what}: other fields than there should be")
    found = {}
    for name, reader in readers.items():
        try:
            found[name] = reader(value[name])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise ValueError(f"{what}, {name}: {error}") from error
    return found


def _listed(value: Any, most: int, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what}: no list")
    if len(value) > most:
        raise ValueError(f"{what}: more than {most}")
    return value


def _text(most: int) -> Callable[[Any], str]:
    def reader(value: Any) -> str:
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"no text of at most {most} characters")
        return value

    return reader


def _said(most: int) -> Callable[[Any], str]:
    def reader(value: Any) -> str:
        text = _text(most)(value)
        if not text.strip():
            raise ValueError("nothing is said")
        return text

    return reader


def _shaped(shape: re.Pattern[str], what: str) -> Callable[[Any], str]:
    def reader(value: Any) -> str:
        if not isinstance(value, str) or shape.fullmatch(value) is None:
            raise ValueError(f"no {what}")
        return value

    return reader


def _one_of(kind: type[StrEnum]) -> Callable[[Any], Any]:
    def reader(value: Any) -> Any:
        if not isinstance(value, str) or value not in {str(each) for each in kind}:
            raise ValueError("a word that is not known here")
        return kind(value)

    return reader


def _number(least: float, most: float) -> Callable[[Any], float]:
    def reader(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"no number from {least:g} to {most:g}")
        return float(value)

    return reader


def _whole(most: int, least: int = 0) -> Callable[[Any], int]:
    def reader(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"no count from {least} to {most}")
        return value

    return reader


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _moment(value: Any) -> datetime:
    moment = from_text(_text(40)(value))
    if to_text(moment) != value:
        raise ValueError("no time as Metnos writes it")
    return moment


def _pad(value: Any) -> Pad:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("no affect")
    return Pad(*(_number(-1.0, 1.0)(each) for each in value))


def _tags(value: Any) -> tuple[str, ...]:
    return tuple(_said(NAME)(each) for each in _listed(value, 32, "tags"))


def _data(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not is_data(value):
        raise ValueError(f"no data of at most {DATA} bytes, or a number in it that means nothing")
    return value


def is_data(value: dict[str, Any]) -> bool:
    """Whether an entry can have it: neither too deep nor too large, and with numbers that can be reckoned with."""
    # The depth first: whatever else looks at all of it calls itself for each level.
    return (
        _depth(value) <= DEEP and len(canonical_json(value)) <= DATA and all(abs(n) < LARGEST for n in _numbers(value))
    )


def _numbers(value: Any) -> Iterator[int | float]:
    if isinstance(value, int | float):
        yield value
    for each in _parts(value):
        yield from _numbers(each)


def _depth(value: Any) -> int:
    """How many levels it has; no more than one too many are counted, so that there is an end to what has none."""
    deep, level = 0, [value]
    while deep <= DEEP and (level := [each for each in level if isinstance(each, dict | list | tuple)]):
        deep += 1
        level = [part for each in level for part in _parts(each)]
    return deep


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()


def _executor(value: Any) -> str:
    if not isinstance(value, str) or not vocabulary.is_name(value):
        raise ValueError("no name of an executor")
    return value


def _relation(value: Any) -> str:
    if value not in RELATIONS:
        raise ValueError("no relation")
    return str(value)


def _reflection(value: Any) -> Mapping[Category, tuple[str, ...]]:
    if not isinstance(value, dict) or set(value) != {str(each) for each in Category}:
        raise ValueError("not the nine categories")
    return {each: tuple(_said(LINE)(line) for line in _listed(value[each], LINES, each)) for each in Category}


def _counted(value: Any) -> Mapping[str, int]:
    if not isinstance(value, dict) or len(value) > 32:
        raise ValueError("no counts")
    return {_shaped(_WORD, "name of a count")(name): _whole(COUNT)(each) for name, each in value.items()}


def _setting(value: Any) -> str | int | float | bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and math.isfinite(value):
        return value
    return _text(NAME)(value)


_ENTRY: Mapping[str, Callable[[Any], Any]] = {
    "id": _shaped(_ID, "id"),
    "kind": _one_of(Kind),
    "text": _said(TEXT),
    "domain": _text(NAME),
    "confidence": _number(0.0, 1.0),
    "quality": _number(0.0, 1.0),
    "decay": _one_of(Decay),
    "provenance": _one_of(Provenance),
    "origin": _shaped(_DIGEST, "key"),
    "generation": _whole(GENERATIONS),
    "held": _whole(GENERATIONS + 1),
    "created": _moment,
    "subject": _text(TEXT),
    "value": _text(TEXT),
    "data": _data,
    "episode_count": _whole(COUNT),
    "helped": _whole(COUNT),
    "harmed": _whole(COUNT),
    "bloodstain": _flag,
    "pad": _pad,
    "tags": _tags,
    "of": _whole(COUNT, least=1),
}
_LINK: Mapping[str, Callable[[Any], Any]] = {
    "src": _shaped(_ID, "id"),
    "dst": _shaped(_ID, "id"),
    "relation": _relation,
    "weight": _number(0.0, 1e6),
}
_LEFT: Mapping[str, Callable[[Any], Any]] = {
    "id": _shaped(_ID, "id"),
    "ts": _moment,
    "text": _said(TEXT),
    "domain": _text(NAME),
    "curiosity": _number(0.0, 1.0),
    "importance": _number(0.0, 1.0),
    "pad": _pad,
    "bloodstain": _flag,
    "tags": _tags,
}
_BONE: Mapping[str, Callable[[Any], Any]] = {"src": _executor, "dst": _executor, "weight": _number(0.0, 1.0)}
_ANCESTOR: Mapping[str, Callable[[Any], Any]] = {
    "key": _shaped(_DIGEST, "key"),
    "testament": _shaped(_DIGEST, "digest"),
    "generation": _whole(GENERATIONS),
}
_HABIT: Mapping[str, Callable[[Any], Any]] = {
    "setting": _shaped(re.compile(r"[a-z_]{1,40}(\.[a-z_]{1,40}){1,3}"), "setting"),
    "value": _setting,
    "held": _whole(GENERATIONS + 1, least=1),
}
_CORE: Mapping[str, Callable[[Any], Any]] = {
    "id": _shaped(_ID, "id"),
    "born": _moment,
    "died": _moment,
    "cause": _one_of(Cause),
    "generation": _whole(GENERATIONS),
    "ticks": _whole(COUNT),
    "profile": _shaped(_WORD, "profile"),
    "reflection": _reflection,
    "reflected_by": _shaped(re.compile("extraction|model"), "way to reflect"),
    "lived": _counted,
    "ancestors": lambda value: tuple(
        _record(Ancestor, _ANCESTOR, each) for each in _listed(value, MOST_ANCESTORS, "ancestors")
    ),
    "habits": lambda value: tuple(_record(Habit, _HABIT, each) for each in _listed(value, MOST_DEFAULTS, "habits")),
}
