"""The quality gate without a model: curiosity, importance, verification and affect, each by a rule that can be read.

- Curiosity, at capture, is surprise against what is known: how far the text is from the nearest known episode, how rare
  its executors and its ending are in its domain, how far its measures are from their baselines.
- Importance, later, is what hangs on it: how it ended, what it cost, whether it was taken back, liked, disliked, asked
  again, irreversible, or meant to be remembered; and how much the text says.
- Verification asks for evidence. What was taken back or disliked is rejected; what failed is verified as a failure,
  because that teaches what not to do; what nothing speaks for yet stays unjudged and never consolidates.
- Affect is appraised from the same outcomes: pleasure from how it ended, or from being told, arousal from surprise,
  dominance from how far Metnos had it in hand.

Pure: no I/O. None of the four is a constant: each varies with what it is computed from, also for an episode that is
nothing but a text. Payloads are read with care, because they may come from an import: what is not of the expected shape
counts as absent. Does not guarantee that a judgement is right; later evidence changes it.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from metnos.core.decay import clamp01
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Episode, Provenance, Verdict
from metnos.grimoire.evidence import Baseline, standing_off
from metnos.grimoire.trace import State

REMEMBER = "remember"  # the tag of what the owner asked to be remembered
IMPORTANCE = "importance"  # of a payload: what whoever told it said that it is worth
_WORD = re.compile(r"\w+")
_MOST_WORDS = 400  # of a text: more says nothing more about how new it is


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where an episode is taken in. None and nothing mean: cannot be said, and then it has no say."""

    nearest: float | None = None  # the cosine to the nearest known episode; None without vectors
    texts: tuple[str, ...] = ()  # the nearest by words, for when there are no vectors
    seen: int = 0  # episodes of this domain
    alike: int = 0  # of these, with the same signature
    baselines: Mapping[str, Baseline] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came after an episode. ``repeated`` counts later requests of the same form that were let stand."""

    feedback: bool | None = None
    undone: bool = False
    repeated: int = 0


NO_OUTCOME = Outcome()
OutcomeOf = Callable[[str], Outcome]  # of what an episode was drawn from


@dataclass(frozen=True, slots=True)
class Weights:
    """The numbers. No source document gives them; each is chosen so that the strongest evidence decides alone."""

    # Curiosity: shares of the mean of what can be said. Words vary most, so what they say counts most.
    novelty: float = 0.40
    rarity: float = 0.35
    deviation: float = 0.25
    strongest: float = 0.5  # the share of the strongest alone, so that one great surprise is not averaged away
    usual_cosine: float = 0.3  # unrelated texts of one household are about so near; nearer than this is familiar
    odd_at: float = 2.0  # standard deviations that are half a surprise
    # Importance: each the chance that this alone makes it important; together 1 - product of (1 - each).
    failed: float = 0.35
    partly: float = 0.25
    done: float = 0.10
    disliked: float = 0.50
    liked: float = 0.30
    undone: float = 0.50
    repeated: float = 0.30
    irreversible: float = 0.40
    remembered: float = 0.70
    cost: float = 0.20
    says: float = 0.25
    half_ms: float = 10_000.0  # a turn of ten seconds is half of what time can weigh
    half_usd: float = 0.02  # and two cents half of what money can


WEIGHTS = Weights()

_WORKED = frozenset({State.DONE, State.PARTLY})
_CUT_SHORT = frozenset({State.REFUSED, State.WAITING, State.CANCELLED, State.INTERRUPTED})


# -- curiosity


def curiosity(
    episode: Episode, known: Known, measures: Iterable[tuple[str, float]] = (), weights: Weights = WEIGHTS
) -> float:
    """How surprising an episode is when it is taken in, from 0 to 1. ``measures`` are those of its domain pack."""
    parts = [
        (weights.novelty, novelty(episode.text, known, weights)),
        (weights.rarity, rarity(known.alike, known.seen) if signature(episode) else None),
        (weights.deviation, deviation(measures, known.baselines, weights)),
    ]
    said = [(weight, value) for weight, value in parts if value is not None]
    total = sum(weight for weight, _ in said)
    mean = sum(weight * value for weight, value in said) / total
    return clamp01((1 - weights.strongest) * mean + weights.strongest * max(value for _, value in said))


def novelty(text: str, known: Known, weights: Weights = WEIGHTS) -> float:
    """1 for what resembles nothing, 0 for what was there before word for word."""
    if known.nearest is not None:
        return clamp01((1 - known.nearest) / (1 - weights.usual_cosine))
    words = _words(text)
    return 1.0 - max((_overlap(words, _words(other)) for other in known.texts), default=0.0)


def rarity(alike: int, seen: int) -> float:
    """The surprisal of what was seen so often of so many, as a share of the most it could be."""
    chance = (min(alike, seen) + 1) / (seen + 2)
    return clamp01(math.log(chance) / math.log(1 / (seen + 2)))


def deviation(
    measures: Iterable[tuple[str, float]], baselines: Mapping[str, Baseline], weights: Weights = WEIGHTS
) -> float | None:
    """How unusual the oddest measure is; None if no measure has a baseline of at least three."""
    odd = [
        away / (away + weights.odd_at)
        for name, value in measures
        if (usual := baselines.get(name)) is not None and usual.count >= 3
        for away in (standing_off(value, usual),)
    ]
    return max(odd, default=None)


def signature(episode: Episode) -> str:
    """The executors of an episode and how it ended: what is rare or common in its domain. Empty if there are none."""
    steps = steps_of(episode.payload)
    state = _text(episode.payload, "state")
    if not steps and not state:
        return ""
    return " > ".join(f"{step['executor']}{'' if step['ok'] else ' ' + step['kind']}" for step in steps) + f" = {state}"


# -- importance


def importance(episode: Episode, outcome: Outcome = NO_OUTCOME, weights: Weights = WEIGHTS) -> float:
    """What hangs on an episode, from 0 to 1: what whoever told it said, if they did."""
    said = episode.payload.get(IMPORTANCE)
    if isinstance(said, int | float) and not isinstance(said, bool) and math.isfinite(said):
        return clamp01(said)
    payload, after = episode.payload, outcome_of(episode.payload, outcome)
    signals = (
        {"failed": weights.failed, "partly": weights.partly, "done": weights.done}.get(_text(payload, "state"), 0.0),
        weights.disliked * (after.feedback is False),
        weights.liked * (after.feedback is True),
        weights.undone * after.undone,
        weights.repeated * (1 - 0.5**after.repeated),
        weights.irreversible * is_irreversible(payload),
        weights.remembered * was_meant_to_stay(episode),
        weights.cost * _half(number_of(payload, "cost_ms"), weights.half_ms),
        weights.cost * _half(number_of(payload, "usd"), weights.half_usd),
        weights.says * specificity(episode.text),
    )
    return clamp01(1 - math.prod(1 - clamp01(signal) for signal in signals))


def specificity(text: str) -> float:
    """How much a text says, in any language: different words, and of these names and numbers count double."""
    tokens = text.split()[:_MOST_WORDS]
    words = {token.casefold() for token in tokens}
    marked = {token.casefold() for place, token in enumerate(tokens) if _is_marked(token, at_start=place == 0)}
    weight = len(words) + len(marked)
    return weight / (weight + 20)  # twenty words, or ten names, are half of all that can be said


def was_meant_to_stay(episode: Episode) -> bool:
    """Whether the owner asked to remember it."""
    return episode.pinned or REMEMBER in episode.tags or episode.payload.get(REMEMBER) is True


def was_told(episode: Episode) -> bool:
    """Whether the owner said it in so many words, and nothing was to be done about it."""
    return episode.provenance is Provenance.OWNER and not _text(episode.payload, "state")


def is_irreversible(payload: Mapping[str, Any]) -> bool:
    """Whether something was done that cannot be taken back."""
    return any(step["ok"] and step["irreversible"] for step in steps_of(payload)) or (
        payload.get("irreversible") is True and _text(payload, "state") in _WORKED
    )


# -- verification


def verdict(episode: Episode, outcome: Outcome = NO_OUTCOME) -> Verdict:
    """What the quality gate says now. The owner's word outweighs everything; being taken back outweighs the rest."""
    after = outcome_of(episode.payload, outcome)
    if after.feedback is False or after.undone:
        return Verdict.REJECTED
    if after.feedback is True or after.repeated > 0:
        return Verdict.VERIFIED
    return Verdict.VERIFIED if _speaks_for_itself(episode) else Verdict.UNJUDGED


def _speaks_for_itself(episode: Episode) -> bool:
    """An outcome that was seen, a number that was measured, or the owner's own word."""
    state, steps = _text(episode.payload, "state"), steps_of(episode.payload)
    if state in _WORKED:
        return any(step["ok"] for step in steps)
    if state == State.FAILED:
        return any(not step["ok"] and step["kind"] for step in steps)
    if state:
        return False
    if episode.provenance is Provenance.OWNER:
        return True
    measured = episode.payload.get("measures")
    return episode.provenance is Provenance.SELF and isinstance(measured, Mapping) and bool(measured)


def rejudged(episode: Episode, outcome: Outcome = NO_OUTCOME) -> Verdict:
    """The verdict on an episode that may have one: what was rejected stays so until the owner says otherwise."""
    now = verdict(episode, outcome)
    if now is Verdict.UNJUDGED:
        return episode.verdict
    if episode.verdict is Verdict.REJECTED and outcome.feedback is not True:
        return Verdict.REJECTED
    return now


# -- affect


class Octant(StrEnum):
    """The eight temperaments, by the signs of pleasure, arousal and dominance."""

    EXUBERANT = "exuberant"
    DEPENDENT = "dependent"
    RELAXED = "relaxed"
    DOCILE = "docile"
    HOSTILE = "hostile"
    ANXIOUS = "anxious"
    DISDAINFUL = "disdainful"
    BORED = "bored"


_OCTANTS = {
    (True, True, True): Octant.EXUBERANT,
    (True, True, False): Octant.DEPENDENT,
    (True, False, True): Octant.RELAXED,
    (True, False, False): Octant.DOCILE,
    (False, True, True): Octant.HOSTILE,
    (False, True, False): Octant.ANXIOUS,
    (False, False, True): Octant.DISDAINFUL,
    (False, False, False): Octant.BORED,
}


class Emotion(StrEnum):
    """The eight primary emotions."""

    JOY = "joy"
    TRUST = "trust"
    FEAR = "fear"
    SURPRISE = "surprise"
    SADNESS = "sadness"
    DISGUST = "disgust"
    ANGER = "anger"
    ANTICIPATION = "anticipation"


# Where each lies: the published ratings of emotion words, rounded. Trust and anticipation are not among them and are
# put where their octants (relaxed, exuberant but mild) say.
_EMOTIONS = {
    Emotion.JOY: Pad(0.76, 0.48, 0.35),
    Emotion.TRUST: Pad(0.50, -0.30, 0.20),
    Emotion.FEAR: Pad(-0.64, 0.60, -0.43),
    Emotion.SURPRISE: Pad(0.20, 0.67, -0.30),
    Emotion.SADNESS: Pad(-0.63, -0.27, -0.33),
    Emotion.DISGUST: Pad(-0.60, 0.10, 0.25),
    Emotion.ANGER: Pad(-0.51, 0.59, 0.35),
    Emotion.ANTICIPATION: Pad(0.15, 0.35, 0.30),
}
FAINT = 0.05  # feelings below this length have no name


def affect(episode: Episode, outcome: Outcome = NO_OUTCOME) -> Pad:
    """What an episode feels like, by how it ended."""
    payload, after = episode.payload, outcome_of(episode.payload, outcome)
    state, steps = _text(payload, "state"), steps_of(payload)
    surprise = clamp01(episode.curiosity)
    # What is familiar is pleasant and in hand, a little: so also a mere text is felt as something. What the owner tells
    # is no threat, however new it is: news are welcome, and what was told before is reassuring.
    pleasure = 0.05 + 0.10 * surprise if was_told(episode) else 0.15 * (1 - 2 * surprise)
    dominance = 0.20 * (1 - 2 * surprise)
    arousal = -0.4 + 0.9 * surprise
    pleasure += (
        {State.DONE: 0.4, State.PARTLY: 0.1, State.FAILED: -0.5}.get(State(state), -0.1) if state in _STATES else 0
    )
    pleasure += 0.0 if after.feedback is None else 0.5 if after.feedback else -0.6
    pleasure -= 0.7 * after.undone  # it pleased nobody, however well it went
    arousal += 0.3 * (state == State.FAILED) + 0.2 * (after.feedback is not None) + 0.2 * is_irreversible(payload)
    arousal -= 0.2 * (1 - 0.5**after.repeated)  # routine calms
    if steps:
        dominance += 0.5 * (2 * sum(step["ok"] for step in steps) / len(steps) - 1)
    dominance -= 0.4 * (state in _CUT_SHORT) + 0.3 * after.undone
    return Pad(math.tanh(pleasure), math.tanh(arousal), math.tanh(dominance))


def octant(pad: Pad) -> Octant:
    """The temperament that a point lies in; what is exactly on a border counts as positive."""
    return _OCTANTS[(pad.pleasure >= 0, pad.arousal >= 0, pad.dominance >= 0)]


def emotion(pad: Pad) -> Emotion | None:
    """The primary emotion that a point lies towards; None when it is too faint to be called anything."""
    length = _length(pad)
    if length < FAINT:
        return None
    return max(_EMOTIONS, key=lambda each: _dot(pad, _EMOTIONS[each]) / _length(_EMOTIONS[each]))


# -- payloads


def steps_of(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of a payload, each with executor, args, ok, kind, irreversible and flowed, whatever else was there."""
    steps = payload.get("steps")
    return [
        {
            "executor": _text(step, "executor"),
            "args": step["args"] if isinstance(step.get("args"), Mapping) else {},
            "ok": step.get("ok") is True,
            "kind": _text(step, "kind"),
            "irreversible": step.get("irreversible") is True,
            "flowed": step["flowed"] if isinstance(step.get("flowed"), list) else [],
        }
        for step in (steps if isinstance(steps, Sequence) and not isinstance(steps, str | bytes) else ())
        if isinstance(step, Mapping) and _text(step, "executor")
    ]


def outcome_of(payload: Mapping[str, Any], later: Outcome = NO_OUTCOME) -> Outcome:
    """What a payload says came after, and what was learnt later: the later word counts."""
    said = payload.get("feedback")
    feedback = later.feedback if later.feedback is not None else said if isinstance(said, bool) else None
    repeats = number_of(payload, "repeats")
    return Outcome(feedback, later.undone or payload.get("undone") is True, max(later.repeated, int(repeats)))


def number_of(payload: Mapping[str, Any], name: str) -> float:
    """A number of a payload that is at least nothing."""
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return min(max(0.0, float(value)), 1e12)


_STATES = frozenset(State)


def _text(mapping: Mapping[str, Any], name: str) -> str:
    value = mapping.get(name)
    return value if isinstance(value, str) else ""


def _half(value: float, half: float) -> float:
    return value / (value + half)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text)[:_MOST_WORDS])


def _overlap(one: Collection[str], other: Collection[str]) -> float:
    both = set(one) | set(other)
    return len(set(one) & set(other)) / len(both) if both else 1.0


def _is_marked(token: str, *, at_start: bool) -> bool:
    return any(char.isdigit() for char in token) or (not at_start and token[:1].isupper())


def _dot(one: Pad, other: Pad) -> float:
    return one.pleasure * other.pleasure + one.arousal * other.arousal + one.dominance * other.dominance


def _length(pad: Pad) -> float:
    return math.sqrt(_dot(pad, pad))
