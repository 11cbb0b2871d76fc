"""Taking in what a predecessor left: facts, how they hang together, and the episodes that its owner released.

What comes is a stranger's text, whoever signed it. Everything is written down as quarantined first (`lineage`), then
each entry goes the way of every candidate for knowledge (`grimoire.facts_admit`): screened, compared, merged, set
against what it contradicts, held back if it is about people. Rules:

- It is believed as `inheritance_rules.discounted` says, and counts as never used: not one help, pin or source crosses.
- The gate may doubt an entry but rejects none for its score: it passed the predecessor's gate and the bottleneck, and
  a death reflection passes (seed 003). What screening or the owner refused before stays out.
- Nothing inherited steers a plan before own experience has shown it; then it is own knowledge (`Inheritance.settle`).
- Links lead only between what came in. Episodes come without their payload, verified by the owner's release.
- Killed anywhere, the same call goes on: ids follow from the testament, so nothing comes in twice.

Does not guarantee that anything of it is true.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock
from metnos.core.errors import TestamentError
from metnos.grimoire import admission, fact_rules
from metnos.grimoire.appraisal import IMPORTANCE
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.facts_admit import CONSENT, Admitted, Outcome
from metnos.life import inheritance_rules as rules
from metnos.life.inheritance_rules import InheritanceRules
from metnos.life.lineage import Lineage, State
from metnos.life.testament import Entry, Left, Opened
from metnos.life.testament_lines import GENERATIONS

GATE = replace(admission.RULES, doubt=0.0, warning_novelty=0.0)
SOURCE = "testament"  # the beginning of an inherited episode's source
OWNERS = "owner"  # the tag of what the predecessor knew from its owner's mouth: it needs the owner's word again
_EVIDENCE = 20  # episodes of another life that count: as many make a fact fade three times slower, and no more may
_OURS = frozenset({"supersedes", "fact", admission.CAME_BY})  # names of data that would speak of facts of this memory
_STEPS = frozenset({"prefer", "instead_of"})
_WHEN = ("canonical", "arguments")
_STATES = {
    Outcome.ADMITTED: State.TAKEN,
    Outcome.DOUBTED: State.DOUBTED,
    Outcome.MERGED: State.MERGED,
    Outcome.CONTRADICTED: State.CONTRADICTED,
    Outcome.CONSENT: State.CONSENT,
}

_AT_ONCE = 64  # entries of one transaction: each costs the disk a moment
_CLOCKS = timedelta(days=1)  # so far two machines' clocks may be apart
_ELSEWHERE = "Make the successor in another place: metnos --workspace FOLDER"

Progress = Callable[[int, int], None]


def quiet(_done: int, _of: int) -> None:
    """For whoever does not watch."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came in: entries by what became of them, and how many links and episodes."""

    entries: Mapping[State, int] = field(default_factory=dict)
    links: int = 0
    episodes: int = 0

    @property
    def known(self) -> int:
        """Entries that are facts now."""
        return sum(count for state, count in self.entries.items() if state in _STATES.values())

    def counts(self) -> dict[str, int]:
        """For the audit: names and numbers."""
        return {**{str(state): count for state, count in self.entries.items()}, "links": self.links,
                "episodes": self.episodes}  # fmt: skip


class Inheritance:
    """One heir's way with what it was left."""

    def __init__(self, lineage: Lineage, facts: Facts, episodes: Episodes, clock: Clock) -> None:
        self._lineage = lineage
        self._facts = facts
        self._episodes = episodes
        self._clock = clock

    # -- coming in

    def take(self, opened: Opened, heir: str, progress: Progress = quiet) -> Taken:
        """Take in what was written down by `Lineage.begin`, or the rest of it. ``heir`` is this agent's public key."""
        testament = opened.testament
        entries = {each.id: each for each in testament.entries}
        waiting = self._lineage.heirlooms(State.QUARANTINED)
        for start in range(0, len(waiting), _AT_ONCE):
            progress(start, len(waiting))
            # Facts are committed first and the notes about them right after: `_here` knows what a kill between left.
            with self._lineage.db.write(), self._facts.db.write():
                for each in waiting[start : start + _AT_ONCE]:
                    self._one(opened, entries[each.entry], heir)
        progress(len(waiting), len(waiting))
        links, episodes = self._links(opened), self._left(opened)
        counted = Counter(each.state for each in self._lineage.heirlooms())
        return Taken(dict(sorted(counted.items())), links, episodes)

    def _one(self, opened: Opened, entry: Entry, heir: str) -> None:
        numbers = self._lineage.numbers
        whose = f"{heir} {opened.digest}"
        if rules.is_left_out(entry.id, whose, entry.kind, bloodstain=entry.bloodstain, held=entry.held, rules=numbers):
            self._lineage.became(entry.id, State.LEFT_OUT, "a successor is no copy")
            return
        made = candidate(entry, opened, self._clock.now())
        here = self._facts.get([made.id])
        if here:
            self._lineage.became(entry.id, _here(here[0], entry, numbers), fact=here[0])
            return
        admitted = self._facts.admit(made, rules=GATE)
        kept = admitted.fact
        if kept is not None and admitted.outcome is not Outcome.MERGED:
            kept = self._facts.put(replace(kept, confidence=_believed(entry, admitted, numbers)))
        state = _STATES.get(admitted.outcome, State.REFUSED)
        self._lineage.became(entry.id, state, "" if kept else admitted.reason, kept)

    def _links(self, opened: Opened) -> int:
        became = {each.entry: each.fact for each in self._lineage.heirlooms() if each.fact}
        done = 0
        with self._facts.db.write():
            for link in opened.testament.links:
                src, dst = became.get(link.src, ""), became.get(link.dst, "")
                if src and dst and src != dst:
                    self._facts.link(src, dst, link.relation, link.weight)
                    done += 1
        return done

    def _left(self, opened: Opened) -> int:
        made = [_episode(each, opened, self._lineage.numbers) for each in opened.testament.episodes]
        if made:
            self._episodes.add(made)
            self._lineage.note_episodes([each.id for each in made])
        return len(made)

    # -- later

    def settle(self) -> list[Fact]:
        """What own experience has shown since is own knowledge from now on; those facts, once."""
        earned = self._lineage.settle(self._facts.get)
        numbers = self._lineage.numbers
        for fact in earned:
            if fact.provenance in fact_rules.INHERITED:
                self._facts.put(_owned(fact, self._clock.now(), numbers))
        return earned

    def replayed(self, cycle: int) -> Sequence[str]:
        """The episodes that a consolidation goes through again; it is the ``cycle``-th of this life, from one."""
        return sorted(self._lineage.episodes()) if cycle <= self._lineage.numbers.replayed else ()


# -- what an entry becomes


def candidate(entry: Entry, opened: Opened, now: datetime) -> Fact:
    """An entry as a candidate for knowledge here."""
    told = entry.provenance is Provenance.OWNER
    return Fact(
        id=_id(opened.digest, entry.id),
        kind=entry.kind,
        text=entry.text,
        domain=entry.domain,
        confidence=entry.confidence,
        quality=entry.quality,
        provenance=rules.heir_provenance(entry.provenance),
        decay=Decay.STRATEGIC if entry.decay is Decay.NEVER else entry.decay,  # only an owner's own word stays for ever
        created=now,
        reinforced=min(now, opened.testament.died),
        applied=now,
        subject=entry.subject,
        value=entry.value,
        data=_lesson(entry.data),
        episode_count=min(entry.episode_count, _EVIDENCE),
        generation=rules.age(entry.provenance, entry.generation),
        pad=entry.pad,
        bloodstain=entry.bloodstain,
        tags=tuple(dict.fromkeys((*entry.tags, OWNERS))) if told else entry.tags,
        scope=Scope.OWNER if told else Scope.AGENT,  # nobody of this house said it
    )


def _lesson(data: Mapping[str, Any]) -> dict[str, Any]:
    """What an entry knows, without what no honest one says: values of arguments, which are of the life that ended."""
    found = {name: value for name, value in data.items() if name not in _OURS}
    for name in _STEPS & found.keys():
        found[name] = {**each, "args": {}} if isinstance(each := found[name], Mapping) and each else {}
    if isinstance(when := found.get("when"), Mapping):
        found["when"] = {name: value for name, value in when.items() if name in _WHEN}
    return found


def _believed(entry: Entry, admitted: Admitted, numbers: InheritanceRules) -> float:
    """How far it is believed: as inherited, and less if the gate doubts it; what did harm not below its floor."""
    source = rules.heir_provenance(entry.provenance)
    deaths = rules.age(entry.provenance, entry.generation)
    most = rules.discounted(entry.confidence, deaths, source, entry.kind, numbers)
    sure = admitted.outcome is Outcome.ADMITTED or entry.kind is Kind.ANTI or admitted.fact is None
    return most if sure or admitted.fact is None else min(most, admitted.fact.confidence)


def _here(fact: Fact, entry: Entry, numbers: InheritanceRules) -> State:
    """What became of an entry that came in just before a kill took the note about it: the fact itself tells."""
    if CONSENT in fact.tags:
        return State.CONSENT
    if fact.contradicts:
        return State.CONTRADICTED
    deaths = rules.age(entry.provenance, entry.generation)
    most = rules.discounted(entry.confidence, deaths, fact.provenance, entry.kind, numbers)
    return State.DOUBTED if fact.confidence < most else State.TAKEN


def _owned(fact: Fact, now: datetime, numbers: InheritanceRules) -> Fact:
    """Own knowledge, believed as so many own proofs make one believe it."""
    own = replace(fact, provenance=Provenance.SELF, generation=0)
    share = 1.0 - (1.0 - fact_rules.RULES.reinforcement) ** numbers.earned
    return fact_rules.reinforced(own, share, now)


def _episode(left: Left, opened: Opened, numbers: InheritanceRules) -> Episode:
    """What happened to somebody else: in words, and worth a generation less."""
    return Episode(
        id=_id(opened.digest, left.id),
        ts=left.ts,
        text=left.text,
        source=f"{SOURCE}:{opened.digest}:{left.id}",
        kind="observation",
        payload={IMPORTANCE: round(left.importance * numbers.generation, 6)},
        domain=left.domain,
        tags=left.tags,
        provenance=Provenance.TESTAMENT,
        curiosity=left.curiosity,
        pad=left.pad,
        importance=left.importance * numbers.generation,
        verdict=Verdict.VERIFIED,
        bloodstain=left.bloodstain,
    )


def _id(testament: str, entry: str) -> str:
    """The same for the same entry, of the shape of all ids here."""
    return f"0{sha256_hex(f'{testament} {entry}'.encode())[:25].upper()}"


# -- before anything comes in


def refuse_unfit(opened: Opened, own: str, now: datetime) -> None:
    """Raise on a testament that is sound, and still cannot be this agent's to inherit. ``own`` is its key, if it has
    one yet."""
    testament = opened.testament
    line = [opened.key, *(each.key for each in testament.ancestors)]
    if opened.key == own:
        raise TestamentError(
            "this is the testament of this very agent: a successor is another one, and not a copy",
            fix=f"{_ELSEWHERE} init --from TESTAMENT",
        )
    if own in line:
        raise TestamentError(
            "this agent is an ancestor of whoever left that testament, and cannot descend from itself",
            fix=f"{_ELSEWHERE} init --from TESTAMENT",
        )
    if len(set(line)) < len(line):
        raise TestamentError("the testament's line of ancestors leads back to itself: it was forged")
    if testament.generation >= GENERATIONS:
        raise TestamentError(f"the testament counts {testament.generation} lives before its own: it was forged")
    if any(each.provenance is Provenance.DREAM for each in testament.entries):
        raise TestamentError("the testament holds dreams, which nobody hands on: it was forged")
    if testament.died > now + _CLOCKS:
        raise TestamentError(
            "whoever left this testament dies in the future",
            fix="Nothing was changed. Check the clock of this machine: date",
        )
    moments = [*(each.created for each in testament.entries), *(each.ts for each in testament.episodes)]
    if any(moment > testament.died + _CLOCKS for moment in moments):
        raise TestamentError("the testament holds what happened after the death that it speaks of: it was forged")
