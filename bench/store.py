"""What the one door to SQLite costs: `metnos.store.db.Database` against the `sqlite3` module by itself.

Both sides have a file of their own in one folder, the same table, the same statements and the same durability (WAL,
``synchronous=FULL``, ``BEGIN IMMEDIATE``), so what is left between them is the door. Does not measure the disk: a
slower one hides the door behind its syncs and brings every write ratio nearer to 1. Does not measure migrations,
backups or nested transactions.
"""

import multiprocessing
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Barrier

from bench import scratch
from bench.runner import Cost, Measure, compare, timed
from metnos.store.db import Database
from metnos.store.migrations import Migration

PURPOSE = "the one door to SQLite against raw sqlite3 with the same durability"

_CREATE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL NOT NULL) STRICT"
_INSERT = "INSERT INTO notes (id, name, weight) VALUES (?, ?, ?)"
_INSERT_NEXT = "INSERT INTO notes (name, weight) VALUES (?, ?)"  # several writers cannot share one counter
_SELECT = "SELECT name, weight FROM notes WHERE id = ?"
_SCHEMA = (Migration("0001_notes", (_CREATE,)),)

_BUSY_S = 10.0  # the default of the setting store.busy_timeout_s
_WRITES, _BATCH, _READS = 50, 1000, 2000  # operations in one round
_WRITERS, _WRITES_EACH = 4, 50
_PATIENCE_S = 60.0  # after this long a round of the writers counts as stuck

# The specification sets the first; the others are ours. A batch crosses the door once in a thousand rows, so it should
# hardly show. A read costs a few microseconds, so finding this thread's connection shows and may cost as much again.
# Writers that meet sleep up to 0.1 s inside SQLite at a time: luck decides more than the door, so they have no target.
_MOST_WRITE, _MOST_BATCH, _MOST_READ = 1.3, 1.1, 2.0

Row = tuple[int, str, float]
Writer = Callable[[Path], tuple[float, float]]


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    with scratch.folder() as folder:
        with closing(Database(folder / "door.db", _SCHEMA)) as door, closing(_raw(folder / "raw.db")) as raw:
            single = [_single(door, raw), _batched(door, raw), _reads(door, raw)]
        return [*single, _concurrent(folder)]


def _raw(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(_CREATE.replace("TABLE", "TABLE IF NOT EXISTS"))
    return connection


def _rows(start: int) -> Iterator[Row]:
    return ((number, f"note {number}", number / 7) for number in count(start))


def _single(door: Database, raw: sqlite3.Connection) -> Measure:
    """One small row in a transaction of its own."""
    door_rows, raw_rows = _rows(1), _rows(1)

    def through_door() -> None:
        for _ in range(_WRITES):
            with door.write() as tx:
                tx.execute(_INSERT, next(door_rows))

    def by_hand() -> None:
        for _ in range(_WRITES):
            raw.execute("BEGIN IMMEDIATE")
            raw.execute(_INSERT, next(raw_rows))
            raw.execute("COMMIT")

    return compare(
        "single-row write",
        "us/write",
        subject=timed(through_door, _WRITES),
        baseline=timed(by_hand, _WRITES),
        rounds=200,
        budget_s=12,
        limit=_MOST_WRITE,
        note="one row in a transaction, synced; baseline: BEGIN IMMEDIATE, INSERT, COMMIT by hand",
    )


def _batched(door: Database, raw: sqlite3.Connection) -> Measure:
    """A thousand rows in one transaction."""
    door_rows, raw_rows = _rows(1_000_000), _rows(1_000_000)  # far behind those of the single writes

    def through_door() -> None:
        with door.write() as tx:
            tx.execute_many(_INSERT, [next(door_rows) for _ in range(_BATCH)])

    def by_hand() -> None:
        rows = [next(raw_rows) for _ in range(_BATCH)]
        raw.execute("BEGIN IMMEDIATE")
        raw.executemany(_INSERT, rows)
        raw.execute("COMMIT")

    return compare(
        "batched write",
        "us/row",
        subject=timed(through_door, _BATCH),
        baseline=timed(by_hand, _BATCH),
        rounds=100,
        budget_s=8,
        limit=_MOST_BATCH,
        note=f"{_BATCH} rows in a transaction through execute_many; baseline: executemany by hand",
    )


def _reads(door: Database, raw: sqlite3.Connection) -> Measure:
    """One row by its key, all of it in the cache."""
    keys = range(1_000_000, 1_000_000 + _READS)  # the first batches wrote these on both sides

    def through_door() -> None:
        for key in keys:
            door.first(_SELECT, (key,))

    def by_hand() -> None:
        for key in keys:
            raw.execute(_SELECT, (key,)).fetchone()

    return compare(
        "single-row read",
        "us/read",
        subject=timed(through_door, _READS),
        baseline=timed(by_hand, _READS),
        rounds=100,
        budget_s=8,
        limit=_MOST_READ,
        note="one row by key through Database.first; baseline: execute and fetchone",
    )


# -- several processes

_start: Barrier  # of a writer's process: lets all of them begin at once


def _concurrent(folder: Path) -> Measure:
    """Several processes, one file, one row in each transaction."""
    spawning = multiprocessing.get_context("spawn")
    barrier = spawning.Barrier(_WRITERS)
    # The processes stay for all rounds, so that starting them is in no figure.
    with ProcessPoolExecutor(_WRITERS, mp_context=spawning, initializer=_enter, initargs=(barrier,)) as pool:

        def all_of(work: Writer, path: Path) -> Cost:
            def cost() -> float:
                # Each waits at the barrier for the others, so none of them can take two turns of one round.
                turns = [pool.submit(work, path) for _ in range(_WRITERS)]
                spans = [turn.result(timeout=_PATIENCE_S) for turn in turns]
                whole = max(end for _, end in spans) - min(start for start, _ in spans)
                return whole * 1e6 / (_WRITERS * _WRITES_EACH)

            return cost

        return compare(
            f"{_WRITERS} writers at once",
            "us/write",
            subject=all_of(_write_through_door, folder / "door-shared.db"),
            baseline=all_of(_write_by_hand, folder / "raw-shared.db"),
            rounds=30,
            budget_s=15,
            note=f"{_WRITERS} processes, one file, {_WRITES_EACH} rows each, total time; baseline: the same by hand",
        )


def _enter(barrier: Barrier) -> None:
    global _start
    _start = barrier


def _write_through_door(path: Path) -> tuple[float, float]:
    """Write this process's share; returns when it began and ended, on a clock that all processes share."""
    with closing(Database(path, _SCHEMA, busy_timeout_s=_BUSY_S)) as door:
        _start.wait(_PATIENCE_S)
        begun = time.monotonic()
        for _, name, weight in _share():
            with door.write() as tx:
                tx.execute(_INSERT_NEXT, (name, weight))
        return begun, time.monotonic()


def _write_by_hand(path: Path) -> tuple[float, float]:
    with closing(_raw(path)) as raw:
        _start.wait(_PATIENCE_S)
        begun = time.monotonic()
        for _, name, weight in _share():
            raw.execute("BEGIN IMMEDIATE")
            raw.execute(_INSERT_NEXT, (name, weight))
            raw.execute("COMMIT")
        return begun, time.monotonic()


def _share() -> list[Row]:
    rows = _rows(1)
    return [next(rows) for _ in range(_WRITES_EACH)]
