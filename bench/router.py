"""How well the router chooses without a language model: tools, abstention, arguments; beside BM25 and plain cosine.

Choice: the right function of an item of the `multiple` set, the right one among 50, and the right built-in executor
for requests as people say them. Abstention: of the items where no function fits (`irrelevance`), how many are still
answered at the threshold at which a system answers 95 % (or 90 %) of those where one does (`simple_python`,
`multiple`): the same share for each system, so that none gains by refusing more. Also one minus the area under that
curve. All systems see the same requests and tools in the same run; both baselines read name and description, BM25 with
frequencies over all functions of all sets, cosine with the same embedder. Every figure is of what should not happen.

*kept* is out of sample: items of odd position, on which nothing was fitted (`bench.router_fit`); *fitted* the others.
Which signals there are was decided with both in view.
Arguments: `fill` for the right tool, against the published answers. Does not measure anything with a language model.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import router_data as data
from bench.router_data import Item
from bench.runner import Measure
from metnos.fastpath.slots import Slot
from metnos.models.embed import Embedder
from metnos.models.embed_builtin import Builtin
from metnos.models.embed_cache import Cached
from metnos.turn.plan.fill import fill
from metnos.turn.plan.rank import Ranker, Rules
from metnos.turn.plan.records import Tool

PURPOSE = "wrong tools, wrong answers to what nothing covers, and wrong arguments, beside BM25 and plain cosine"

_SETS = ("multiple", "simple_python", "irrelevance")
_CROWD, _CROWD_ITEMS = 50, 150
_ANSWERED = (0.95, 0.90)  # of the answerable items; the shares at which abstention is compared
_MOST_MS = 5.0  # ours: ranking the built-ins, once the words of a request have their vectors
_PIECE = re.compile(r"[a-z0-9]+")

Scores = Callable[[Item], Sequence[float]]  # for each tool of an item


@dataclass(frozen=True, slots=True)
class System:
    """A way to choose: what orders the tools of an item, and what says whether the best one is meant."""

    name: str
    scores: Scores
    sure: Callable[[Item], float]


def run(data_folder: Path) -> list[Measure]:
    sets = {name: data.items(data_folder, name) for name in _SETS}
    every = [item for each in sets.values() for item in each]
    encoder = Builtin()
    embedder = Cached(encoder, 200_000)
    systems = [_ours(embedder), _ours(None), _bm25(every), _cosine(embedder)]
    crowd = data.crowded([i for i in (*sets["multiple"], *sets["simple_python"]) if i.kept][::2], every, _CROWD)
    measures = []
    for half in (True, False):
        measures += _choice("tool of several", [i for i in sets["multiple"] if i.kept is half], systems, half)
    measures += _choice(f"tool of {_CROWD}", crowd[:_CROWD_ITEMS], systems, True)
    for half in (True, False):
        chosen = {name: [i for i in each if i.kept is half] for name, each in sets.items()}
        measures += _abstention(chosen, systems, half)
    for half in (True, False):
        measures += _requests([i for i in data.requests() if i.kept is half], systems, half)
    return [*measures, *_arguments([*sets["simple_python"], *sets["multiple"]]), *_cost(encoder)]


# -- the systems


def _ours(embedder: Embedder | None) -> System:
    held: dict[tuple[str, ...], Ranker] = {}

    def ranker(item: Item) -> Ranker:
        names = tuple(tool.name for tool in item.tools)
        if names not in held:
            held.clear()  # of one set of tools at a time: only the built-ins come twice
            held[names] = Ranker(item.tools, embedder)
        return held[names]

    def scores(item: Item) -> Sequence[float]:
        by = {each.tool.name: each.score for each in ranker(item).rank(item.text, slots=item.slots)}
        return [by[tool.name] for tool in item.tools]

    def sure(item: Item) -> float:
        one = ranker(item)
        return one.fit(one.rank(item.text, slots=item.slots), item.text, item.slots)

    return System("metnos" if embedder is not None else "metnos, words only", scores, sure)


def _text(tool: Tool) -> str:
    return f"{re.sub(r'[._]', ' ', tool.name)}. {tool.purpose}"


def _words(text: str) -> list[str]:
    return _PIECE.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())


def _bm25(every: Sequence[Item], k: float = 1.5, b: float = 0.75) -> System:
    """Okapi BM25 with the usual constants and the non-negative idf."""
    texts = {_text(tool): _words(_text(tool)) for item in every for tool in item.tools}
    texts |= {_text(tool): _words(_text(tool)) for tool in data.built_in()}
    holders = Counter(word for words in texts.values() for word in set(words))
    mean = sum(map(len, texts.values())) / len(texts)

    def one(query: set[str], words: list[str]) -> float:
        counts = Counter(words)
        total = 0.0
        for word in query & counts.keys():
            rare = math.log(1 + (len(texts) - holders[word] + 0.5) / (holders[word] + 0.5))
            total += rare * counts[word] * (k + 1) / (counts[word] + k * (1 - b + b * len(words) / mean))
        return total

    def scores(item: Item) -> list[float]:
        return [one(set(_words(item.text)), texts[_text(tool)]) for tool in item.tools]

    return System("BM25", scores, lambda item: max(scores(item)))


def _cosine(embedder: Embedder) -> System:
    def scores(item: Item) -> list[float]:
        rows = embedder.embed([item.text, *map(_text, item.tools)])
        return [float(each) for each in rows[1:] @ rows[0]]

    return System("cosine", scores, lambda item: max(scores(item)))


# -- the measures


def _choice(name: str, items: list[Item], systems: list[System], kept: bool) -> list[Measure]:
    shares = {
        each.name: 100 * (1 - sum(_hit(item, each.scores(item)) for item in items) / len(items)) for each in systems
    }
    return _beside(f"wrong {name}, {_half(kept)}", shares, f"{len(items)} items")


def _hit(item: Item, scores: Sequence[float], first: int = 1) -> float:
    """Whether a right tool is among the first; of equals, the chance that it is."""
    right = max(score for tool, score in zip(item.tools, scores, strict=True) if tool.name in item.right)
    above = sum(score > right for score in scores)
    equal = sum(score == right for score in scores)
    return min(1.0, max(0, first - above) / equal)


def _abstention(sets: dict[str, list[Item]], systems: list[System], kept: bool) -> list[Measure]:
    fits = [*sets["simple_python"], *sets["multiple"]]
    sure = {
        each.name: (np.array(list(map(each.sure, fits))), np.array(list(map(each.sure, sets["irrelevance"]))))
        for each in systems
    }
    note = f"{len(sets['irrelevance'])} items that nothing fits, {len(fits)} that something does"
    measures = []
    for share in _ANSWERED:
        wrong = {
            name: 100 * float((none >= np.quantile(some, 1 - share)).mean()) for name, (some, none) in sure.items()
        }
        measures += _beside(f"answered in vain at {share:.0%}, {_half(kept)}", wrong, note)
    area = {name: 100 * (1 - auroc(some, none)) for name, (some, none) in sure.items()}
    return [*measures, *_beside(f"abstention, 1 - AUROC, {_half(kept)}", area, note)]


def auroc(some: Any, none: Any) -> float:
    """The chance that one of the first is above one of the second."""
    return float((some[:, None] > none[None, :]).mean() + 0.5 * (some[:, None] == none[None, :]).mean())


def _requests(items: list[Item], systems: list[System], kept: bool) -> list[Measure]:
    asked = [item for item in items if item.right]
    none = [item for item in items if not item.right]
    note = f"{len(asked)} requests for built-ins, half of them Italian"
    measures = []
    for first in (1, 3):
        wrong = {
            each.name: 100 * (1 - sum(_hit(item, each.scores(item), first) for item in asked) / len(asked))
            for each in systems
        }
        measures += _beside(f"wrong built-in, first {first}, {_half(kept)}", wrong, note)
    ours = systems[0].sure
    low = Rules().abstain
    return [
        *measures,
        _share(f"built-in refused in vain, {_half(kept)}", [ours(item) < low for item in asked], "requests"),
        _share(f"request answered in vain, {_half(kept)}", [ours(item) >= low for item in none], "that none covers"),
    ]


def _beside(name: str, shares: dict[str, float], note: str) -> list[Measure]:
    """Ours against the better of the two baselines, which are in the note."""
    least = min(shares["BM25"], shares["cosine"])
    told = ", ".join(f"{each} {share:.1f}" for each, share in shares.items())
    baseline = (least,) if least > 0 else ()
    return [Measure(name, "%", (shares["metnos"],), baseline, 1.0 if baseline else None, f"{told}; {note}")]


def _half(kept: bool) -> str:
    return "kept" if kept else "fitted"


def _share(name: str, happened: list[bool], note: str) -> Measure:
    return Measure(name, "%", (100 * sum(happened) / len(happened),), note=f"{sum(happened)} of {len(happened)} {note}")


# -- arguments


def _arguments(items: list[Item]) -> list[Measure]:
    """`fill` for the right tool: an item is right when every argument is, and none is there that should not be."""
    wrong_items: list[bool] = []
    wrong: list[bool] = []
    for item in items:
        tool = next(tool for tool in item.tools if tool.name in item.right)
        given, _ = fill(tool, item.text, item.slots)
        each = [_is_wrong(given.get(name, ""), accepted) for name, accepted in item.answers.items()]
        wrong += each
        wrong_items.append(any(each) or bool(given.keys() - item.answers.keys()))
    return [
        _share("arguments wrong", wrong, "published arguments, optional ones included"),
        _share("items with a wrong argument", wrong_items, "items of simple_python and multiple"),
    ]


def _is_wrong(given: Any, accepted: list[Any]) -> bool:
    return not any(_same(given, each) for each in accepted)


def _same(given: Any, wanted: Any) -> bool:
    """As the leaderboard compares: texts without regard to case, blanks and most punctuation; numbers by value."""
    if isinstance(wanted, dict) and isinstance(given, dict):
        return given.keys() <= wanted.keys() and all(not _is_wrong(given.get(k, ""), v) for k, v in wanted.items())
    if isinstance(wanted, list) and isinstance(given, list):
        return len(given) == len(wanted) and all(_same(a, b) for a, b in zip(given, wanted, strict=True))
    if isinstance(given, str) and isinstance(wanted, str):
        return _plain(given) == _plain(wanted)
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    return bool(given == wanted)


def _plain(text: str) -> str:
    return re.sub(r"[ ,./\-_*^'\"]", "", text).lower()


# -- the cost


def _cost(encoder: Embedder) -> list[Measure]:
    """CPU milliseconds of rank and fit for each request; slots are found before."""
    items = data.requests()
    told = [(item.text, item.slots) for item in items]
    known = Cached(encoder, 200_000)
    known.embed([text for text, _ in told])
    warm, cold = Ranker(items[0].tools, known), Ranker(items[0].tools, encoder)
    note = "CPU of rank and fit, 50 tools"
    _spent(warm, told)  # now every word of every request has its vector
    return [
        Measure("ranking, words known", "ms", _spent(warm, told), limit=_MOST_MS, note=f"{note}; vectors remembered"),
        Measure("ranking, words new", "ms", _spent(cold, told), note=f"{note}; each word and text embedded anew"),
    ]


def _spent(ranker: Ranker, told: list[tuple[str, tuple[Slot, ...]]]) -> tuple[float, ...]:
    costs = []
    for text, slots in told:
        start = time.process_time()
        ranker.fit(ranker.rank(text, slots=slots), text, slots)
        costs.append((time.process_time() - start) * 1e3)
    return tuple(costs)
