"""How much of what answers a question is lost when what was found for it is made two and four times shorter.

For every LoCoMo question ten turns are found by BM25; together they are shortened to a half and to a quarter of their
tokens. *Evidence lost*: the share of the telling words of the evidence turns, word by word where they stand, that are
gone. *Answers lost*: the questions of which a word of the answer was there before and is there no longer. Beside it in
the same run, to the same count of tokens: truncation (the end is cut off) and random deletion of words.
Once with the turns as they were found, the likeliest first, which is the best case of truncation; once in the order in
which they were said. The model of surprise is made of the general text and the conversation's own turns, as an agent's
is; *knowing the rank* also gets what retrieval thinks of each turn, as an agent's memories come with it. Every figure
is of what should not happen.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from bench.compress_data import Case, Talk, talks, telling_spans, words
from bench.runner import Measure
from metnos.context.compress import Part, compress_parts
from metnos.context.surprisal import Surprisal, general
from metnos.context.tokens import Tokens, estimated

PURPOSE = "evidence that compression to a half and a quarter loses, beside truncation and random deletion"

_FACTORS = (2, 4)

Spans = list[list[tuple[int, int]]]  # of each text, what is left
Way = Callable[[Case, tuple[str, ...], int], Spans]


@dataclass(slots=True)
class Lost:
    """What one way loses, in per cent, question by question."""

    evidence: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)


def run(data: Path) -> list[Measure]:
    known = list(talks(data))
    counts = estimated()
    settings = [(order, factor) for order in ("by rank", "by time") for factor in _FACTORS]
    lost = {each: {name: Lost() for name in ("ours", "ranked", "cut", "random")} for each in settings}
    for talk in known:
        ways = _ways(_model(talk), counts)
        places = {text: at for at, text in enumerate(talk.texts)}
        for case in talk.cases:
            for order, factor in settings:
                texts = case.texts if order == "by rank" else tuple(sorted(case.texts, key=places.__getitem__))
                target = counts.count("\n".join(texts)) // factor
                for name, way in ways.items():
                    _note(lost[order, factor][name], case, texts, way(case, texts, target), counts, target)
    return [each for (order, factor), found in lost.items() for each in _told(found, order, factor)] + _cost(
        known, counts
    )


def _told(lost: dict[str, Lost], order: str, factor: int) -> list[Measure]:
    name = f"{factor}x, {order}"
    fill = ", ".join(f"{way} {fmean(each.tokens):.2f}" for way, each in lost.items())
    measures: list[Measure] = []
    for what in ("evidence", "answers"):
        each = {way: fmean(getattr(found, what)) for way, found in lost.items()}
        said = f"against truncation; random deletion {each['random']:.1f}, knowing the rank {each['ranked']:.1f}"
        questions = len(getattr(lost["ours"], what))
        note = f"{said}; {questions} questions; share of the target used: {fill}"
        measures += [
            Measure(f"{name}, {what} lost", "%", (each["ours"],), (each["cut"],), 1.0, note),
            Measure(f"{name}, {what} lost, random", "%", (each["ours"],), (each["random"],), 1.0),
        ]
    return measures


def _model(talk: Talk) -> Surprisal:
    model = general()
    model.add(talk.texts)
    return model


# -- the ways


def _ways(model: Surprisal, counts: Tokens) -> dict[str, Way]:
    def ours(case: Case, texts: tuple[str, ...], target: int) -> Spans:
        return _ours(model, counts, case, [Part(text) for text in texts], target)

    def ranked(case: Case, texts: tuple[str, ...], target: int) -> Spans:
        weights = {text: 1 - at / len(case.texts) for at, text in enumerate(case.texts)}
        return _ours(model, counts, case, [Part(text, weights[text]) for text in texts], target)

    def cut(_case: Case, texts: tuple[str, ...], target: int) -> Spans:
        return _cut(texts, target, counts)

    def deleted(case: Case, texts: tuple[str, ...], target: int) -> Spans:
        return _deleted(texts, target, counts, random.Random(case.question))

    return {"ours": ours, "ranked": ranked, "cut": cut, "random": deleted}


def _ours(model: Surprisal, counts: Tokens, case: Case, parts: Sequence[Part], target: int) -> Spans:
    made = compress_parts(parts, target, question=case.question, count=counts.count, model=model, seen=True)
    return [list(each.spans) for each in made]


def _cut(texts: Sequence[str], target: int, counts: Tokens) -> Spans:
    """As many words from the beginning as fit."""
    places = _words(texts)
    low, high = 0, len(places)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _count(texts, places[:middle], counts) <= target else (low, middle - 1)
    return _by_text(texts, places[:low])


def _deleted(texts: Sequence[str], target: int, counts: Tokens, chance: random.Random) -> Spans:
    """Words at random, left out until the rest fits."""
    places = _words(texts)
    order = list(range(len(places)))
    chance.shuffle(order)
    low, high = 0, len(places)
    while low < high:
        middle = (low + high + 1) // 2
        kept = [places[at] for at in sorted(order[:middle])]
        low, high = (middle, high) if _count(texts, kept, counts) <= target else (low, middle - 1)
    return _by_text(texts, [places[at] for at in sorted(order[:low])])


def _words(texts: Sequence[str]) -> list[tuple[int, int, int]]:
    """Every stretch between blanks: of which text, and where."""
    found = []
    for number, text in enumerate(texts):
        at = 0
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            found.append((number, start, at))
    return found


def _by_text(texts: Sequence[str], places: Sequence[tuple[int, int, int]]) -> Spans:
    spans: Spans = [[] for _ in texts]
    for number, start, end in places:
        spans[number].append((start, end))
    return spans


def _count(texts: Sequence[str], places: Sequence[tuple[int, int, int]], counts: Tokens) -> int:
    return counts.count(_shown(texts, _by_text(texts, places)))


def _shown(texts: Sequence[str], spans: Spans) -> str:
    lines = (" ".join(text[start:end] for start, end in kept) for text, kept in zip(texts, spans, strict=True))
    return "\n".join(line for line in lines if line)


# -- what is lost


def _note(lost: Lost, case: Case, texts: tuple[str, ...], spans: Spans, counts: Tokens, target: int) -> None:
    evidence = {case.texts[at] for at in case.evidence}
    there = gone = 0
    for text, kept in zip(texts, spans, strict=True):
        if text not in evidence:
            continue
        for start, end in telling_spans(text):
            there += 1
            gone += not any(left <= start and end <= right for left, right in kept)
    shown = _shown(texts, spans)
    lost.evidence.append(100 * gone / max(there, 1))
    lost.tokens.append(counts.count(shown) / target)
    if case.answer:
        lost.answers.append(100.0 * (not case.answer <= set(words(shown))))


def _cost(known: Sequence[Talk], counts: Tokens) -> list[Measure]:
    talk = known[0]
    model = _model(talk)
    spent = []
    for case in talk.cases[:30]:
        parts = [Part(text) for text in case.texts]
        target = counts.count("\n".join(case.texts)) // 4
        begun = time.process_time()
        _ours(model, counts, case, parts, target)
        spent.append(1e3 * (time.process_time() - begun))
    begun = time.process_time()
    made = general()
    first = 1e3 * (time.process_time() - begun)
    begun = time.process_time()
    made.add(talk.texts)
    each = 1e6 * (time.process_time() - begun) / len(talk.texts)
    size = len(made.to_bytes()) / 1024
    return [
        Measure("shortening ten turns", "ms", tuple(spent), note="CPU"),
        Measure("a model to begin with", "ms", (first,), note="CPU, read from bytes made before"),
        Measure("adding a turn to it", "us/turn", (each,), note=f"CPU; kept in {size:,.0f} KB"),
    ]
