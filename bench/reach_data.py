"""Turns of one household, really taken, for `bench.reach`: what was passed on in each, and what was to be chosen.

The conversations of ``scenarios/reach.toml`` with the requests of ``tests/turn/heldout.toml`` between them, in order of
time: each half of the time has half of either. Every turn runs end to end in a real workspace, without a language
model; every question is answered with yes. A turn that the router cannot plan stays a case: what it should have chosen
is known, and is the context of the turn after it, as if somebody else had planned it; what it passed on was nothing.
"""

import contextlib
import importlib
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from bench import scratch
from bench.llm_home import serving
from metnos import app
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.fastpath.slots import Slot, extract
from metnos.grimoire.medium import Facts
from metnos.grimoire.trace import Passing, State, Trace
from metnos.law.principal import Autonomy, Channel, Principal, of_account
from metnos.turn.events import Answer, Wanted
from metnos.turn.plan.clauses import split
from metnos.turn.plan.fill_text import swallows

TALKS = Path(__file__).parent / "scenarios" / "reach.toml"
TESTS = Path(__file__).resolve().parent.parent / "tests"
START = datetime(2026, 11, 15, 12, tzinfo=UTC)
_STEP = timedelta(hours=8)  # between two conversations: two months in all
_OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


class Sort(StrEnum):
    """Where a choice stands."""

    WITHIN = "within"  # in the middle of a plan
    FOLLOW = "follow"  # it begins a turn, and works on what the turn before gave
    FRESH = "fresh"  # it begins a turn, and is about something else


@dataclass(frozen=True, slots=True)
class Case:
    """One choice: the words it is made by, the executors whose output is at hand, and the right one."""

    sort: Sort
    text: str  # of its clause
    slots: tuple[Slot, ...]
    context: tuple[str, ...]  # the one before it is the last
    right: str
    whole: str  # the request that the clause is of
    whole_slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """One turn: when, in which half, what it left for the mnestome, what went from the turn before to it, its cases."""

    at: datetime
    first_half: bool
    facts: Facts
    across: tuple[Passing, ...]
    cases: tuple[Case, ...]
    as_meant: bool  # whether the router chose what was meant


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    runs: tuple[str, ...] | None  # nothing: whatever succeeds
    fresh: bool


def taken() -> list[Taken]:
    """All turns, in order of time."""
    held = tomllib.loads((TESTS / "turn" / "heldout.toml").read_text(encoding="utf-8"))
    talks = tomllib.loads(TALKS.read_text(encoding="utf-8"))["talk"]
    own = [(each["home"], [_said(turn) for turn in each["turns"]]) for each in talks]
    others = [(each["language"], [_Said(text, None, False) for text in _texts(each)]) for each in held["ask"]]
    halves = [
        _mixed(own[: len(own) // 2], others[::2]),
        _mixed(own[len(own) // 2 :], others[1::2]),
    ]
    household = _household()
    found: list[Taken] = []
    clock = MovableClock(START)
    with scratch.folder() as folder, _living_in(folder / "home") as home, serving() as site:
        site.pages.update(held["pages"])
        opened = _open(folder / "workspace", clock)
        try:
            for first, half in zip((True, False), halves, strict=True):
                for language, sayings in half:
                    _empty(home)
                    household.furnish(home, held["homes"][language], clock.now())
                    web = [_Said(each.text.replace("{web}", site.url), each.runs, each.fresh) for each in sayings]
                    found += _conversation(opened, home, web, first)
                    clock.move(_STEP)
        finally:
            opened.close()
    return found


def _said(turn: Sequence[str]) -> _Said:
    return _Said(turn[0], tuple(turn[1].split()), "fresh" in turn[2:])


def _texts(ask: Mapping[str, Any]) -> list[str]:
    return [ask["say"]] if isinstance(ask["say"], str) else list(ask["say"])


def _mixed(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """Both in their order, evenly mixed."""
    places = [
        (at / len(each), number, item) for number, each in enumerate((one, other)) for at, item in enumerate(each)
    ]
    return [item for _, _, item in sorted(places, key=lambda place: place[:2])]


# -- taking a turn


def _conversation(opened: app.App, home: Path, sayings: Sequence[_Said], first_half: bool) -> Iterator[Taken]:
    last: Trace | None = None
    before: tuple[str, ...] = ()
    for said in sayings:
        request = opened.turns.request(
            said.text, principal=_OWNER, cwd=home, conversation=last.conversation if last else ""
        )
        turn, sent = opened.turns.run(request), None
        with contextlib.suppress(StopIteration):
            while True:
                sent = Answer.YES if isinstance(turn.send(sent), Wanted) else None
        trace = opened.medium.load(request.id)
        ran = tuple(step.executor for step in trace.steps if step.ok)
        runs = said.runs if said.runs is not None else (ran if trace.state is State.DONE else ())
        fed = {passing.dst for passing in trace.passings}
        back = not said.fresh if said.runs is not None else "{{last" in str(trace.plan)
        yield Taken(
            at=trace.closed,
            first_half=first_half,
            facts=opened.medium.facts(trace.id),
            across=_across(last, trace),
            cases=tuple(
                case
                for case in _cases(said.text, runs, before, back, request.asked, home)
                if said.runs is not None or case.sort is not Sort.WITHIN or case.right in fed
            ),
            as_meant=said.runs is None or ran == runs,
        )
        last, before = trace, ran or runs


def _across(last: Trace | None, trace: Trace) -> tuple[Passing, ...]:
    """What the turn before gave and this one took. No turn records that: a passing is a matter of one turn."""
    given = next((step for step in reversed(last.steps) if step.ok), None) if last else None
    if given is None:
        return ()
    planned = trace.plan.get("steps", ())
    return tuple(
        Passing(given.executor, given.version, step.executor, step.version, "reference", 0, step.number)
        for step, plan in zip(trace.steps, planned, strict=False)
        if step.ok and "{{last" in str(plan["args"])
    )


def _cases(
    text: str, runs: Sequence[str], before: tuple[str, ...], back: bool, now: datetime, home: Path
) -> Iterator[Case]:
    slots = extract(text, now=now, home=home, cwd=home)
    clauses = split(text, slots, swallows)
    own = (
        [(clause.text, clause.slots) for clause in clauses]
        if len(clauses) == len(runs)
        else [(text, slots)] * len(runs)
    )
    for place, ((said, found), right) in enumerate(zip(own, runs, strict=True)):
        if place:
            yield Case(Sort.WITHIN, said, found, tuple(runs[:place]), right, text, slots)
        elif before:
            yield Case(Sort.FOLLOW if back else Sort.FRESH, said, found, before, right, text, slots)


# -- the workspace and its home


def _household() -> Any:
    """The tests' own maker of homes. By name: the tests are no package of this project."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    return importlib.import_module("turn.household")


def _open(root: Path, clock: MovableClock) -> app.App:
    workspace = Workspace(root)
    app.found(workspace, clock)
    opened = app.App.open(workspace, clock)
    for name, value in {"turn.planner": "router", "policy.autonomy": "full"}.items():
        opened.set_setting(name, value, of_account(Channel.TERMINAL))
    opened.close()
    return app.App.open(workspace, clock)


@contextlib.contextmanager
def _living_in(home: Path) -> Iterator[Path]:
    """A home of its own for this process."""
    home.mkdir()
    kept = {name: os.environ.pop(name, None) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    os.environ["HOME"] = str(home)
    try:
        yield home.resolve()
    finally:
        os.environ.pop("HOME", None)
        os.environ |= {name: value for name, value in kept.items() if value is not None}


def _empty(home: Path) -> None:
    for path in home.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
