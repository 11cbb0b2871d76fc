"""Arguments that are always the same for one form of request: what repeated requests teach, by rules alone.

Rules: as in `extract`. Only the newest few of a form count, so that what was always so and is no longer so is not held
on to; an argument counts if the owner said it each time, liked what was done with it, or asked for it again after a
language model had chosen it and it was let stand. What fixed rules choose shows how they work, however often.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from metnos.grimoire import appraisal
from metnos.grimoire.appraisal import NO_OUTCOME, OutcomeOf, steps_of
from metnos.grimoire.episode import Episode
from metnos.grimoire.extract import (
    RULES,
    Call,
    Candidate,
    ExtractRules,
    Material,
    canonical_of,
    choices,
    is_new,
    procedure,
    read_back,
    slots_of,
    written,
)
from metnos.grimoire.trace import State


def preferred(
    material: Material, rules: ExtractRules = RULES, outcome_of: OutcomeOf = lambda _source: NO_OUTCOME
) -> list[Candidate]:
    """All that is new of it, in a fixed order."""
    return [each for each in preferences(material, rules, outcome_of) if is_new(each, material.fresh)]


def preferences(
    material: Material, rules: ExtractRules = RULES, outcome_of: OutcomeOf = lambda _source: NO_OUTCOME
) -> Iterator[Candidate]:
    """An argument that is always the same for one form of request, if it is one that somebody chose.

    ``outcome_of`` says what came after a turn, and is asked only where nobody said the argument.
    """
    seen: dict[tuple[str, str, str], list[tuple[Episode, str]]] = defaultdict(list)
    for episode in material.cluster.episodes:
        form = canonical_of(episode)
        if form and episode.payload.get("state") == State.DONE:
            for step in steps_of(episode.payload):
                for name, value in choices(step["args"]):
                    if name not in step["flowed"]:
                        seen[form, step["executor"], name].append((episode, written(value)))
    for (form, executor, name), values in sorted(seen.items()):
        for slots, some in _by_particulars(values, rules):
            value, same = _usual(some)
            told = all(_was_said(episode, read_back(value)) for episode in same)
            if told or any(_was_chosen(episode, outcome_of) for episode in same):
                call = Call(executor, {name: read_back(value)})
                ids = [each.id for each in same]
                yield procedure(material.cluster.key, form, call, None, ids, len(same), len(some), slots)


_THOUGHT = frozenset({"model", "react"})  # ways in which a language model made a plan
_LAST = 5  # four of them alike, where the rules ask for four of five
_Seen = list[tuple[Episode, str]]  # episodes, each with the value that an argument had


def _by_particulars(values: _Seen, rules: ExtractRules) -> Iterator[tuple[dict[str, Any], _Seen]]:
    """Where an argument is always the same: for the whole form, or else for one particular of it (photos, PDFs)."""
    if _is_stable(values, rules):
        yield {}, values
        return
    differs = False
    for name in sorted({name for episode, _ in values for name in slots_of(episode)}):
        parts: dict[str, _Seen] = defaultdict(list)
        for episode, value in values:
            said = slots_of(episode).get(name)
            if said is not None and not _is_it(said, read_back(value)):
                parts[written(said)].append((episode, value))
        if len(parts) < 2:
            continue  # it tells nothing apart
        differs = True
        found = [(said, _newest(part)) for said, part in sorted(parts.items()) if _is_stable(_newest(part), rules)]
        if found:
            yield from (({name: read_back(said)}, part) for said, part in found)
            return  # one particular that tells them apart is enough
    if not differs and _is_stable(_newest(values), rules):
        yield {}, _newest(values)


def _newest(values: _Seen) -> _Seen:
    """The last few: what used to be otherwise must not speak for ever."""
    return sorted(values, key=lambda each: (each[0].ts, each[0].seq, each[0].id))[-_LAST:]


def _is_stable(values: _Seen, rules: ExtractRules) -> bool:
    if not values:
        return False
    same = _usual(values)[1]
    return len({each.id for each in same}) >= rules.least and len(same) / len(values) >= rules.stable


def _usual(values: _Seen) -> tuple[str, list[Episode]]:
    """The value that is the most frequent, and the episodes that had it."""
    (value, _), *_ = sorted(Counter(each for _, each in values).items(), key=lambda item: (-item[1], item[0]))
    return value, [episode for episode, each in values if each == value]


def _was_said(episode: Episode, value: Any) -> bool:
    return any(_is_it(said, value) for said in slots_of(episode).values())


def _is_it(said: Any, value: Any) -> bool:
    """Whether a particular is this value, or the one thing in it."""
    return str(said) == str(value) or (isinstance(value, list) and [str(said)] == value)


def _was_chosen(episode: Episode, outcome_of: OutcomeOf) -> bool:
    """Whether the owner liked it, or asked again for what a model had thought of."""
    after = appraisal.outcome_of(episode.payload, outcome_of(episode.source) if episode.source else NO_OUTCOME)
    return after.feedback is True or (after.repeated > 0 and episode.payload.get("path") in _THOUGHT)
