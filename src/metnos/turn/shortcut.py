"""Shortcuts in a turn: what fast paths say about a request, and whether one may answer in the planner's place.

Rules: the arguments come from the request, always; a path whose executors are not the very ones it was learnt with, or
that leaves something of the request out of account, does not answer. Whether one may is decided by the calibrated
probability of being right. One request in so many is planned all the same, so that what stopped being right is noticed.
Does not act: a shortcut is a plan like any other, and each of its steps still needs a permit.
"""

from dataclasses import dataclass
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.sections import FastpathSettings
from metnos.fastpath.cover import covered
from metnos.fastpath.memory import Found, Memory
from metnos.fastpath.records import FastPath, Mark, Match, State
from metnos.fastpath.rules import may_answer
from metnos.fastpath.shape import Unresolved, refers_back
from metnos.fastpath.states import PASSES, changed
from metnos.grimoire.trace import Trace
from metnos.turn.plan.records import Step, Tool
from metnos.turn.scratch import Scratch

NO_TURN = ""  # the id of a request that is only explained


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What fast paths say about a request. There are no steps where the path cannot be filled from it."""

    path: FastPath
    match: Match
    form: str  # that was matched, as it was first heard
    steps: tuple[Step, ...]
    may: bool  # whether it may answer
    why: str
    sure: bool = True  # whether the match was a claim, by its very words or by its margin: no mere resemblance

    def data(self) -> dict[str, Any]:
        """As it is kept in the trace."""
        return {
            "path": self.path.id,
            "form": self.form,
            "probability": round(self.match.probability, 5),
            "score": round(self.match.score, 5),
            "exact": self.match.exact,
            "state": str(self.path.state),
            "passes": self.path.passes,
            "may": self.may,
            "sure": self.sure,
            "why": self.why,
            "steps": [{"executor": step.executor, "args": dict(step.args)} for step in self.steps],
        }


class Shortcuts:
    """The fast paths of one workspace, ready to be asked. Threads may share it."""

    def __init__(self, memory: Memory, settings: FastpathSettings) -> None:
        self._memory = memory
        self._settings = settings

    def exact(self, asked: Scratch) -> Shortcut | None:
        """The path that was asked for in the same words before, particulars apart. Needs no embedder."""
        found = self._memory.exact(asked.heard) if asked.heard else None
        return self._shortcut(found, asked) if found is not None else None

    def alike(self, asked: Scratch) -> Shortcut | None:
        """The path that was asked for in words of the same meaning. May load the embedder; raises `ModelError`."""
        found = self._memory.alike(asked.heard) if asked.heard else None
        return self._shortcut(found, asked) if found is not None else None

    def _shortcut(self, found: Found, asked: Scratch) -> Shortcut:
        path, match, form = found.path, found.match, found.form
        resting = path.state is not State.ACTIVE, f"it is {path.state}: {path.reason}"
        against = self._against(path, asked)
        if against or isinstance(found.filled, Unresolved):
            unfilled = found.filled.why if isinstance(found.filled, Unresolved) else ""
            return Shortcut(path, match, form, (), may=False, why=_first(resting, (True, against or unfilled)))
        steps = tuple(Step(mark.name, args) for mark, args in zip(path.marks, found.filled, strict=True))
        verdict = may_answer(match, self._memory.calibration, path, self._settings.wrong_share)
        why_not = _first(
            resting,
            (self._settings.use != "on", "fast paths may not answer: the setting fastpath.use says so"),
            (self._is_checked(asked.request.id), "planned all the same, to see whether the path still agrees"),
            (not verdict.may, verdict.why),
        )
        return Shortcut(
            path, match, form, steps, may=not why_not, why=why_not or verdict.why, sure=match.exact or verdict.may
        )

    def _against(self, path: FastPath, asked: Scratch) -> str:
        """Why a path has nothing to say here, however it was asked for; mostly nothing."""
        tools = asked.tools
        covering = covered(path.tools, {name: tool.covers for name, tool in tools.items() if tool.covers})
        if covering:
            return f"{covering} does all of it in one step"
        if refers_back(path.shape) and not self._has_followed(path, asked.last):
            return "it takes something of the request before, and did not often do so after such a one"
        return changed(path, lambda name: mark_of(tools[name]) if name in tools else None)

    def _has_followed(self, path: FastPath, last: Trace | None) -> bool:
        """Whether a path was often taken right after what the last turn did. *Them* may be anything else."""
        before = tuple(step["executor"] for step in last.plan.get("steps", ())) if last else ()
        known = (each for log in self._memory.logs for each in log.paths() if each.state is not State.DEMOTED)
        return bool(before) and any(each.tools == before + path.tools and each.passes >= PASSES for each in known)

    def _is_checked(self, turn: str) -> bool:
        """One in so many, by the turn's id: the same turn is always either."""
        return turn != NO_TURN and int(sha256_hex(turn.encode())[:8], 16) % self._settings.check_every == 0


def mark_of(tool: Tool) -> Mark:
    """What a path remembers of an executor."""
    return Mark(tool.name, tool.version, sha256_hex(canonical_json(dict(tool.args))))


def _first(*reasons: tuple[bool, str]) -> str:
    return next((why for holds, why in reasons if holds), "")
