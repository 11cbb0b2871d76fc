"""The graph of all mnests, read: who feeds whom, how strongly, and how that came to be.

Rules:

- Reads only. Weights are as of the moment asked for, though rows were weighed at different ones: a stored weight is
  never below the present one, so rows are read by stored weight, and reading stops when none that follows can be among
  the heaviest.
- An executor is known by its name here: of several versions the heaviest counts.
- What ``without`` names (executors that are disabled or in quarantine) is not there.

Does not guarantee that `walk` finds what only a lightweight edge of a busy executor leads to: its fan-out is bounded.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import from_text
from metnos.mnestome.lists import history
from metnos.mnestome.mnest import COLUMNS, LIVING, Mnest, of_row
from metnos.mnestome.past import Past
from metnos.mnestome.rules import LIVE, Kind, State, decayed
from metnos.store.db import Database, Transaction

FAN_OUT = 8  # edges followed from one executor
MOST = 256  # executors that one walk reaches
LEAST = 0.01  # of a path: below it is noise
CONTEXT_DEPTH = 2  # what is two passings away is still near
_PAGE = 4  # rows read beyond those wanted: most are weighed in the same night, so few more are needed

_OUTGOING = ("src_executor", "dst_executor")
_INCOMING = ("dst_executor", "src_executor")
_Edge = tuple[float, str, int]  # the weight now, negated for the order; the executor at the other end; the row


@dataclass(frozen=True, slots=True)
class Reached:
    """An executor that a walk came to. ``weight`` is the product of the weights along ``path``, the best there is."""

    name: str
    weight: float
    path: tuple[str, ...]  # from the start to it


# -- neighbours


def top_k_outgoing(
    db: Database, executor: str, k: int, now: datetime, without: Collection[str] = frozenset()
) -> list[Mnest]:
    """The ``k`` heaviest mnests that lead from an executor to others, each other executor once."""
    return _top(db, _OUTGOING, executor, k, now, without)


def top_k_incoming(
    db: Database, executor: str, k: int, now: datetime, without: Collection[str] = frozenset()
) -> list[Mnest]:
    """The ``k`` heaviest mnests that lead to an executor, each other executor once."""
    return _top(db, _INCOMING, executor, k, now, without)


def count_outgoing(db: Database, executor: str) -> int:
    """To how many other executors an executor leads."""
    return _count(db, _OUTGOING, executor)


def count_incoming(db: Database, executor: str) -> int:
    """How many other executors lead to an executor."""
    return _count(db, _INCOMING, executor)


def _count(db: Database, ends: tuple[str, str], executor: str) -> int:
    this, other = ends
    sql = f"SELECT count(DISTINCT {other}) FROM mnests WHERE {this} = ? AND {LIVING}"  # noqa: S608 -- our own words
    row = db.first(sql, (executor,))
    return int(row[0]) if row else 0


def _top(
    db: Database, ends: tuple[str, str], executor: str, k: int, now: datetime, without: Collection[str]
) -> list[Mnest]:
    with db.read() as tx:
        edges = _heaviest(tx, ends, executor, k, _Present(now), without)
        return _mnests(tx, [row for _, _, row in edges])


def top(db: Database, n: int, now: datetime, without: Collection[str] = frozenset()) -> list[Mnest]:
    """The ``n`` heaviest mnests of all."""
    present = _Present(now)
    with db.read() as tx:
        found = [each for state in LIVE for each in _heaviest_of(tx, state, n, present, without)]
        return _mnests(tx, [row for _, row in sorted(found, reverse=True)[:n]])


def _mnests(tx: Transaction, numbers: Sequence[int]) -> list[Mnest]:
    """The mnests of these rows, in the order given, by one statement."""
    sql = (
        f"SELECT rowid, {COLUMNS} FROM mnests"  # noqa: S608 -- our own words
        " WHERE rowid IN (SELECT value FROM json_each(?))"
    )
    found = {row[0]: of_row(row[1:]) for row in tx.query(sql, (json.dumps(numbers),))}
    return [found[number] for number in numbers]


class _Present:
    """Weights as they are at one moment. A night weighs most rows at once, so how much is left is reckoned rarely."""

    __slots__ = ("_left", "_now", "_rate", "_since")

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._since, self._rate, self._left = "", 0.0, 1.0

    def left(self, since: str, rate: float) -> float:
        """What is left of a weight that was right at ``since``."""
        if since != self._since or rate != self._rate:
            self._since, self._rate = since, rate
            self._left = decayed(1.0, from_text(since), self._now, rate)
        return self._left


def _heaviest(
    tx: Transaction, ends: tuple[str, str], executor: str, k: int, present: _Present, without: Collection[str]
) -> list[_Edge]:
    """The heaviest edges of one executor, by the name at their other end."""
    this, other = ends
    sql = (
        f"SELECT weight, ts_decayed, decay_lambda, {other}, rowid FROM mnests"  # noqa: S608 -- our own words
        f" WHERE {this} = ? AND {LIVING} ORDER BY weight DESC LIMIT ? OFFSET ?"
    )
    best: dict[str, _Edge] = {}
    seen, page = 0, k + _PAGE
    while k > 0:
        rows = tx.query(sql, (executor, page, seen))
        for stored, since, rate, name, number in rows:
            edge = (-stored * present.left(since, rate), name, number)
            if name not in without and (name not in best or edge < best[name]):
                best[name] = edge
        seen += len(rows)
        found = sorted(best.values())[:k]
        if len(rows) < page or (len(found) == k and rows[-1][0] <= -found[-1][0]):
            return found
        page *= 2
    return []


def _heaviest_of(
    tx: Transaction, state: State, n: int, present: _Present, without: Collection[str]
) -> list[tuple[float, int]]:
    """The heaviest mnests of one state: their weight and row."""
    sql = (
        "SELECT weight, ts_decayed, decay_lambda, src_executor, dst_executor, rowid FROM mnests"
        " WHERE state = ? ORDER BY weight DESC LIMIT ? OFFSET ?"
    )
    best: list[tuple[float, int]] = []
    seen, page = 0, n + _PAGE
    while n > 0:
        rows = tx.query(sql, (state, page, seen))
        shown = [row for row in rows if row[3] not in without and row[4] not in without]
        weighed = ((row[0] * present.left(row[1], row[2]), row[5]) for row in shown)
        best = sorted([*best, *weighed], reverse=True)[:n]
        seen += len(rows)
        if len(rows) < page or (len(best) == n and rows[-1][0] <= best[-1][0]):
            break
        page *= 2
    return best


# -- walks


def walk(
    db: Database,
    start: str,
    max_depth: int,
    now: datetime,
    *,
    without: Collection[str] = frozenset(),
    fan_out: int = FAN_OUT,
    most: int = MOST,
) -> list[Reached]:
    """What an executor leads to, the strongest first: breadth first, at most so many passings away.

    From each executor its ``fan_out`` heaviest edges are followed; the walk ends when it knows ``most`` executors. A
    path that weighs less than `LEAST` is not followed.
    """
    best = {start: Reached(start, 1.0, (start,))}
    frontier = [best[start]]
    hidden, present = {start, *without}, _Present(now)
    with db.read() as tx:
        for _ in range(max_depth):
            better: dict[str, tuple[float, Reached]] = {}
            for here in frontier:
                for negated, name, _ in _heaviest(tx, _OUTGOING, here.name, fan_out, present, hidden):
                    reaching = here.weight * -negated
                    known = better[name][0] if name in better else best[name].weight if name in best else 0.0
                    if reaching >= LEAST and reaching > known:
                        better[name] = (reaching, here)
            frontier = []
            for name, (reaching, here) in sorted(better.items(), key=_strongest):
                if name in best or len(best) <= most:
                    best[name] = Reached(name, reaching, (*here.path, name))
                    frontier.append(best[name])
    del best[start]
    return sorted(best.values(), key=_order)


def weights_from(
    db: Database,
    sources: Iterable[str],
    now: datetime,
    *,
    without: Collection[str] = frozenset(),
    depth: int = CONTEXT_DEPTH,
) -> dict[str, float]:
    """The weight that reaches each executor from what is in the context now: the strongest of all sources."""
    found: dict[str, float] = {}
    for source in dict.fromkeys(sources):
        for reached in walk(db, source, depth, now, without=without):
            found[reached.name] = max(found.get(reached.name, 0.0), reached.weight)
    return found


def _strongest(candidate: tuple[str, tuple[float, Reached]]) -> tuple[float, str]:
    name, (weight, _) = candidate
    return -weight, name


def _order(reached: Reached) -> tuple[float, str]:
    return -reached.weight, reached.name


# -- what is declared and does not happen


def unused_calls(
    db: Database, declared: Mapping[str, Sequence[str]], past: Past | None = None
) -> list[tuple[str, str]]:
    """Which calls a manifest declares that were never seen: (caller, called). A planted mnest is no use."""
    pairs = [(caller, called) for caller, names in declared.items() for called in dict.fromkeys(names)]
    return [pair for pair in pairs if not _was_used(db, pair, past)]


def _was_used(db: Database, pair: tuple[str, str], past: Past | None) -> bool:
    rows = db.query(
        "SELECT id, uses, state FROM mnests WHERE src_executor = ? AND dst_executor = ? AND dst_version IS NOT NULL"
        " UNION ALL"
        " SELECT id, uses, state FROM mnests_archive"
        " WHERE src_executor = ? AND dst_executor = ? AND dst_version IS NOT NULL",
        (*pair, *pair),
    )
    if any(uses > 1 or state == "active" for _, uses, state in rows):
        return True
    # One use, or none and faded: only what happened in a turn tells the two apart.
    return any(
        change.turn and change.event.kind is Kind.REINFORCE for row in rows for change in history(db, row[0], past)
    )
