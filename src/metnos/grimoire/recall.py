"""Recall: what is remembered that answers a question. Reads the stores, decides nothing itself (see `recall_rules`).

Candidates come from the words and from the meaning of the question, from the time that it speaks of, and from beside
the best of these in their conversations. What was written a moment ago is found like all else: nothing is kept here
between two questions. Episodes and facts are ordered apart, each among their own.

Rules: whoever asks is reminded only of what they may see, neighbours included. Recalling changes nothing: a memory is
strengthened by `Recall.useful`, when it proved useful, and never for being shown. No language model is asked. Where the
embedder in use is not the one that the memory was made with, words alone are searched, and the answer says so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from metnos.core.clock import Clock
from metnos.core.embedding import Embedder, Space
from metnos.grimoire import recall_pool as pools
from metnos.grimoire import recall_rules as rules_of
from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.episode import Episode, Mark, Viewer, Where
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.episodes_rows import Hit, Outline, outline_of
from metnos.grimoire.fact import Fact
from metnos.grimoire.facts_find import Found
from metnos.grimoire.facts_rows import Which
from metnos.grimoire.question import Dates, Question, read
from metnos.grimoire.recall_pool import Pool
from metnos.grimoire.recall_rules import Candidate, Factors, Rules, Signals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_OTHER_SPACE = "the memory was made with another embedder: searched by words only (metnos memory reembed)"
NOTHING = "nothing that is remembered answers this"
_COMPARED = 40  # of the most relevant candidates that are ordered by the four factors: more would never be reached


class FactStore(Protocol):
    """What recall needs of the facts."""

    @property
    def space(self) -> Space | None: ...

    def nearest(self, vector: "Vector", space: Space, count: int, which: Which | None = None) -> list[Found]: ...

    def matching(self, text: str, count: int, which: Which | None = None) -> list[Found]: ...

    def vectors_of(self, ids: Sequence[str]) -> "dict[str, Vector]": ...

    def helped(self, ids: Sequence[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class Memory:
    """Something recalled, with everything that speaks for it."""

    of: Episode | Fact
    signals: Signals
    factors: Factors
    found_by: tuple[str, ...]  # `words`, `meaning`, `time`, `neighbour`

    @property
    def id(self) -> str:
        return self.of.id

    @property
    def text(self) -> str:
        return self.of.text

    def why(self) -> list[str]:
        """Each factor in a line, for a person."""
        made, seen = self.factors, self.signals
        lines = [
            f"found by {', '.join(self.found_by)}; passed: {seen.passed}",
            f"relevance {made.relevance:.2f} (words {seen.words:.2f}, meaning {seen.meaning:.2f},"
            f" named {seen.named:.0f}, time {seen.timed:.2f})",
            f"recency {made.recency:.2f}, importance {made.importance:.2f}, affect {made.affect:.2f}",
            f"score {made.score:.3f}",
        ]
        if made.discount != 1.0 or made.boost != 1.0:
            lines[-1] += f" (x{made.discount:.2f} for where it comes from, x{made.boost:.1f} for how it ended)"
        return lines


@dataclass(frozen=True, slots=True)
class Recollection:
    """What a question brought back."""

    question: Question
    episodes: tuple[Memory, ...]
    facts: tuple[Memory, ...]
    considered: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Candidates from one store, and how each was found."""

    whole: Callable[[Sequence[str]], Sequence[Episode | Fact]]  # what is chosen in the end; it may be gone by then
    candidates: list[Candidate]
    words: dict[str, float]
    cosines: dict[str, float]
    vectors: "dict[str, Vector]"
    beside: dict[tuple[str, str], int]
    found_by: dict[str, list[str]]


class Recall:
    """Threads may share it."""

    def __init__(
        self,
        episodes: Episodes,
        facts: FactStore | None,
        embedder: Embedder | None,
        clock: Clock,
        rules: Rules | None = None,
        mood: Callable[[], Pad] = lambda: NEUTRAL,
        dates: Dates | None = None,
    ) -> None:
        self._episodes = episodes
        self._facts = facts
        self._embedder = embedder
        self._clock = clock
        self._rules = rules or Rules()
        self._mood = mood
        self._dates = dates

    def recall(
        self, text: str, viewer: Viewer, *, count: int = 10, facts: int = 10, where: Where | None = None
    ) -> Recollection:
        """What answers a question, the best first: at most so many episodes and so many facts."""
        question = read(text, self._clock.now(), self._dates)
        notes: list[str] = []
        vector = self._embedded(text) if question.words else None
        lies_in = replace(where or Where(), visible_to=viewer)
        gathered = self._gather_episodes(question, self._fitting(vector, self._episodes.space, notes), lies_in)
        known = None
        if self._facts is not None and facts > 0:
            known = self._gather_facts(question, self._fitting(vector, self._facts.space, notes), viewer)
        found = self._ordered(question, gathered, count)
        taught = () if known is None else self._ordered(question, known, facts)
        if not found and not taught:
            notes.append(NOTHING)
        considered = len(gathered.candidates) + (0 if known is None else len(known.candidates))
        return Recollection(question, found, taught, considered, tuple(dict.fromkeys(notes)))

    def useful(self, ids: Sequence[str]) -> None:
        """These memories proved useful: the one thing that strengthens them."""
        now = self._clock.now()
        self._episodes.mark([Mark(each, used=1, used_at=now) for each in ids])
        if self._facts is not None:
            self._facts.helped(ids)

    # -- gathering

    def _embedded(self, text: str) -> "Vector | None":
        return None if self._embedder is None else self._embedder.embed([text])[0]

    def _fitting(self, vector: "Vector | None", space: Space | None, notes: list[str]) -> "Vector | None":
        """The question's vector, if it may be compared with what is kept."""
        if vector is None or self._embedder is None or space is None:
            return None
        if space != self._embedder.space:
            notes.append(_OTHER_SPACE)
            return None
        return vector

    def _gather_episodes(self, question: Question, vector: "Vector | None", where: Where) -> _Gathered:
        rules, store = self._rules, self._episodes
        asked = " ".join(question.words)
        said = store.matching(asked, rules.by_words, where)
        near = [] if vector is None else store.nearest(vector, rules.by_meaning, where)
        then: list[Hit] = []
        for span in question.spans:
            then += self._in_time(asked, _within(where, span.since, _told(span.until, rules)))
        words, cosines, timed = ({hit.id: hit.score for hit in hits} for hits in (said, near, then))
        found_by = _found_by({"words": words, "meaning": cosines, "time": timed})
        words = timed | words
        best = [*list(words)[: rules.seeds * 2 // 3], *list(cosines)[: rules.seeds // 3]]
        of = {hit.id: hit.of for hit in (*said, *near, *then)}
        beside = _next_to(of.values(), rules)
        known = Counter(one for one, _ in beside)
        every = len(rules.before) + len(rules.after)
        # Not of what stands alone, nor of what all neighbours are known of already.
        seeds = [seed for seed in dict.fromkeys(best) if seed in of and of[seed].session and known[seed] < every]
        around = store.around(seeds, len(rules.before), len(rules.after), where) if seeds else {}
        for seed in seeds:
            for distance, each in around.get(seed, ()):
                if each.id not in of:
                    of[each.id] = each
                    found_by[each.id] = ["neighbour"]
                beside[seed, each.id] = distance
                beside[each.id, seed] = -distance
        vectors = {} if vector is None else store.vectors_of(list(of), [each.seq for each in of.values()])
        cosines |= _cosines(vectors, vector, cosines)
        candidates = [_of_episode(each) for each in of.values()]
        return _Gathered(store.get, candidates, words, cosines, vectors, beside, found_by)

    def _in_time(self, asked: str, where: Where) -> list[Hit]:
        if asked:
            return self._episodes.matching(asked, self._rules.by_time, where)
        newest = self._episodes.select(where, count=self._rules.by_time, newest_first=True)
        return [Hit(outline_of(each), 0.0) for each in newest]

    def _gather_facts(self, question: Question, vector: "Vector | None", viewer: Viewer) -> _Gathered:
        rules, store, now = self._rules, self._facts, self._clock.now()
        if store is None:
            raise AssertionError("asked only where there are facts")
        which = Which(visible_to=viewer)
        by_words = store.matching(" ".join(question.words), rules.by_words, which)
        by_meaning: list[Found] = []
        if vector is not None and self._embedder is not None:
            by_meaning = store.nearest(vector, self._embedder.space, rules.by_meaning, which)
        of = {each.fact.id: each.fact for each in (*by_words, *by_meaning) if _is_valid(each.fact, now)}
        words = {each.fact.id: each.score for each in by_words if each.fact.id in of}
        cosines = {each.fact.id: each.score for each in by_meaning if each.fact.id in of}
        found_by = _found_by({"words": words, "meaning": cosines})
        vectors = {} if vector is None else store.vectors_of(list(of))
        cosines |= _cosines(vectors, vector, cosines)
        candidates = [_of_fact(each) for each in of.values()]
        return _Gathered(lambda ids: [of[key] for key in ids], candidates, words, cosines, vectors, {}, found_by)

    # -- ordering

    def _ordered(self, question: Question, gathered: _Gathered, count: int) -> tuple[Memory, ...]:
        pool = Pool(gathered.candidates, gathered.words, gathered.cosines, gathered.beside)
        seen = pools.signals(question, pool, self._rules, max(_COMPARED, 2 * count))
        candidates, signals = [pool.candidates[place] for place in seen], list(seen.values())
        chosen = rules_of.order(
            candidates,
            signals,
            pools.likeness(gathered.vectors, candidates),
            self._mood(),
            count,
            self._rules,
        )
        whole = {each.id: each for each in gathered.whole([candidates[place].id for place, _ in chosen])}
        return tuple(
            Memory(whole[key], signals[place], made, tuple(gathered.found_by[key]))
            for place, made in chosen
            if (key := candidates[place].id) in whole
        )


def _cosines(vectors: "dict[str, Vector]", vector: "Vector | None", known: Mapping[str, float]) -> dict[str, float]:
    """Of those that the search by meaning did not bring."""
    import numpy as np

    keys = [key for key in vectors if key not in known]
    if vector is None or not keys:
        return {}
    return dict(zip(keys, (np.array([vectors[key] for key in keys]) @ vector).tolist(), strict=True))


def _of_episode(each: Outline) -> Candidate:
    """What nobody judged yet is as important as it was surprising; what is pinned could not be more."""
    judged = each.curiosity if each.importance is None else each.importance
    last = each.ts if each.used_at is None else max(each.ts, each.used_at)
    return Candidate(
        *(each.id, each.text, last, each.seq, each.session, each.sender, 1.0 if each.pinned else judged),
        *(each.pad, each.provenance, each.bloodstain),
    )


def _of_fact(each: Fact) -> Candidate:
    return Candidate(
        id=each.id,
        text=each.text,
        ts=each.reinforced,
        importance=1.0 if each.pinned else each.quality,
        pad=each.pad,
        provenance=each.provenance,
        bloodstain=each.bloodstain,
        belief=each.confidence,
    )


def _is_valid(fact: Fact, now: datetime) -> bool:
    return (fact.valid_from is None or fact.valid_from <= now) and (fact.valid_until is None or now < fact.valid_until)


def _found_by(ways: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for way, hits in ways.items():
        for key in hits:
            found.setdefault(key, []).append(way)
    return found


# -- times


def _told(until: datetime | None, rules: Rules) -> datetime | None:
    """Until when something may be told that happened before ``until``: later it counts for less than a quarter."""
    return None if until is None else until + timedelta(days=2 * rules.told_days)


def _within(where: Where, since: datetime | None, until: datetime | None) -> Where:
    starts = [each for each in (where.since, since) if each is not None]
    ends = [each for each in (where.until, until) if each is not None]
    return replace(where, since=max(starts, default=None), until=min(ends, default=None))


# -- neighbours


def _next_to(found: Iterable[Outline], rules: Rules) -> dict[tuple[str, str], int]:
    """Who of those found stands beside whom, as far as the order of taking in tells."""
    sessions: dict[str, list[Outline]] = {}
    for each in found:
        if each.session:
            sessions.setdefault(each.session, []).append(each)
    beside: dict[tuple[str, str], int] = {}
    for members in sessions.values():
        members.sort(key=lambda each: each.seq)
        for at, one in enumerate(members):
            for other in members[at + 1 :]:
                distance = other.seq - one.seq
                if distance > max(len(rules.before), len(rules.after)):
                    break
                beside[one.id, other.id] = distance
                beside[other.id, one.id] = -distance
    return beside
