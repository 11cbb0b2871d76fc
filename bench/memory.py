"""Whether memory is more than decoration: real turns without a language model, with what was learnt and without.

One owner asks for the same ten things over two months, in short, as people do: *find the PDFs*. The folder that they
mean is nowhere in the request. Without memory Metnos has to ask back each time. The owner answers; where a plan is
wrong, they say so and ask again in full. Some requests name another folder in so many words, and there what was learnt
must not interfere. After three fifths of the time some of the folders change, and what was learnt becomes wrong.

Arms: *without*, memory.use off; *facts*, as shipped; *playbook*, as shipped, and on the day of the change the owner
writes the new folders into PLAYBOOK.md, in the way that Metnos writes there itself. Everything else is the same, fast
paths included: same requests, same nights. A request counts as *right* if the first turn did what was meant. Every
figure is of what should not happen.
"""

import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import scratch
from bench.runner import Measure
from metnos import app
from metnos.app import learning, remembering
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.fastpath.canonical import canonical
from metnos.fastpath.slots import extract
from metnos.grimoire.fact import Kind
from metnos.grimoire.trace import State, Trace
from metnos.law.principal import Autonomy, Channel, Principal, of_account

PURPOSE = "requests that were not done right at once, with what was learnt and without"

_DAYS, _EACH_DAY, _SEEDS = 60, 4, (1, 2, 3)
_CHANGE = 36  # the day on which some folders change
_ARMS = ("without", "facts", "playbook")
_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
_FOLDERS = ("papers", "work/papers", "photos", "notes", "downloads", "work", "old")


@dataclass(frozen=True, slots=True)
class Task:
    """Something that is asked for again and again: the words, who does it, and which folder is meant."""

    words: str
    executor: str
    folder: str
    later: str = ""  # from the day of the change on

    def meant(self, day: int) -> str:
        return self.later if self.later and day >= _CHANGE else self.folder


_TASKS = (
    Task("find the PDFs", "find_files", "papers", "work/papers"),
    Task("find the photos", "find_files", "photos"),
    Task("find the text files", "find_files", "notes"),
    Task("find the biggest files", "find_files", "downloads", "work"),
    Task("list the newest files", "find_files", "work"),
    Task("find duplicate files", "find_duplicates", "photos"),
    Task("how big is the folder", "measure_folders", "downloads"),
    Task("count the lines of the text files", "find_files", "notes"),
    Task("find files older than 3 days", "find_files", "downloads", "old"),
)
_SAID = 0.15  # of the requests name another folder in so many words


@dataclass(slots=True)
class Told:
    """What came of the requests of one arm."""

    asked: int = 0  # requests
    turns: int = 0
    right: list[bool] = field(default_factory=list)
    questions: int = 0
    wrong: int = 0  # first plans that did something else than was meant
    after: list[bool] = field(default_factory=list)  # right, in the last fifth of the time
    said_wrong: int = 0  # requests that named a folder and got another

    @property
    def missed(self) -> float:
        return 100 * (1 - sum(self.right) / len(self.right))

    @property
    def missed_late(self) -> float:
        return 100 * (1 - sum(self.after) / len(self.after))


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    told = {arm: [_life(arm, seed) for seed in _SEEDS] for arm in _ARMS}
    base = told["without"]
    measures: list[Measure] = []
    for arm in _ARMS[1:]:
        mine = told[arm]
        note = f"{mine[0].asked} requests each, {len(_SEEDS)} owners; {_turns(mine)} turns, {_turns(base)} without"
        measures += [
            Measure(f"{arm}: not right at once", "%", _of(mine, "missed"), _of(base, "missed"), 0.5, note),
            Measure(f"{arm}: the same, last fifth", "%", _of(mine, "missed_late"), _of(base, "missed_late"), 0.5),
            Measure(f"{arm}: asked back", "times", _of(mine, "questions"), _of(base, "questions"), 0.5),
            Measure(f"{arm}: did something else", "times", _of(mine, "wrong")),
            Measure(f"{arm}: not where it was said", "times", _of(mine, "said_wrong"), limit=0),
        ]
    return measures


def _of(told: list[Told], name: str) -> tuple[float, ...]:
    return tuple(float(getattr(each, name)) for each in told)


def _turns(told: list[Told]) -> int:
    return sum(each.turns for each in told)


# -- a life


def _life(arm: str, seed: int) -> Told:
    chance, told = random.Random(seed), Told()
    with scratch.folder() as folder, _home(folder) as home:
        workspace = Workspace(folder / "workspace")
        app.found(workspace)
        if arm == "without":
            opened = app.App.open(workspace)
            opened.set_setting("memory.use", "off", of_account(Channel.TERMINAL))
            opened.close()
        clock = MovableClock(_START)
        opened = app.App.open(workspace, clock)
        try:
            for day in range(_DAYS):
                if arm == "playbook" and day == _CHANGE:
                    _write_down(opened, home)
                for _ in range(_EACH_DAY):
                    _ask(opened, home, chance.choice(_TASKS), day, chance, told)
                    clock.move(timedelta(hours=1))
                learning.catch_up(opened)
                remembering.curate(opened)
                clock.move(timedelta(hours=24 - _EACH_DAY))
        finally:
            opened.close()
    return told


def _ask(opened: app.App, home: Path, task: Task, day: int, chance: random.Random, told: Told) -> None:
    """One request, with all that it takes until it is done."""
    meant, said = task.meant(day), ""
    if chance.random() < _SAID:
        meant = said = chance.choice([each for each in _FOLDERS if each != task.folder])
    words = f"{task.words} in ~/{said}" if said else task.words
    talk = f"{day} {told.asked}"
    trace = _turn(opened, home, words, talk, told)
    right = _does(trace, task, home / meant)
    told.asked += 1
    told.right.append(right)
    if day >= _DAYS * 4 // 5:
        told.after.append(right)
    if trace.state is State.QUESTION:
        told.questions += 1
        _turn(opened, home, f"~/{meant}", talk, told)
    elif not right:
        told.wrong += 1
        told.said_wrong += bool(said)
        opened.medium.feedback(trace.id, False)
        _turn(opened, home, f"{task.words} in ~/{meant}", talk, told)


def _turn(opened: app.App, home: Path, text: str, talk: str, told: Told) -> Trace:
    told.turns += 1
    request = opened.turns.request(text, principal=_OWNER, cwd=home, conversation=talk)
    for _ in opened.turns.run(request):
        pass
    return opened.medium.load(request.id)


def _does(trace: Trace, task: Task, folder: Path) -> bool:
    """Whether a turn did what was meant, where it was meant."""
    steps = [step for step in trace.steps if step.ok and step.executor == task.executor]
    return any(_is(folder, value) for step in steps for value in _places(step.args))


def _places(args: Mapping[str, Any]) -> Iterator[str]:
    for value in args.values():
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))


def _is(folder: Path, value: str) -> bool:
    return value.startswith(("/", "~")) and Path(value).expanduser() == folder


def _write_down(opened: app.App, home: Path) -> None:
    """What an owner does when their folders change: copies what was learnt into the playbook, with the new folder."""
    path, lines = opened.workspace.root / "PLAYBOOK.md", []
    for fact in opened.grimoire.facts.find(kinds=(Kind.PROCEDURAL,)):
        for task in _TASKS:
            slots = extract(task.words, now=opened.clock.now(), home=home, cwd=home)
            if task.later and canonical(task.words, slots) in fact.text:
                lines.append("- " + fact.text.replace(f'"~/{task.folder}"', f'"~/{task.later}"'))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("## By hand\n", "\n".join(["## By hand", "", *lines, ""])), encoding="utf-8")


@contextmanager
def _home(folder: Path) -> Iterator[Path]:
    """A home with some files, for as long as it lasts."""
    home = folder / "home"
    for name in _FOLDERS:
        (home / name).mkdir(parents=True, exist_ok=True)
        for number in range(2):
            (home / name / f"{number}.pdf").write_text(f"{name} {number}")
            (home / name / f"{number}.txt").write_text(f"{name}\n" * (number + 1))
            (home / name / f"{number}.jpg").write_text("same")
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(home)
    try:
        yield home
    finally:
        if before is not None:
            os.environ["HOME"] = before
