"""The contract of episodes across processes, on both engines: seen at once, written at once, killed in the middle."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.episodes_made import SPACE, add_four, episode, vectors
from metnos.core.clock import MovableClock
from metnos.grimoire.episode import Where
from metnos.grimoire.episodes import Engine, open_episodes
from suite import Repeat

TESTS = Path(__file__).parents[1]
# LanceDB takes seconds to be imported, in every process.
ACROSS = pytest.mark.parametrize("engine", ["sqlite", pytest.param("lance", marks=pytest.mark.slow)])


@pytest.fixture
def store(tmp_path: Path, clock: MovableClock, engine: str) -> Iterator[Engine]:
    made = open_episodes(tmp_path / "episodes", engine, clock)
    yield made
    made.close()


@contextlib.contextmanager
def elsewhere(engine: str, folder: Path, code: str) -> "Iterator[subprocess.Popen[str]]":
    """Code in a process of its own, with the store opened as ``store``; at the end it is killed if it still runs."""
    lines = (
        "import sys; from pathlib import Path; from metnos.core.clock import SystemClock",
        "from grimoire.episodes_made import *; from metnos.grimoire.episodes import open_episodes",
        "from metnos.grimoire.episode import *",
        f"store = open_episodes(Path(sys.argv[1]), {engine!r}, SystemClock(), 60.0)",
        code,
    )
    with subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    ) as running:
        try:
            yield running
        finally:
            running.kill()


ANSWERS = """
rows = vectors(4)
print(len(store.nearest(rows[1], 9)), len(store.matching('episode', 9)), flush=True)
for line in sys.stdin:
    if line == "look\\n":
        print(*(each.id for each in store.nearest(rows[2], 9)), len(store.matching('episode', 9)), flush=True)
    else:
        print(*[new for start in range(100, 140, 4) for new in add_four(store, start)], flush=True)
"""


@pytest.mark.slow
@ACROSS
def test_another_process_sees_what_this_one_writes_and_both_write_at_once(
    engine: str, store: Engine, tmp_path: Path
) -> None:
    rows = vectors(4)
    store.add([episode(1)], rows[1:2], SPACE)
    with elsewhere(engine, tmp_path / "episodes", ANSWERS) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "1 1\n"
        for change, expected in (
            (lambda: store.add([episode(2), episode(3)], rows[2:4], SPACE), 3),
            (lambda: store.remove(["E00002"]), 2),
        ):
            change()
            other.stdin.write("look\n")
            other.stdin.flush()
            *found, words = other.stdout.readline().split()
            assert (len(found), words, "E00002" in found) == (expected, str(expected), expected == 3)
        other.stdin.write("write\n")
        other.stdin.flush()
        ours = [new for start in range(100, 140, 4) for new in add_four(store, start)]
        theirs = other.stdout.readline().split()
        other.stdin.close()
        assert other.wait(120) == 0
    assert sorted(ours + theirs) == [f"E{number:05}" for number in range(100, 140)], "nothing is lost or doubled"
    assert len({each.seq for each in store.select(Where())}) == store.count() == 42
    assert len(store.nearest(vectors(1)[0], 100)) == 42


@pytest.mark.slow
@ACROSS
@pytest.mark.repeated
def test_killed_while_adding_there_is_all_of_a_call_or_nothing(
    engine: str, tmp_path: Path, clock: MovableClock, repeat: Repeat
) -> None:
    folder = tmp_path / "episodes"
    code = (
        "for start in range(0, 100_000, 50):\n"
        "    made = [episode(number, 'x' * 500) for number in range(start, start + 50)]\n"
        "    store.add(made, vectors(50, start), SPACE)\n"
        "    print(start, flush=True)"
    )
    acknowledged = 0
    for round_ in repeat(f"kills of a writer of episodes, {engine}", suite=1 if engine == "lance" else 3, soak=10):
        with elsewhere(engine, folder, code) as running:
            assert running.stdout is not None
            for _ in range(1 + round_ % 5):
                acknowledged = max(acknowledged, int(running.stdout.readline()) + 50)
        store = open_episodes(folder, engine, clock)
        count = store.count()
        assert count % 50 == 0
        assert count >= acknowledged
        assert len(store.nearest(vectors(1)[0], count + 1)) == count
        assert len(store.matching("x" * 500, count + 1)) == count
        store.close()


@pytest.mark.slow
@ACROSS
def test_killed_while_replacing_the_old_vectors_stay(engine: str, store: Engine, tmp_path: Path) -> None:
    rows = vectors(4)
    store.add([episode(number) for number in range(4)], rows, SPACE)
    code = (
        "import os, signal\ndef batches():\n    yield ['E00000', 'E00001'], vectors(2, 0, OTHER.dim)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\nstore.replace_vectors(batches(), OTHER)"
    )
    with elsewhere(engine, tmp_path / "episodes", code) as running:
        assert running.wait(120) == -signal.SIGKILL
    assert store.space == SPACE
    assert [[hit.id for hit in store.nearest(each, 1)] for each in rows] == [[f"E{number:05}"] for number in range(4)]
