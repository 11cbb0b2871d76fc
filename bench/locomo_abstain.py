"""Questions that nothing in a memory answers, made of LoCoMo, and how many of them get an answer nevertheless.

Three kinds, each asked of a memory that cannot know: *about another*, a question about one conversation asked of
another one, unless it names somebody who speaks there; *renamed*, the same with the speakers' names exchanged for those
of the conversation that is asked, so that no name gives it away; *of all but its own*, asked of all other conversations
in one memory. Some of the renamed ones are answered by chance: two people may well have the same hobby.

What not answering costs is measured with the questions that a conversation does answer: recall at 10 with and without
the floor, for a lower and a higher floor too, so that the exchange of one for the other can be seen. The signals and
the floor were chosen with all five conversations in view, so nothing here is out of sample; on the first and the third
alone a higher floor would have been chosen, for which the others (`OTHERS`, given apart) pay more dearly.
"""

import random
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from statistics import mean

from bench import locomo_arms as arms
from bench import scratch
from bench.locomo_arms import Ask
from bench.locomo_data import Conversation
from bench.runner import Measure
from metnos.core.clock import MovableClock
from metnos.core.embedding import Embedder
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.recall_rules import Rules

NO_FLOOR = replace(Rules(), answers=0.0, unknown=0.0, unsure=0.0, coverage=0.0)
OTHERS = (1, 3, 4)  # places of the conversations on which the floor costs more
_CURVE = (0.30, 0.50)  # floors beside the one in use
_EACH = 60  # questions of each kind, for each conversation
_COUNT = 10


def at(answers: float) -> Rules:
    """The rules with another floor; what is unsure begins as far above it."""
    return replace(Rules(), answers=answers, unsure=answers + Rules().unsure - Rules().answers)


def measures(
    talks: Sequence[Conversation],
    asks: Callable[[Rules], list[Ask]],
    missed: Callable[[Rules], list[float]],
    embedder: Embedder,
) -> list[Measure]:
    """``asks`` gives a way to ask each conversation, and ``missed`` what each misses at 10, under given rules."""
    foreign, renamed = [_foreign(talk, talks) for talk in talks], [_renamed(talk, talks) for talk in talks]
    free = missed(NO_FLOOR)
    costs: dict[float, list[float]] = {}
    exchange = []
    for answers in sorted({*_CURVE, Rules().answers}):
        costs[answers] = [one - other for one, other in zip(missed(at(answers)), free, strict=True)]
        got = [f"{_answered(some, asks(at(answers))):.0f} %" for some in (foreign, renamed)]
        exchange.append(f"{answers:.2f} costs {mean(costs[answers]):.2f}, answered {' and '.join(got)}")
    ours = costs[Rules().answers]
    told = f"of recall at 10, mean of the conversations; of 2nd, 4th and 5th {_of_others(ours):.2f}"
    note = f"{told}; floors, with questions about another and renamed ones: {'; '.join(exchange)}"
    return [
        Measure("cost of the floor", "points", (mean(ours),), limit=1.0, note=note),
        _measure("questions about another, answered", foreign, asks(Rules()), 20.0),
        _measure("renamed questions about another, answered", renamed, asks(Rules()), None),
        _of_all_but(talks, embedder),
    ]


def _of_others(values: Sequence[float]) -> float:
    return mean(each for place, each in enumerate(values) if place in OTHERS or len(values) <= min(OTHERS))


def _measure(name: str, questions: Sequence[Sequence[str]], asks: Sequence[Ask], limit: float | None) -> Measure:
    got = [[len(ask(text, _COUNT)) for text in some] for some, ask in zip(questions, asks, strict=True)]
    shares = tuple(100 * mean(count > 0 for count in each) for each in got)
    given = mean(count for each in got for count in each)
    others = _of_others(shares)
    note = f"up to {_EACH} for each conversation; {given:.1f} of {_COUNT} given; of 2nd, 4th and 5th {others:.0f} %"
    return Measure(name, "%", shares, limit=limit, note=note)


def _answered(questions: Sequence[Sequence[str]], asks: Sequence[Ask]) -> float:
    return 100 * mean(bool(ask(text, 1)) for some, ask in zip(questions, asks, strict=True) for text in some)


def _of_all_but(talks: Sequence[Conversation], embedder: Embedder) -> Measure:
    questions, asks = [], []
    with scratch.folder() as folder:
        for talk in talks:
            others = [one for one in talks if one is not talk]
            questions.append(_drawn([each.text for each in talk.asked if not _names(each.text, others)]))
            now = max(one.now for one in others)
            store = open_episodes(folder / talk.name, "sqlite", MovableClock(now))
            with closing(store):
                every = sorted((each for one in others for each in one.episodes), key=lambda each: each.ts)
                store.add(every, embedder.embed([each.text for each in every]), embedder.space)
                ask = arms.recall(store, embedder, MovableClock(now), Rules())
                answers = {text: ask(text, _COUNT) for text in questions[-1]}
            asks.append(lambda text, count, known=answers: known[text][:count])
    return _measure("questions asked of all but their own, answered", questions, asks, 40.0)


# -- making them


def _foreign(talk: Conversation, talks: Sequence[Conversation]) -> list[str]:
    return _drawn(
        [each.text for other in talks if other is not talk for each in other.asked if not _names(each.text, [talk])]
    )


def _renamed(talk: Conversation, talks: Sequence[Conversation]) -> list[str]:
    ours = sorted(_speakers(talk))
    made = []
    for other in talks:
        theirs = dict(zip(sorted(_speakers(other)), ours, strict=False))
        if other is not talk and not set(theirs) & set(ours):
            made += [_exchanged(each.text, theirs) for each in other.asked]
    return _drawn(made)


def _exchanged(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return text


def _speakers(talk: Conversation) -> set[str]:
    return {each.sender for each in talk.episodes}


def _names(text: str, talks: Sequence[Conversation]) -> bool:
    """Whether somebody who speaks in one of them is named."""
    said = set(re.findall(r"\w+", text.lower()))
    return any(name.lower() in said for talk in talks for name in _speakers(talk))


def _drawn(texts: Sequence[str]) -> list[str]:
    return random.Random(0).sample(texts, min(_EACH, len(texts)))
