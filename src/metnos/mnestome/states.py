"""What the executors' own fate does to mnests: born, replaced by a newer version, put away, brought back.

Rules:

- `reconcile` compares the living rows with the executors as they are and settles every difference; a second time it
  finds none. It may be cut short anywhere: the next one goes on.
- An executor that is archived or revoked takes its mnests along: they are superseded, and those that are still here
  return when it does, as active or decaying as they then weigh.
- A newer version goes on where the older one was: a row of its own with the weight that the old one has by now, so that
  an upgrade forgets nothing.
- An executor that is born makes mnests of the wishes for it.
- Quarantined and disabled executors keep their mnests: readers leave them out. So do executors that are not named, such
  as the request itself.
- Every change has an event with its reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from metnos.core.canon import canonical_json
from metnos.core.clock import to_text
from metnos.mnestome import rows
from metnos.mnestome.lists import history
from metnos.mnestome.mnest import LIVING, Mnest
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Kind, Rules, State, returned_state
from metnos.store.db import Database, Transaction

RULES = Rules()
ARCHIVED = "executor archived"
REVOKED = "executor revoked"
BORN = "executor born"
BACK = "executor back"

_GONE = {"archived": ARCHIVED, "revoked": REVOKED}
_UNBORN = "draft"
_BATCH = 500  # rows at a time, so that a turn that wants to write waits some tens of milliseconds at most
# Rows that left with an executor. Why one left may be among the events of past years: then it is looked at closely.
_LEFT = (
    f"ifnull((SELECT e.reason FROM events e WHERE e.mnest_id = m.id AND e.kind = 'state_change'"  # noqa: S608 -- ours
    f" ORDER BY e.id DESC LIMIT 1), '{ARCHIVED}') IN ('{ARCHIVED}', '{REVOKED}')"
)
# Each name is looked up in an index of its own: a join in another order would read every row for every executor.
_AT_ODDS = (
    "WITH standing AS MATERIALIZED (SELECT json_extract(value, '$[0]') AS name,"  # noqa: S608 -- our own words
    " json_extract(value, '$[1]') AS version, json_extract(value, '$[2]') AS gone FROM json_each(?)),"
    " gone AS (SELECT name FROM standing WHERE gone), there AS (SELECT name FROM standing WHERE NOT gone)"
    " SELECT m.id FROM standing s CROSS JOIN mnests m INDEXED BY mnests_live"
    f" WHERE m.src_executor = s.name AND m.{LIVING} AND (s.gone OR s.version <> m.src_version)"
    " UNION SELECT m.id FROM standing s CROSS JOIN mnests m"
    f" WHERE m.dst_executor = s.name AND m.{LIVING} AND (s.gone OR s.version <> m.dst_version)"
    " UNION SELECT id FROM mnests WHERE state = 'proto' AND dst_executor IN there"
    " UNION SELECT m.id FROM mnests m WHERE m.state = 'superseded' AND m.src_executor NOT IN gone"
    f" AND m.dst_executor NOT IN gone AND {_LEFT} ORDER BY 1"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How an executor stands: the version in force, and its state as the catalog says it."""

    version: str
    state: str

    @property
    def gone(self) -> bool:
        return self.state in _GONE


Standings = Mapping[str, Standing]


def reconcile(db: Database, executors: Standings, now: datetime, past: Past | None = None, rules: Rules = RULES) -> int:
    """Let the mnests follow the executors; returns how many rows changed."""
    known = {name: each for name, each in executors.items() if each.state != _UNBORN}
    said = canonical_json([(name, each.version, int(each.gone)) for name, each in known.items()]).decode()
    found = [key for (key,) in db.query(_AT_ODDS, (said,))]
    house = _House(known, rows.to_millisecond(now), past, rules)
    changed = 0
    for batch in _batches(found):
        with db.write() as tx:
            changed += sum(house.settle(db, tx, key) for key in batch)
    return changed


@dataclass(frozen=True, slots=True)
class _House:
    """What every decision about a row needs."""

    executors: Standings
    now: datetime
    past: Past | None
    rules: Rules

    def settle(self, db: Database, tx: Transaction, key: str) -> bool:
        """Bring one row into line; whether there was anything to do. What it was before may have changed meanwhile."""
        changed = False
        while (mnest := rows.by_id(tx, key)) is not None and self._step(db, tx, mnest):
            changed = True
        return changed

    def _step(self, db: Database, tx: Transaction, mnest: Mnest) -> bool:
        """One change, if one is due: a wish may be born and go with its source in the same breath."""
        reason = self._why_gone(mnest)
        if mnest.state is State.PROTO:
            return self._bear(tx, mnest)
        if mnest.live and reason:
            rows.change_state(tx, mnest.id, State.SUPERSEDED, self.now, reason)
            return True
        if mnest.live:
            return self._succeed(tx, mnest)
        return not reason and self._bring_back(db, tx, mnest)

    def _why_gone(self, mnest: Mnest) -> str:
        """Why its executors are not there any more, the graver reason first; empty if they are."""
        states = {self.executors[name].state for name in (mnest.src, mnest.dst) if name in self.executors}
        return next((_GONE[state] for state in ("revoked", "archived") if state in states), "")

    def _ends(self, mnest: Mnest) -> rows.Ends:
        """Its executors in the versions that are in force."""
        versions = {name: each.version for name, each in self.executors.items() if name in (mnest.src, mnest.dst)}
        source, target = versions.get(mnest.src, mnest.src_version), versions.get(mnest.dst, mnest.dst_version or "")
        return mnest.src, source, mnest.dst, target

    def _bear(self, tx: Transaction, wish: Mnest) -> bool:
        """Make a mnest of a wish whose executor is there now."""
        if wish.dst not in self.executors or self.executors[wish.dst].gone:
            return False
        ends = self._ends(wish)
        living = rows.live(tx, ends)
        if living is not None:
            self._give_way(tx, wish, living)
            return True
        tx.execute(
            "UPDATE mnests SET src_version = ?, dst_version = ?, state = 'active' WHERE id = ?",
            (ends[1], ends[3], wish.id),
        )
        rows.tell(tx, wish.id, to_text(self.now), Kind.STATE_CHANGE, None, BORN, State.ACTIVE)
        return True

    def _succeed(self, tx: Transaction, old: Mnest) -> bool:
        """Let the versions in force go on where others were."""
        ends = self._ends(old)
        if ends == (old.src, old.src_version, old.dst, old.dst_version):
            return False
        version = ends[3] if ends[3] != old.dst_version else ends[1]
        rows.change_state(tx, old.id, State.SUPERSEDED, self.now, f"version {version} took its place")
        living = rows.live(tx, ends)
        reason = f"succeeds {old.id}"
        if living is not None:
            rows.absorb(tx, living, old, self.now, reason, self.rules)
        else:
            rows.born(
                tx,
                ends,
                old.state,
                old.at(self.now),
                self.now,
                reason,
                tags=old.tags,
                decay_lambda=old.decay_lambda,
                like=old,
            )
        return True

    def _bring_back(self, db: Database, tx: Transaction, mnest: Mnest) -> bool:
        """Return a row that had left with an executor, and for no other reason."""
        changes = [each for each in history(db, mnest.id, self.past) if each.event.kind is Kind.STATE_CHANGE]
        if not changes or changes[-1].event.reason not in (ARCHIVED, REVOKED):
            return False
        living = rows.live(tx, (mnest.src, mnest.src_version, mnest.dst, mnest.dst_version or ""))
        if living is not None:
            self._give_way(tx, mnest, living)
        else:
            rows.change_state(tx, mnest.id, returned_state(mnest.at(self.now), self.rules), self.now, BACK)
        return True

    def _give_way(self, tx: Transaction, old: Mnest, living: Mnest) -> None:
        """Let a living row of the same executors go on with what this one had."""
        rows.change_state(tx, old.id, State.SUPERSEDED, self.now, f"goes on as {living.id}")
        rows.absorb(tx, living, old, self.now, f"succeeds {old.id}", self.rules)


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _BATCH):
        yield keys[start : start + _BATCH]
