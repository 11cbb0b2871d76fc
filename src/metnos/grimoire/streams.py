"""What the order of things teaches, by rules alone: what follows what, what brings what about, what was corrected.

A stream is an unbroken stretch of one audience's episodes, the verified and the others, because leaving some out would
make neighbours of what were none. Rules: only verified episodes count as having happened; the one use of a rejected one
is to say what a correction was against, and then it is a source like the other half of the pair. Sequences and causes
must be more frequent than chance allows, with the allowance shared by all that were tried together (so trying much does
not find much). A request is never called an effect: that somebody asks for one thing after another is a sequence.

Does not guarantee that a cause is one: it comes before, more often than by chance. What causes both is not seen.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

from metnos.grimoire import evidence
from metnos.grimoire.appraisal import steps_of
from metnos.grimoire.domain import Domain
from metnos.grimoire.episode import Episode, Verdict
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.extract import (
    RULES,
    Call,
    Candidate,
    ExtractRules,
    canonical_of,
    choices,
    figure,
    is_new,
    procedure,
    quoted,
    slots_of,
    unique,
    written,
)
from metnos.grimoire.fact import Decay, Kind

HABIT = "habit"  # the tag of what is about a person's ways, which needs their consent
LOOKED_BACK = 3  # turns before a good one, among which may be the one that it corrects
_MORE = 3  # words that a request may say more than the one that it corrects
_ENOUGH = 10  # sightings before a measure can be called unusual
_AHEAD = 200  # events after a cause: in a flood nothing can be told apart
_TRIED = 60  # names of events, the most frequent: pairs grow with the square


@dataclass(frozen=True, slots=True)
class Stream:
    """Episodes of one audience, and the baselines of their measures by cluster key."""

    episodes: Sequence[Episode]
    fresh: frozenset[str]
    domain: Domain
    baselines: Mapping[str, Mapping[str, Baseline]] = field(default_factory=dict)

    def in_order(self) -> list[Episode]:
        return sorted(self.episodes, key=lambda each: (each.ts, each.seq, each.id))


def extract(stream: Stream, rules: ExtractRules = RULES) -> list[Candidate]:
    """All that the rules see, in a fixed order."""
    stages = (corrections, sequences, causes)
    return [candidate for stage in stages for candidate in stage(stream, rules) if is_new(candidate, stream.fresh)]


# -- what follows what


def sequences(stream: Stream, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """Requests that come after one another in a conversation more often than by chance."""
    steps: dict[tuple[str, str], list[tuple[Episode, Episode]]] = defaultdict(list)
    for talk in _talks(stream):
        for one, other in pairwise(talk):
            if _stands(one) and _stands(other) and _soon(one, other, rules.pause_s):
                steps[canonical_of(one), canonical_of(other)].append((one, other))
    total = sum(map(len, steps.values()))
    firsts, thens = Counter[str](), Counter[str]()
    for (first, then), seen in steps.items():
        firsts[first] += len(seen)
        thens[then] += len(seen)
    tried = {pair: seen for pair, seen in steps.items() if len(seen) >= rules.least and pair[0] != pair[1]}
    for (first, then), seen in sorted(tried.items()):
        times, of, chance = len(seen), firsts[first], thens[then] / total
        lift = evidence.lift(times, of, chance)
        if times / of < rules.often or lift <= 1 or evidence.by_chance(times, of, chance) > rules.chance / len(tried):
            continue
        yield Candidate(
            Kind.PATTERN,
            f"After {quoted(first)} usually comes {quoted(then)} ({times} of {of} times).",
            stream.domain.key_of(seen[-1][0]),
            f"after {quoted(first)}: {quoted(then)}",
            "follows",
            {"pattern": "sequence", "first": first, "then": then, "count": times, "of": of, "lift": round(lift, 3)},
            unique(episode.id for pair in seen for episode in pair),
            evidence.sure(times, of),
            Decay.STRATEGIC,
            (HABIT,),
        )


# -- what brings what about


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. ``asked``: somebody wanted it."""

    ts: datetime
    name: str
    asked: bool
    episode: str
    key: str


def causes(stream: Stream, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """What is followed by something within a window, more often than other moments are."""
    happened = [
        event for episode in stream.in_order() if _is_true(episode) for event in _events(episode, stream, rules)
    ]
    frequent = Counter(event.name for event in happened)
    names = {name for name, count in frequent.most_common(_TRIED) if count >= rules.least}
    lags = _lags(happened, names, rules)
    tried = {pair: seen for pair, seen in lags.items() if len(seen) >= rules.least}
    anyway = {effect: _anyway(happened, effect, rules) for effect in sorted({effect for _, effect in tried})}
    for (cause, effect), seen in sorted(tried.items()):
        times, of = len(seen), frequent[cause]
        chance = anyway[effect](cause)
        lift = evidence.lift(times, of, chance)
        if times / of < rules.often or lift <= 1 or evidence.by_chance(times, of, chance) > rules.chance / len(tried):
            continue
        lag = median((after.ts - before.ts).total_seconds() for before, after in seen)
        yield Candidate(
            Kind.CAUSAL,
            f"After {cause} follows {effect}, about {figure(lag)} s later ({times} of {of} times,"
            f" {figure(lift)} times as often as otherwise).",
            seen[-1][1].key,
            f"{cause} -> {effect}",
            "brings about",
            {"cause": cause, "effect": effect, "lag": lag, "count": times, "of": of, "lift": round(lift, 3)},
            unique(event.episode for pair in seen for event in pair),
            evidence.sure(times, of),
            Decay.STRATEGIC,
        )


def _events(episode: Episode, stream: Stream, rules: ExtractRules) -> Iterator[Event]:
    key = stream.domain.key_of(episode)

    def event(name: str, asked: bool = False) -> Event:
        return Event(episode.ts, name, asked, episode.id, key)

    if form := canonical_of(episode):
        yield event(quoted(form), asked=True)
    if isinstance(named := episode.payload.get("event"), str) and named.strip():
        yield event(quoted(named))
    for name in unique(
        f"{step['executor']} fails with {step['kind'] or 'failed'}"
        for step in steps_of(episode.payload)
        if not step["ok"]
    ):
        yield event(name)
    for name, value in stream.domain.measured(episode):
        usual = stream.baselines.get(key, {}).get(name)
        if usual and usual.count >= _ENOUGH and evidence.standing_off(value, usual) >= rules.unusual:
            yield event(f"{quoted(key)}: {name} is {'high' if value > usual.mean else 'low'}")


def _lags(
    happened: Sequence[Event], names: set[str], rules: ExtractRules
) -> dict[tuple[str, str], list[tuple[Event, Event]]]:
    """Each cause with the first of each effect in its window. One event is never both halves, nor is one episode."""
    found: dict[tuple[str, str], list[tuple[Event, Event]]] = defaultdict(list)
    window = timedelta(seconds=rules.window_s)
    for place, before in enumerate(happened):
        if before.name not in names:
            continue
        seen: set[str] = set()
        for after in happened[place + 1 : place + 1 + _AHEAD]:
            if after.ts - before.ts > window:
                break
            fits = not after.asked and after.name in names and after.name not in seen and after.name != before.name
            if fits and after.ts > before.ts and after.episode != before.episode:
                seen.add(after.name)
                found[before.name, after.name].append((before, after))
    return found


def _anyway(happened: Sequence[Event], effect: str, rules: ExtractRules) -> Callable[[str], float]:
    """The chance that the effect follows a moment that is not a given cause: by the clock, or by what else happened.

    The greater of the two counts: by the clock alone, everything would seem to follow from whatever happens by day.
    """
    window = timedelta(seconds=rules.window_s)
    effects = [event.ts for event in happened if event.name == effect]
    covered, until = timedelta(), happened[0].ts - window
    for moment in effects:
        covered += moment - max(until, moment - window)
        until = moment
    by_clock = covered / (happened[-1].ts - happened[0].ts + window)
    times, followed = Counter[str](), Counter[str]()
    for event in happened:
        following = bisect_right(effects, event.ts)
        times[event.name] += 1
        followed[event.name] += following < len(effects) and effects[following] - event.ts <= window

    def chance(cause: str) -> float:
        left_out = {cause, effect}
        others = sum(times.values()) - sum(times[name] for name in left_out)
        came = sum(followed.values()) - sum(followed[name] for name in left_out)
        return min(1.0, max(by_clock, (came + 1) / (others + 2)))

    return chance


# -- what was corrected


@dataclass(frozen=True, slots=True)
class _Pair:
    """A turn that was rejected, and the one that put it right."""

    bad: Episode
    good: Episode
    prefer: Call
    instead_of: Call


def corrections(stream: Stream, rules: ExtractRules = RULES) -> Iterator[Candidate]:
    """Asked, taken back or disliked, asked again otherwise, and that more than once: what to do the first time."""
    pairs: dict[tuple[str, str, str], list[_Pair]] = defaultdict(list)
    for pair in _pairs(stream, rules):
        form = canonical_of(pair.bad)
        pairs[form, pair.prefer.executor, written(dict(pair.prefer.args))].append(pair)
    for (form, _, _), seen in sorted(pairs.items()):
        if len({pair.good.id for pair in seen}) < rules.corrections:
            continue
        first = seen[-1]
        against = [each for each in stream.episodes if _stands_against(each, form, first.instead_of)]
        # Only where the old way was fine for other particulars, the particulars are part of when this holds.
        shared = _shared_slots(seen) if against else {}
        against = [each for each in against if all(slots_of(each).get(name) == value for name, value in shared.items())]
        if len(against) >= len(seen):
            continue
        sources = [episode.id for pair in seen for episode in (pair.bad, pair.good)]
        key, of = stream.domain.key_of(first.bad), len(seen) + len(against)
        yield procedure(key, form, first.prefer, first.instead_of, sources, len(seen), of, shared)


def _pairs(stream: Stream, rules: ExtractRules) -> Iterator[_Pair]:
    for talk in _talks(stream):
        for place, good in enumerate(talk):
            if not _stands(good):
                continue
            for bad in reversed(talk[max(0, place - LOOKED_BACK) : place]):
                about_it = _says_no_less(good, bad) or good.payload.get("continues") == bad.source
                if bad.verdict is not Verdict.REJECTED or not about_it or not _soon(bad, good, rules.pause_s):
                    continue
                if (changed := _changed(bad, good)) is not None:
                    yield _Pair(bad, good, *changed)
                break


def _says_no_less(good: Episode, bad: Episode) -> bool:
    """Whether a request is the same again, perhaps with what the first left open: `find <files>`, `... in <path>`."""
    short, long = canonical_of(bad).split(), canonical_of(good).split()
    return long[: len(short)] == short and len(long) - len(short) <= _MORE


def _changed(bad: Episode, good: Episode) -> tuple[Call, Call] | None:
    """What was done otherwise: the arguments of an executor that both used, or else the last executor."""
    before, after = steps_of(bad.payload), [step for step in steps_of(good.payload) if step["ok"]]
    for step in reversed(after):
        for old in before:
            if old["executor"] == step["executor"]:
                was, now = dict(choices(old["args"])), dict(choices(step["args"]))
                names = [name for name in now if was.get(name) != now[name]]
                if names:
                    held = {name: was[name] for name in names if name in was}
                    return Call(step["executor"], {name: now[name] for name in names}), Call(step["executor"], held)
    if before and after and before[-1]["executor"] != after[-1]["executor"]:
        return Call(after[-1]["executor"], {}), Call(before[-1]["executor"], {})
    return None


def _stands_against(episode: Episode, form: str, instead_of: Call) -> bool:
    """A turn of the same form that was done the old way and let stand."""
    return (
        _stands(episode)
        and canonical_of(episode) == form
        and any(
            step["executor"] == instead_of.executor
            and all(step["args"].get(name) == value for name, value in instead_of.args.items())
            for step in steps_of(episode.payload)
        )
    )


def _shared_slots(pairs: Sequence[_Pair]) -> dict[str, Any]:
    """Particulars that all requests had in common, but for what was corrected."""
    changed = {str(value) for pair in pairs for call in (pair.prefer, pair.instead_of) for value in call.args.values()}
    first, *rest = (slots_of(pair.bad) for pair in pairs)
    return {
        name: value
        for name, value in sorted(first.items())
        if str(value) not in changed and all(each.get(name) == value for each in rest)
    }


# -- inside


def _talks(stream: Stream) -> list[list[Episode]]:
    """The requests of each conversation, in order."""
    talks: dict[str, list[Episode]] = defaultdict(list)
    for episode in stream.in_order():
        if canonical_of(episode):
            talks[episode.session].append(episode)
    return [talk for _, talk in sorted(talks.items())]


def _is_true(episode: Episode) -> bool:
    return episode.verdict is Verdict.VERIFIED


def _stands(episode: Episode) -> bool:
    return _is_true(episode) and any(step["ok"] for step in steps_of(episode.payload))


def _soon(one: Episode, other: Episode, within_s: float) -> bool:
    return timedelta() <= other.ts - one.ts <= timedelta(seconds=within_s)
