"""How relevant each of a few hundred candidates is to a question. Pure.

Words: BM25 over a candidate together with its neighbours in the conversation, in which nearer turns count more; so a
question that was asked in one turn and answered in the next is found by both. What a word weighs is not asked of the
store: the store's own scores say it, as the least squares over what was found by words. Meaning: the cosine, likewise
with the neighbours, as far as it stands out from what merely shares a word. Both go from 0 to 1 over the candidates and
are mixed; the further the nearest one stands out, the more meaning counts.

Whether there is an answer at all is told by what can be compared between questions: which share of the words is in one
place, how far that place is ahead of what chance brings, how near the nearest is, and whether anything that is named
was ever heard of (`recall_rules.evidence`).

Does not guarantee a score that can be compared between two questions: only `Signals.coverage` and `nearness` can.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from metnos.core.decay import HalfLife
from metnos.grimoire.question import Question, Span, folded, words
from metnos.grimoire.recall_rules import Candidate, Rules, Signals, evidence, most_given
from metnos.grimoire.stem import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

_DAY = timedelta(days=1)
_PREFIX = 3  # letters that a word shares with its stem at least


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates, what the store said about them, and who stands beside whom."""

    candidates: Sequence[Candidate]
    words: Mapping[str, float]  # scores of those that were found by words
    cosines: Mapping[str, float]  # of those that have a vector
    beside: Mapping[tuple[str, str], int]  # of two in a conversation, how far the second one comes after the first


def signals(question: Question, pool: Pool, rules: Rules, most: int | None = None) -> dict[int, Signals]:
    """What speaks for the candidates, by their places, the most relevant first; of at most so many."""
    import numpy as np

    if not pool.candidates:
        return {}
    near = _neighbours(pool, rules)
    said = _by_words(question, pool, near, rules)
    meaning, nearness = _by_meaning(pool, near, rules)
    share = meaning_share(float(nearness.max()), len(pool.candidates), rules) if pool.cosines else 0.0
    if not said.scores.any():
        share = 1.0
    named, timed = _who_and_when(question, pool, rules)
    extra = rules.named * named.any() + rules.timed * bool(question.spans)
    mixed = (1 - share) * said.scores + share * meaning
    relevance = (mixed + rules.named * named + rules.timed * timed) / (1 + extra) if question.words else timed
    found = evidence(float(said.coverage.max()), said.ahead, float(nearness.max()), rules, unknown=said.unknown)
    given = most_given(found, rules)
    best = np.argsort(-relevance, kind="stable")[:most]
    columns = np.array([relevance, said.scores, meaning, named, timed, said.coverage, said.own, nearness])
    made = {}
    for rank, (place, row) in enumerate(zip(best.tolist(), columns[:, best].T.tolist(), strict=True)):
        fits, by_words, by_meaning, is_named, lies_in, covers, alone, apart = row
        is_given = given is None or rank < given
        passed = _passed(covers, apart, rules) if is_given else _passed_by_time(lies_in, question)
        made[place] = Signals(fits, by_words, by_meaning, is_named, lies_in, covers, alone, apart, passed)
    return made


def _who_and_when(question: Question, pool: Pool, rules: Rules) -> "tuple[Floats, Floats]":
    import numpy as np

    named = timed = np.zeros(len(pool.candidates))
    if question.names:
        named = np.array([float(_is_named(each, question.names)) for each in pool.candidates])
        named *= float(not named.all())  # where everybody is named, nobody stands out
    if question.spans:
        timed = np.array([in_time(each.ts, question.spans, rules) for each in pool.candidates])
    return named, timed


def meaning_share(nearness: float, count: int, rules: Rules) -> float:
    """How much meaning counts against words: more, the further the nearest stands out beyond what chance brings.

    The greatest of ``count`` numbers of a normal distribution lies about sqrt(2 ln count) deviations out.
    """
    chance = math.sqrt(2 * math.log(max(2, count)))
    return min(
        rules.meaning_most, max(rules.meaning_least, rules.meaning_least + rules.meaning_gain * (nearness - chance))
    )


def in_time(ts: datetime, spans: Sequence[Span], rules: Rules) -> float:
    """1 in a time that is spoken of, less and less after it, since things are told later; 0 before it."""
    best = 0.0
    for span in spans:
        if span.since is not None and ts < span.since:
            continue
        if span.until is None or ts < span.until:
            return 1.0
        own = (span.until - span.since) / _DAY if span.since is not None else 0.0
        best = max(best, HalfLife(max(rules.told_days, own)).factor((ts - span.until) / _DAY))
    return best


def _passed(coverage: float, nearness: float, rules: Rules) -> str:
    if coverage >= rules.coverage:
        return f"{coverage:.0%} of the question's words by weight are in it or beside it"
    return f"its meaning is {nearness:.1f} deviations nearer than usual" if nearness >= rules.nearness else ""


def _passed_by_time(timed: float, question: Question) -> str:
    """A question about nothing but a time is answered by what happened then."""
    return "it lies in the time that was asked for" if timed == 1.0 and not question.words else ""


# -- words


@dataclass(frozen=True, slots=True)
class _Said:
    """What the words tell of each candidate, and of all together."""

    scores: "Floats"  # from 0 to 1
    coverage: "Floats"  # which share of the question's words, by weight, is in it or beside it
    own: "Floats"  # and in it alone
    ahead: float = 0.0  # by how much weight the best is ahead of the tenth
    unknown: bool = False  # whether something is named, and nothing that is named is known


def _by_words(question: Question, pool: Pool, near: "Floats", rules: Rules) -> _Said:
    import numpy as np

    stems = list(dict.fromkeys(stem(word) for word in question.words))
    if not stems:
        nothing = np.zeros(len(pool.candidates))
        return _Said(nothing, nothing, nothing)
    counts = _counts([each.text for each in pool.candidates], stems)
    lengths = np.array([1 + each.text.count(" ") for each in pool.candidates], dtype=float)
    weights = _weights(counts, lengths, pool, rules)
    seen = counts + near @ counts
    scores = _saturated(seen, lengths + near @ lengths, rules) @ weights
    best, total = np.sort(scores)[::-1], max(weights.sum(), 1e-9)
    # Where hardly anything shares a word, the tenth has what chance gives it: ln 10 less than a word that came once.
    tenth = best[rules.among - 1] if len(best) >= rules.among else 0.0
    ahead = best[0] - max(tenth, weights.max() - math.log(rules.among))
    return _Said(
        scores / best[0] if best[0] > 0 else scores,
        np.minimum(1.0, seen) @ weights / total,
        np.minimum(1.0, counts) @ weights / total,
        float(ahead),
        _is_unknown(question, pool, {stems[place] for place in np.flatnonzero(counts.any(axis=0))}),
    )


def _is_unknown(question: Question, pool: Pool, known: set[str]) -> bool:
    """Whether the question names somebody or something, and nothing that it names was ever heard of."""
    named = {stem(name) for name in question.proper}
    senders = {stem(word) for each in pool.candidates for word in words(each.sender)} if named - known else set()
    return bool(named) and named.isdisjoint(known | senders)


def _counts(texts: Sequence[str], stems: Sequence[str]) -> "Floats":
    """How often each stem is in each text."""
    import numpy as np

    places = {each: place for place, each in enumerate(stems)}
    starts: dict[str, list[str]] = {}
    for start in sorted(set(map(_start, stems))):
        starts.setdefault(start[0], []).append(re.escape(start[1:]))
    # A plain letter first, and only then whether a word begins there: so what has no such letter is passed over fast.
    begins = (rf"{re.escape(first)}(?<![^\W_].)(?:{'|'.join(more)})[^\W_]*" for first, more in starts.items())
    words_in = re.compile("|".join(begins)).findall
    found = [
        row * len(stems) + place
        for row, text in enumerate(texts)
        for word in words_in(folded(text))
        if (place := places.get(stem(word))) is not None
    ]
    counts = np.bincount(found, minlength=len(texts) * len(stems)).astype(float)
    return counts.reshape(len(texts), len(stems))


def _start(stemmed: str) -> str:
    """How every word of a stem begins: of a short one only the last letter may be another, *kei* for *key*."""
    return stemmed[:_PREFIX] if len(stemmed) > _PREFIX else stemmed[0] + stemmed[1:].removesuffix("i")


def _saturated(counts: "Floats", lengths: "Floats", rules: Rules) -> "Floats":
    """BM25's curve: the second time a word says less than the first, and less in a long text."""
    usual = rules.saturation * (1 - rules.length + rules.length * lengths / lengths.mean())
    made: Floats = counts * (rules.saturation + 1) / (counts + usual[:, None])
    return made


def _weights(counts: "Floats", lengths: "Floats", pool: Pool, rules: Rules) -> "Floats":
    """What each word weighs: such that what was found by words has the scores that the store gave it.

    A word that none of them has weighs as much as the heaviest: it is rarer than all that were found.
    """
    import numpy as np

    found = [place for place, each in enumerate(pool.candidates) if each.id in pool.words]
    there = counts.any(axis=0)
    if not found or not there.any():
        return np.ones(counts.shape[1])
    curve = _saturated(counts, lengths, rules)[found][:, there]
    given = np.array([pool.words[pool.candidates[place].id] for place in found])
    # A little weight on being equal keeps two words that always come together from sharing unevenly.
    little = 1e-3 * len(found)
    squares = curve.T @ curve + little * np.eye(curve.shape[1])
    solved = np.linalg.solve(squares, curve.T @ given + little * given.mean())
    weights = np.full(counts.shape[1], max(float(solved.max()), 1e-9))
    weights[there] = np.maximum(solved, 0.0)
    return weights


# -- meaning


def _by_meaning(pool: Pool, near: "Floats", rules: Rules) -> "tuple[Floats, Floats]":
    """Scores from 0 to 1, and by how many deviations each is nearer than what merely shares a word."""
    import numpy as np

    count = len(pool.candidates)
    if not pool.cosines:
        return np.zeros(count), np.zeros(count)
    cosines = np.array([pool.cosines.get(each.id, math.nan) for each in pool.candidates])
    has = ~np.isnan(cosines)
    shares = has & np.array([each.id in pool.words for each in pool.candidates])
    usual = cosines[shares if shares.sum() >= rules.few else has]
    middle, spread = rules.usual_cosine, rules.usual_spread
    if len(usual) >= rules.few:
        middle, spread = float(np.median(usual)), max(float(usual.std()), 1e-3)
    apart = np.where(has, cosines - middle, 0.0)  # of what has no vector nothing is known
    seen = apart + near @ apart
    least, most = float(seen.min()), float(seen.max())
    return (seen - least) / max(most - least, 1e-9), apart / spread


# -- neighbours, and who is meant


def _neighbours(pool: Pool, rules: Rules) -> "Floats":
    """A row for each candidate: how much of every other one is seen with it."""
    import numpy as np

    places = {each.id: place for place, each in enumerate(pool.candidates)}
    near = np.zeros((len(places), len(places)))
    for (one, other), distance in pool.beside.items():
        shares = rules.after if distance > 0 else rules.before
        if 0 < abs(distance) <= len(shares) and one in places and other in places:
            near[places[one], places[other]] = shares[abs(distance) - 1]
    return near


def _is_named(candidate: Candidate, names: Sequence[str]) -> bool:
    said_by, separator, _ = candidate.text.partition(":")
    return folded(candidate.sender) in names or (bool(separator) and folded(said_by) in names)


def likeness(vectors: Mapping[str, "Floats"], candidates: Sequence[Candidate]) -> list[list[float]]:
    """How alike any two are: the cosine; without vectors, which share of its words the shorter one has in common."""
    import numpy as np

    size = next((len(each) for each in vectors.values()), 0)
    if not size:
        said = [frozenset(map(stem, words(each.text))) for each in candidates]
        return [[len(one & other) / max(2, min(len(one), len(other))) for other in said] for one in said]
    rows = np.array([vectors.get(each.id, np.zeros(size)) for each in candidates])
    made: list[list[float]] = (rows @ rows.T).tolist()
    return made
