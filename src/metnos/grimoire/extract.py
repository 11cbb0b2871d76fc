"""What the episodes of one domain teach, by rules alone: baselines, failures that repeat, arguments that never vary,
and topics that come again.

A candidate is not yet a fact: it goes through admission like everything else. Rules: only verified episodes of one
audience are ever looked at together; a candidate rests on at least three of them, and at least one is new, because what
was only replayed proves nothing anew; its confidence is the lower end of what the counts allow. Texts are made here
from names, numbers and quotations, and a quotation is one line without quotes of its own.

Sequences, causes and corrections need the order of things and are in `streams`; what a model reads out of a topic is in
`extract_model`.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metnos.grimoire import evidence
from metnos.grimoire.appraisal import steps_of
from metnos.grimoire.cluster import Cluster
from metnos.grimoire.domain import Domain, event_of
from metnos.grimoire.episode import Episode
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.fact import Decay, Kind

FLOW = frozenset({"entries", "from_step", "results"})  # arguments that hold what an earlier step found
_LONGEST_VALUE = 300  # characters: a longer argument is content and no choice
_QUOTED = 120
_FEW = 3  # texts in a list that somebody chose


@dataclass(frozen=True, slots=True)
class ExtractRules:
    """When something repeats. Three is seed 003's; the rest is chosen."""

    least: int = 3
    stable: float = 0.8  # of the times: an argument that is the same four times of five is a choice
    failing: float = 0.6  # of the attempts: more often than not, and not by one
    corrections: int = 2  # pairs, which are four episodes: nobody corrects the same thing three times gladly
    window_s: float = 3600.0  # within which an effect follows its cause
    pause_s: float = 1800.0  # after which the next request is a new beginning
    chance: float = 0.01  # that a cause or a sequence is none, shared by all that were tried together
    unusual: float = 2.5  # standard deviations that make a measure an event
    often: float = 0.5  # of the times that what comes first is followed by the same


RULES = ExtractRules()


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may become a fact. ``sources`` are verified episodes; ``sure`` is how far the counts carry it."""

    kind: Kind
    text: str
    domain: str
    subject: str
    value: str
    data: Mapping[str, Any]
    sources: tuple[str, ...]
    sure: float
    decay: Decay
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """What is looked at together: a cluster, which of it is new, and the baselines that are known there."""

    cluster: Cluster
    fresh: frozenset[str]
    domain: Domain
    baselines: Mapping[str, Baseline] = field(default_factory=dict)


def extract(material: Material, rules: ExtractRules = RULES) -> list[Candidate]:
    """All that the rules see, in a fixed order."""
    stages = (baselines, failures, misfortunes, topics)
    return [candidate for stage in stages for candidate in stage(material, rules) if is_new(candidate, material.fresh)]


def is_new(candidate: Candidate, fresh: frozenset[str]) -> bool:
    """Whether something that was not there before speaks for it."""
    return not fresh.isdisjoint(candidate.sources)


# -- measures


def baselines(material: Material, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """What is usual for each measure: what was known, and what is new."""
    key = material.cluster.key
    values: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for episode in material.cluster.episodes:
        if episode.id in material.fresh:
            for name, value in material.domain.measured(episode):
                values[name].append((episode.id, value))
    for name, seen in sorted(values.items()):
        new = evidence.baseline([value for _, value in seen])
        known = material.baselines.get(name)
        usual = new if known is None else evidence.merged(known, new)
        if usual.count < rules.least:
            continue
        yield Candidate(
            Kind.BASELINE,
            f"{quoted(key)}: {name} is usually about {figure(usual.mean)}, give or take {figure(usual.stddev)}.",
            key,
            baseline_subject(key, name),
            figure(usual.mean),
            {"metric": name, "mean": usual.mean, "stddev": usual.stddev, "count": usual.count},
            tuple(id_ for id_, _ in seen),
            evidence.sure(usual.count, usual.count),
            Decay.TACTICAL,
        )


def baseline_subject(key: str, metric: str) -> str:
    """What a baseline is known by."""
    return f"{key}: {metric}"


# -- failures


@dataclass(frozen=True, slots=True)
class _Try:
    """One step: what it was pointed at, and how it ended."""

    episode: str
    canonical: str
    kind: str  # empty if it went well
    args: frozenset[tuple[str, str]]  # names and canonical values


def failures(material: Material, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """An executor that fails again and again in one way, on one thing: what not to do."""
    tries: dict[str, list[_Try]] = defaultdict(list)
    for episode in material.cluster.episodes:
        for step in steps_of(episode.payload):
            kind = "" if step["ok"] else step["kind"] or "failed"
            said = frozenset((name, written(value)) for name, value in choices(step["args"]))
            tries[step["executor"]].append(_Try(episode.id, canonical_of(episode), kind, said))
    for executor, made in sorted(tries.items()):
        for kind in sorted({each.kind for each in made} - {""}):
            for way in _on_what(made, kind, rules):
                yield _failure(material.cluster.key, executor, kind, *way)


def _on_what(
    made: Sequence[_Try], kind: str, rules: ExtractRules
) -> Iterator[tuple[dict[str, Any], str, list[_Try], int]]:
    """What failures of one kind have in common: arguments first, then the form of the request; each failure once."""
    failed = [each for each in made if each.kind == kind]
    shared = Counter(item for each in failed for item in each.args)
    forms = Counter(each.canonical for each in failed if each.canonical)
    ways: list[tuple[dict[str, Any], str, Callable[[_Try], bool]]] = [
        (
            {"args": {name: read_back(value)}},
            f"{name} {quoted(str(read_back(value)))}",
            lambda each, item=(name, value): item in each.args,  # type: ignore[misc]  # of a lambda with a default
        )
        for (name, value), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))
    ]
    ways += [
        (
            {"canonical": form},
            f"requests of the form {quoted(form)}",
            lambda each, form=form: each.canonical == form,  # type: ignore[misc]  # as above
        )
        for form, _ in sorted(forms.items(), key=lambda item: (-item[1], item[0]))
    ]
    told: set[str] = set()
    for when, words, fits in ways:
        bad = [each for each in failed if fits(each) and each.episode not in told]
        tried = len(bad) + sum(fits(each) and each.kind != kind for each in made)
        if len({each.episode for each in bad}) >= rules.least and len(bad) / tried >= rules.failing:
            told |= {each.episode for each in bad}
            yield when, words, bad, tried


def _failure(
    key: str, executor: str, kind: str, when: Mapping[str, Any], words: str, bad: Sequence[_Try], tried: int
) -> Candidate:
    text = f"{executor} fails with {kind} on {words} ({len(bad)} of {tried} times)."
    return Candidate(
        Kind.ANTI,
        text,
        key,
        f"{executor} {kind}: {words}",
        "fails",
        {"warning": text, "executor": executor, "error": kind, "when": dict(when), "count": len(bad), "of": tried},
        unique(each.episode for each in bad),
        evidence.sure(len(bad), tried),
        Decay.STRATEGIC,
    )


def misfortunes(material: Material, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """Events of a bad kind that are what mostly happens in one place: what to keep away from."""
    key, pack = material.cluster.key, material.domain.events
    happened = [(episode.id, kind) for episode in material.cluster.episodes if (kind := event_of(episode)) in pack]
    for kind in sorted({kind for _, kind in happened if pack[kind].bad}):
        bad = [id_ for id_, each in happened if each == kind]
        if len(bad) < rules.least or len(bad) / len(happened) < rules.failing:
            continue
        text = f"{quoted(key)} mostly ends in {kind} ({len(bad)} of {len(happened)} times): {pack[kind].about}."
        yield Candidate(
            Kind.ANTI,
            text,
            key,
            f"{key}: {kind}",
            "mostly",
            {"warning": text, "about": key, "misfortune": kind, "count": len(bad), "of": len(happened)},
            unique(bad),
            evidence.sure(len(bad), len(happened)),
            Decay.STRATEGIC,
        )


# -- what to do


@dataclass(frozen=True, slots=True)
class Call:
    """An executor and those of its arguments that matter."""

    executor: str
    args: Mapping[str, Any]

    def __str__(self) -> str:
        said = ", ".join(f"{name} {quoted(str(value))}" for name, value in sorted(self.args.items()))
        return f"{self.executor} with {said}" if said else self.executor


def procedure(
    key: str,
    form: str,
    prefer: Call,
    instead_of: Call | None,
    sources: Sequence[str],
    times: int,
    of: int,
    slots: Mapping[str, Any] | None = None,
) -> Candidate:
    """What to do for a form of request; one subject for a preference and for the correction that replaces it."""
    where = ", ".join(f"{name} {quoted(str(value))}" for name, value in sorted((slots or {}).items()))
    words = (
        f"For requests of the form {quoted(form)}{f' where {where}' if where else ''}: {prefer}"
        f"{f', not {instead_of}' if instead_of else ''}."
    )
    when = {"canonical": form, **({"slots": dict(slots)} if slots else {})}
    what = prefer.executor if prefer.args else "which executor"
    return Candidate(
        Kind.PROCEDURAL,
        words,
        key,
        " ".join([f"{form}:", what, *sorted(prefer.args), *([written(dict(slots))] if slots else [])]),
        written(dict(prefer.args)) if prefer.args else prefer.executor,
        {
            "strategy": prefer.executor,
            "observation": words,
            "when": when,
            "prefer": {"executor": prefer.executor, "args": dict(prefer.args)},
            "instead_of": {"executor": instead_of.executor, "args": dict(instead_of.args)} if instead_of else {},
            "count": times,
            "of": of,
        },
        unique(sources),
        evidence.sure(times, of),
        Decay.STRATEGIC,
    )


# -- topics


def topics(material: Material, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """What happens again by itself, and on how many days. What is asked for again is a habit: the medium memory's."""
    for topic in material.cluster.topics:
        happened = [episode for episode in topic if not canonical_of(episode)]
        days = {episode.ts.date() for episode in happened}
        if len(days) < rules.least:
            continue
        plainest = min(happened, key=lambda each: (len(each.text), each.seq)).text
        yield Candidate(
            Kind.PATTERN,
            f"Happens again and again: {quoted(plainest)} ({len(happened)} times on {len(days)} days).",
            material.cluster.key,
            f"happens again: {quoted(plainest)}",
            "recurs",
            {"pattern": "recurrence", "form": quoted(plainest), "count": len(happened), "days": len(days)},
            tuple(episode.id for episode in happened),
            evidence.sure(len(days), len(happened)),
            Decay.STRATEGIC,
        )


# -- small things that `streams` and `extract_model` use too


def canonical_of(episode: Episode) -> str:
    """The form of the request that an episode was, if it was one."""
    form = episode.payload.get("canonical")
    return " ".join(form.split()) if isinstance(form, str) else ""


def slots_of(episode: Episode) -> dict[str, Any]:
    """The particulars of a request, by name."""
    slots = episode.payload.get("slots")
    if isinstance(slots, Mapping):
        return {str(name): value for name, value in slots.items() if isinstance(value, str | int | float)}
    return {}


def choices(args: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments that somebody chose: scalars and short lists, neither what flows between steps nor a template."""
    for name, value in sorted(args.items()):
        if name in FLOW or not isinstance(value, str | int | float | list):
            continue
        if isinstance(value, list) and not (0 < len(value) <= _FEW and all(isinstance(each, str) for each in value)):
            continue
        if isinstance(value, list) and any("{{" in each or len(each) > _LONGEST_VALUE for each in value):
            continue
        if isinstance(value, str) and (not value or len(value) > _LONGEST_VALUE or "{{" in value):
            continue
        if isinstance(value, float) and not math.isfinite(value):
            continue
        yield name, value


def quoted(text: str) -> str:
    """One line in quotes: what stands in a fact must not look like anything but a quotation."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text).replace('"', "'").split())
    return f'"{words if len(words) <= _QUOTED else words[: _QUOTED - 1] + "…"}"'


def figure(number: float) -> str:
    """A number as a person reads it."""
    return f"{number:.4g}"


def unique(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def written(value: Any) -> str:
    """One spelling for each value. Also of text that is no Unicode, which an import may hold."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def read_back(text: str) -> Any:
    """What `written` wrote."""
    return json.loads(text)
