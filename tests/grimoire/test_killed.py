"""SIGKILL at random points: a turn is recorded whole or not at all, and one that was acknowledged stays.

Writers begin and close turns of several steps and tell their parent through a pipe once `close` has returned. They are
killed at random moments, again and again; one more process summarises old turns all the while, and is killed too.
"""

import os
import random
import select
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from grimoire.traces import START, step, trace
from metnos.core.clock import MovableClock
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.grimoire.trace import Kept, State
from metnos.sandbox.process import start_time
from metnos.store.db import Database

ROUNDS, WRITERS = 40, 2
STEPS = tuple(step(number, reply={"entries": ["x" * 4000] * number, "count": number}) for number in range(1, 7))
OLD = START - timedelta(days=400)


def open_medium(path: Path) -> Medium:
    return Medium(Database(path, MIGRATIONS, busy_timeout_s=60), MovableClock(START))


def write_for_ever(path: Path, acknowledge: int, name: str) -> None:
    medium, pid, number = open_medium(path), os.getpid(), 0
    while True:
        number += 1
        turn = f"{name}X{number}"
        medium.begin(turn, pid=pid, started=start_time(pid), text_digest="d", conversation=name)
        medium.close(trace(turn, conversation=name, steps=STEPS, closed=OLD if number % 2 else START))
        os.write(acknowledge, f"{turn}\n".encode())


def retain_for_ever(path: Path, acknowledge: int, name: str) -> None:
    medium = open_medium(path)
    while True:
        done = medium.retain(START, 90, 1_000_000)
        os.write(acknowledge, f"{name} {done.turns}\n".encode())


def start(work: Callable[[Path, int, str], None], path: Path, name: str) -> tuple[int, int]:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            work(path, theirs, name)
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


def check(path: Path, acknowledged: set[str]) -> None:
    medium = open_medium(path)
    medium.settle_interrupted()
    assert medium.interrupted() == []
    assert medium.db.query("SELECT count(*) FROM open_turns") == [(0,)]
    known = {each.id: each for each in medium.newest(1_000_000)}
    assert acknowledged <= set(known), f"lost: {sorted(acknowledged - set(known))[:3]}"
    for turn, glance in known.items():
        counted = medium.db.first(
            "SELECT (SELECT count(*) FROM steps WHERE turn = ?), (SELECT count(*) FROM messages WHERE turn = ?),"
            " (SELECT count(*) FROM messages WHERE turn = ? AND text = ''), (SELECT summary FROM turns WHERE id = ?)",
            (turn,) * 4,
        )
        assert counted is not None
        steps, messages, silent, summary = counted
        if glance.state is State.INTERRUPTED:
            assert (turn in acknowledged, steps, messages) == (False, 0, 0)
        elif glance.kept is Kept.SUMMARISED:
            assert (steps, messages, silent, summary is None) == (6, 2, 2, False)
        else:
            assert (steps, messages, silent, summary) == (6, 2, 0, None)
    (row,) = medium.db.query("SELECT coalesce(sum(turns), 0) FROM summaries")
    assert row[0] == sum(each.kept is Kept.SUMMARISED for each in known.values())
    assert medium.db.problems() == []
    medium.db.close()


@pytest.mark.slow
def test_killed_at_any_moment_a_turn_is_whole_or_not_there(tmp_path: Path) -> None:
    chance = random.Random(4)
    path = tmp_path / "medium.db"
    open_medium(path).db.close()
    acknowledged: set[str] = set()
    kills = interrupted = 0
    for round_ in range(ROUNDS):
        running = [start(write_for_ever, path, f"{round_}W{writer}") for writer in range(WRITERS)]
        running.append(start(retain_for_ever, path, f"{round_}R"))
        select.select([pipe for _, pipe in running[:WRITERS]], [], [], 30)
        for child, _ in running:
            time.sleep(chance.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            kills += 1
        for place, (child, pipe) in enumerate(running):
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL, "a process ended by itself"
            said = drain(pipe)
            acknowledged.update(said if place < WRITERS else ())
        check(path, acknowledged)
        medium = open_medium(path)
        interrupted = len(medium.newest(1_000_000, state=State.INTERRUPTED))
        medium.db.close()
    assert kills >= 100
    assert len(acknowledged) >= ROUNDS, "the writers hardly wrote: the test proves nothing"
    assert interrupted, "no turn was ever hit: the test proves nothing"
