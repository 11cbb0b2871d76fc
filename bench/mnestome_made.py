"""A mnestome of any size, made up: as if executors had been used for most of a year.

Rules: how many passings lead from an executor and to it is heavy-tailed, and so is how often each was used. Every mnest
has a history by the rules of `metnos.mnestome.rules`: its birth, its uses, what the ager took on the last four Sundays
or so, its changes of state. Weights are what those events lead to. One in a hundred is a wish, two are superseded, a
day's worth of them long enough to leave. Events lie in the order of time, as in life.

Does not guarantee that any executor exists. Takes about 2 GB of memory for a million mnests and ten million events.
"""

import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metnos.app import tables
from metnos.mnestome.ager import NIGHTLY
from metnos.mnestome.proto import WISHED
from metnos.mnestome.record import PASSED, USED
from metnos.mnestome.rules import Kind, Rules, State
from metnos.store.db import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

RULES = Rules()
BEGUN = datetime(2026, 1, 5, 8, tzinfo=UTC)
NIGHT = datetime(2026, 11, 1, 3, tzinfo=UTC)  # when the ager last ran
ENDED = NIGHT + timedelta(hours=17)  # what is asked is asked then

_DAY = 86_400_000  # milliseconds, in which all times are here
_NIGHTS = tuple(NIGHT - timedelta(weeks=back) for back in (3, 2, 1, 0))
_TAIL = 0.6  # of the Zipf law by which executors are busy
_VERSIONS = 0.02  # of all mnests: a second version of a pair that is there
_WISHES, _PAST = 0.01, 0.02
_USES = 400  # of one mnest at most
_CHUNK = 200_000  # rows that exist as Python's objects at a time
_BIRTH, _USE, _WEIGHED, _LEFT = range(4)  # what happens to a mnest
# Plain text, because binding anything else costs SQLite's module a microsecond.
_STATES = tuple(each.value for each in (State.ACTIVE, State.DECAYING, State.PROTO, State.SUPERSEDED))
_ACTIVE, _DECAYING, _PROTO, _SUPERSEDED = range(4)
_REINFORCE, _FADE, _CHANGE = Kind.REINFORCE.value, Kind.DECAY.value, Kind.STATE_CHANGE.value
_CROCKFORD = np.frombuffer(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Made:
    """What was made. ``degrees`` are the least, the median and the greatest number of mnests from one executor."""

    mnests: int
    events: int
    executors: int
    degrees: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Told:
    """Everything that happened, by mnest and time; ``becomes`` is the state after it, or -1 for the one before."""

    mnest: "Numbers"
    ts: "Numbers"
    what: "Numbers"
    delta: "Numbers"
    becomes: "Numbers"


@dataclass(frozen=True, slots=True)
class _Now:
    """What came of it, by mnest."""

    weight: "Numbers"
    weighed: "Numbers"
    used: "Numbers"
    state: "Numbers"


def make(path: Path, mnests: int, seed: int = 1) -> Made:
    """Make a mnestome of so many mnests, and about ten times as many events."""
    random = np.random.default_rng(seed)
    executors = round(10 * math.sqrt(mnests))
    src, dst, second = _pairs(random, mnests, executors)
    born = np.sort(random.integers(_ms(BEGUN), _ms(_NIGHTS[0]) - _DAY, mnests))
    begins = random.choice([_ACTIVE, _PROTO, _SUPERSEDED], mnests, p=[1 - _WISHES - _PAST, _WISHES, _PAST])
    told, now = _lived(*_happened(random, born, begins == _SUPERSEDED), np.where(begins == _PROTO, _PROTO, _ACTIVE))
    ids = np.array(_ulids(random, born), dtype=object)
    Database(path, tables.of_mnestome()).close()
    # Nothing is lost if this fails: it is made again.
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-500000", "ignore_check_constraints=ON"):
            connection.execute(f"PRAGMA {pragma}")
        laid_aside = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name IN ('mnests', 'events')"
            " AND sql IS NOT NULL"
        ).fetchall()
        for name, _ in laid_aside:
            connection.execute(f"DROP INDEX {name}")
        connection.execute("BEGIN")
        uses = np.bincount(told.mnest[told.what <= _USE], minlength=mnests)
        for rows in _mnests(ids, (src, dst, second), born, uses, now):
            connection.executemany(f"INSERT INTO mnests VALUES ({', '.join('?' * 15)})", rows)
        events = 0
        for rows in _events(ids, told, begins == _PROTO):
            connection.executemany(
                "INSERT INTO events (mnest_id, ts, kind, delta, new_state, reason, turn, decay_lambda)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            events += len(rows)
        for _, sql in laid_aside:
            connection.execute(sql)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=WAL")
    degrees = np.bincount(src, minlength=executors)
    return Made(mnests, events, executors, (int(degrees.min()), int(np.median(degrees)), int(degrees.max())))


# -- who feeds whom


def _pairs(random: np.random.Generator, mnests: int, executors: int) -> "tuple[Numbers, Numbers, Numbers]":
    """Source, destination, and whether it is the destination's second version."""
    share = np.cumsum(np.arange(1, executors + 1) ** -_TAIL)
    others = random.permutation(executors)  # who is much fed need not feed much
    again = round(mnests * _VERSIONS)
    found = np.empty(0, dtype=np.int64)
    while len(found) < mnests - again:
        src, dst = (np.searchsorted(share, random.random(mnests) * share[-1]) for _ in range(2))
        found = np.unique(np.concatenate([found, src * executors + others[dst]]))
        found = found[found // executors != found % executors]
    found = random.choice(found, mnests - again, replace=False)
    found = np.concatenate([found, random.choice(found, again, replace=False)])
    order = random.permutation(mnests)
    return (found // executors)[order], (found % executors)[order], (np.arange(mnests) >= mnests - again)[order]


def _name(number: int) -> str:
    return f"read_entries_{number:05d}"


# -- what happened


def _happened(random: np.random.Generator, born: "Numbers", leaves: "Numbers") -> "tuple[Numbers, Numbers, Numbers]":
    """Of which mnest, when and what; by mnest and time."""
    count, end = len(born), _ms(ENDED)
    left = np.maximum(born + _DAY, random.integers(end - 91 * _DAY, end, count))
    lasts = born + (random.exponential(180.0, count) * _DAY).astype(np.int64) + _DAY
    last = np.minimum(lasts, np.where(leaves, left, end))
    uses = np.minimum(random.pareto(1.5, count) * 2.25 + 0.5, _USES).astype(np.int64)
    used = np.repeat(np.arange(count), uses)
    when = born[used] + 1 + (random.random(len(used)) * (last - born - 1)[used]).astype(np.int64)
    nights = np.array([_ms(night) for night in _NIGHTS])
    parts = [
        (np.arange(count), born, _BIRTH),
        (used, when, _USE),
        (np.repeat(np.arange(count), len(nights)), np.tile(nights, count), _WEIGHED),
        (np.flatnonzero(leaves), left[leaves], _LEFT),
    ]
    mnest = np.concatenate([part[0] for part in parts])
    ts = np.concatenate([part[1] for part in parts])
    what = np.concatenate([np.full(len(part[0]), part[2], dtype=np.int8) for part in parts])
    order = np.lexsort((ts, mnest))
    return mnest[order], ts[order], what[order]


def _lived(mnest: "Numbers", ts: "Numbers", what: "Numbers", state: "Numbers") -> "tuple[_Told, _Now]":
    """Let it happen: the first thing to every mnest, then the second, and so on."""
    begin = np.searchsorted(mnest, np.arange(len(state) + 1))
    many = np.diff(begin)
    weight, weighed, used = np.zeros(len(state)), ts[begin[:-1]].copy(), ts[begin[:-1]].copy()
    delta, becomes = np.empty(len(mnest)), np.full(len(mnest), -1, dtype=np.int8)
    for step in range(int(many.max())):
        who = np.flatnonzero(many > step)
        at = begin[who] + step
        now, event, before = ts[at], what[at], weight[who]
        faded = before * np.exp(-RULES.decay_lambda * (now - weighed[who]) / _DAY)
        added = np.select([event == _BIRTH, event == _USE], [RULES.birth, RULES.reinforcement], 0.0)
        after = np.where(event == _LEFT, before, np.minimum(1.0, faded + added))
        delta[at] = np.where(event == _WEIGHED, after - before, added)
        fades = (event == _WEIGHED) & (state[who] == _ACTIVE) & (after < RULES.decaying)
        returns = (event == _USE) & (state[who] == _DECAYING)
        new = np.select([event == _LEFT, fades, returns], [_SUPERSEDED, _DECAYING, _ACTIVE], -1)
        becomes[at] = new
        state[who] = np.where(new < 0, state[who], new)
        weight[who] = after
        weighed[who] = np.where(event == _LEFT, weighed[who], now)
        used[who] = np.where(event == _USE, now, used[who])
    return _Told(mnest, ts, what, delta, becomes), _Now(weight, weighed, used, state)


# -- rows


def _mnests(
    ids: "Numbers", ends: "tuple[Numbers, Numbers, Numbers]", born: "Numbers", uses: "Numbers", now: _Now
) -> "Iterator[list[tuple[Any, ...]]]":
    for begin in range(0, len(ids), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        first, used, weighed = (_texts(times[part]) for times in (born, now.used, now.weighed))
        src, dst, second = (each[part].tolist() for each in ends)
        plain = zip(
            *(ids[part].tolist(), src, dst, second, now.weight[part].tolist(), uses[part].tolist()),
            *(first, used, weighed, now.state[part].tolist()),
            strict=True,
        )
        yield [_mnest(begin + place, *row) for place, row in enumerate(plain)]


def _mnest(
    number: int, key: str, src: int, dst: int, second: bool, weight: float, uses: int, *rest: Any
) -> tuple[Any, ...]:
    first, used, weighed, state = rest
    known = (weight, uses, first, used, weighed, RULES.decay_lambda, _STATES[state], "[]")
    if state == _PROTO:
        return key, _name(src), "1.0.0", f"wish_{number}", None, *known, '{"summary":"a wish"}', key
    return key, _name(src), "1.0.0", _name(dst), "1.1.0" if second else "1.0.0", *known, None, None


def _events(ids: "Numbers", told: _Told, wishes: "Numbers") -> "Iterator[list[tuple[Any, ...]]]":
    """In the order of time; a change of state right after what brought it about."""
    weighs, changes = np.flatnonzero(told.what != _LEFT), np.flatnonzero(told.becomes >= 0)
    codes = np.concatenate([weighs * 2, changes * 2 + 1])
    codes = codes[np.lexsort((codes, told.ts[codes >> 1]))]
    kinds = np.array([_REINFORCE, _REINFORCE, _FADE, _CHANGE], dtype=object)
    reasons = np.array([PASSED, PASSED, NIGHTLY, "a newer version took its place"], dtype=object)
    changing = np.array(["", USED, f"its weight fell below {RULES.decaying:g}", reasons[_LEFT]], dtype=object)
    states = np.array([*_STATES, None], dtype=object)  # -1 is the last
    for begin in range(0, len(codes), _CHUNK):
        code = codes[begin : begin + _CHUNK]
        at, change = code >> 1, (code & 1).astype(bool)
        what, key = told.what[at], ids[told.mnest[at]]
        birth = (what == _BIRTH) & ~change
        wish = wishes[told.mnest[at]]
        new = states[np.where(birth, np.where(wish, _PROTO, _ACTIVE), np.where(change, told.becomes[at], -1))]
        reason = np.where(wish & (what <= _USE), WISHED, np.where(change, changing[what], reasons[what]))
        yield list(
            zip(
                *(key.tolist(), _texts(told.ts[at]), np.where(change, _CHANGE, kinds[what]).tolist()),
                *(_where(~change, told.delta[at]), new.tolist(), reason.tolist()),
                # A turn's id is as long as a mnest's, so that will do for one.
                *(_where(what <= _USE, key), _where(birth, np.full(len(at), RULES.decay_lambda))),
                strict=True,
            )
        )


def _where(there: "Numbers", values: "Numbers") -> list[Any]:
    """The values that are there, and nothing in the places of the others."""
    found = values.astype(object)
    found[~there] = None
    kept: list[Any] = found.tolist()
    return kept


def _texts(times: "Numbers") -> list[str]:
    """As `metnos.core.clock.to_text` writes them."""
    texts: list[str] = np.datetime_as_string(times.astype("datetime64[ms]"), unit="ms", timezone="UTC").tolist()
    return texts


def _ulids(random: np.random.Generator, times: "Numbers") -> Sequence[str]:
    digits = random.integers(0, 32, (len(times), 26))
    for place in range(10):
        digits[:, place] = times >> (5 * (9 - place)) & 31
    texts: list[str] = np.ascontiguousarray(_CROCKFORD[digits]).view("S26").ravel().astype("U26").tolist()
    return texts


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
