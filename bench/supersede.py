"""A made set in which what was said later supersedes what was said before, and whether recall brings the latest first.

Each topic is stated three times in half a year, in three wordings and with three values, among small talk; which
wording comes last is drawn, so that no wording is an advantage. The question asks for the topic; only the latest
statement is right. Beside recall as it is: the same with relevance alone, which cannot know which of the three is the
latest. Every figure is of what should not happen.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import scratch
from bench.runner import Measure
from metnos.core.clock import MovableClock
from metnos.core.embedding import Embedder
from metnos.grimoire.episode import Episode, Viewer
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.recall import Recall
from metnos.grimoire.recall_rules import Rules

PURPOSE = "questions whose first answer is out of date, beside relevance alone"

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
ALONE = replace(Rules(), band=0.0, likeness=0.0, same=2.0)  # relevance and nothing else
_SEEDS = (1, 2, 3)
_SMALL_TALK = 100

# What is asked, and three ways to state it.
_TOPICS: tuple[tuple[str, tuple[str, str, str]], ...] = (
    (
        "What is the wifi password?",
        ("The wifi password is {}.", "We set the wifi password to {}.", "wifi password: {}"),
    ),
    (
        "Who is my dentist?",
        ("My dentist is {}.", "I go to the dentist {}.", "Note that {} is the dentist now."),
    ),
    (
        "Where is the spare key?",
        ("The spare key is {}.", "I put the spare key {}.", "Spare key: {}."),
    ),
    (
        "Which gym do I go to?",
        ("I go to the gym called {}.", "The gym is {}.", "My gym membership is at {}."),
    ),
    (
        "What time does the school bus leave?",
        ("The school bus leaves at {}.", "School bus at {}.", "The bus to school goes at {}."),
    ),
    (
        "Which bank holds the mortgage?",
        ("The mortgage is with the bank {}.", "Our bank for the mortgage: {}.", "We hold the mortgage at the bank {}."),
    ),
    (
        "What is the boiler pressure supposed to be?",
        ("Boiler pressure should be {}.", "Keep the boiler pressure at {}.", "The boiler pressure is to be {}."),
    ),
    (
        "Who waters the plants when we are away?",
        ("{} waters the plants.", "The plants are watered by {}.", "For the plants, ask {} to water them."),
    ),
    (
        "What is the name of the cat's vet?",
        ("The vet of the cat is {}.", "We take the cat to the vet {}.", "Cat's vet: {}."),
    ),
    (
        "Which day is the rubbish collected?",
        ("Rubbish is collected on {}.", "They collect the rubbish every {}.", "Rubbish day: {}."),
    ),
    (
        "What is my locker number?",
        ("My locker is number {}.", "Locker number: {}.", "I have the locker with number {}."),
    ),
    (
        "Which train do I take to the office?",
        ("I take the {} train to the office.", "Train to the office: {}.", "To the office I take the train {}."),
    ),
    (
        "What is the code of the garage door?",
        ("The garage door code is {}.", "Garage code: {}.", "The code for the garage door was set to {}."),
    ),
    (
        "Who teaches the piano lessons?",
        ("The piano lessons are with {}.", "{} teaches piano.", "Piano lessons: {} is the teacher."),
    ),
    (
        "Which colour is the bedroom wall?",
        ("The bedroom wall is {}.", "We painted the bedroom wall {}.", "Bedroom wall colour: {}."),
    ),
    (
        "Where do we buy the coffee beans?",
        ("We buy the coffee beans at {}.", "Coffee beans come from {}.", "Coffee beans: {}."),
    ),
)
_VALUES = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel", "ivy", "juniper", "larch", "maple")
_TALK = (
    "It rained the whole afternoon, so we stayed in and read.",
    "The soup turned out better than I had hoped.",
    "I could not find my glasses again this morning.",
    "We walked along the river and saw two herons.",
    "The neighbours had a loud party until late.",
    "Lunch was rushed, I only had a sandwich.",
    "The film was too long and the ending weak.",
    "I slept badly because of the wind.",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the statement that is right, and those that were."""

    text: str
    right: str
    outdated: frozenset[str]


def made(seed: int) -> tuple[list[Episode], list[Asked]]:
    """Episodes in the order in which they happened, and the questions."""
    draw = random.Random(seed)
    said: list[tuple[datetime, str, str]] = []
    asked = []
    for place, (question, wordings) in enumerate(_TOPICS):
        values, order = draw.sample(_VALUES, 3), draw.sample(wordings, 3)
        days = (draw.uniform(120, 180), draw.uniform(50, 90), draw.uniform(2, 25))
        keys = [f"s{place}-{number}" for number in range(3)]
        for key, wording, value, ago in zip(keys, order, values, days, strict=True):
            said.append((NOW - timedelta(days=ago), key, wording.format(value)))
        asked.append(Asked(question, keys[-1], frozenset(keys[:-1])))
    said += [
        (NOW - timedelta(days=draw.uniform(0, 180)), f"t{number}", draw.choice(_TALK)) for number in range(_SMALL_TALK)
    ]
    return [
        Episode(id=key, ts=ts, text=text, source=key, session=f"day-{ts:%j}-{key}", curiosity=draw.random())
        for ts, key, text in sorted(said)
    ], asked


def wrong(folder: Path, seed: int, rules: Rules, embedder: Embedder | None) -> tuple[float, float]:
    """The shares of questions whose first answer is not the latest, and whose answers put an older one before it."""
    episodes, asked = made(seed)
    store = open_episodes(folder, "sqlite", MovableClock(NOW))
    try:
        vectors = None if embedder is None else embedder.embed([each.text for each in episodes])
        store.add(episodes, vectors, None if embedder is None else embedder.space)
        recall = Recall(store, None, embedder, MovableClock(NOW), rules)
        answers = [[each.id for each in recall.recall(one.text, Viewer(), count=10).episodes] for one in asked]
    finally:
        store.close()
    first = [not got or got[0] != one.right for one, got in zip(asked, answers, strict=True)]
    before = [_older_first(one, got) for one, got in zip(asked, answers, strict=True)]
    return 100 * sum(first) / len(first), 100 * sum(before) / len(before)


def _older_first(one: Asked, got: Sequence[str]) -> bool:
    return one.right not in got or any(each in one.outdated for each in got[: got.index(one.right)])


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- the set is made here
    from metnos.models.embed_builtin import Builtin

    measures = []
    for name, embedder in (("words and meaning", Builtin()), ("words only", None)):
        ours, alone = [], []
        for seed in _SEEDS:
            with scratch.folder() as one, scratch.folder() as other:
                ours.append(wrong(one, seed, Rules(), embedder))
                alone.append(wrong(other, seed, ALONE, embedder))
        for at, what in ((0, "first answer not the latest"), (1, "an older one before the latest")):
            subjects, baselines = tuple(each[at] for each in ours), tuple(each[at] for each in alone)
            note = f"{len(_TOPICS)} topics, each stated three times; against relevance alone"
            measures.append(Measure(f"{name}, {what}", "%", subjects, baselines, 1.0, note))
    return measures
