"""The lab: whether a small, faded inheritance serves a line of agents better than none, all of it, or any other.

Generations of learners (`lab_mind`) work through streams of tasks (`lab_world`, `lab_data`), one line for each arm
(`lab_arms`). A run is one seed: all arms see the same tasks and have the same luck, so they are compared run by run.

Rules: everything follows from the seed, whatever machine and however many processes. Each finished piece (a stream and
a seed) is written to ``runs.jsonl`` at once, and whoever starts again goes on from there; what was begun and not
finished leaves nothing. Says nothing about what a language model would make of the same memories: there is none in the
loop.
"""

import json
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from metnos.core.errors import UsageError
from metnos.life import lab_data, lab_world
from metnos.life.lab_arms import Arm, Left, Line, further_arms, main_arms
from metnos.life.lab_mind import EVERY
from metnos.life.lab_world import Size, Task

RUNS = "runs.jsonl"
FURTHER = "mixed"  # the stream on which the further arms run: they ask about the arms and not about the worlds
_BEAT = 0.5  # seconds between looks at the keyboard


@dataclass(frozen=True, slots=True)
class Life:
    """How one generation did. Counts of ticks, but for ``known``, ``crossed``, ``taken`` and ``size``: what its
    predecessor knew, how much of it crossed and was taken in, and in how many bytes."""

    ticks: int
    wrong: int
    young: int  # before the first consolidation: what is known then is inherited
    young_wrong: int
    recent: int  # soon after what is right changed
    recent_wrong: int
    traps: int
    guessed: int
    inherited: int  # decided by what was inherited and not yet earned
    inherited_wrong: int
    stream: str = ""
    seed: int = 0
    arm: str = ""
    generation: int = 1
    facts: int = 0  # that count at the end
    known: int = 0
    crossed: int = 0
    taken: int = 0
    size: int = 0
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is run."""

    size: Size
    seeds: tuple[int, ...]
    streams: tuple[str, ...]

    def settings(self) -> dict[str, Any]:
        """What tells this experiment from another one; JSON gives it back the same."""
        said: dict[str, Any] = json.loads(json.dumps({"size": asdict(self.size), "streams": self.streams}))
        return said

    def pieces(self) -> list[tuple[str, int]]:
        """A stream and a seed each, in an order in which all streams advance together."""
        return [(stream, seed) for seed in self.seeds for stream in self.streams]


def streams(made_only: bool) -> tuple[str, ...]:
    """Which streams there are here: the public ones only where their package is installed, or where it must be."""
    made = tuple(each.name for each in lab_world.STREAMS)
    return made if made_only or lab_data.folder() is None else (*made, *(each.name for each in lab_data.DATA))


def arms(stream: str, size: Size) -> tuple[Arm, ...]:
    """The arms that run on a stream."""
    return (*main_arms(size.entries), *(further_arms(size.entries) if stream == FURTHER else ()))


# -- one line


def live(arm: Arm, stream: str, seed: int, tasks: Sequence[Task], size: Size, folder: Path) -> list[Life]:
    """One line of generations, from the first birth to the last task."""
    folder.mkdir()
    line = Line(arm, folder, f"{stream} {seed}", tasks)
    done, number = [], 0
    try:
        for generation, todo in enumerate(lab_world.lives(tasks, size.generations)):
            began = time.process_time()
            left = line.succeed() if generation else Left()
            counts = _work(line, todo, seed, number)
            number += len(todo)
            facts = line.learner.facts.count()
            spent = round(time.process_time() - began, 3)
            done.append(
                replace(
                    counts,
                    stream=stream,
                    seed=seed,
                    arm=arm.name,
                    generation=generation + 1,
                    facts=facts,
                    known=left.known,
                    crossed=left.crossed,
                    taken=left.taken,
                    size=left.size,
                    cpu_s=spent,
                )
            )
    finally:
        line.close()
        shutil.rmtree(folder, ignore_errors=True)
    return done


def _work(line: Line, todo: Sequence[Task], seed: int, number: int) -> Life:
    """The tasks of one life; its counts."""
    wrong = young = young_wrong = recent = recent_wrong = traps = guessed = inherited = inherited_wrong = 0
    for place, task in enumerate(todo):
        luck = random.Random(f"{seed} {number + place}")  # noqa: S311 -- repeatable, and the same for every arm
        decided = line.learner.decide(task, luck)
        off = decided.way != task.right
        wrong += off
        young += place < EVERY
        young_wrong += off and place < EVERY
        recent += task.recent
        recent_wrong += off and task.recent
        traps += decided.way in task.traps
        guessed += decided.fact is None
        inherited += decided.is_inherited
        inherited_wrong += off and decided.is_inherited
        line.learner.see(task, decided)
    return Life(
        ticks=len(todo),
        wrong=wrong,
        young=young,
        young_wrong=young_wrong,
        recent=recent,
        recent_wrong=recent_wrong,
        traps=traps,
        guessed=guessed,
        inherited=inherited,
        inherited_wrong=inherited_wrong,
    )


def tasks_of(stream: str, seed: int, size: Size) -> list[Task]:
    """The tasks of a stream, by its name."""
    for made in lab_world.STREAMS:
        if made.name == stream:
            return lab_world.tasks(made, seed, size)
    return lab_data.tasks(next(each for each in lab_data.DATA if each.name == stream), seed, size)


def piece(stream: str, seed: int, size: Size, folder: Path) -> list[Life]:
    """All arms on one stream with one seed."""
    tasks = tasks_of(stream, seed, size)
    found: list[Life] = []
    for number, arm in enumerate(arms(stream, size)):
        found += live(arm, stream, seed, tasks, size, folder / f"{stream} {seed} {number}")
    return found


# -- all of it


def run(
    experiment: Experiment, out: Path, processes: int, progress: Callable[[int, int], None] = lambda _done, _of: None
) -> list[Life]:
    """Run what is not yet done, and give all of it. Stopped by Ctrl-C it keeps what is finished."""
    out.mkdir(parents=True, exist_ok=True)
    kept = out / RUNS
    lives = read(kept, experiment)
    finished = {(life.stream, life.seed) for life in lives}
    todo = [each for each in experiment.pieces() if each not in finished]
    of, done = len(experiment.pieces()), len(experiment.pieces()) - len(todo)
    progress(done, of)
    with tempfile.TemporaryDirectory(prefix="metnos-lab-") as scratch:
        jobs = [(stream, seed, experiment.size, Path(scratch)) for stream, seed in todo]
        for found in _spread(jobs, min(processes, len(jobs))):
            with kept.open("a", encoding="utf-8") as file:
                file.write("".join(f"{json.dumps(asdict(life))}\n" for life in found))
                file.flush()
                os.fsync(file.fileno())
            lives += found
            done += 1
            progress(done, of)
    wanted = set(experiment.pieces())
    return [life for life in lives if (life.stream, life.seed) in wanted]


def _spread(jobs: Sequence[tuple[str, int, Size, Path]], processes: int) -> Iterator[list[Life]]:
    """The pieces, as they are finished."""
    if processes <= 1:
        yield from map(_job, jobs)
        return
    # Started afresh and not forked: a fork would share open databases. Ctrl-C is the parent's alone; leaving the block
    # ends them.
    with multiprocessing.get_context("spawn").Pool(processes, _deaf) as pool:
        coming = pool.imap_unordered(_job, jobs)
        for _ in jobs:
            while True:
                try:
                    yield coming.next(timeout=_BEAT)
                    break
                except multiprocessing.TimeoutError:
                    continue


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _job(job: tuple[str, int, Size, Path]) -> list[Life]:
    return piece(*job)


def read(path: Path, experiment: Experiment) -> list[Life]:
    """What is finished of this experiment; begins the file if there is none. A piece that is not whole is left out."""
    if not path.exists():
        path.write_text(f"{json.dumps(experiment.settings())}\n", encoding="utf-8")
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or _parsed(lines[0]) != experiment.settings():
        raise UsageError(
            f"{path} holds another experiment: other sizes or streams",
            fix="Name another folder with --out, or move that file away.",
        )
    lives = [Life(**said) for line in lines[1:] if (said := _parsed(line)) is not None]
    counts: dict[tuple[str, int], int] = {}
    for life in lives:
        counts[life.stream, life.seed] = counts.get((life.stream, life.seed), 0) + 1
    size = experiment.size
    whole = {key for key, count in counts.items() if count == len(arms(key[0], size)) * size.generations}
    return [life for life in lives if (life.stream, life.seed) in whole]


def _parsed(line: str) -> dict[str, Any] | None:
    """A line, or nothing if a kill cut it off."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
