"""What is left of a life: gathering it, in the order of the house rules, and putting the testament together. Pure.

Facts go through the barrier first, one by one; then what repeats something private is found by holding all of it
against everything that was said here; then the bottleneck chooses. Episodes cross only if the owner released them. The
mnestome leaves its skeleton: which executor fed which, in tenths.

Rules: ids of entries follow from what they say, so gathering twice gives the same. What is gathered is data, so that it
can be kept between two steps. `composed` takes out whatever the last scan finds, until there is nothing to find: what
it hands out was scanned as it is.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.core.decay import clamp01
from metnos.core.errors import TestamentError
from metnos.executors import vocabulary
from metnos.grimoire import bloodstain, poison
from metnos.grimoire.episode import Episode, Provenance, Scope
from metnos.grimoire.extract import quoted
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.fact_rules import INHERITED
from metnos.grimoire.strings import strings
from metnos.life import barrier, barrier_scan, reflection, testament_rules
from metnos.life.barrier_scan import Finding, Known, Windows
from metnos.life.cause import Cause
from metnos.life.inheritance_rules import Proof, held_after
from metnos.life.testament import (
    MOST_EPISODES,
    MOST_LINKS,
    MOST_MNESTS,
    Bone,
    Descent,
    Entry,
    Left,
    Link,
    Testament,
)
from metnos.life.testament_lines import NAME, TEXT, is_data
from metnos.life.testament_rules import ANTI, RULES, BottleneckRules
from metnos.mnestome.mnest import Mnest
from metnos.synt.draft import Draft

PRIVATE = "it repeats what was said here"
_FACT, _EPISODE, _CORE = "fact ", "episode ", "reflection"

_ENDINGS = {
    Cause.ECONOMIC: "its money was spent before it had learnt to do without",
    Cause.EPISTEMIC: "what it knew was wrong more often than right",
}

Private = Callable[[], Iterable[str]]  # everything that was said here, from its beginning each time


@dataclass(frozen=True, slots=True)
class Estate:
    """Everything that there is at the end of a life. ``key`` is the agent's; ``held`` what this life showed."""

    key: str
    died: datetime
    facts: Sequence[Fact]
    links: Sequence[Link]
    mnests: Sequence[Mnest]
    known: Known
    private: Private
    episodes: Sequence[Episode] = ()  # that the owner released
    released: frozenset[str] = frozenset()  # facts and episodes
    descents: Mapping[str, Descent] = field(default_factory=dict)
    proofs: Mapping[str, Proof] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What crosses, and why the rest does not: reason and how many."""

    entries: tuple[Entry, ...]
    links: tuple[Link, ...]
    episodes: tuple[Left, ...]
    bones: tuple[Bone, ...]
    released: tuple[str, ...]  # ids of entries and episodes whose words are the owner's, let go
    dropped: Mapping[str, int]
    why: Mapping[str, int]  # by which stage of the bottleneck


def gather(estate: Estate, rules: BottleneckRules = RULES) -> Gathered:
    """Everything that may cross, through barrier and bottleneck."""
    dropped: Counter[str] = Counter()
    alike = _alike(_crossed(estate, rules, dropped))
    held = {key: max(_descent(fact, estate).held for fact in many) for key, many in alike.items()}
    chosen = testament_rules.select([many[0] for many in alike.values()], held, rules)
    dropped.update(chosen.dropped)
    entries: list[Entry] = []
    became: dict[str, str] = {}
    for fact in chosen.kept:
        stands_for = [each.id for key in chosen.stands_for.get(fact.id, (fact.id,)) for each in alike[key]]
        entries.append(_entry(fact, estate, len(stands_for)))
        became |= dict.fromkeys(stands_for, entries[-1].id)
    said = [each for each in sorted(estate.episodes, key=lambda each: each.id) if each.text[:TEXT].strip()]
    episodes = tuple(_left(each, estate.died) for each in said[:MOST_EPISODES])
    released = {became[key] for key in estate.released if key in became} | {each.id for each in episodes}
    return Gathered(
        tuple(entries),
        _links(estate.links, became),
        episodes,
        bones(estate.mnests, estate.died),
        tuple(sorted(released)),
        dict(sorted(dropped.items())),
        dict(sorted(Counter(chosen.why.values()).items())),
    )


def _alike(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """What says the same once its particulars are gone, the most believed first, by the id of that one: two of them
    would take two places and teach one thing."""
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda each: (-each.confidence, each.id)):
        found.setdefault(_identity(fact), []).append(fact)
    return {many[0].id: many for many in found.values()}


def _identity(fact: Fact) -> str:
    return sha256_hex(canonical_json([fact.kind, fact.domain, fact.subject, fact.text]))[:26]


def _crossed(estate: Estate, rules: BottleneckRules, dropped: Counter[str]) -> list[Fact]:
    """The facts as they may be told, none of which repeats anything private."""
    crossed: dict[str, Fact] = {}
    for fact in estate.facts:
        reason = testament_rules.unfit(fact, rules) or ("" if fact.text[:TEXT].strip() else "it says nothing")
        if not reason:
            found = barrier.crossing(fact, estate.known, fact.id in estate.released)
            reason = found.reason
            if found.fact is not None:
                crossed[fact.id] = found.fact
        if reason:
            dropped[reason] += 1
    told = {key: _texts(fact) for key, fact in crossed.items() if key not in estate.released}
    for key in Windows(told, estate.known).repeating(estate.private()):
        fact = crossed.pop(key)
        if fact.kind in ANTI:
            crossed[key] = barrier.bare(fact, estate.known)
        else:
            dropped[PRIVATE] += 1
    return list(crossed.values())


def _texts(fact: Fact) -> list[str]:
    return [fact.text, fact.subject, fact.value, *strings(fact.data)]


def _descent(fact: Fact, estate: Estate) -> Descent:
    """How a fact came here and in how many lives it held, this one included."""
    descent = estate.descents.get(fact.id)
    if descent is None:
        return Descent(estate.key, 0, 1)
    held = held_after(descent.held, estate.proofs.get(fact.id, Proof.UNTRIED))
    return Descent(descent.origin, descent.generation if fact.provenance in INHERITED else 0, held)


def _entry(fact: Fact, estate: Estate, stands_for: int) -> Entry:
    descent = _descent(fact, estate)
    return Entry(
        id=_identity(fact),
        kind=fact.kind,
        text=fact.text[:TEXT],
        domain=fact.domain[:NAME],
        confidence=round(fact.confidence, 4),
        quality=round(fact.quality, 4),
        decay=fact.decay,
        provenance=fact.provenance,
        origin=descent.origin,
        generation=descent.generation,
        held=descent.held,
        created=min(fact.created, estate.died),  # a clock may have been ahead: nobody inherits from the future
        subject=fact.subject[:TEXT],
        value=fact.value[:TEXT],
        data=_held(fact.data),
        episode_count=fact.episode_count,
        helped=fact.helped,
        harmed=fact.harmed,
        bloodstain=fact.bloodstain,
        pad=fact.pad,
        tags=_tags(fact.tags),
        of=stands_for,
    )


def _held(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Data that the format can hold; what cannot be written is left out, and not the entry with it."""
    try:
        return data if is_data(dict(data)) else {}
    except (TypeError, ValueError, RecursionError):
        return {}


def _links(links: Sequence[Link], became: Mapping[str, str]) -> tuple[Link, ...]:
    """How what crosses hangs together, the strongest first; of several that became one, the strongest."""
    found: dict[tuple[str, str, str], float] = {}
    for each in links:
        src, dst = became.get(each.src), became.get(each.dst)
        if src and dst and src != dst:
            key = (src, dst, each.relation)
            found[key] = max(found.get(key, 0.0), each.weight)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Link(*key, weight) for key, weight in ranked[:MOST_LINKS])


def _left(episode: Episode, died: datetime) -> Left:
    return Left(
        id=episode.id,
        ts=min(episode.ts, died),
        text=episode.text[:TEXT],
        domain=episode.domain[:NAME],
        curiosity=round(clamp01(episode.curiosity), 4),
        importance=round(clamp01(episode.importance or 0.0), 4),
        pad=episode.pad,
        bloodstain=episode.bloodstain,
        tags=_tags(episode.tags),
    )


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(each[:NAME] for each in tags if each[:NAME].strip())[:16]


def bones(mnests: Sequence[Mnest], now: datetime) -> tuple[Bone, ...]:
    """The mnestome's skeleton: executors by name, weights in tenths, what weighs next to nothing left out."""
    found: dict[tuple[str, str], float] = {}
    for each in mnests:
        if each.live and vocabulary.is_known(each.src) and vocabulary.is_known(each.dst):
            found[each.src, each.dst] = max(found.get((each.src, each.dst), 0.0), each.at(now))
    ranked = sorted(((round(weight, 1), pair) for pair, weight in found.items()), key=lambda one: (-one[0], one[1]))
    return tuple(Bone(*pair, weight) for weight, pair in ranked[:MOST_MNESTS] if weight > 0)


# -- executors


def fit_executors(drafts: Sequence[Draft], known: Known, private: Private) -> tuple[list[Draft], dict[str, str]]:
    """The executors that may cross, and why others may not: their code and words are somebody's text, too."""
    texts = {draft.name: [draft.manifest, draft.code, draft.tests] for draft in drafts}
    found = barrier_scan.scan(texts, private(), known, ())
    wrong = {finding.where: finding.what for finding in reversed(found)}
    return [draft for draft in drafts if draft.name not in wrong], dict(sorted(wrong.items()))


# -- the whole


def composed(testament: Testament, known: Known, private: Private, released: Collection[str]) -> Testament:
    """The testament without whatever a scan of the whole finds in it; what is handed out was scanned as it is."""
    for _ in range(4):  # taking out may only make less: the second look finds what the first left, or nothing
        found = proved(testament, known, private, released)
        if not found:
            return testament
        testament = _without(testament, found)
    raise TestamentError("the testament could not be made clean; this is a mistake in Metnos, and nothing was left")


def proved(testament: Testament, known: Known, private: Private, released: Collection[str]) -> list[Finding]:
    """Everything in it that must not be told; nothing for what is fit."""
    texts: dict[str, list[str]] = {_CORE: [line for many in testament.reflection.values() for line in many]}
    texts |= {
        f"{_FACT}{e.id}": [e.text, e.subject, e.value, e.domain, *e.tags, *strings(e.data)] for e in testament.entries
    }
    texts |= {f"{_EPISODE}{e.id}": [e.text, e.domain, *e.tags] for e in testament.episodes}
    free = {f"{kind}{key}" for key in released for kind in (_FACT, _EPISODE)}
    found = barrier_scan.scan(texts, private(), known, free)
    orders = ((where, poison.screen("\n".join(many)).reason) for where, many in sorted(texts.items()))
    return found + [Finding(where, reason) for where, reason in orders if reason]


def _without(testament: Testament, found: Sequence[Finding]) -> Testament:
    wrong = {each.where for each in found}
    entries = tuple(each for each in testament.entries if f"{_FACT}{each.id}" not in wrong)
    ids = {each.id for each in entries}
    said = dict.fromkeys(testament.reflection, (reflection.NOTHING,)) if _CORE in wrong else testament.reflection
    return replace(
        testament,
        reflection=said,
        entries=entries,
        links=tuple(each for each in testament.links if each.src in ids and each.dst in ids),
        episodes=tuple(each for each in testament.episodes if f"{_EPISODE}{each.id}" not in wrong),
    )


def unsettled(facts: Iterable[Fact]) -> dict[str, int]:
    """Contradictions that were never settled, by domain."""
    return dict(Counter(f.domain for f in facts if f.standing is Standing.QUARANTINED and f.contradicts and f.domain))


def dreamt(facts: Iterable[Fact]) -> dict[str, int]:
    """Dreams that nobody confirmed, by domain."""
    return dict(Counter(f.domain for f in facts if f.confirm_by is not None and f.domain))


def ending(cause: Cause, profile: str, key: str, died: datetime) -> Fact | None:
    """How a life ended badly, as the last warning that it leaves; nothing if it did not."""
    if cause not in _ENDINGS:
        return None
    text = f"Ended badly: a life by the profile {quoted(profile)}: {_ENDINGS[cause]}."
    return Fact(
        id=f"0{sha256_hex(f'{bloodstain.TAG} {key} {to_text(died)}'.encode())[:25].upper()}",
        kind=Kind.WARNING,
        text=text,
        domain="life",
        confidence=0.6,
        quality=0.6,
        provenance=Provenance.DEATH,
        decay=Decay.STRATEGIC,
        created=died,
        reinforced=died,
        applied=died,
        subject=f"{bloodstain.TAG}: life: {cause}",
        value=_ENDINGS[cause],
        data={"warning": text},
        episode_count=1,
        scope=Scope.AGENT,
        bloodstain=True,
    )
