"""What content can never widen: the targets of a plan, and what runs without a question.

A model that has read a file, a page or an error message may plan what these told it to. So whatever it plans after
that is held against the owner's own words, by code and not by wording:

* Words of the owner are the request and what they said before in this conversation; nothing else is.
* Covered is a path that they named, or that lies below one they named; what their own plan names, made before
  anything was read; and a path that an executor gave in a field that is declared to be one (a row of a table or a text
  declares nothing). An address is covered if the owner wrote it, its host if they wrote that.
* To look (an executor that changes nothing and tells nobody): covered paths only; anything else is dropped.
* To change something: the very call of the owner's own plan, or less of it, runs as any other. On covered paths
  everything else is *tainted*: the owner is asked, at every level and whatever was granted. Beyond them it is dropped.
* To reach out: an address that the owner wrote runs as any other; another on a host of theirs, or an executor without
  an address, is tainted; any other host is dropped.

So content can make a plan shorter, wrong or in need of a yes; it cannot make it reach further. The first plan of a turn
is made before anything of this turn was read, but earlier answers may be in sight. Then what changes something or
reaches out is free only if the request asks for such an act in its own words and covers every target; everything else
of that kind is tainted, and nothing is dropped, since the owner may well mean what they saw. `coverage` holds every
first plan within the words, also where it only looks.

Rules: pure, and blind to the disk: links are the business of the policy, which sees canonical paths. Does not
guarantee that an answer in words is true: content can make a model say anything, and the faces show it as a model's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from metnos.context import window
from metnos.executors import refs
from metnos.fastpath.slots import extract
from metnos.turn.plan.coverage import (
    ANY_DAY,
    absolute,
    addresses_in,
    declared,
    gives_path,
    host_of,
    is_asked_for,
    is_below,
    is_whole_reference,
    named_by,
    places_of,
    trimmed,
    values,
)
from metnos.turn.plan.model_check import is_address, is_path, is_written
from metnos.turn.plan.model_read import references
from metnos.turn.plan.model_scene import Done, Scene
from metnos.turn.plan.records import Step, Tool


class Verdict(StrEnum):
    """What becomes of a step."""

    FREE = "free"
    TAINTED = "tainted"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the owner's words cover. ``own`` are the steps that were planned before anything was read."""

    request: str
    text: str  # the request, and what the owner said before it
    paths: frozenset[str]
    addresses: frozenset[str]
    hosts: frozenset[str]
    own: tuple[Step, ...]
    sources: Mapping[str, Tool | None]  # steps that may be referred to
    cwd: str
    home: str
    strict: bool  # whether content of this turn was read


def draw(
    text: str,
    scene: Scene,
    *,
    own: Sequence[Step] = (),
    done: Sequence[Done] = (),
    known: Mapping[str, Tool],
    sources: Mapping[str, Tool | None],
    strict: bool,
) -> Bounds:
    """The bounds of a turn."""
    said = "\n".join([text, window.owner_words(scene.window)])
    slots = extract(said, now=ANY_DAY, home=Path(scene.home or "/"), cwd=Path(scene.cwd or "/"))
    places = places_of(slots)
    places += [path for step in own for path in named_by(step, known)]
    places += [path for each in done for path in declared(each, known)]
    addresses = addresses_in(said, slots)
    hosts = {host for each in addresses if (host := host_of(each))}
    paths = {absolute(path, scene.cwd, scene.home) for path in places if path}
    return Bounds(
        request=text,
        text=said,
        paths=frozenset(paths - {"/"}),
        addresses=frozenset(addresses),
        hosts=frozenset(hosts),
        own=tuple(own),
        sources=sources,
        cwd=scene.cwd,
        home=scene.home,
        strict=strict,
    )


def judge(steps: Sequence[Step], known: Mapping[str, Tool], bounds: Bounds, first: int = 1) -> tuple[Verdict, ...]:
    """What becomes of each of these steps, which were planned in sight of content; they count from ``first``."""
    verdicts: list[Verdict] = []
    loose: set[str] = set()  # steps that look where the owner did not say
    gone: set[str] = set()
    sources = dict(bounds.sources)
    for number, step in enumerate(steps, start=first):
        tool, name = known[step.executor], f"step{number}"
        within = replace(bounds, sources=sources)
        verdict = _verdict(step, tool, within, loose=bool(loose & set(refs.named(step.args))))
        if gone & set(refs.named(step.args)):
            verdict = Verdict.DROPPED
        if verdict is Verdict.DROPPED:
            gone.add(name)
        if not all(_covers(within, value) for value in values(step, tool, is_path)):
            loose.add(name)
        sources[name] = tool
        verdicts.append(verdict)
    return tuple(verdicts)


def _verdict(step: Step, tool: Tool, bounds: Bounds, *, loose: bool) -> Verdict:
    if any(_is_less(step, each) for each in bounds.own):
        return Verdict.FREE
    covered = all(_covers(bounds, value) for value in values(step, tool, is_path))
    if tool.quiet:
        return Verdict.FREE if covered or not bounds.strict else Verdict.DROPPED
    reaches = [_reach(bounds, value) for value in values(step, tool, is_address)]
    worst = max([Verdict.FREE if covered else Verdict.DROPPED, *reaches], key=list(Verdict).index)
    if worst is Verdict.DROPPED:
        return Verdict.DROPPED if bounds.strict else Verdict.TAINTED
    if tool.mutates or not reaches:
        asked = not bounds.strict and not loose and is_asked_for(tool, bounds.request)
        return worst if asked else Verdict.TAINTED
    return Verdict.TAINTED if loose else worst


# -- paths


def _covers(bounds: Bounds, value: str) -> bool:
    if references(value):
        return gives_path(value, bounds.sources)
    return is_written(value, bounds.text) or is_below(absolute(value, bounds.cwd, bounds.home), bounds.paths)


# -- addresses


def _reach(bounds: Bounds, value: str) -> Verdict:
    if references(value):
        return Verdict.TAINTED if is_whole_reference(value) else Verdict.DROPPED
    if trimmed(value) in bounds.addresses:
        return Verdict.FREE
    return Verdict.TAINTED if host_of(value) in bounds.hosts else Verdict.DROPPED


# -- steps


def _is_less(step: Step, own: Step) -> bool:
    """Whether a step is one of the owner's own plan, or the same with fewer items in its lists."""
    if step.executor != own.executor or set(step.args) != set(own.args):
        return False
    return all(_is_part(value, own.args[name]) for name, value in step.args.items())


def _is_part(value: Any, whole: Any) -> bool:
    if isinstance(value, list) and isinstance(whole, list) and value:
        return all(each in whole for each in value)
    return bool(value == whole) and type(value) is type(whole)
