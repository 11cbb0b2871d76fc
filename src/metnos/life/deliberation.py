"""Deliberation: what an agent that lives by itself thinks about what it captured, at every theta beat.

It takes the most curious of what came in since the last one, holds it against what is known (baselines, anti-knowledge,
warnings), and says what hangs on it; that stays with the episode and decides what is replayed. Of a sample by lot it
checks what the baselines had foretold: so predictive fitness is measured without a single request.

Rules: works without a language model. Where there is one, it is asked about each event with what is known, within the
profile's budget of a beat, and its word can make an event more important, never less: what it reads came from outside.
A model that fails costs its word and nothing else. Thinking about the same events again comes to the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from metnos.core.decay import clamp01
from metnos.core.errors import ModelError
from metnos.grimoire import appraisal
from metnos.grimoire.domain import EventKind, event_of
from metnos.grimoire.episode import Episode, Mark, Where
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.learning import baseline_of
from metnos.grimoire.mind import Mind
from metnos.life import deliberation_rules
from metnos.life.deliberation_rules import RULES, ThinkRules
from metnos.life.event import KIND
from metnos.life.fitness_rules import Foretold
from metnos.life.heartbeat import Places
from metnos.life.inheritance_rules import OWN

SOURCE = "deliberation"  # the place in the episodes
_MOST = 500  # episodes that one deliberation looks at: more than the captures between two bring
_FACTS = 50
_WARN = (Kind.ANTI, Kind.WARNING)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of what an event is about."""

    facts: tuple[Fact, ...] = ()

    @property
    def warnings(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.kind in _WARN)

    @property
    def baselines(self) -> dict[str, Fact]:
        return {str(fact.data.get("metric")): fact for fact in self.facts if baseline_of(fact) is not None}


@dataclass(frozen=True, slots=True)
class Thought:
    """What was thought of one event. ``task`` is the pack's name for what it took."""

    episode: Episode
    importance: float
    task: str
    known: Known

    @property
    def is_telling(self) -> bool:
        return self.importance >= RULES.telling


@dataclass(frozen=True, slots=True)
class Deliberated:
    """What came of one deliberation."""

    seen: int = 0
    thoughts: tuple[Thought, ...] = ()
    foretold: dict[str, tuple[Foretold, ...]] = field(default_factory=dict)  # by episode
    asked: int = 0
    unanswered: int = 0


Ponder = Callable[[Thought], float]  # what a language model says that an event is worth; raises `ModelError`


class Deliberation:
    """Thinks for one memory."""

    def __init__(self, mind: Mind, places: Places, ponder: Ponder | None = None, rules: ThinkRules = RULES) -> None:
        self._mind = mind
        self._places = places
        self._ponder = ponder
        self._rules = rules

    @cached_property
    def _cache(self) -> dict[str, Known]:
        return {}

    def think(self) -> Deliberated:
        """Think about what came in since the last time."""
        self._cache.clear()
        after = self._places.get(SOURCE) or 0
        newest = self._mind.episodes.select(Where(kinds=(KIND,)), count=_MOST, newest_first=True)
        new = [each for each in newest if each.seq > after]
        events = [each for each in new if event_of(each)]
        thoughts, asked, unanswered = list[Thought](), 0, 0
        for episode in deliberation_rules.chosen(events, self._rules):
            thought = self._thought(episode)
            if self._ponder is not None:
                asked += 1
                heard = self._heard(thought, self._ponder)
                unanswered += heard is None
                thought = _with(thought, max(thought.importance, heard or 0.0))
            thoughts.append(thought)
        foretold = {each.id: self._foretold(each) for each in deliberation_rules.sample(events, self._rules)}
        # Marks first: they come out the same when a kill makes them twice, and only then the place moves on.
        self._mind.episodes.mark([Mark(each.episode.id, importance=each.importance) for each in thoughts])
        if new:
            self._places.put(SOURCE, max(each.seq for each in new))
        return Deliberated(
            len(events), tuple(thoughts), {key: told for key, told in foretold.items() if told}, asked, unanswered
        )

    def _thought(self, episode: Episode) -> Thought:
        pack, known = self._mind.pack(), self._known(episode)
        usual = {name: baseline for name, fact in known.baselines.items() if (baseline := baseline_of(fact))}
        odd = appraisal.deviation(pack.measured(episode), usual)
        weight = pack.events.get(event_of(episode), EventKind()).weight
        warnings = [fact.confidence for fact in known.warnings if _is_about(fact, episode)]
        worth = deliberation_rules.importance(weight, odd, warnings, self._rules)
        return Thought(episode, worth, deliberation_rules.task_of(episode.curiosity, pack, self._rules), known)

    def _heard(self, thought: Thought, ponder: Ponder) -> float | None:
        try:
            return clamp01(ponder(thought))
        except ModelError:
            return None

    def _foretold(self, episode: Episode) -> tuple[Foretold, ...]:
        known, found = self._known(episode).baselines, list[Foretold]()
        for number, (name, value) in enumerate(self._mind.pack().measured(episode), start=1):
            fact = known.get(name)
            if fact is not None and fact.provenance not in OWN:
                continue  # nothing inherited steers, and nobody may die of what somebody else expected
            usual = baseline_of(fact) if fact else None
            hit = deliberation_rules.came_true(value, usual, self._rules) if usual else None
            if fact is not None and hit is not None:
                found.append(Foretold(fact.id, fact.confidence, number, True, hit))
        return tuple(found)

    def _known(self, episode: Episode) -> Known:
        key = self._mind.pack().key_of(episode)
        if key not in self._cache:
            kinds = (Kind.BASELINE, *_WARN, Kind.CAUSAL, Kind.PATTERN)
            self._cache[key] = Known(tuple(self._mind.facts.find(kinds=kinds, domains=(key,), count=_FACTS)))
        return self._cache[key]


def _is_about(fact: Fact, episode: Episode) -> bool:
    """Whether a warning is about such events: it names their kind, or none at all."""
    said = fact.data.get("event")
    return not isinstance(said, str) or said in ("", event_of(episode))


def _with(thought: Thought, importance: float) -> Thought:
    return Thought(thought.episode, importance, thought.task, thought.known)


def told(thoughts: Sequence[Thought]) -> list[Thought]:
    """What the owner should hear of, what matters most first."""
    return sorted((each for each in thoughts if each.is_telling), key=lambda each: -each.importance)
