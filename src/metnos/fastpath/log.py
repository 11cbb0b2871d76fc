"""What requests led to: forms, paths and everything that happened to them, in one of the two files of fast paths.

Rules: the only writer of its tables. A turn is worked in once: its mark is committed together with what it changed. A
path is known by its executors and its shape, whatever their versions; a form by its words, the path and the shape. Each
thing that happens to a path is an event and counts once in a turn; every change of state is one, with its reason. A
guess by which a path would not have answered (`UNSURE`) is evidence, and counts neither for it nor against it. Paths
that were learnt with another version go back to shadow when a pass brings the new one. Decides nothing: see `states`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from metnos.core.canon import canonical_json
from metnos.core.clock import from_text, to_text
from metnos.fastpath.log_records import Event, Judged, Pass, agreed, blob, marks_text, path_id, path_of
from metnos.fastpath.records import FastPath, Form, State
from metnos.fastpath.saying import plain
from metnos.fastpath.schema import L1, L2
from metnos.fastpath.shape import Seen, observe
from metnos.store import applied
from metnos.store.db import Database, Row, Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["CHANGED", "PROJECTION", "UNSURE", "Event", "Judged", "Log", "Pass", "path_id"]

PROJECTION = "fastpath"
CHANGED = "its executors changed"
UNSURE = "it would not have answered by this guess"
_NOTHING = (None, "{}")
_REASON = 400  # characters
_COUNTED = {
    "agree": "UPDATE fast_paths SET agreed = agreed + 1 WHERE path = ?",
    "disagree": "UPDATE fast_paths SET disagreed = disagreed + 1 WHERE path = ?",
    "hit": "UPDATE fast_paths SET hits = hits + 1 WHERE path = ?",
    "wrong": "UPDATE fast_paths SET wrong = wrong + 1 WHERE path = ?",
}
_COLUMNS = "path, marks, shape, state, reason, passes, agreed, disagreed, hits, wrong, plan_ms, plan_usd"
_PATH = f"SELECT {_COLUMNS} FROM fast_paths WHERE path = ?"  # noqa: S608 -- our own words
_PATHS = f"SELECT {_COLUMNS} FROM fast_paths WHERE ?1 IS NULL OR state = ?1 ORDER BY rowid"  # noqa: S608 -- likewise


class Log:
    """The fast paths of one file: those of one executor (`L1`), or those of a sequence (`L2`)."""

    def __init__(self, db: Database, table: str) -> None:
        if table not in (L1, L2):
            raise ValueError(f"{table!r} is no log of fast paths")
        self.db = db
        self.table = table

    # -- what happened

    def record(self, passed: Pass, projection: str = PROJECTION) -> bool:
        """Work a turn's plan in, unless that was done before; says whether it was done now."""
        with self.db.write() as tx:
            if not applied.mark(tx, projection, passed.turn, to_text(passed.ts)):
                return False
            key = path_id([mark.name for mark in passed.marks], passed.shape)
            known = tx.first("SELECT marks, state FROM fast_paths WHERE path = ?", (key,))
            if known is None and not passed.ok:
                return True  # nothing to learn, and nothing that it speaks against
            if known is None:
                _found(tx, key, passed)
            form = self._formed(tx, key, passed)
            _event(tx, key, passed.turn, to_text(passed.ts), "pass" if passed.ok else "fail", form=form)
            for link in passed.links:
                _event(tx, key, link, to_text(passed.ts), "link", form=form, reason=passed.turn)
            if passed.ok:
                _passed(tx, key, passed, known)
            return True

    def skip(self, turn: str, ts: datetime, projection: str = PROJECTION) -> bool:
        """Remember that there is nothing to learn from a turn."""
        with self.db.write() as tx:
            return applied.mark(tx, projection, turn, to_text(ts))

    def unapplied(self, turns: Sequence[str], projection: str = PROJECTION) -> list[str]:
        """Which of these turns were not worked in yet, in the order given."""
        return applied.unapplied(self.db, projection, turns)

    def note(
        self,
        path: str,
        turn: str,
        ts: datetime,
        kind: str,
        *,
        form: str = "",
        probability: float | None = None,
        score: float | None = None,
        exact: bool | None = None,
        saved_ms: float | None = None,
        saved_usd: float | None = None,
        reason: str = "",
    ) -> bool:
        """Write down what happened to a path in a turn: `agree`, `disagree`, `hit`, `wrong`, ...; counts once."""
        moment, figures = to_text(ts), (probability, score, exact, saved_ms, saved_usd)
        with self.db.write() as tx:
            row = tx.first(self._sql("SELECT id FROM LOG WHERE path = ? AND canonical_query = ?"), (path, form))
            key = row[0] if row else None
            if not _event(tx, path, turn, moment, kind, form=key, figures=figures, reason=reason):
                return False
            if kind in _COUNTED and reason != UNSURE:
                tx.execute(_COUNTED[kind], (path,))
            if kind == "hit" and key is not None:
                tx.execute(self._sql("UPDATE LOG SET uses = uses + 1, ts_last = ? WHERE id = ?"), (moment, key))
            return True

    def move(self, path: str, state: State, reason: str, ts: datetime, turn: str = "") -> bool:
        """Change a path's state, and say why; nothing if it is in that state."""
        with self.db.write() as tx:
            return _moved(tx, path, state, reason, to_text(ts), turn)

    def forget_turn(self, turn: str, ts: datetime) -> None:
        """Take out what only this turn said: its forms, their vectors, and paths that nothing else asked for."""
        mine = (
            "SELECT DISTINCT l.id, l.canonical_query, l.said FROM path_events e JOIN LOG l ON l.id = e.form"
            " WHERE e.turn = ? AND e.kind IN ('pass', 'fail', 'link')"
        )
        others = (  # a pass of which neither the turn nor one that is linked to it was forgotten
            "SELECT 1 FROM path_events p WHERE p.form = ? AND p.kind = 'pass' AND NOT EXISTS"
            " (SELECT 1 FROM path_events f WHERE f.kind = 'forgotten' AND f.turn IN (SELECT p.turn UNION ALL"
            " SELECT k.turn FROM path_events k WHERE k.form = p.form AND k.kind = 'link' AND k.reason = p.turn))"
        )
        with self.db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            _event(tx, "", turn, to_text(ts), "forgotten")
            for key, canonical, said in tx.query(self._sql(mine), (turn,)):
                if tx.first(others, (key,)):  # others said it too, but these words may be this turn's own
                    tx.execute(self._sql("UPDATE LOG SET said = ? WHERE id = ?"), (canonical, key))
                else:
                    tx.execute(self._sql("DELETE FROM LOG WHERE id = ?"), (key,))
                tx.execute("DELETE FROM form_vectors WHERE said = ?", (said,))
            tx.execute(self._sql("DELETE FROM fast_paths WHERE path NOT IN (SELECT path FROM LOG)"))
        self.db.query("PRAGMA wal_checkpoint(TRUNCATE)")

    def prune(self, before: datetime) -> int:
        """Forget forms that were never seen often enough, for so long: they are one-offs, and somebody's words."""
        with self.db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            old = (to_text(before),)
            gone = tx.execute(self._sql("DELETE FROM LOG WHERE state = 'candidate' AND ts_last < ?"), old)
            if gone:
                tx.execute(self._sql("DELETE FROM form_vectors WHERE said NOT IN (SELECT said FROM LOG)"))
                tx.execute(self._sql("DELETE FROM fast_paths WHERE path NOT IN (SELECT path FROM LOG)"))
        return gone

    # -- what is known

    def paths(self, state: State | None = None) -> list[FastPath]:
        """Every path, or those in one state, the oldest first."""
        return [path_of(row) for row in self.db.query(_PATHS, (state,))]

    def path(self, key: str) -> FastPath | None:
        row = self.db.first(_PATH, (key,))
        return path_of(row) if row else None

    def forms(self, path: str | None = None) -> list[Form]:
        """Every form, or those of one path, the oldest first."""
        forms = "SELECT path, canonical_query, said, uses FROM LOG WHERE ?1 IS NULL OR path = ?1 ORDER BY id"
        return [Form(*row) for row in self.db.query(self._sql(forms), (path,))]

    def asked(self, plain_form: str) -> list[tuple[str, str]]:
        """Which paths were asked for in this form, and the form as it was spelled; connectors do not count."""
        forms = "SELECT path, canonical_query FROM LOG WHERE plain_query = ? ORDER BY id"
        return self.db.query(self._sql(forms), (plain_form,))

    def size(self) -> int:
        """How many forms there are."""
        row = self.db.first(self._sql("SELECT count(*) FROM LOG"))
        return int(row[0]) if row else 0

    def observed(self, path: str | None = None) -> dict[tuple[str, str], dict[str, Seen]]:
        """The unsaid values that never varied, by path and form: one that all forms share counts for all of them."""
        values = "SELECT path, canonical_query, args_observed FROM LOG WHERE ?1 IS NULL OR path = ?1"
        held: dict[str, dict[str, Mapping[str, Any]]] = {}
        for key, form, text in self.db.query(self._sql(values), (path,)):
            held.setdefault(key, {})[form] = json.loads(text) if text not in _NOTHING else {}
        found: dict[tuple[str, str], dict[str, Seen]] = {}
        for key, forms in held.items():
            found |= {(key, form): dict(agreed(own, tuple(forms.values()))) for form, own in forms.items()}
        return found

    def events(self, path: str | None = None, since: datetime | None = None) -> list[Event]:
        """What happened, to one path or to all, the oldest first."""
        found = self.db.query(
            "SELECT id, path, turn, ts, kind, probability, saved_ms, saved_usd, reason FROM path_events"
            " WHERE (?1 IS NULL OR path = ?1) AND ts >= ?2 ORDER BY id",
            (path, to_text(since) if since else ""),
        )
        return [
            Event(key, owner, turn, from_text(ts), kind, likely, ms, usd, reason)
            for key, owner, turn, ts, kind, likely, ms, usd, reason in found
        ]

    def clean_passes(self, path: str) -> int:
        """Passes since the state of a path last changed, and since anything last spoke against it."""
        row = self.db.first(
            "SELECT count(*) FROM path_events WHERE path = ?1 AND kind = 'pass' AND id > (SELECT coalesce(max(id), 0)"
            " FROM path_events WHERE path = ?1 AND kind IN ('state', 'fail', 'disagree', 'wrong') AND reason <> ?2)",
            (path, UNSURE),
        )
        return int(row[0]) if row else 0

    def judged(self) -> list[Judged]:
        """Every prediction whose outcome is known, once: what a planner did, or what the owner said of an answer."""
        found = self.db.query(
            self._sql(
                "SELECT e.path, e.kind IN ('agree', 'good'), coalesce(e.score, h.score), coalesce(e.exact, h.exact),"
                " coalesce(f.canonical_query, '') FROM path_events e"
                " LEFT JOIN path_events h ON h.path = e.path AND h.turn = e.turn AND h.kind = 'hit'"
                " LEFT JOIN LOG f ON f.id = coalesce(e.form, h.form)"
                " WHERE e.kind IN ('agree', 'disagree', 'wrong', 'good') AND NOT EXISTS (SELECT 1 FROM path_events d"
                " WHERE d.path = e.path AND d.turn = e.turn AND d.kind = 'fail') ORDER BY e.id"
            )
        )
        return [
            Judged(path, bool(right), score, bool(exact), form)
            for path, right, score, exact, form in found
            if score is not None
        ]

    def of_turns(self, turns: Iterable[str]) -> list[tuple[str, str, str]]:
        """What these turns were to paths, as long as nobody judged it: turn, path, and `hit` or `pass`."""
        return self.db.query(
            "SELECT e.turn, e.path, e.kind FROM path_events e WHERE e.kind IN ('hit', 'pass')"
            " AND e.turn IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM path_events d"
            " WHERE d.path = e.path AND d.turn = e.turn AND d.kind IN ('fail', 'wrong', 'good')) ORDER BY e.id",
            (canonical_json(list(turns)).decode(),),
        )

    def since_state(self, path: str) -> dict[str, int]:
        """How often each thing happened to a path since its state last changed."""
        found = self.db.query(
            "SELECT kind, count(*) FROM path_events WHERE path = ?1 AND kind <> 'state' AND reason <> ?2 AND id >"
            " (SELECT coalesce(max(id), 0) FROM path_events WHERE path = ?1 AND kind = 'state') GROUP BY kind",
            (path, UNSURE),
        )
        return dict(found)

    def has_been(self, path: str, state: State) -> bool:
        """Whether a path was ever in a state."""
        found = self.db.first(
            "SELECT 1 FROM path_events WHERE path = ? AND kind = 'state' AND reason LIKE ? || ':%'", (path, state)
        )
        return found is not None

    # -- vectors

    def vectors(self, space: str) -> dict[str, "Vector"]:
        """The vectors that are kept for what was said, in one space."""
        import numpy as np

        found = self.db.query("SELECT said, vector FROM form_vectors WHERE space = ?", (space,))
        return {said: np.frombuffer(blob, dtype="<f4") for said, blob in found}

    def keep_vectors(self, space: str, vectors: Mapping[str, "Vector"]) -> None:
        """Keep vectors of what was said, and nothing for what no form says any more."""
        keep = (
            "INSERT OR REPLACE INTO form_vectors (said, space, vector)"
            " SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM LOG WHERE said = ?)"
        )
        with self.db.write() as tx:
            tx.execute_many(self._sql(keep), [(said, space, blob(vector), said) for said, vector in vectors.items()])

    # -- inside

    def _sql(self, statement: str) -> str:
        """A statement about this file's own log of forms."""
        return statement.replace("LOG", self.table)

    def _formed(self, tx: Transaction, key: str, passed: Pass) -> int:
        """The row of a form, with this pass in it."""
        tools, shape = " ".join(mark.name for mark in passed.marks), canonical_json(list(passed.shape)).decode()
        find = (
            "SELECT id, args_observed, ok_count FROM LOG WHERE canonical_query = ? AND tool_name = ? AND args_shape = ?"
        )
        row = tx.first(self._sql(find), (passed.form, tools, shape))
        known = json.loads(row[1] or "{}") if row else {}
        seen = observe(known, passed.constants, first=not row or not row[2]) if passed.ok else known
        moment, counts, observed = (
            to_text(passed.ts),
            (int(passed.ok), int(not passed.ok)),
            canonical_json(seen).decode(),
        )
        if row is not None:
            again = (
                "UPDATE LOG SET uses = uses + 1, ok_count = ok_count + ?, fail_count = fail_count + ?,"
                " args_observed = ?, ts_last = max(ts_last, ?) WHERE id = ?"
            )
            tx.execute(self._sql(again), (*counts, observed, moment, row[0]))
            return int(row[0])
        new = (
            "INSERT INTO LOG (path, canonical_query, plain_query, said, tool_name, args_shape, args_observed, ok_count,"
            " fail_count, ts_first, ts_last, state)"
            " SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, state FROM fast_paths WHERE path = ? RETURNING id"
        )
        words = (passed.form, plain(passed.form), passed.said)
        values = (key, *words, tools, shape, observed, *counts, moment, moment, key)
        return int(tx.query(self._sql(new), values)[0][0])


def _passed(tx: Transaction, key: str, passed: Pass, known: Row | None) -> None:
    marks = marks_text(passed.marks)
    tx.execute(
        "UPDATE fast_paths SET passes = passes + 1, marks = ?, ts_last = max(ts_last, ?),"
        " plan_ms = plan_ms + (? - plan_ms) / (passes + 1), plan_usd = plan_usd + (? - plan_usd) / (passes + 1)"
        " WHERE path = ?",
        (marks, to_text(passed.ts), passed.plan_ms, passed.plan_usd, key),
    )
    if known is not None and known[0] != marks and known[1] == State.ACTIVE:
        _moved(tx, key, State.SHADOW, CHANGED, to_text(passed.ts), passed.turn)


def _found(tx: Transaction, key: str, passed: Pass) -> None:
    moment = to_text(passed.ts)
    tx.execute(
        "INSERT INTO fast_paths (path, marks, shape, state, reason, origin, ts_first, ts_last)"
        " VALUES (?, ?, ?, 'candidate', 'seen for the first time', ?, ?, ?)",
        (key, marks_text(passed.marks), canonical_json(list(passed.shape)).decode(), passed.origin, moment, moment),
    )


def _moved(tx: Transaction, path: str, state: State, reason: str, moment: str, turn: str) -> bool:
    short = reason[:_REASON].encode("utf-8", "backslashreplace").decode()
    if not tx.execute(
        "UPDATE fast_paths SET state = ?, reason = ? WHERE path = ? AND state <> ?", (state, short, path, state)
    ):
        return False
    return _event(tx, path, turn, moment, "state", reason=f"{state}: {short}")


def _event(
    tx: Transaction,
    path: str,
    turn: str,
    moment: str,
    kind: str,
    *,
    form: int | None = None,
    figures: Sequence[float | None] = (None,) * 5,
    reason: str = "",
) -> bool:
    values = (path, turn, moment, kind, form, *figures, reason[: 2 * _REASON])
    return bool(
        tx.execute(
            "INSERT INTO path_events (path, turn, ts, kind, form, probability, score, exact, saved_ms, saved_usd,"
            " reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            values,
        )
    )
