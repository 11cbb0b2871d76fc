"""What causes what: the graph that causal facts span, one edge for a pair in a domain.

Rules: an edge belongs to a fact and goes with it. Only edges of facts that count are followed, and an edge is as strong
as the pair was seen to hang together times how far its fact is believed. Walks never go round in circles and are
bounded in length and in the number of causes looked at. Does not guarantee that a cause is one: it came before, more
often than by chance.
"""

import heapq
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.grimoire.fact import Fact, Kind
from metnos.store.db import Database, Row, Transaction

CAUSAL = frozenset({Kind.CAUSAL, Kind.LINK})
LONGEST = 5  # edges of a path: beyond it the strengths of a product say nothing
MOST = 10  # paths
_LOOKED_AT = 5000  # edges of one walk

Pair = tuple[str, str, str]  # domain, cause, effect

_EDGE = (
    "SELECT c.cause, c.effect, c.domain, c.fact, c.lag_s, c.strength * f.confidence, c.count FROM causal c"
    " JOIN facts f ON f.id = c.fact WHERE f.standing = 'active' AND {} = ? {} ORDER BY 6 DESC, 1, 2, 3 LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Edge:
    """``strength`` is from 0 to 1, belief included."""

    cause: str
    effect: str
    domain: str
    fact: str
    lag_s: float
    strength: float
    count: int


@dataclass(frozen=True, slots=True)
class Path:
    """One way from a cause to an effect: strengths multiply, lags add."""

    edges: tuple[Edge, ...]

    @property
    def strength(self) -> float:
        return math.prod(edge.strength for edge in self.edges)

    @property
    def lag_s(self) -> float:
        return sum(edge.lag_s for edge in self.edges)


def ends(fact: Fact) -> tuple[str, str] | None:
    """Cause and effect of a fact, if it names both and they differ."""
    cause, effect = (_name(fact.data.get(key)) for key in ("cause", "effect"))
    return (cause, effect) if fact.kind in CAUSAL and cause and effect and cause != effect else None


def strength_of(data: Mapping[str, Any]) -> float:
    """``1 - 1/lift``: the share of effects that would not have come without the cause. A half where none is known."""
    lift = data.get("lift")
    if not isinstance(lift, int | float) or not math.isfinite(lift):
        return 0.5
    return 1.0 - 1.0 / lift if lift > 1.0 else 0.0


def add(tx: Transaction, fact: Fact) -> bool:
    """Put a fact's edge into the graph. Of two facts with one pair the one with the most evidence holds it."""
    pair = ends(fact)
    tx.execute("DELETE FROM causal WHERE fact = ?", (fact.id,))
    if pair is None:
        return False
    lag = fact.data.get("lag")
    lag_s = float(lag) if isinstance(lag, int | float) and math.isfinite(lag) else 0.0
    counted = fact.data.get("count")
    count = int(counted) if isinstance(counted, int) else fact.episode_count
    tx.execute(
        "INSERT INTO causal (cause, effect, domain, fact, lag_s, strength, count) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (domain, cause, effect) DO UPDATE SET fact = excluded.fact, lag_s = excluded.lag_s,"
        " strength = excluded.strength, count = excluded.count WHERE excluded.count >= causal.count"
        " OR (SELECT standing FROM facts WHERE id = causal.fact) <> 'active'",
        (*pair, fact.domain, fact.id, lag_s, strength_of(fact.data), count),
    )
    return True


def held(tx: Transaction, facts: Sequence[str]) -> set[Pair]:
    """The pairs whose edges belong to these facts."""
    sql = "SELECT DISTINCT domain, cause, effect FROM causal WHERE fact IN (SELECT value FROM json_each(?))"
    return {(domain, cause, effect) for domain, cause, effect in tx.query(sql, (json.dumps(list(facts)),))}


def mend(tx: Transaction, facts: Iterable[Fact], pairs: Collection[Pair]) -> None:
    """Give pairs that lost their fact to another one that says the same."""
    for fact in facts:
        pair = ends(fact)
        if pair is not None and (fact.domain, *pair) in pairs:
            add(tx, fact)


class Causal:
    """Questions to the graph."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def causes_of(self, effect: str, domain: str | None = None, count: int = 100) -> list[Edge]:
        """What brings it about, the strongest first."""
        return self._edges("c.effect", effect, domain, count)

    def effects_of(self, cause: str, domain: str | None = None, count: int = 100) -> list[Edge]:
        """What it brings about, the strongest first."""
        return self._edges("c.cause", cause, domain, count)

    def paths(
        self, cause: str, effect: str, domain: str | None = None, longest: int = LONGEST, most: int = MOST
    ) -> list[Path]:
        """The ways from a cause to an effect, the strongest first. No way passes one place twice."""
        start, goal = _name(cause), _name(effect)
        waiting: list[tuple[float, int, str, tuple[Edge, ...]]] = [(-1.0, 0, start, ())]
        found: list[Path] = []
        looked_at = made = 0
        while waiting and len(found) < most and looked_at < _LOOKED_AT:
            strength, _, place, edges = heapq.heappop(waiting)
            if edges and place == goal:
                found.append(Path(edges))
                continue
            passed = {start, *(edge.effect for edge in edges)}
            for edge in self.effects_of(place, domain) if len(edges) < longest else []:
                looked_at += 1
                if edge.effect not in passed:
                    made += 1
                    heapq.heappush(waiting, (strength * edge.strength, made, edge.effect, (*edges, edge)))
        return found

    def _edges(self, end: str, name: str, domain: str | None, count: int) -> list[Edge]:
        within = "" if domain is None else "AND c.domain = ?"
        values = (_name(name), count) if domain is None else (_name(name), domain, count)
        return [_edge(row) for row in self._db.query(_EDGE.format(end, within), values)]


def _edge(row: Row) -> Edge:
    return Edge(*row)


def _name(value: object) -> str:
    """Of a cause or an effect: one spelling."""
    return " ".join(value.casefold().split()) if isinstance(value, str) else ""
