"""The vaglio: judges what Metnos thought of by itself against the owner's ends (`telos`), by `vaglio_rules`.

Rules: without an end nothing is asked. The best comes first, at most so many a night, and every question that is asked
makes the next one less welcome. An embedder helps to see what words do not say; one that fails is done without. Asks
nobody and writes nothing: it only judges.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from metnos.core.embedding import Embedder
from metnos.core.errors import ModelError
from metnos.executors import vocabulary
from metnos.night import introspect_words as words
from metnos.night import telos, vaglio_rules
from metnos.night.introspect_rules import Finding
from metnos.night.vaglio_rules import Rules, Score, Standing, Verdict
from metnos.synt.need import Need

# What no end is about more than another: how near these are says what nearness means in a space.
_UNRELATED = (
    "the colour of the walls in the hallway",
    "a recipe for soup with barley and leeks",
    "who won the match on Sunday",
    "the history of the lighthouse on the cape",
)
_ENOUGH = "there are better ones tonight"

StandingOf = Callable[[Need], Standing]


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding and what the vaglio says of it. What no filter let through has a reason and no score."""

    finding: Finding
    score: Score

    @property
    def is_asked(self) -> bool:
        return self.score.verdict is Verdict.ASK


@dataclass(frozen=True, slots=True)
class Vaglio:
    """Judges by an owner's ends."""

    telos: telos.Telos
    embedder: Embedder | None = None
    rules: Rules = field(default_factory=Rules)

    def judge(self, found: Sequence[Finding], standing_of: StandingOf, most: int) -> list[Judged]:
        """Every finding with its verdict, the best first; at most ``most`` are to be asked about."""
        needs = [each for each in found if each.need is not None and not each.dropped]
        served = self._served([each.need for each in needs if each.need is not None])
        scored = [
            (each, ends, self._score(each, ends, standing_of, 0)) for each, ends in zip(needs, served, strict=True)
        ]
        scored.sort(key=lambda each: -each[2].score)
        judged, asked = list[Judged](), 0
        for finding, ends, _ in scored:
            score = self._score(finding, ends, standing_of, asked)
            if score.verdict is Verdict.ASK and asked >= most:
                score = replace(score, verdict=Verdict.NOT_NOW, reason=_ENOUGH)
            asked += score.verdict is Verdict.ASK
            judged.append(Judged(finding, score))
        held = [each for each in found if each.dropped]
        return [*judged, *(Judged(each, Score(Verdict.NOT_NOW, each.dropped)) for each in held)]

    def welcome(self, standing: Standing) -> bool:
        """Whether a question that serves no new need, such as what to put away, is worth its bother now."""
        cost = vaglio_rules.bother(standing, self.rules)
        return not self.telos.is_empty and standing.waiting < self.rules.most_waiting and cost <= self.rules.tolerable

    def _score(
        self, finding: Finding, ends: Sequence[tuple[float, float, str]], standing_of: StandingOf, asked: int
    ) -> Score:
        need = finding.need
        assert need is not None  # noqa: S101 -- only needs are scored
        if self.telos.is_empty:
            return Score(Verdict.NOT_NOW, telos.NONE)
        standing = standing_of(need)
        more = replace(standing, waiting=standing.waiting + asked)
        return vaglio_rules.judge(need, ends, finding.strength, more, self.rules)

    def _served(self, needs: Sequence[Need]) -> list[list[tuple[float, float, str]]]:
        """For each need: weight, relevance and words of every end that has a weight."""
        ends = [end for end in self.telos.ends if end.weight > 0]
        said = [(_does(need), need.text) for need in needs]
        near = self._near([end.text for end in ends], said)
        return [
            [
                (
                    end.weight,
                    max(vaglio_rules.relevance(end.text, does, text, need, self.rules), near[place][number]),
                    end.text,
                )
                for number, end in enumerate(ends)
            ]
            for place, (need, (does, text)) in enumerate(zip(needs, said, strict=True))
        ]

    def _near(self, ends: Sequence[str], said: Sequence[tuple[str, str]]) -> list[list[float]]:
        """How relevant each need is to each end by meaning."""
        nothing = [[0.0] * len(ends) for _ in said]
        if self.embedder is None or not ends or not said:
            return nothing
        texts = [part for pair in said for part in pair]
        try:
            rows = self.embedder.embed([*ends, *_UNRELATED, *texts])
        except ModelError:
            return nothing
        wanted, unrelated, told = rows[: len(ends)], rows[len(ends) : len(ends) + len(_UNRELATED)], rows[-len(texts) :]
        floors = [float(each) for each in (wanted @ unrelated.T).mean(axis=1)]
        found = (told @ wanted.T).tolist()
        return [
            [
                max(
                    vaglio_rules.meant(found[2 * place][number], floors[number], self.rules),
                    self.rules.said * vaglio_rules.meant(found[2 * place + 1][number], floors[number], self.rules),
                )
                for number in range(len(ends))
            ]
            for place in range(len(said))
        ]


def _does(need: Need) -> str:
    """What a need is for by its name, in words of the vocabulary: nobody else's."""
    return words.phrase(need.name) if vocabulary.is_known(need.name) else ""
