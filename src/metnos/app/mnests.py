"""Mnests for whoever shows them: as plain data, in a month of the past, and all of them as a graph on a map.

Rules: a graph is read with one query. The map is that of the whole living graph, whatever is asked for, so that a
filter or an earlier month never moves what stands on it; it is kept as long as the same things are joined. A month is
unpacked and read once and then kept, since it never changes; what was wished for in words is told of the living graph
only, because a month may hold words that were forgotten since.
"""

import contextlib
import functools
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from metnos.app import ageing
from metnos.core.clock import to_text
from metnos.core.errors import MetnosError
from metnos.executors import index
from metnos.mnestome import lists
from metnos.mnestome.export import REQUEST
from metnos.mnestome.lists import Change
from metnos.mnestome.mnest import COLUMNS, Mnest, of_row
from metnos.mnestome.places import Pair, Point, extended, placed
from metnos.mnestome.rules import State
from metnos.store.db import Database

if TYPE_CHECKING:
    from metnos.app.house import App

SHOWN = (State.ACTIVE, State.DECAYING, State.SEED, State.PROTO)  # of a graph, if nothing else is asked for
WISHED, GONE = "wished", "gone"  # of a node that is no executor: not yet, or no more
_MOST_MONTHS, _MOST_MAPS, _MOST_PURPOSES = 3, 4, 2000  # that are kept; who moves through time looks back and forth


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of the graph. Without a ``month`` it is the living one."""

    states: tuple[State, ...] = ()
    tag: str = ""
    min_weight: float = 0.0
    since: datetime | None = None  # used at or after
    month: str = ""
    limit: int = 5000


@dataclass(frozen=True, slots=True)
class Month:
    """A month as it was: all its mnests, weighed at the moment of the snapshot."""

    as_of: datetime
    mnests: tuple[Mnest, ...]


_reading = threading.Lock()  # of two who want one month, one unpacks it
_months: OrderedDict[tuple[str, int, int, int], Month] = OrderedDict()
_purposes: dict[tuple[str, str, str], str] = {}


# -- as data


def data(each: Mnest, now: datetime) -> dict[str, Any]:
    """A mnest for JSON."""
    return {
        "id": each.id,
        "from": each.src,
        "from_version": each.src_version,
        "to": each.dst,
        "to_version": each.dst_version,
        "weight": round(each.at(now), 4),
        "uses": uses(each),
        "first": to_text(each.first),
        "last": to_text(each.used),
        "decay_lambda": each.decay_lambda,
        "state": each.state,
        "tags": list(each.tags),
        "signature": dict(each.signature) or None,
    }


def uses(each: Mnest) -> int:
    """How often it was seen. A seed was not: its row begins with one because every row does."""
    return 0 if each.state == State.SEED else each.uses


def change(each: Change) -> dict[str, Any]:
    """One thing that happened to a mnest, for JSON."""
    event = each.event
    return {
        "ts": to_text(event.ts),
        "kind": event.kind,
        "delta": event.delta,
        "weight": round(each.weight, 6),
        "new_state": each.new_state,
        "decay_lambda": event.decay_lambda,
        "reason": event.reason,
        "turn": each.turn,
    }


# -- a month


@contextlib.contextmanager
def opened(app: "App", month: str | None) -> Iterator[tuple[Database, datetime]]:
    """The mnestome of a month, or the living one, and the moment that it is looked at."""
    if month is None:
        yield app.catalog.db, app.clock.now()
        return
    with ageing.snapshots(app).open(month) as db:
        mnests = lists.listing(db, app.clock.now()) + lists.listing(db, app.clock.now(), state=State.PROTO)
        yield db, as_of(mnests, month)


def as_of(mnests: Sequence[Mnest], month: str) -> datetime:
    """When a snapshot was taken: the ager had weighed everything just before."""
    return max((each.weighed for each in mnests), default=datetime.fromisoformat(f"{month}-01T00:00:00+00:00"))


def months(app: "App") -> list[str]:
    """The months that there are, the oldest first."""
    return [each.month for each in ageing.snapshots(app).all()]


def month_of(app: "App", month: str) -> Month:
    """A month, unpacked no more than once. Raises where there is none."""
    path = ageing.snapshots(app).find(month).path
    status = path.stat()
    key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
    with _reading:
        if key not in _months:
            with opened(app, month) as (db, then):
                wordless = tuple(replace(each, signature={}) for each in _read(db, (*State,)))
            _months[key] = Month(then, wordless)
        _months.move_to_end(key)
        while len(_months) > _MOST_MONTHS:
            _months.popitem(last=False)
        return _months[key]


# -- the graph


def graph(app: "App", wanted: Wanted) -> dict[str, Any]:
    """Nodes with their places, mnests with the heaviest first, the months that there are, and how many would fit."""
    living = _read(app.catalog.db, (*SHOWN, *wanted.states))
    known = _map(*_joined([each for each in living if each.state in SHOWN]))
    month = month_of(app, wanted.month) if wanted.month else Month(app.clock.now(), tuple(living))
    now = month.as_of
    fitting = [(each.at(now), each) for each in month.mnests if _fits(each, wanted)]
    heavy = [pair for pair in fitting if pair[0] >= wanted.min_weight]
    heavy.sort(key=lambda pair: (-pair[0], pair[1].id))
    shown = heavy[: wanted.limit]
    names, pairs = _joined([each for _, each in shown])
    places = extended(known, names, pairs)
    return {
        "as_of": to_text(now),
        "nodes": _nodes(app, shown, places),
        "mnests": [_mnest(each, weight) for weight, each in shown],
        "tags": sorted({tag for _, each in shown for tag in each.tags}),
        "months": months(app),
        "total": len(heavy),
    }


def _read(db: Database, states: Sequence[State]) -> list[Mnest]:
    chosen = sorted(set(states))
    marks = ", ".join("?" * len(chosen))
    return [of_row(row) for row in db.query(f"SELECT {COLUMNS} FROM mnests WHERE state IN ({marks})", chosen)]  # noqa: S608


def _joined(mnests: Sequence[Mnest]) -> tuple[tuple[str, ...], tuple[Pair, ...]]:
    """All names, and what is joined, each once and in order."""
    pairs = {(min(each.src, each.dst), max(each.src, each.dst)) for each in mnests}
    return tuple(sorted({name for pair in pairs for name in pair})), tuple(sorted(pairs))


@functools.lru_cache(maxsize=_MOST_MAPS)
def _map(names: tuple[str, ...], pairs: tuple[Pair, ...]) -> dict[str, Point]:
    return placed(names, pairs)


def _fits(each: Mnest, wanted: Wanted) -> bool:
    return (
        each.state in (wanted.states or SHOWN)
        and (not wanted.tag or wanted.tag in each.tags)
        and (wanted.since is None or each.used >= wanted.since)
    )


def _mnest(each: Mnest, weight: float) -> dict[str, Any]:
    shown = {
        "id": each.id,
        "source": each.src,
        "target": each.dst,
        "state": each.state,
        "weight": round(weight, 4),
        "uses": uses(each),
        "last_used": to_text(each.used),
        "tags": each.tags,
        "proto": each.state is State.PROTO,
    }
    return shown | {"signature": dict(each.signature)} if each.signature else shown


def _nodes(app: "App", shown: Sequence[tuple[float, Mnest]], places: dict[str, Point]) -> list[dict[str, Any]]:
    traffic, passed = dict.fromkeys(places, 0.0), dict.fromkeys(places, 0)
    real: set[str] = set()
    for weight, each in shown:
        for name in {each.src, each.dst}:
            traffic[name] += weight
            passed[name] += uses(each)
        real |= {each.src} if each.state is State.PROTO else {each.src, each.dst}
    known = {entry.name: entry for entry in index.all_current(app.catalog.db)}
    found = []
    for name, (x, y) in places.items():
        entry = known.get(name)
        state = str(entry.state) if entry else REQUEST if name == REQUEST else GONE if name in real else WISHED
        purpose = _purpose(app, name, entry.digest) if entry else ""
        weighs = round(traffic[name], 4)
        found.append(
            {"name": name, "state": state, "purpose": purpose, "traffic": weighs, "uses": passed[name], "x": x, "y": y}
        )
    return found


def _purpose(app: "App", name: str, digest: str) -> str:
    """What it is for. A look at its folder costs some milliseconds, so it is taken once for each version."""
    key = (str(app.workspace.root), name, digest)
    if key not in _purposes:
        if len(_purposes) > _MOST_PURPOSES:
            _purposes.clear()
        try:
            executor = app.catalog.look(name).executor
        except MetnosError:
            return ""
        _purposes[key] = executor.manifest.purpose if executor else ""
    return _purposes[key]
