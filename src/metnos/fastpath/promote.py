"""What fast paths are worth: sequences that deserve an executor of their own, and what was saved.

Rules: a sequence is ready when it was used so often, by planners and by itself, and is offered once: whoever records
the wish marks it. Its name is the last one's verb and the first one's object, and must pass the vocabulary; where it
does not, nothing is offered. Savings are sums of events, so they can be explained. Does not make anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from metnos.fastpath.log import Event, Log
from metnos.fastpath.records import FastPath, State
from metnos.fastpath.shape import takes

USES = 50  # seed 001: the threshold at which a pipeline is presented to synt
_EVIDENCE = 10  # turns that are named; the rest is a number


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A sequence that deserves an executor of its own, as it would be wished for."""

    path: str
    name: str
    source: str  # the executor that it begins with
    source_version: str
    signature: Mapping[str, Any]  # summary, inputs, outputs, errors, pipeline
    uses: int
    turns: tuple[str, ...]  # the newest that speak for it
    saved_ms: float
    saved_usd: float


@dataclass(frozen=True, slots=True)
class Saved:
    """What one path did on one day. Days are in UTC."""

    day: date
    path: str
    hits: int
    wrong: int
    ms: float
    usd: float


def ready(log: Log, valid: Callable[[str], bool], uses: int = USES) -> list[Pipeline]:
    """The sequences that were used often enough and were not offered yet, the most used first."""
    offered = {path for (path,) in log.db.query("SELECT DISTINCT path FROM path_events WHERE kind = 'offered'")}
    found = [
        _pipeline(log, path, name)
        for path in log.paths()
        if len(path.marks) > 1 and path.state in (State.SHADOW, State.ACTIVE) and path.passes + path.hits >= uses
        if path.id not in offered and valid(name := wished_name(path.tools))
    ]
    return sorted(found, key=lambda each: (-each.uses, each.path))


def wished_name(tools: Sequence[str]) -> str:
    """*get_urls* and then *describe_entries* is *describe_urls*."""
    return f"{tools[-1].partition('_')[0]}_{tools[0].partition('_')[2]}"


def offered(log: Log, pipeline: Pipeline, ts: datetime) -> bool:
    """Mark that a pipeline was wished for; says whether that is new."""
    return log.note(pipeline.path, "", ts, "offered", reason=pipeline.name)


def offers(log: Log) -> dict[str, FastPath]:
    """The sequences that were wished for as one executor, by its name; of several the one that is used most."""
    paths = {path.id: path for path in log.paths()}
    found: dict[str, FastPath] = {}
    for name, key in log.db.query("SELECT reason, path FROM path_events WHERE kind = 'offered' ORDER BY id"):
        path = paths.get(key)
        if path is not None and (name not in found or _uses(path) > _uses(found[name])):
            found[name] = path
    return found


def _uses(path: FastPath) -> int:
    return path.passes + path.hits


def savings(logs: Sequence[Log], since: datetime | None = None) -> list[Saved]:
    """Hits, wrong hits, time and money saved, by day and path; the oldest first."""
    sums: dict[tuple[date, str], list[float]] = {}
    for event in (each for log in logs for each in log.events(since=since)):
        if event.kind in ("hit", "wrong"):
            held = sums.setdefault((event.ts.date(), event.path), [0, 0, 0.0, 0.0])
            for place, value in enumerate(_worth(event)):
                held[place] += value
    return [Saved(*key, int(hits), int(wrong), ms, usd) for key, (hits, wrong, ms, usd) in sorted(sums.items())]


def _worth(event: Event) -> tuple[float, float, float, float]:
    if event.kind == "wrong":
        return 0, 1, 0.0, 0.0
    return 1, 0, event.saved_ms or 0.0, event.saved_usd or 0.0


def _pipeline(log: Log, path: FastPath, name: str) -> Pipeline:
    events = [event for event in log.events(path.id) if event.kind in ("pass", "hit")]
    verb, _, thing = name.partition("_")
    signature = {
        "summary": f"{verb} {thing.replace('_', ' ')} in one step: {', then '.join(path.tools)}",
        "inputs": list(takes(path.shape)),
        "outputs": ["entries"],
        "errors": [],
        # Names only: a shape may hold words of requests, and is where it can be forgotten.
        "pipeline": [mark.name for mark in path.marks],
        "path": path.id,
    }
    return Pipeline(
        path=path.id,
        name=name,
        source=path.marks[0].name,
        source_version=path.marks[0].version,
        signature=signature,
        uses=path.passes + path.hits,
        turns=tuple(event.turn for event in events[-_EVIDENCE:]),
        saved_ms=sum(event.saved_ms or 0.0 for event in events),
        saved_usd=sum(event.saved_usd or 0.0 for event in events),
    )
