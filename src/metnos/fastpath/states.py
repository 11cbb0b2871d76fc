"""How far a path is trusted, and what changes that: candidate, shadow, active, demoted.

Three passes make a candidate a shadow, which predicts while planners decide. A shadow becomes active when the pooled
calibration says that it may answer. One wrong hit, or more disagreements than the bound allows, demotes it; three clean
passes by a planner bring it back to shadow, and what was active before has to pass three times again.

Rules: `verdict` decides and nothing else does; every change has a reason and is an event. A path that an executor
covers is demoted and stays so. A path whose executors changed is no longer active until passes brought the new ones.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import comb

from metnos.fastpath.log import Log
from metnos.fastpath.records import FastPath, Mark, State

PASSES = 3  # before use, and before coming back (seed 001: three consolidated passes)
SURE = 0.05  # how unlikely disagreements must be by chance before they speak against a path: one in twenty


@dataclass(frozen=True, slots=True)
class Standing:
    """All that a verdict rests on beside the path itself."""

    clean: int = 0  # passes since its state changed and since anything spoke against it
    since: Mapping[str, int] = field(default_factory=dict)  # what happened since its state changed
    was_active: bool = False
    covered_by: str = ""
    changed: str = ""  # how its executors are not the ones it was learnt with
    may: bool = False  # whether the pool lets it answer
    why: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    state: State
    reason: str


def verdict(path: FastPath, standing: Standing, delta: float) -> Change | None:
    """What becomes of a path; nothing if it stays as it is."""
    found = _next(path, standing, delta)
    return Change(path.id, *found) if found and found[0] is not path.state else None


def _next(path: FastPath, standing: Standing, delta: float) -> tuple[State, str] | None:
    if standing.covered_by:
        return State.DEMOTED, f"{standing.covered_by} does all of it in one step"
    if path.state is State.DEMOTED:
        back = f"{standing.clean} clean passes since it was demoted"
        return (State.SHADOW, back) if standing.clean >= PASSES else None
    against = _against(standing.since, delta)
    if against:
        return State.DEMOTED, against
    if path.state is State.CANDIDATE:
        return (State.SHADOW, f"{path.passes} passes") if path.passes >= PASSES else None
    if standing.changed:
        return State.SHADOW, standing.changed
    if path.state is State.SHADOW and standing.may and (not standing.was_active or standing.clean >= PASSES):
        return State.ACTIVE, standing.why or "it is right often enough"
    return None


def _against(since: Mapping[str, int], delta: float) -> str:
    """What happened since the last change that a path is not trusted with; nothing if all is well."""
    if since.get("wrong"):
        return "a hit was wrong"
    if since.get("fail"):
        return "what was planned so was taken back or disliked"
    disagreed = since.get("disagree", 0)
    seen = disagreed + since.get("agree", 0)
    if disagreed and at_least(disagreed, seen, delta) < SURE:
        return f"planners did something else {disagreed} of {seen} times"
    return ""


def at_least(wrong: int, seen: int, delta: float) -> float:
    """How likely so many wrong ones or more are among so many, where a share of ``delta`` is wrong."""
    fewer = sum(comb(seen, each) * delta**each * (1 - delta) ** (seen - each) for each in range(wrong))
    return min(1.0, max(0.0, 1.0 - fewer))


# -- acting


@dataclass(frozen=True, slots=True)
class Judge:
    """What verdicts need to know about the rest of the house."""

    delta: float  # the share of wrong hits that the owner bears
    may: Callable[[FastPath], tuple[bool, str]]  # what the pooled calibration says about a path
    covered: Callable[[tuple[str, ...]], str]  # which executor does a whole sequence; none is empty
    marks: Callable[[str], Mark | None]  # the executor as it is now


def settle(log: Log, paths: Iterable[str], judge: Judge, ts: datetime, turn: str = "") -> list[Change]:
    """Judge these paths and write down what changed."""
    changes: list[Change] = []
    for key in paths:
        with log.db.write():  # nobody may change between what is read and what is written
            path = log.path(key)
            change = verdict(path, _standing(log, path, judge), judge.delta) if path else None
            if change and log.move(key, change.state, change.reason, ts, turn):
                changes.append(change)
    return changes


def was_wrong(log: Log, path: str, turn: str, ts: datetime, reason: str) -> bool:
    """A hit was undone, refused or disliked: it counts, and the path is demoted at once."""
    with log.db.write():
        return log.note(path, turn, ts, "wrong", reason=reason) and log.move(path, State.DEMOTED, reason, ts, turn)


def back_to_shadow(log: Log, path: str, reason: str, ts: datetime) -> bool:
    """Something that a path rests on is not as it was: it must not answer, but may go on predicting."""
    with log.db.write():
        known = log.path(path)
        active = known is not None and known.state is State.ACTIVE
        return active and log.move(path, State.SHADOW, reason, ts)


def changed(path: FastPath, marks: Callable[[str], Mark | None]) -> str:
    """How the executors of a path are not the ones it was learnt with; nothing if they are."""
    for mark in path.marks:
        now = marks(mark.name)
        if now is None:
            return f"{mark.name} is not there any more"
        if now.version != mark.version:
            return f"{mark.name} is now version {now.version}, and it was learnt with {mark.version}"
        if now != mark:
            return f"{mark.name} takes other arguments than when it was learnt"
    return ""


def _standing(log: Log, path: FastPath, judge: Judge) -> Standing:
    may, why = judge.may(path) if path.state is State.SHADOW else (False, "")
    return Standing(
        clean=log.clean_passes(path.id),
        since=log.since_state(path.id),
        was_active=log.has_been(path.id, State.ACTIVE),
        covered_by=judge.covered(path.tools),
        changed=changed(path, judge.marks),
        may=may,
        why=why,
    )
