"""What is worth a proposal, found in records that are handed in: pure rules, no store, no clock.

- *receptor*: a wish that recurs (`metnos.mnestome.proto.recurring`) is a gap; one executor would close it.
- *pipeline*: a sequence that is used so often that it was wished for as one executor.
- *failure*: "in the last N days I failed M times on tasks of type Y": by what was wished for (verb and object), and by
  what built-ins could not do to one kind of file.
- *repair*: an executor of ours that is in quarantine, or mostly fails by its own fault.
- *generalisation*, *specialisation*: what executors have fixed, and what they are called with (`introspect_calls`).

Rules: every finding carries its evidence and one plain sentence. What a filter holds back is a finding too, with the
reason in ``dropped``, so that it can be shown; it is never proposed. The filters: the name passes the vocabulary and is
free; what is drawn from calls has at least `Rules.uses` of them; flow arguments, references, booleans and defaults say
nothing. What a need says is built in `introspect_words`. Does not judge whether the owner wants it: that is the vaglio.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from metnos.core.decay import days_between
from metnos.executors import vocabulary
from metnos.executors.fitness_rules import OWN
from metnos.grimoire.trace import State
from metnos.night import introspect_words as words
from metnos.synt.need import Evidence, Need, Way

_GAPS = OWN | {"unreadable"}  # failures that say that something cannot be done, not that it was not there or allowed
_SHOWN = 10  # turns that are named as evidence; the rest is a number
NO_NAME = "its name is not in the vocabulary"
TAKEN = "there is an executor of that name"


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of introspection (DESIGN 7); where it gives none, the reason stands beside it."""

    most: int = 6  # proposals a night
    uses: int = 10  # calls before something is drawn from how an executor is used
    days: int = 30  # N: what is further back was another season
    failures: int = 3  # M: as with wishes, three make a gap
    ailing: float = 0.5  # share of its calls that fail by its own fault, from which on an executor is to be mended


class Kind(StrEnum):
    """What was found."""

    PIPELINE = "pipeline"
    RECEPTOR = "receptor"
    REPAIR = "repair"
    FAILURE = "failure"
    GENERALISATION = "generalisation"
    SPECIALISATION = "specialisation"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that might be proposed: a need, or an executor to put away. ``strength`` is that of the heaviest mnest
    toward what it would take part in."""

    kind: Kind
    says: str
    need: Need | None = None
    archive: str = ""  # the executor that is one too many
    strength: float = 0.0
    dropped: str = ""  # which filter held it back


# -- what is handed in


@dataclass(frozen=True, slots=True)
class Receptor:
    """A wish that recurs, or that stands for a sequence; ``path`` and ``tools`` are of the sequence."""

    mnest: str
    name: str
    uses: int
    first: datetime
    last: datetime
    signature: Mapping[str, Any]
    turns: tuple[str, ...] = ()
    strength: float = 0.0
    path: str = ""
    tools: tuple[str, ...] = ()
    saved_ms: float = 0.0
    saved_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One step of a plan, with its references as they were planned, and how it ended."""

    executor: str
    args: Mapping[str, Any]
    ok: bool
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What counts of one turn: nothing of its words."""

    turn: str
    ts: datetime
    state: State
    ms: float = 0.0  # of planning
    usd: float = 0.0
    wishes: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """One executor."""

    name: str
    own: bool  # Metnos made it: not shipped, and not written by the owner
    usable: bool
    quarantined: bool = False  # for what it did, not because somebody changed it
    purpose: str = ""
    source: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    uses: int = 0
    strength: float = 0.0  # of the heaviest mnest that leads to it


# -- wishes and sequences


def receptors(found: Sequence[Receptor], seen: Sequence[Seen], taken: Collection[str]) -> Iterator[Finding]:
    """A need for each wish that recurs, and for each sequence that was wished for as one."""
    spent = {each.turn: each for each in seen}
    for each in found:
        if not vocabulary.is_known(each.name):
            yield Finding(Kind.RECEPTOR, "Something was wished for again and again.", dropped=NO_NAME)
        elif each.path:
            yield _pipeline(each, taken)
        else:
            yield _receptor(each, spent, taken)


def _receptor(each: Receptor, spent: Mapping[str, Seen], taken: Collection[str]) -> Finding:
    span = days(each.first, each.last)
    says = f"You asked for this {words.times(each.uses)} {words.within(span)}, and nothing here does it."
    turns = [spent[turn] for turn in each.turns if turn in spent]
    evidence = Evidence(
        turns=shown(each.turns),
        uses=each.uses,
        days=span,
        saved_ms=sum(turn.ms for turn in turns),
        saved_usd=sum(turn.usd for turn in turns),
        says=says,
    )
    summary = words.wished(each.signature.get("summary", ""))
    need = Need(
        f"{words.phrase(each.name)}, wished for as {summary}" if summary else words.phrase(each.name),
        Way.DIRECT,
        name=each.name,
        inputs=words.names(each.signature.get("inputs")),
        outputs=words.names(each.signature.get("outputs")),
        errors=words.names(each.signature.get("errors")),
        evidence=evidence,
        mnest=each.mnest,
    )
    return Finding(Kind.RECEPTOR, says, need, strength=each.strength, dropped=TAKEN if each.name in taken else "")


def _pipeline(each: Receptor, taken: Collection[str]) -> Finding:
    span = days(each.first, each.last)
    steps = ", then ".join(each.tools)
    says = f"You had {steps} done in this order {words.times(each.uses)} {words.within(span)}."
    evidence = Evidence(shown(each.turns), each.uses, span, each.saved_ms, each.saved_usd, says)
    need = Need(
        f"{words.phrase(each.name)} in one step: {steps}",
        Way.INDIRECT,
        name=each.name,
        inputs=words.names(each.signature.get("inputs")),
        outputs=words.names(each.signature.get("outputs")),
        evidence=evidence,
        mnest=each.mnest,
        path=each.path,
    )
    return Finding(Kind.PIPELINE, says, need, strength=each.strength, dropped=TAKEN if each.name in taken else "")


# -- failures


def failures(
    seen: Sequence[Seen], known: Sequence[Known], wished: Collection[str], now: datetime, rules: Rules
) -> Iterator[Finding]:
    """What failed again and again lately. ``wished`` are the names that recurring wishes stand for already."""
    recent = [each for each in seen if each.ts >= now - timedelta(days=rules.days)]
    taken = {each.name for each in known}
    yield from _unfulfilled(recent, taken, wished, rules)
    yield from _undone(recent, [each for each in known if not each.own], taken, rules)


def _unfulfilled(
    recent: Sequence[Seen], taken: Collection[str], wished: Collection[str], rules: Rules
) -> Iterator[Finding]:
    """Turns that came to nothing, by verb and object of what they wished for: each single wish may be too rare."""
    turns: dict[str, dict[str, Seen]] = defaultdict(dict)
    named: dict[str, Counter[str]] = defaultdict(Counter)
    for each in recent:
        for name in each.wishes if each.state in (State.FAILED, State.NOTHING, State.PARTLY) else ():
            kin = "_".join(name.split("_")[:2])
            turns[kin][each.turn] = each
            named[kin][name] += 1
    done = {"_".join(name.split("_")[:2]) for name in wished}
    for kin, failed in sorted(turns.items()):
        if len(failed) >= rules.failures and kin not in done:
            names = [kin, *(name for name, _ in named[kin].most_common())]
            free = next((name for name in names if vocabulary.is_known(name) and name not in taken), "")
            if not free:
                yield Finding(Kind.FAILURE, "Something failed again and again.", dropped=NO_NAME)
                continue
            does = words.phrase(free)
            yield _failed(Need(does, Way.DIRECT, name=free), list(failed.values()), does, rules)


def _undone(
    recent: Sequence[Seen], shipped: Sequence[Known], taken: Collection[str], rules: Rules
) -> Iterator[Finding]:
    """What built-ins could not do, by the kind of file that they were given: a need only where a name says which."""
    tools = {each.name: each for each in shipped}
    turns: dict[tuple[str, str], dict[str, Seen]] = defaultdict(dict)
    for each in recent:
        for call in each.calls:
            if not call.ok and call.kind in _GAPS and call.executor in tools:
                turns[call.executor, _suffix(call.args)][each.turn] = each
    for (name, suffix), failed in sorted(turns.items()):
        if len(failed) < rules.failures:
            continue
        wanted = words.qualified(name, [suffix])
        says = f"In the last {rules.days} days {name} failed {words.times(len(failed))}."
        if not wanted or wanted in taken:
            yield Finding(Kind.FAILURE, says, dropped=TAKEN if wanted else "no word of the vocabulary says on what")
            continue
        need = Need(f"{words.phrase(wanted)}, where {name} fails", Way.DIRECT, name=wanted)
        yield _failed(need, list(failed.values()), words.phrase(wanted), rules, tools[name].strength)


def _failed(need: Need, turns: Sequence[Seen], does: str, rules: Rules, strength: float = 0.0) -> Finding:
    says = f"In the last {rules.days} days I failed {words.times(len(turns))} to {does}."
    evidence = Evidence(
        turns=shown([each.turn for each in turns]),
        uses=len(turns),
        days=rules.days,
        saved_ms=sum(each.ms for each in turns),
        saved_usd=sum(each.usd for each in turns),
        says=says,
    )
    kind = Kind.REPAIR if need.replaces else Kind.FAILURE
    return Finding(kind, says, replace(need, evidence=evidence), strength=strength)


def repairs(seen: Sequence[Seen], known: Sequence[Known], now: datetime, rules: Rules) -> Iterator[Finding]:
    """A new version of each executor of ours that is in quarantine for what it did, or mostly fails by itself."""
    recent = [each for each in seen if each.ts >= now - timedelta(days=rules.days)]
    for tool in known:
        if not tool.own or not (tool.usable or tool.quarantined) or not vocabulary.is_known(tool.name):
            continue
        calls = [(each, call) for each in recent for call in each.calls if call.executor == tool.name]
        bad = {each.turn: each for each, call in calls if not call.ok and call.kind in OWN}
        if not tool.quarantined and (len(bad) < rules.failures or len(bad) < rules.ailing * len(calls)):
            continue
        purpose = words.said(tool.purpose)
        text = f"mend {tool.name}, which is there for this: {purpose}" if purpose else f"mend {tool.name}"
        need = Need(text, Way.REPAIR, name=tool.name, replaces=tool.name)
        if bad:
            yield _failed(need, list(bad.values()), f"use {tool.name}", rules, tool.strength)
            continue
        says = f"{tool.name} is in quarantine for what it did, and was used {words.times(tool.uses)} before."
        yield Finding(
            Kind.REPAIR,
            says,
            replace(need, evidence=Evidence(uses=tool.uses, says=says)),
            strength=tool.strength,
        )


# -- shared


def days(first: datetime, last: datetime) -> int:
    """Over how many days something was seen."""
    return max(1, math.ceil(days_between(first, last)))


def shown(turns: Sequence[str]) -> tuple[str, ...]:
    """The turns that are named as evidence: the newest, and the first, whose words a wish has."""
    different = tuple(dict.fromkeys(turns))
    return different if len(different) <= _SHOWN else (different[0], *different[1 - _SHOWN :])


# -- inside


def _suffix(args: Mapping[str, Any]) -> str:
    """The one kind of file that a call was given, as a word of the vocabulary; empty if there is none or several."""
    values = [item for value in args.values() for item in (value if isinstance(value, list) else [value])]
    found = {PurePosixPath(value).suffix[1:].casefold() for value in values if isinstance(value, str)} - {""}
    return (vocabulary.canonical_qualifier(found.pop()) or "") if len(found) == 1 else ""
