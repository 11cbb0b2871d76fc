"""What is kept of turns and for how long: pure rules, without I/O.

Numbers that no source document gives are chosen here, each with its reason.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.grimoire.trace import State, Trace

# One bad outweighs one good: what went wrong costs the owner the repair and some trust, what went right was asked for.
GOOD, BAD = 1.0, -2.0

ASKED, DAYS = 5, 3  # so often on so many days: a week's habit, and no single busy afternoon
WORKED = frozenset({State.DONE, State.PARTLY})
TARGETS = ("to", "target", "into")  # the arguments that say where something goes

TURNS = 50  # that one summary is about: more would say nothing about any
SUMMARY_CHARS = 4000
_MOST = 5  # executors, folders and requests that an extract names
_WORDS = 8  # of a request
_LINE = 200  # characters of what is proposed
_LOOKED_AT = 50  # values of one argument


@dataclass(frozen=True, slots=True)
class Age:
    """What decides whether a turn is kept whole. ``messages`` counts those it has."""

    id: str
    closed: datetime
    messages: int


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn of several with the same canonical form; ``good`` is the owner's last word on it, if there is one."""

    turn: str
    day: date
    targets: tuple[str, ...]
    good: bool | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that may belong into long memory. ``key`` tells it from every other; ``evidence`` are turns."""

    key: str
    kind: str  # `habit`: asked for again and again; `place`: and always to the same folder
    text: str
    evidence: tuple[str, ...]


def weight(good: bool | None) -> float:
    """What feedback counts for."""
    return 0.0 if good is None else GOOD if good else BAD


def beyond(turns: Sequence[Age], now: datetime, keep_days: int, keep_messages: int) -> list[str]:
    """Which of these turns, given the oldest first, are no longer kept whole."""
    oldest = now - timedelta(days=keep_days)
    found, newer = [], 0
    for turn in reversed(turns):
        newer += turn.messages
        if turn.closed < oldest or newer > keep_messages:
            found.append(turn.id)
    return found[::-1]


def extract(traces: Sequence[Trace]) -> str:
    """A summary without a language model: how many of what, where, and how requests began. For at least one turn."""
    days = sorted({trace.asked.date() for trace in traces})
    span = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
    states = Counter(str(trace.state) for trace in traces)
    executors = Counter(step.executor for trace in traces for step in trace.steps)
    places = Counter(folder for trace in traces for folder in folders(trace))
    begun = dict.fromkeys(" ".join(trace.text.split()[:_WORDS]) for trace in traces if trace.text.strip())
    parts = [
        f"{span}: {len(traces)} {'request' if len(traces) == 1 else 'requests'} ({_most(states)}).",
        f"Used: {_most(executors)}." if executors else "",
        f"Folders: {_most(places)}." if places else "",
        f"Asked: {'; '.join(_line(words) for words in list(begun)[:_MOST])}." if begun else "",
    ]
    return "\n".join(part for part in parts if part)[:SUMMARY_CHARS]


def folders(trace: Trace) -> list[str]:
    """The folders that a turn's steps were pointed at, each once."""
    found: dict[str, None] = {}
    for step in trace.steps:
        for value in _texts(step.args):
            if value.startswith("/"):
                path = PurePosixPath(value)
                found[str(path.parent if path.suffix else path)] = None
    return list(found)


def targets(steps: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Where steps put things, by their arguments; each once."""
    values = [args.get(name) for args in steps for name in TARGETS]
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str) and value.startswith("/")))


def promotions(canonical: str, asked: Sequence[Asked]) -> list[Proposal]:
    """What the turns with one canonical form show to be stable: a habit, and a place that it always goes to.

    Both were asked for often enough, on enough days, and the owner called none of them bad; for a place the owner
    called at least one good.
    """
    days = {each.day for each in asked}
    if not canonical or len(asked) < ASKED or len(days) < DAYS or any(each.good is False for each in asked):
        return []
    evidence = tuple(each.turn for each in asked)
    often = f"asked {len(asked)} times on {len(days)} days"
    found = [_proposal("habit", canonical, "", f"Often: {_line(canonical)} ({often}).", evidence)]
    places = {each.targets for each in asked}
    if len(places) == 1 and any(each.good for each in asked):
        (place,) = places
        if len(place) == 1:
            words = f"For requests like: {_line(canonical)}, the folder is {_line(place[0])} ({often})."
            found.append(_proposal("place", canonical, place[0], words, evidence))
    return found


def _proposal(kind: str, canonical: str, place: str, text: str, evidence: tuple[str, ...]) -> Proposal:
    return Proposal(sha256_hex(canonical_json([kind, canonical, place])), kind, text, evidence)


def _line(text: str) -> str:
    """One line in quotes: what is proposed for a prompt must not look like anything but a quotation."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text).replace('"', "'").split())
    return f'"{words if len(words) <= _LINE else words[: _LINE - 1] + "…"}"'


def _most(counted: Counter[str]) -> str:
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    more = len(ordered) - _MOST
    named = ", ".join(f"{name} {count}" for name, count in ordered[:_MOST])
    return named + (f" and {more} more" if more > 0 else "")


def _texts(args: Mapping[str, Any]) -> Iterable[str]:
    for value in args.values():
        for each in value[:_LOOKED_AT] if isinstance(value, list | tuple) else [value]:
            if isinstance(each, str):
                yield each
