"""LoCoMo conversations as what compression is given: for every question the turns that BM25 finds for it.

Rules: retrieval here is as plain as can be (BM25 over single turns, ten of them), because what is measured comes after
it; a question counts only if one of its evidence turns was found, since nothing else can survive. A turn is shown with
its date and who spoke, as a memory would be.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.runner import need_data

FOUND = 10
_K1, _B = 1.2, 0.75
_UNANSWERABLE = 5  # the category of questions that have no answer in the conversation
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_STOP = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "being",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "don't",
        "for",
        "from",
        "get",
        "go",
        "going",
        "good",
        "got",
        "great",
        "had",
        "has",
        "have",
        "he",
        "her",
        "hey",
        "him",
        "his",
        "how",
        "i",
        "i'd",
        "i'll",
        "i'm",
        "i've",
        "if",
        "in",
        "into",
        "is",
        "it",
        "it's",
        "its",
        "just",
        "know",
        "let",
        "like",
        "lot",
        "make",
        "me",
        "more",
        "much",
        "my",
        "no",
        "not",
        "now",
        "of",
        "oh",
        "on",
        "one",
        "or",
        "our",
        "out",
        "really",
        "she",
        "so",
        "some",
        "something",
        "than",
        "thanks",
        "that",
        "that's",
        "the",
        "their",
        "them",
        "then",
        "there",
        "there's",
        "they",
        "they're",
        "things",
        "think",
        "this",
        "to",
        "too",
        "up",
        "us",
        "very",
        "was",
        "way",
        "we",
        "we're",
        "were",
        "what",
        "what's",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "wow",
        "yeah",
        "yes",
        "you",
        "you're",
        "your",
    ]
)


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the texts that were found for it, best first, which of them are evidence, and the answer's words."""

    question: str
    texts: tuple[str, ...]
    evidence: tuple[int, ...]
    answer: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: all that was said, and what is asked about it."""

    texts: tuple[str, ...]
    cases: tuple[Case, ...]


def talks(folder: Path) -> Iterator[Talk]:
    """Every conversation of the data set."""
    for read in json.loads(need_data(folder, "locomo_dev.json").read_text(encoding="utf-8")):
        ids = [turn["id"] for turn in read["turns"]]
        texts = tuple(f"{turn['date']}, {turn['speaker']}: {_said(turn)}" for turn in read["turns"])
        index = _Index([words(text) for text in texts])
        cases = []
        for asked in read["qa"]:
            found = index.best(words(asked["question"]), FOUND)
            evidence = tuple(at for at, place in enumerate(found) if ids[place] in asked["evidence"])
            answer = "" if asked["category"] == _UNANSWERABLE else str(asked.get("answer", ""))
            if evidence:
                shown = tuple(texts[place] for place in found)
                there = {word for text in shown for word in words(text)}
                cases.append(Case(asked["question"], shown, evidence, frozenset(telling(answer)) & there))
        yield Talk(texts, tuple(cases))


def words(text: str) -> list[str]:
    return [found.group().casefold() for found in _WORD.finditer(text)]


def telling(text: str) -> list[str]:
    """The words of a text that are not in every text."""
    return [word for word in words(text) if word not in _STOP]


def telling_spans(text: str) -> list[tuple[int, int]]:
    """Where they stand."""
    return [each.span() for each in _WORD.finditer(text) if each.group().casefold() not in _STOP]


def _said(turn: dict[str, str]) -> str:
    return f"{turn['text']} [{turn['caption']}]" if turn.get("caption") else turn["text"]


class _Index:
    """BM25 over a few hundred short texts."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(text) for text in texts]
        self._mean = sum(map(len, texts)) / max(len(texts), 1)
        have = Counter(word for counts in self._counts for word in counts)
        self._worth = {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in have.items()}

    def best(self, asked: Sequence[str], most: int) -> list[int]:
        scores = [self._score(set(asked), counts) for counts in self._counts]
        return sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:most]

    def _score(self, asked: set[str], counts: "Counter[str]") -> float:
        length = _K1 * (1 - _B + _B * counts.total() / self._mean)
        return sum(
            self._worth[word] * counts[word] * (_K1 + 1) / (counts[word] + length) for word in asked & set(counts)
        )
