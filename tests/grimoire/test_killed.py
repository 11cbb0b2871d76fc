"""SIGKILL at random points: a turn is recorded whole or not at all, and one that was acknowledged stays.

Writers begin and close turns of several steps and tell their parent through a pipe once `close` has returned. They are
killed at random moments, again and again; one more process summarises old turns all the while, and is killed too.
"""

import os
import random
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from grimoire.traces import START, step, trace
from killing import Say, at_work, wait_for_a_word
from metnos.core.clock import MovableClock
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.grimoire.trace import Kept, State
from metnos.sandbox.process import start_time
from metnos.store.db import Database
from suite import Repeat

WRITERS = 2
STEPS = tuple(step(number, reply={"entries": ["x" * 4000] * number, "count": number}) for number in range(1, 7))
OLD = START - timedelta(days=400)


def open_medium(path: Path) -> Medium:
    return Medium(Database(path, MIGRATIONS, busy_timeout_s=60), MovableClock(START))


def write_for_ever(path: Path, name: str, acknowledge: Say) -> None:
    medium, pid, number = open_medium(path), os.getpid(), 0
    while True:
        number += 1
        turn = f"{name}X{number}"
        medium.begin(turn, pid=pid, started=start_time(pid), text_digest="d", conversation=name)
        medium.close(trace(turn, conversation=name, steps=STEPS, closed=OLD if number % 2 else START))
        acknowledge(turn)


def begin_and_wait(path: Path, name: str, acknowledge: Say) -> None:
    medium, pid = open_medium(path), os.getpid()
    medium.begin(f"{name}X1", pid=pid, started=start_time(pid), text_digest="d", conversation=name)
    acknowledge("begun")
    time.sleep(600)


def retain_for_ever(path: Path, acknowledge: Say) -> None:
    medium = open_medium(path)
    while True:
        acknowledge(str(medium.retain(START, 90, 1_000_000).turns))


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
@pytest.mark.repeated
def test_killed_at_any_moment_a_turn_is_whole_or_not_there(tmp_path: Path, repeat: Repeat) -> None:
    chance = random.Random(4)
    path = tmp_path / "medium.db"
    open_medium(path).db.close()
    acknowledged: set[str] = set()
    for round_ in repeat("kills of two writers of turns and one that forgets", suite=5, soak=60):
        works = [partial(write_for_ever, path, f"{round_}W{writer}") for writer in range(WRITERS)]
        with at_work(*works, partial(retain_for_ever, path)) as running:
            wait_for_a_word(*running[:WRITERS])
            for place, worker in enumerate(running):
                time.sleep(chance.random() * 0.02)
                said = worker.kill()
                acknowledged.update(said if place < WRITERS else ())
        check(path, acknowledged)
        assert len(acknowledged) > round_


def test_killed_between_its_beginning_and_its_end_a_turn_was_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "medium.db"
    with at_work(partial(begin_and_wait, path, "W")) as (writer,):
        wait_for_a_word(writer)
        assert writer.kill() == ["begun"]
    check(path, set())
    medium = open_medium(path)
    assert [each.id for each in medium.newest(10, state=State.INTERRUPTED)] == ["WX1"]
    medium.db.close()
