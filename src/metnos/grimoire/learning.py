"""From episodes to facts: one cluster, or one stretch of time, at a time.

Finding is apart from writing: `of_cluster` and `of_stream` read episodes, ask the rules and perhaps a model, and give
candidates; `admit` puts these through the gate inside the caller's transaction. Rules: only verified episodes are
looked at, whatever was planned; episodes of two audiences are never mixed, so nothing that one person said becomes
known to another by way of a fact; what is bound to one conversation is not learnt from at all. A model's words and its
failures are a stranger's: what it says is screened, and when it fails the rules have spoken anyway.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metnos.core.clock import Clock
from metnos.core.embedding import Embedder
from metnos.core.errors import ModelError
from metnos.core.ids import UlidMaker
from metnos.grimoire import extract_model, fact_rules, streams
from metnos.grimoire.affect import Pad
from metnos.grimoire.appraisal import NO_OUTCOME, OutcomeOf
from metnos.grimoire.cluster import ClusterRules, clusters
from metnos.grimoire.domain import Domain, event_of
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.extract import Candidate, ExtractRules, Material, extract
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.preferences import preferred

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Think = Callable[[str], str]  # gets untrusted material, fences it, asks with `extract_model.INSTRUCTION`
_BASELINES = 200  # of one cluster
_ALIKE = 20  # of one subject
TWIN = "heuristic: "  # the beginning of the subject of a heuristic that was made of another fact
_PROPOSED = frozenset({Kind.PROCEDURAL, Kind.ANTI})  # kinds that a heuristic can be made of


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate as a fact, with its vector if it has one."""

    fact: Fact
    vector: "Vector | None"


class Learning:
    """Makes facts of episodes."""

    def __init__(
        self,
        clock: Clock,
        ids: UlidMaker,
        episodes: Episodes,
        facts: Facts,
        domain: Domain,
        rules: ExtractRules,
        cluster_rules: ClusterRules,
        embedder: Embedder | None,
        think: Think | None,
        outcome_of: OutcomeOf = lambda _source: NO_OUTCOME,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._episodes = episodes
        self._facts = facts
        self._domain = domain
        self._rules = rules
        self._cluster_rules = cluster_rules
        self._embedder = embedder
        self._think = think
        self._outcome_of = outcome_of

    # -- finding

    def of_cluster(self, ids: Sequence[str], fresh: frozenset[str]) -> list[Found]:
        """What the episodes of one domain teach."""
        episodes = [each for each in self._episodes.get(ids) if may_teach(each)]
        vectors = self._episodes.vectors_of([each.id for each in episodes])
        found: list[Candidate] = []
        for cluster in clusters(episodes, vectors, self._domain, self._cluster_rules):
            material = Material(cluster, fresh, self._domain, self._usual(cluster.key, audience(cluster.episodes[0])))
            found += [*extract(material, self._rules), *preferred(material, self._rules, self._outcome_of)]
            for topic in cluster.topics:
                if any(each.id in fresh for each in topic):
                    found += self._asked(topic, cluster.key)
        return self._made(found, episodes)

    def of_stream(self, episodes: Sequence[Episode], fresh: frozenset[str]) -> list[Found]:
        """What the order of an unbroken stretch teaches, audience by audience."""
        found: list[Found] = []
        for who in sorted({audience(each) for each in episodes if each.scope is not Scope.SESSION}):
            theirs = [each for each in episodes if audience(each) == who and each.scope is not Scope.SESSION]
            keys = sorted({self._domain.key_of(each) for each in theirs if any(self._domain.measured(each))})
            usual = {key: self._usual(key, who) for key in keys}
            stream = streams.Stream(theirs, fresh, self._domain, usual)
            found += self._made(streams.extract(stream, self._rules), theirs)
        return found

    def _asked(self, topic: Sequence[Episode], key: str) -> list[Candidate]:
        if self._think is None:
            return []
        try:
            answer = self._think(extract_model.material(topic))
        except ModelError:
            return []
        return extract_model.read(answer, topic, key, self._rules)

    def _usual(self, key: str, who: tuple[str, str]) -> dict[str, Baseline]:
        """The baselines that are known in a domain."""
        known = self._facts.find(kinds=(Kind.BASELINE,), domains=(key,), standings=(Standing.ACTIVE,), count=_BASELINES)
        return {
            str(fact.data["metric"]): baseline
            for fact in known
            if fact.scope.hears(Scope(who[0])) and fact.sender == who[1] and (baseline := baseline_of(fact)) is not None
        }

    def _made(self, candidates: Sequence[Candidate], episodes: Sequence[Episode]) -> list[Found]:
        by_id = {each.id: each for each in episodes}
        facts = [self._fact(each, [by_id[source] for source in each.sources]) for each in candidates]
        vectors: Sequence[Vector | None] = [None] * len(facts)
        if self._embedder is not None and facts:
            vectors = list(self._embedder.embed([fact.text for fact in facts]))
        return [Found(fact, vector) for fact, vector in zip(facts, vectors, strict=True)]

    def _fact(self, candidate: Candidate, sources: Sequence[Episode]) -> Fact:
        now = self._clock.now()
        seen = min(now, max(each.ts for each in sources))
        metric = str(candidate.data.get("metric", ""))
        category = self._domain.category(candidate.kind, metric, {event_of(each) for each in sources})
        return Fact(
            id=self._ids(),
            kind=candidate.kind,
            text=candidate.text,
            domain=candidate.domain,
            confidence=candidate.sure,
            quality=candidate.sure,
            provenance=provenance(sources),
            decay=candidate.decay,
            created=now,
            reinforced=seen,
            applied=now,
            subject=candidate.subject,
            value=candidate.value,
            data=candidate.data,
            sources=candidate.sources,
            episode_count=len(candidate.sources),
            scope=sources[0].scope,
            sender=sources[0].sender,
            pad=_mean([each.pad for each in sources]),
            bloodstain=any(each.bloodstain for each in sources),
            tags=tuple(filter(None, (category, *candidate.tags))),
        )

    # -- writing

    def admit(self, found: Sequence[Found]) -> Counter[str]:
        """Put candidates through the gate, inside the caller's transaction; what came of them."""
        counts = Counter[str]()
        for each in found:
            kept = self._admit(each, counts)
            if kept is not None and kept.kind in _PROPOSED and fact_rules.is_insight(kept, self._facts.rules):
                counts["heuristics"] += 1
                self._admit(Found(self._heuristic(kept, each.fact), each.vector), counts)
        return counts

    def _admit(self, found: Found, counts: Counter[str]) -> Fact | None:
        """One candidate; the fact that it became, or made surer."""
        fact, rules = found.fact, self._facts.rules
        known = self._alike(fact)
        space = self._embedder.space if self._embedder is not None and found.vector is not None else None
        admitted = self._facts.admit(fact, found.vector, space, supersedes=_corrected(fact, known))
        counts[f"facts_{admitted.outcome}"] += 1
        kept = admitted.fact
        if kept is not None and fact_rules.is_insight(kept, rules):
            before = next((each for each in known if each.id == kept.id), None)
            counts["promoted"] += before is None or not fact_rules.is_insight(before, rules)
        return kept

    def _alike(self, fact: Fact) -> list[Fact]:
        if not fact.subject:
            return []
        return self._facts.find(kinds=(fact.kind,), domains=(fact.domain,), subject=fact.subject, count=_ALIKE)

    def _heuristic(self, kept: Fact, seen: Fact) -> Fact:
        """What is believed well enough to be acted on, as a line that could stand in the playbook."""
        return replace(
            seen,
            id=self._ids(),
            kind=Kind.HEURISTIC,
            text=kept.text,
            subject=f"{TWIN}{kept.subject}",
            value=kept.value,
            data={**kept.data, "strategy": kept.data.get("strategy") or kept.data.get("executor", ""), "fact": kept.id},
            tags=tuple(filter(None, (self._domain.category(Kind.HEURISTIC),))),
        )


def may_teach(episode: Episode) -> bool:
    """Whether an episode may be learnt from."""
    return episode.verdict is Verdict.VERIFIED and episode.scope is not Scope.SESSION


def audience(episode: Episode) -> tuple[str, str]:
    """Whom an episode is for: only those of one audience are ever looked at together."""
    return episode.scope.value, episode.sender


def provenance(sources: Sequence[Episode]) -> Provenance:
    """Of what several episodes taught: our own experience, unless one of them came from somewhere less trusted."""
    foreign = [each.provenance for each in sources if each.provenance not in (Provenance.SELF, Provenance.OWNER)]
    return min(foreign, key=lambda each: (fact_rules.BASE[each], each), default=Provenance.SELF)


def baseline_of(fact: Fact) -> Baseline | None:
    """The baseline that a fact holds, if it is one."""
    data = fact.data
    mean, stddev, count = (data.get(name) for name in ("mean", "stddev", "count"))
    numbers = all(isinstance(each, int | float) and math.isfinite(each) for each in (mean, stddev, count))
    if fact.kind is not Kind.BASELINE or not numbers or "metric" not in data:
        return None
    return Baseline(float(mean or 0), max(0.0, float(stddev or 0)), max(0, int(count or 0)))


def _corrected(fact: Fact, known: Sequence[Fact]) -> list[str]:
    """What the owner's corrections put an end to: the same thing done otherwise."""
    return [each.id for each in known if fact.data.get("instead_of") and each.value != fact.value]


def _mean(pads: Sequence[Pad]) -> Pad:
    count = len(pads)
    return Pad(
        math.fsum(pad.pleasure for pad in pads) / count,
        math.fsum(pad.arousal for pad in pads) / count,
        math.fsum(pad.dominance for pad in pads) / count,
    )
