"""What was done by itself: one record for each run of a job. The one writer of ``job_runs``.

Rules: a run is claimed before it begins, and of one job only one runs at a time, in whatever process; the claim names
the process by its number, its start and the machine's, because a number alone may belong to another by now. A run whose
process is gone is found and called interrupted. Records hold counts and messages, never content.
"""

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path

from metnos.core.clock import Clock, from_text, to_text
from metnos.night.schedule import Past
from metnos.sandbox.process import start_time
from metnos.store.db import Database, Row, Transaction

_COLUMNS = "id, job, night, by_hand, state, started, ended, message, counts, cpu_ms, pid"
_BEGIN = (
    "INSERT INTO job_runs (job, night, by_hand, state, started, pid, process)"  # noqa: S608 -- only our own words
    f" VALUES (?, ?, ?, 'running', ?, ?, ?) RETURNING {_COLUMNS}"
)
_END = (
    "UPDATE job_runs SET state = ?, ended = ?, message = ?, counts = ?, cpu_ms = ?"  # noqa: S608 -- only our own words
    f" WHERE id = ? RETURNING {_COLUMNS}"
)
_GONE = "it was begun, and its end was never recorded"
_OURS: set[tuple[str, int]] = set()  # what this very process runs; its number alone does not say that it still does


class State(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one job."""

    id: int
    job: str
    night: date
    by_hand: bool
    state: State
    started: datetime
    ended: datetime | None
    message: str
    counts: Mapping[str, int]
    cpu_ms: int
    pid: int


class Runs:
    """The records of one workspace."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    # -- writing

    def begin(self, job: str, night: date, *, by_hand: bool = False) -> Run | None:
        """Claim a run. Nothing if the job runs somewhere already, or this night has its run and nobody asked anew."""
        with self._db.write() as tx:
            self._settle(tx)
            done = not by_hand and _exists(tx, "job = ? AND night = ? AND state = 'done'", job, night.isoformat())
            if done or _exists(tx, "job = ? AND state = 'running'", job):
                return None
            me = os.getpid()
            values = (job, night.isoformat(), int(by_hand), to_text(self._clock.now()), me, _process(me))
            (row,) = tx.query(_BEGIN, values)
            _OURS.add(self._claim(row[0]))  # before anybody else can see it
        return _run(row)

    def end(self, run: Run, state: State, message: str, counts: Mapping[str, int], cpu_ms: int) -> Run:
        """Record how a claimed run ended; returns it as it stands then."""
        values = (state.value, to_text(self._clock.now()), message, json.dumps(dict(counts)), cpu_ms, run.id)
        try:
            with self._db.write() as tx:
                (row,) = tx.query(_END, values)
        finally:
            _OURS.discard(self._claim(run.id))  # even if it could not be recorded: then it is found as interrupted
        return _run(row)

    def settle(self) -> int:
        """Find the runs whose process is gone and call them interrupted; how many there were."""
        if not self._db.query("SELECT 1 FROM job_runs WHERE state = 'running'"):
            return 0
        with self._db.write() as tx:
            return self._settle(tx)

    def _settle(self, tx: Transaction) -> int:
        found = tx.query("SELECT id, pid, process FROM job_runs WHERE state = 'running'")
        dead = [ident for ident, pid, process in found if not self._lives(ident, pid, process)]
        now = to_text(self._clock.now())
        tx.execute_many(
            "UPDATE job_runs SET state = 'interrupted', ended = ?, message = ? WHERE id = ?",
            [(now, _GONE, ident) for ident in dead],
        )
        return len(dead)

    def _lives(self, ident: int, pid: int, process: str) -> bool:
        return _process(pid) == process and (pid != os.getpid() or self._claim(ident) in _OURS)

    def _claim(self, ident: int) -> tuple[str, int]:
        return str(self._db.path), ident

    # -- reading

    def past(self, job: str, night: date) -> Past:
        """What the rules need to know of a job."""
        name, day = job, night.isoformat()
        with self._db.read() as tx:
            # The newest by its number and not by its time: the clock may have gone back between two runs.
            tries = tx.query(
                "SELECT state, ended FROM job_runs WHERE job = ? AND night = ? AND state IN ('failed', 'interrupted')"
                " AND by_hand = 0 ORDER BY id",
                (name, day),
            )
            failed = [ended for state, ended in tries if state == State.FAILED]
            last = tx.first(
                "SELECT started FROM job_runs WHERE job = ? AND state = 'done' ORDER BY id DESC LIMIT 1", (name,)
            )
            return Past(
                done=_exists(tx, "job = ? AND night = ? AND state = 'done'", name, day),
                tries=len(tries),
                last_failed=from_text(failed[-1]) if failed else None,
                last_done=from_text(last[0]) if last else None,
            )

    def newest(self, limit: int, job: str | None = None) -> list[Run]:
        """The last runs, the newest first."""
        named = "" if job is None else "WHERE job = ?"
        sql = f"SELECT {_COLUMNS} FROM job_runs {named} ORDER BY id DESC LIMIT ?"  # noqa: S608 -- only our own words
        return [_run(row) for row in self._db.query(sql, (limit,) if job is None else (job, limit))]

    def running(self, job: str) -> Run | None:
        """The run that goes on now, if there is one."""
        newest = self._db.first(
            f"SELECT {_COLUMNS} FROM job_runs WHERE job = ? AND state = 'running'",  # noqa: S608 -- only our own words
            (job,),
        )
        return _run(newest) if newest else None


def _exists(tx: Transaction, condition: str, *values: str) -> bool:
    return tx.first(f"SELECT 1 FROM job_runs WHERE {condition}", values) is not None  # noqa: S608 -- only our own words


def _process(pid: int) -> str:
    """What tells a process from any other of the same number, before or after it."""
    return f"{_boot()} {start_time(pid)}"


@functools.cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # hidden by a container; then the start alone has to do
        return "unknown"


def _run(row: Row) -> Run:
    ident, job, night, by_hand, state, started, ended, message, counts, cpu_ms, pid = row
    return Run(
        ident, job, date.fromisoformat(night), bool(by_hand), State(state), from_text(started),
        from_text(ended) if ended else None, message, json.loads(counts), cpu_ms, pid,
    )  # fmt: skip
