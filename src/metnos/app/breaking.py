"""What broke an executor, out of the turns in which it did: for whoever is to mend it.

Rules: only calls that broke by the executor's own fault, only of the turns that the need names as its evidence, so that
forgetting one of them takes its words out of the need as well; few and small ones. A call that names a place on disk is
not kept: what was there is not known, and is the owner's. What a call said when it broke is text and no instruction.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from metnos.core.canon import canonical_json
from metnos.core.errors import TurnError
from metnos.executors.fitness_rules import OWN
from metnos.night import introspect_words as words
from metnos.synt.need import Example, Need

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.executors.catalog import Look
    from metnos.grimoire.trace import StepTrace

_CALLS = 3  # that a new version is held to
_SAYINGS = 3
_LARGEST = 4096  # bytes of the arguments of one call


def with_calls(app: "App", need: Need) -> Need:
    """A need for a repair with the calls that broke, what they said, and the sequence that it was compiled from."""
    look = app.catalog.look(need.replaces)
    broke = list(_broken(app, need))
    said = tuple(dict.fromkeys(filter(None, (words.said(step.message) for step in reversed(broke)))))[:_SAYINGS]
    if not said and look.reason:
        said = (look.reason,)
    return replace(
        need,
        examples=tuple(_examples(look, broke)),
        evidence=replace(need.evidence, failures=said),
        path=_path(app, look),
    )


def _broken(app: "App", need: Need) -> Iterator["StepTrace"]:
    """The steps that broke, the oldest first."""
    for turn in need.evidence.turns:
        try:
            trace = app.medium.load(turn)
        except TurnError:  # it was forgotten
            continue
        yield from (step for step in trace.steps if step.executor == need.replaces and not step.ok and step.kind in OWN)


def _examples(look: "Look", broke: list["StepTrace"]) -> Iterator[Example]:
    """The newest calls that differ, where they say all that there was to know."""
    if look.executor is None or look.executor.manifest.paths:
        return
    kept: dict[bytes, Example] = {}
    for step in reversed(broke):
        key = canonical_json(dict(step.args))
        if step.args and len(key) <= _LARGEST and step.digest == look.executor.digest:
            kept.setdefault(key, Example(dict(step.args), observed=True, broke=True))
    yield from list(kept.values())[:_CALLS]


def _path(app: "App", look: "Look") -> str:
    """The sequence that the version in force was compiled from; empty if it was not, or the sequence is gone."""
    if look.executor is None:
        return ""
    for each in app.growing.proposals.all():
        if each.digest == look.executor.digest and each.need.path:
            return each.need.path if app.fast.logs[1].path(each.need.path) is not None else ""
    return ""
