"""How much of the evidence for a question recall brings back, on LoCoMo, beside BM25, cosine, rank fusion and others.

Each turn is an episode with its date and speaker; a question is asked a day after the last turn. *Missed at 10* is the
share of a question's evidence that is not among the first ten turns, on average over all questions of categories 1 to
5; 100 less it is the evidence recall. No language model takes part. The embedder is the one that comes with Metnos; any
other in ``embedders/NAME/`` of the data folder is measured too.

*Cost of the other three*: the points that recency, importance and affect take from recall at 10, with importance and
affect drawn by chance and a strong mood, so that nothing in them can help. What not answering costs, and how many
questions are answered that nothing answers: `locomo_abstain`.

The constants of recall were chosen with all five conversations of this file in view: these figures are not out of
sample. Other conversations, named with ``--data``, are. Figures for each
conversation stand in the notes. Every figure is of what should not happen.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench import locomo_abstain, scratch
from bench import locomo_arms as arms
from bench.locomo_arms import Ask
from bench.locomo_data import Conversation, conversations
from bench.runner import Measure
from bench.supersede import ALONE
from metnos.core.clock import MovableClock
from metnos.core.embedding import Embedder
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Mark
from metnos.grimoire.episodes import Engine, open_episodes
from metnos.grimoire.recall_rules import Rules
from metnos.models.embed_builtin import Builtin
from metnos.models.embed_cache import Cached
from metnos.models.embed_onnx import Folder

PURPOSE = "evidence that recall misses on LoCoMo, beside BM25, cosine, rank fusion, txtai and mem0"

_MOST_MISSED = {5: 38.0, 10: 28.0}  # recall of 0.62 and 0.72
_DEEP = 20
_MOOD = Pad(-0.7, 0.5, -0.4)


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation in a store of its own."""

    conversation: Conversation
    store: Engine
    clock: MovableClock
    folder: Path


@dataclass(frozen=True, slots=True)
class Answers:
    """What one arm found: for each conversation, for each of its questions, the ids."""

    name: str
    found: list[list[list[str]]]

    def missed(self, talks: Sequence[Conversation], count: int, category: int | None = None) -> float:
        """The share of evidence that is not among the first so many, in per cent."""
        shares = [
            1 - len(one.evidence & set(got[:count])) / len(one.evidence)
            for talk, answers in zip(talks, self.found, strict=True)
            for one, got in zip(talk.asked, answers, strict=True)
            if category in (None, one.category)
        ]
        return 100 * mean(shares)


def run(data: Path) -> list[Measure]:
    talks = conversations(data)
    measures = _compared(talks, Cached(Builtin(), 100_000), "", with_others=True)
    for folder in sorted((data / "embedders").glob("*/tokenizer.json")):
        measures += _compared(talks, Cached(Folder(str(folder.parent)), 100_000), f"{folder.parent.name}, ", False)
    return measures


def _compared(talks: Sequence[Conversation], embedder: Embedder, name: str, with_others: bool) -> list[Measure]:
    with _stores(talks, embedder) as opened:
        ours = _asked(opened, "recall", lambda each: arms.recall(each.store, embedder, each.clock, Rules()))
        others = [
            _asked(opened, "BM25", lambda each: arms.bm25(each.store)),
            _asked(opened, "cosine", lambda each: arms.cosine(each.store, embedder)),
            _asked(opened, "rank fusion", lambda each: _fusion(each, embedder)),
            _asked(opened, "words only", lambda each: arms.recall(each.store, None, each.clock, Rules())),
        ]
        absent: list[str] = []
        if with_others:
            more, absent = _optional(opened, embedder)
            others += more
        measures = [_missed(talks, ours, others, count, name, absent) for count in (5, 10)]
        return measures + (_costs(opened, embedder, ours) if with_others else [])


def _fusion(each: Opened, embedder: Embedder) -> Ask:
    return arms.fused([arms.bm25(each.store), arms.cosine(each.store, embedder)])


def _optional(opened: Sequence[Opened], embedder: Embedder) -> tuple[list[Answers], list[str]]:
    makers: dict[str, Callable[[Opened], Ask]] = {
        "txtai hybrid": lambda each: arms.txtai(each.conversation.episodes, embedder),
        "mem0": lambda each: arms.mem0(each.conversation.episodes, embedder, each.folder),
    }
    there = {name: arms.is_there(package) for name, package in arms.OPTIONAL.items()}
    found = [_asked(opened, name, makers[name]) for name, is_there in there.items() if is_there]
    return found, [f"{name} is not installed" for name, is_there in there.items() if not is_there]


@contextmanager
def _stores(talks: Sequence[Conversation], embedder: Embedder) -> Iterator[list[Opened]]:
    with ExitStack() as stack:
        opened = []
        for talk in talks:
            folder = stack.enter_context(scratch.folder())
            clock = MovableClock(talk.now)
            store = open_episodes(folder, "sqlite", clock)
            stack.callback(store.close)
            store.add(talk.episodes, embedder.embed([each.text for each in talk.episodes]), embedder.space)
            opened.append(Opened(talk, store, clock, folder))
        yield opened


def _asked(opened: Sequence[Opened], name: str, maker: Callable[[Opened], Ask]) -> Answers:
    found = []
    for each in opened:
        ask = maker(each)
        found.append([ask(one.text, _DEEP) for one in each.conversation.asked])
    return Answers(name, found)


# -- the measures


def _missed(
    talks: Sequence[Conversation],
    ours: Answers,
    others: Sequence[Answers],
    count: int,
    name: str,
    absent: Sequence[str],
) -> Measure:
    each = [
        f"{talk.name} {100 - Answers('', [got]).missed([talk], count):.1f}"
        for talk, got in zip(talks, ours.found, strict=True)
    ]
    kinds = [f"category {kind} {100 - ours.missed(talks, count, kind):.1f}" for kind in range(1, 6)]
    beside = [f"{arm.name} {100 - arm.missed(talks, count):.1f}" for arm in others]
    recalled = (
        f"recall {100 - ours.missed(talks, count):.1f}; {', '.join(beside)}; {', '.join(each)}; {', '.join(kinds)}"
    )
    asked = sum(len(talk.asked) for talk in talks)
    note = "; ".join([f"{asked} questions, evidence recall in %: {recalled}", *absent])
    return Measure(f"{name}missed at {count}", "%", (ours.missed(talks, count),), limit=_MOST_MISSED[count], note=note)


def _costs(opened: Sequence[Opened], embedder: Embedder, ours: Answers) -> list[Measure]:
    talks = [each.conversation for each in opened]

    def asks(rules: Rules) -> list[Ask]:
        return [arms.recall(each.store, embedder, each.clock, rules) for each in opened]

    def missed(rules: Rules) -> list[float]:
        got = _asked(opened, "", lambda each: arms.recall(each.store, embedder, each.clock, rules))
        return [Answers("", [one]).missed([talk], 10) for talk, one in zip(talks, got.found, strict=True)]

    abstaining = locomo_abstain.measures(talks, asks, missed, embedder)
    alone = _asked(opened, "", lambda each: arms.recall(each.store, embedder, each.clock, ALONE))
    moody = _asked(_felt(opened), "", lambda each: arms.recall(each.store, embedder, each.clock, Rules(), _MOOD))
    silent = [not got for answers in ours.found for got in answers]
    return [
        Measure("cost of the other three", "points", (moody.missed(talks, 10) - alone.missed(talks, 10),), limit=1.0),
        Measure("cost of recency", "points", (ours.missed(talks, 10) - alone.missed(talks, 10),), limit=1.0),
        Measure("own questions, no answer", "%", (100 * mean(silent),), note="of those that the conversation answers"),
        *abstaining,
    ]


def _felt(opened: Sequence[Opened]) -> Sequence[Opened]:
    """The same stores, with importance and affect drawn by chance: what is thought of an episode may change."""
    draw = random.Random(1)
    for each in opened:
        marks = [
            Mark(one.id, importance=draw.random(), pad=Pad(*(draw.uniform(-1, 1) for _ in range(3))))
            for one in each.conversation.episodes
        ]
        each.store.mark(marks)
    return opened
