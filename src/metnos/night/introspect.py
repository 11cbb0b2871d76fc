"""Introspection: reads records of what was wished for, done and failed, and says what might be proposed.

Rules: reads what it is handed and changes nothing; the same records give the same findings, the surest kinds first. One
thing is proposed once: of several findings about one name the first counts. What an executor does already is not
proposed, however it is called (`metnos.synt.likeness`). What it may say is decided in `introspect_words`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from metnos.core.embedding import Embedder
from metnos.executors.index import Entry
from metnos.executors.signature import Origin
from metnos.executors.state import USABLE
from metnos.executors.state import State as Standing
from metnos.executors.verdict import Executor
from metnos.fastpath.records import FastPath
from metnos.grimoire.trace import Trace
from metnos.mnestome.lists import Change
from metnos.mnestome.mnest import Mnest
from metnos.night import introspect_calls, introspect_rules
from metnos.night import introspect_words as words
from metnos.night.introspect_rules import Call, Finding, Kind, Known, Receptor, Rules, Seen
from metnos.synt import likeness
from metnos.synt.likeness import Kinship, Profile

_TWICE = "another finding is about the same"


@dataclass(frozen=True, slots=True)
class Records:
    """All that introspection reads. Turns are the oldest first."""

    now: datetime
    receptors: tuple[Receptor, ...] = ()
    seen: tuple[Seen, ...] = ()
    known: tuple[Known, ...] = ()
    profiles: tuple[Profile, ...] = ()  # of what is usable


def look(records: Records, rules: Rules, embedder: Embedder | None = None) -> list[Finding]:
    """Everything that might be proposed, and what filters hold back."""
    taken = {each.name for each in records.known}
    sequences = [each for each in records.receptors if each.path]
    wishes = [each for each in records.receptors if not each.path]
    wished = {each.name for each in records.receptors}
    found = [
        *introspect_rules.receptors([*sequences, *wishes], records.seen, taken),
        *introspect_rules.repairs(records.seen, records.known, records.now, rules),
        *introspect_rules.failures(records.seen, records.known, wished, records.now, rules),
        *introspect_calls.generalisations(records.known, rules),
        *introspect_calls.specialisations(records.seen, records.known, rules),
        *duplicates(records, embedder),
    ]
    return _once([_unless_it_exists(each, records.profiles, embedder) for each in found])


def duplicates(records: Records, embedder: Embedder | None = None) -> list[Finding]:
    """Executors of ours that do what another does: the one that is used less is one too many."""
    known, found, gone = {each.name: each for each in records.known}, list[Finding](), set[str]()
    for profile in records.profiles:
        mine = known.get(profile.name)
        others = [each for each in records.profiles if each.name != profile.name and each.name not in gone]
        if mine is None or not mine.own or mine.name in gone or not others:
            continue
        judged = likeness.judge(profile, others, embedder=embedder)
        other = known.get(judged.name)
        if judged.kinship is not Kinship.EXISTS or other is None:
            continue
        if introspect_calls.differing(mine.source, other.source) == 1 and other.own:
            continue  # they differ in one constant: that is a generalisation
        less, more = sorted((mine, other), key=lambda each: (not each.own, each.uses, each.name))
        gone.add(less.name)
        says = (
            f"{less.name} does what {more.name} does; it was used {words.times(less.uses)},"
            f" the other {words.times(more.uses)}."
        )
        found.append(Finding(Kind.DUPLICATE, says, archive=less.name))
    return found


def _unless_it_exists(finding: Finding, profiles: Sequence[Profile], embedder: Embedder | None) -> Finding:
    """A need that is what an executor does already is held back. A sequence is alike to its parts, and meant to be."""
    need = finding.need
    if need is None or finding.dropped or finding.kind is not Kind.RECEPTOR:
        return finding
    judged = likeness.judge(likeness.of_need(need), profiles, embedder=embedder)
    return replace(finding, dropped=f"{judged.name} does that") if judged.kinship is Kinship.EXISTS else finding


def _once(found: Sequence[Finding]) -> list[Finding]:
    names = set[str]()
    kept = []
    for each in found:
        name = each.need.name if each.need is not None and not each.dropped else ""
        kept.append(replace(each, dropped=_TWICE) if name in names else each)
        names |= {name} - {""}
    return kept


# -- records of what others keep


def seen_of(trace: Trace) -> Seen:
    """What counts of a turn. Arguments are as they were planned: what another step gave is a reference there."""
    planned = [each for each in trace.plan.get("steps") or () if isinstance(each, dict)]
    calls = tuple(
        Call(step.executor, _planned(planned, place, step.executor), step.ok, step.kind)
        for place, step in enumerate(trace.steps)
    )
    return Seen(
        turn=trace.id,
        ts=trace.closed,
        state=trace.state,
        ms=float(trace.plan.get("ms", 0.0)),
        usd=sum(call.usd for call in trace.calls),
        wishes=tuple(dict.fromkeys(each.name for each in trace.desired)),
        calls=calls,
    )


def _planned(steps: Sequence[Mapping[str, Any]], place: int, executor: str) -> Mapping[str, Any]:
    """The arguments of a step in the plan; none if the plan went another way."""
    if place >= len(steps) or steps[place].get("executor") != executor:
        return {}
    args = steps[place].get("args")
    return args if isinstance(args, dict) else {}


def receptor_of(mnest: Mnest, changes: Sequence[Change], strength: float) -> Receptor:
    """A wish as introspection sees it, with the turns that wished for it."""
    turns = tuple(dict.fromkeys(each.turn for each in changes if each.turn))
    return Receptor(mnest.id, mnest.dst, mnest.uses, mnest.first, mnest.used, mnest.signature, turns, strength)


def sequence_of(mnest: Mnest, path: FastPath, turns: Sequence[tuple[str, datetime]], strength: float) -> Receptor:
    """A sequence that was wished for as one; ``turns`` are those that used it. Planning is what it would have saved."""
    moments = [ts for _, ts in turns] or [mnest.first]
    return Receptor(
        mnest=mnest.id,
        name=mnest.dst,
        uses=path.passes + path.hits,
        first=min(moments),
        last=max(moments),
        signature=mnest.signature,
        turns=tuple(dict.fromkeys(turn for turn, _ in turns if turn)),
        strength=strength,
        path=path.id,
        tools=path.tools,
        saved_ms=path.plan_ms * path.passes,
        saved_usd=path.plan_usd * path.passes,
    )


def known_of(entry: Entry, executor: Executor | None, uses: int, strength: float) -> Known:
    """An executor as introspection sees it; ``executor`` is its content, if it can be read."""
    properties: Mapping[str, Any] = executor.manifest.args["properties"] if executor else {}
    defaults = {
        name: inner["default"] for name, inner in properties.items() if isinstance(inner, dict) and "default" in inner
    }
    return Known(
        name=entry.name,
        own=entry.origin is Origin.SYNTHESISED,
        usable=entry.state in USABLE,
        quarantined=entry.state is Standing.QUARANTINE and not entry.tampered,
        purpose=executor.manifest.purpose if executor else "",
        source=executor.source if executor else "",
        defaults=defaults,
        uses=uses,
        strength=strength,
    )
