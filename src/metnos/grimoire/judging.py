"""The quality gate at work: new episodes are judged, recent ones again, because a word on them may have come.

Rules: an episode is judged by `appraisal` and `bloodstain`, and by nothing else; each batch is one step, and after a
kill a batch that was not finished is judged again with the same result. Recent episodes are watched for a while: what
was liked, disliked or taken back later is noticed by the next run. What turns out to be wrong after something was
learnt from it weakens what was learnt. Reads what is new and what is watched, and nothing else.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from metnos.core.clock import Clock, to_text
from metnos.grimoire import appraisal, bloodstain
from metnos.grimoire.appraisal import OutcomeOf
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.curator_state import CuratorState, Watched
from metnos.grimoire.domain import event_of
from metnos.grimoire.episode import Episode, Mark, Verdict
from metnos.grimoire.episodes import ANY, Episodes
from metnos.grimoire.mood import Felt, Mood
from metnos.store.db import Database

_SAME = 1e-4  # a store may keep fewer digits


@dataclass(frozen=True, slots=True)
class _Judgement:
    """An episode, and what is thought of it now."""

    episode: Episode
    mark: Mark
    felt: Felt

    @property
    def verdict(self) -> Verdict:
        return self.mark.verdict or Verdict.UNJUDGED

    @property
    def changes(self) -> bool:
        before, now = self.episode, self.mark
        weighed = before.importance is not None and abs(before.importance - (now.importance or 0.0)) < _SAME
        return before.verdict is not now.verdict or before.bloodstain is not now.bloodstain or not weighed


class Judging:
    """Judges what is new and what is watched. ``wrong`` is told which were learnt from and turned out wrong,
    ``stained`` which ended badly; the same one may be told twice."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        episodes: Episodes,
        outcome_of: OutcomeOf,
        wrong: Callable[[Sequence[str]], None],
        rules: CuratorRules,
        stained: Callable[[Sequence[Episode]], None] = lambda _episodes: None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._episodes = episodes
        self._outcome_of = outcome_of
        self._wrong = wrong
        self._stained = stained
        self._rules = rules
        self._state = CuratorState(db, clock)
        self._mood = Mood(db, clock)

    def run(self, stop: Callable[[], bool], progress: Callable[[int], None]) -> tuple[Counter[str], bool]:
        """Judge; the counts, and whether it was let to the end."""
        counts = Counter[str]()
        self._watch(counts)
        while counts["judged"] < self._rules.judged:
            if stop():
                return counts, False
            room = min(self._rules.at_once, self._rules.judged - counts["judged"])
            batch = self._episodes.select(ANY, after=self._state.place().judged, count=room)
            if not batch:
                break
            self._take(batch, counts)
            progress(counts["judged"])
        return counts, True

    def _take(self, batch: Sequence[Episode], counts: Counter[str]) -> None:
        judged = [self._judge(episode) for episode in batch]
        # Marks first: they come out the same when a kill makes them twice, and only then the place moves on.
        self._episodes.mark([each.mark for each in judged])
        until = to_text(self._clock.now() + timedelta(days=self._rules.watched_days))
        verified = [each.episode.id for each in judged if each.verdict is Verdict.VERIFIED]
        with self._db.write() as tx:
            self._mood.feel(each.felt for each in judged)
            self._state.set_fresh(tx, _once([*self._state.fresh(), *verified]))
            watched = [*self._state.watched(), *(Watched(each.episode.id, until, each.verdict) for each in judged)]
            self._state.set_watched(tx, watched[-self._rules.watched :])
            self._stained([each.episode for each in judged if each.mark.bloodstain])
            self._state.set_place(tx, replace(self._state.place(), judged=batch[-1].seq))
        counts["judged"] += len(judged)
        counts["verified"] += len(verified)
        counts["rejected"] += sum(each.verdict is Verdict.REJECTED for each in judged)

    def _watch(self, counts: Counter[str]) -> None:
        """Look again at what is watched."""
        now = to_text(self._clock.now())
        watched = {each.id: each for each in self._state.watched() if each.until > now}
        judged = [self._judge(episode) for episode in self._episodes.get(list(watched))]
        other = [each for each in judged if each.verdict != watched[each.episode.id].verdict]
        good = [each.episode.id for each in other if each.verdict is Verdict.VERIFIED]
        bad = [each.episode.id for each in other if each.verdict is Verdict.REJECTED]
        with self._db.write() as tx:
            self._mood.feel(each.felt for each in other)
            waiting = self._state.fresh()
            self._state.set_fresh(tx, [each for each in _once([*waiting, *good]) if each not in set(bad)])
            kept = [replace(watched[each.episode.id], verdict=each.verdict) for each in judged]
            self._state.set_watched(tx, kept)
            self._wrong([each for each in bad if each not in set(waiting)])
            self._stained([each.episode for each in judged if each.mark.bloodstain and not each.episode.bloodstain])
        self._episodes.mark([each.mark for each in judged if each.changes])
        counts["changed"] += len(other)

    def _judge(self, episode: Episode) -> _Judgement:
        outcome = self._outcome_of(episode.source) if episode.source else appraisal.NO_OUTCOME
        pad = appraisal.affect(episode, outcome)
        # What a heartbeat thought about an event knew more than the event itself says.
        thought = episode.importance if event_of(episode) else None
        mark = Mark(
            episode.id,
            importance=appraisal.importance(episode, outcome) if thought is None else thought,
            verdict=appraisal.rejudged(episode, outcome),
            pad=pad,
            bloodstain=bloodstain.is_due(episode, outcome),
        )
        return _Judgement(episode, mark, Felt(pad, episode.ts))


def _once(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids))
