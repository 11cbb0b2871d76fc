"""SIGKILL at random points: every acknowledged write is there, and nothing is half there.

Each writer moves amounts between two tables in one transaction and tells the parent through a pipe once it was
committed. Four writers share the file and are killed at random moments, again and again.
"""

import contextlib
import os
import random
import select
import signal
import time
from pathlib import Path

from metnos.store.db import Database
from metnos.store.migrations import Migration

SCHEMA = (
    Migration(
        "0001_accounts",
        (
            "CREATE TABLE entries (id TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT",
            "CREATE TABLE counter (id INTEGER PRIMARY KEY, entries INTEGER NOT NULL, total INTEGER NOT NULL) STRICT",
            "INSERT INTO counter VALUES (1, 0, 0)",
        ),
    ),
)
WRITERS = 4


def write_for_ever(path: Path, acknowledge: int, name: str) -> None:
    db = Database(path, SCHEMA, busy_timeout_s=60)
    number = 0
    while True:
        number += 1
        amount = random.randrange(1000)
        with db.write() as tx:
            tx.execute("INSERT INTO entries VALUES (?, ?)", (f"{name}-{number}", amount))
            with contextlib.suppress(ZeroDivisionError), db.write() as inner:
                inner.execute("UPDATE counter SET total = -1")
                if number % 5 == 0:
                    raise ZeroDivisionError  # a savepoint that is taken back
                inner.execute("UPDATE counter SET total = (SELECT sum(amount) FROM entries)")
            tx.execute("UPDATE counter SET entries = entries + 1, total = (SELECT sum(amount) FROM entries)")
        os.write(acknowledge, f"{name}-{number}\n".encode())


def start(path: Path, name: str) -> tuple[int, int]:
    """A writer in a process of its own, and the pipe on which it acknowledges."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            write_for_ever(path, theirs, name)
        finally:
            os._exit(1)
    os.close(theirs)
    return child, ours


def drain(pipe: int) -> list[str]:
    content = b""
    while chunk := os.read(pipe, 1 << 16):
        content += chunk
    os.close(pipe)
    return content.decode().splitlines()


def test_killed_writers_lose_nothing_acknowledged_and_leave_nothing_half_done(tmp_path: Path) -> None:
    chance = random.Random(1)
    path = tmp_path / "store.db"
    Database(path, SCHEMA).close()
    acknowledged: set[str] = set()
    kills = 0
    for round_ in range(60):
        writers = [start(path, f"{round_}.{writer}") for writer in range(WRITERS)]
        # Wait until at least one has acknowledged, so that kills do not all fall into start-up.
        select.select([pipe for _, pipe in writers], [], [], 30)
        for child, _ in writers:
            time.sleep(chance.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            kills += 1
        for child, pipe in writers:
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL, "a writer ended by itself"
            acknowledged.update(drain(pipe))
        check(path, acknowledged)
    assert kills >= 200
    assert len(acknowledged) >= 60, "the writers hardly wrote: the test proves nothing"


def check(path: Path, acknowledged: set[str]) -> None:
    db = Database(path, SCHEMA)
    with db.read() as tx:
        rows = dict(tx.query("SELECT id, amount FROM entries"))
        counted = tx.first("SELECT entries, total FROM counter")
    assert acknowledged <= set(rows), f"lost: {sorted(acknowledged - set(rows))[:5]}"
    assert counted == (len(rows), sum(rows.values())), "a torn transaction"
    # A commit whose acknowledgement was cut off may be there; more than one per killed writer may not.
    assert db.problems() == []
    db.close()
