"""Admitting: what becomes of a candidate for knowledge, from the first look to the last row.

In this order: refused fast if it was refused before, by the owner or here; screened; compared with what is known;
merged into what says the same; weighed by the gate; held back if it is about people; set against what it contradicts;
written.

Rules: near-duplicates make one fact, which is believed more only for evidence it did not have. A contradiction is kept
beside what it contradicts and linked; the one with less behind it is quarantined, and when the balance of evidence
turns, so do the two. Nothing is overwritten: a newer value ends the older one's time only if that was asked for and the
newer one's source weighs at least as much. What may not act is never kept in a kind that acts.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from metnos.core.embedding import Space
from metnos.grimoire import admission, consent, fact_likeness, fact_rules, immune, poison
from metnos.grimoire import facts_rows as rows
from metnos.grimoire.admission import AdmissionRules, Judged, Known
from metnos.grimoire.episode import Provenance
from metnos.grimoire.exchange_strangers import is_imported
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.facts_rows import Which
from metnos.grimoire.immune import Stage
from metnos.store.db import Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metnos.grimoire.facts import Facts

    Vector = NDArray[np.float32]

CONSENT = "consent"  # the tag of what waits for the owner's word
_NEAR = 12  # facts that a candidate is compared with, by meaning and by words each
_SUBJECT = 50  # and by subject
_LIKE = 200  # newest facts of its kind whose usefulness tells about a candidate
_PROOFS = 5  # new episodes that count at one time: a burst is one occasion
_LIVE = (Standing.ACTIVE, Standing.QUARANTINED)


class Outcome(StrEnum):
    """What became of a candidate."""

    ADMITTED = "admitted"
    DOUBTED = "doubted"  # admitted, but believed little
    MERGED = "merged"
    CONTRADICTED = "contradicted"  # kept, linked; one of the two is quarantined
    CONSENT = "consent"  # kept in quarantine until the owner agrees
    REJECTED = "rejected"
    POISONED = "poisoned"
    KNOWN = "known"  # refused fast, as before


@dataclass(frozen=True, slots=True)
class Admitted:
    """``fact`` is what is kept now, if anything is; ``judged`` how it was weighed, if it came so far."""

    outcome: Outcome
    reason: str
    fact: Fact | None = None
    judged: Judged | None = None
    superseded: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        return self.fact is not None


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known that concerns a candidate."""

    same: Fact | None
    against: tuple[Fact, ...]
    known: Known


def admit(
    facts: "Facts",
    candidate: Fact,
    vector: "Vector | None",
    space: Space | None,
    rules: AdmissionRules,
    supersedes: Sequence[str],
    now: datetime,
) -> Admitted:
    """See the module's words."""
    if candidate.kind in fact_rules.ACTING and not fact_rules.may_act(candidate):
        candidate = replace(candidate, kind=Kind.INSIGHT)
    refused = _refused(facts, candidate)
    if refused is not None:
        return refused
    near = _near(facts, candidate, vector, space)
    with facts.db.write() as tx:
        around = _around(tx, candidate, near, rules)
        if around.same is not None:
            return _merge(facts, tx, around.same, candidate, vector, space, now)
        judged = admission.judge(candidate, around.known, now, rules)
        if judged.level is None:
            facts.immune.remember(
                _gate_pattern(candidate), Stage.GATE, "too little speaks for it", candidate.provenance
            )
            return Admitted(Outcome.REJECTED, f"its score is {judged.score:.2f}", judged=judged)
        made = _made(candidate, judged, now, facts.rules)
        ended, against = _ended(around.against, made, supersedes)
        if _is_flood(made, against, rules):
            facts.immune.remember(_pattern(candidate), Stage.FLOOD, "one contradiction too many", candidate.provenance)
            return Admitted(Outcome.REJECTED, "too much contradicts the same fact already", judged=judged)
        return _keep(facts, tx, made, judged, against, ended, vector, space, now)


# -- before anything is compared


def _refused(facts: "Facts", candidate: Fact) -> Admitted | None:
    pattern = _pattern(candidate)
    for digest in (pattern, _gate_pattern(candidate), *unwanted_patterns(candidate)):
        known = facts.immune.refuses(digest)
        if known is not None:
            return Admitted(Outcome.KNOWN, f"refused before: {known.reason}")
    found = poison.screen_fact(candidate)
    if not found.is_poison:
        return None
    facts.immune.remember(pattern, Stage.POISON, found.reason, candidate.provenance)
    return Admitted(Outcome.POISONED, found.reason)


def _pattern(candidate: Fact) -> str:
    return immune.pattern("\n".join(poison.texts_of(candidate)))


def _gate_pattern(candidate: Fact) -> str:
    """With other evidence, or from elsewhere, it is asked again."""
    evidence = f"{candidate.kind} {candidate.provenance} {candidate.episode_count} {len(candidate.sources)}"
    return immune.pattern("\n".join(poison.texts_of(candidate)), evidence)


def unwanted_patterns(fact: Fact) -> tuple[str, ...]:
    """By what something that the owner did not want known is known again: its words, and what it says of what, because
    words count how often it was seen."""
    value = "" if fact.kind is Kind.BASELINE else fact.value  # an estimate, which is another one each time
    about = (f"{fact.subject}\n{value}",) if fact.subject else ()
    return tuple(immune.pattern(each, CONSENT) for each in (fact.text, *about))


# -- what is known of it


def _near(facts: "Facts", candidate: Fact, vector: "Vector | None", space: Space | None) -> dict[str, float | None]:
    """Facts to compare with, and their cosines where there are any. Only the candidate's own domain is searched."""
    which = Which(domains=(candidate.domain,), standings=_LIVE)
    near: dict[str, float | None] = {}
    for found in facts.matching(f"{candidate.text} {candidate.subject}", _NEAR, which):
        near[found.fact.id] = None
    if vector is not None and space is not None:
        for found in facts.nearest(vector, space, _NEAR, which):
            near[found.fact.id] = found.score
    if candidate.subject:
        about = facts.find(domains=(candidate.domain,), subject=candidate.subject, standings=_LIVE, count=_SUBJECT)
        near |= {fact.id: near.get(fact.id) for fact in about}
    near.pop(candidate.id, None)
    return near


def _around(tx: Transaction, candidate: Fact, near: dict[str, float | None], rules: AdmissionRules) -> _Around:
    others = [fact for fact in rows.read(tx, list(near)) if fact.standing in _LIVE and not is_imported(fact.sender)]
    likeness = rules.likeness
    against = tuple(fact for fact in others if fact_likeness.contradicts(candidate, fact, likeness))
    opposed = {fact.id for fact in against}
    rest = [fact for fact in others if fact.id not in opposed]
    alike = [fact for fact in rest if fact_likeness.is_same(candidate, fact, near[fact.id], likeness)]
    mergeable = [fact for fact in alike if _may_merge(candidate, fact)]
    similar = [fact_likeness.similarity(candidate, fact, near[fact.id]) for fact in rest if fact not in alike]
    sql = "SELECT helped, harmed FROM facts WHERE domain = ? AND kind = ? ORDER BY seq DESC LIMIT ?"
    like = tx.query(sql, (candidate.domain, str(candidate.kind), _LIKE))
    helped, harmed = (sum(each[place] for each in like) for place in (0, 1))
    known = Known(max(similar, default=0.0), len(alike), len(against), helped, harmed)
    return _Around(mergeable[0] if mergeable else None, against, known)


def _may_merge(candidate: Fact, known: Fact) -> bool:
    """A dream whose time for being confirmed is over stays one; what is true now stands on its own evidence."""
    return fact_rules.is_confirmable(known, candidate.reinforced)


# -- the same again


def _merge(
    facts: "Facts",
    tx: Transaction,
    known: Fact,
    candidate: Fact,
    vector: "Vector | None",
    space: Space | None,
    now: datetime,
) -> Admitted:
    """One fact of two. Only episodes it did not know make it believed more, and only as far as their source may."""
    new = [each for each in dict.fromkeys(candidate.sources) if each not in set(known.sources)]
    merged = known
    if new:
        share = 1.0 - (1.0 - facts.rules.reinforcement) ** min(len(new), _PROOFS)
        most = fact_rules.ceiling(candidate)
        merged = fact_rules.reinforced(known, share, now, facts.rules, most=most)
        merged = replace(
            merged,
            sources=(*known.sources, *new),
            episode_count=max(known.episode_count, len(known.sources)) + len(new),
        )
        merged = _earned(merged, candidate)
    # The newest estimate of what is measured; and what was only inherited or dreamt counts from here on as it was seen,
    # with nothing in it that nobody here saw.
    fresh = bool(new) and (known.kind is Kind.BASELINE or merged.provenance is not known.provenance)
    if fresh:
        came = {name: known.data[name] for name in (admission.CAME_BY,) if name in known.data}
        seen = replace(merged, text=candidate.text, value=candidate.value, scope=candidate.scope)
        merged = replace(seen, data={**candidate.data, **came})
    facts.put(merged, vector if fresh else None, space if fresh else None, tx)
    settled = _balanced(facts, tx, merged) if new else merged
    return Admitted(Outcome.MERGED, f"known already; {len(new)} new episodes" if new else "known already", settled)


def _earned(merged: Fact, candidate: Fact) -> Fact:
    """What our own experience shows is our own knowledge, whoever said or dreamt it first."""
    ours = candidate.provenance in (Provenance.SELF, Provenance.OWNER) and not fact_rules.is_strangers(candidate)
    if not ours or merged.provenance in (Provenance.SELF, Provenance.OWNER):
        return merged
    return replace(merged, provenance=candidate.provenance, decay=candidate.decay, confirm_by=None, generation=0)


def _balanced(facts: "Facts", tx: Transaction, fact: Fact) -> Fact:
    """A fact that was set aside comes back when more speaks for it than for all that it contradicts."""
    if fact.standing is not Standing.QUARANTINED or CONSENT in fact.tags:
        return fact
    rivals = [each for each in rows.read(tx, fact.contradicts) if each.standing is Standing.ACTIVE]
    if any(fact_rules.gives_way(fact, each) is fact for each in rivals):
        return fact
    for rival in rivals:
        facts.put(replace(rival, standing=Standing.QUARANTINED), tx=tx)
    return facts.put(replace(fact, standing=Standing.ACTIVE), tx=tx)


def agreed(facts: "Facts", tx: Transaction, fact: Fact) -> Fact:
    """The owner agreed to what is known about people: it counts, unless more speaks for what it contradicts."""
    freed = facts.put(replace(fact, tags=tuple(tag for tag in fact.tags if tag != CONSENT)), tx=tx)
    return _balanced(facts, tx, freed)


# -- something new


def _made(candidate: Fact, judged: Judged, now: datetime, rules: fact_rules.FactRules) -> Fact:
    """The candidate as it may be kept: how far it is believed, and as what."""
    level = judged.level or 0.0
    first = fact_rules.first_confidence(level, candidate.provenance, candidate.generation, rules)
    made = replace(
        candidate,
        confidence=min(first, fact_rules.ceiling(candidate)),
        quality=judged.quality,
        data={**candidate.data, admission.CAME_BY: [round(each, 4) for each in astuple(judged.factors)]},
        applied=now,
        episode_count=max(candidate.episode_count, len(set(candidate.sources))),
        standing=Standing.ACTIVE,
        low_cycles=0,
        contradicts=(),
    )
    if made.provenance is Provenance.DREAM:
        by = made.confirm_by or now + timedelta(days=rules.confirm_days)
        made = replace(made, decay=Decay.EPHEMERAL, confirm_by=by, confidence=min(made.confidence, rules.dream))
    return made


def _ended(against: Sequence[Fact], made: Fact, supersedes: Sequence[str]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Of what it contradicts: what it may end the time of, as asked, and the rest."""
    asked = set(supersedes) | {each for each in made.data.get("supersedes", ()) if isinstance(each, str)}
    ended = tuple(
        fact
        for fact in against
        if fact.id in asked and not fact.pinned and fact_rules.rank(made) >= fact_rules.rank(fact)
    )
    return ended, tuple(fact for fact in against if fact not in ended)


def _is_flood(made: Fact, against: Sequence[Fact], rules: AdmissionRules) -> bool:
    """Many values against one fact, none of them stronger, are no doubt about it but an attempt to bury it."""
    return any(
        len(fact.contradicts) >= rules.contradictions and fact_rules.gives_way(made, fact) is made for fact in against
    )


def _keep(
    facts: "Facts",
    tx: Transaction,
    made: Fact,
    judged: Judged,
    against: Sequence[Fact],
    ended: Sequence[Fact],
    vector: "Vector | None",
    space: Space | None,
    now: datetime,
) -> Admitted:
    doubted = judged.score <= admission.RULES.admit and made.kind is not Kind.WARNING
    outcome, reason = Outcome.DOUBTED if doubted else Outcome.ADMITTED, f"its score is {judged.score:.2f}"
    active = [fact for fact in against if fact.standing is Standing.ACTIVE]
    yields = any(fact_rules.gives_way(made, fact) is made for fact in active)
    if against:
        made = replace(made, contradicts=tuple(fact.id for fact in against))
        outcome, reason = Outcome.CONTRADICTED, f"it contradicts {len(against)} known facts"
    if consent.needs_consent(made):
        made = replace(made, tags=tuple(dict.fromkeys((*made.tags, CONSENT))))
        outcome, reason, yields = Outcome.CONSENT, "it is about people and needs the owner's word", True
    if yields:
        made = replace(made, standing=Standing.QUARANTINED)
    elif ended:
        made = replace(made, valid_from=made.valid_from or now)
    kept = facts.put(made, vector, space, tx)
    if kept.standing is Standing.ACTIVE:
        for rival in active:
            facts.put(replace(rival, standing=Standing.QUARANTINED), tx=tx)
        for older in ended:
            facts.put(fact_rules.closed(older, kept.valid_from or now, now), tx=tx)
            facts.link(kept.id, older.id, "supersedes")
    gone = tuple(fact.id for fact in ended) if kept.standing is Standing.ACTIVE else ()
    return Admitted(outcome, reason, rows.read(tx, [kept.id])[0], judged, gone)
