"""CLINC150 as a stream of requests for fast paths: each intent is a path, each request goes through the product's code.

Rules: what is seen is drawn from the training part, by file order or by a seed; what is asked is the validation part
with its out-of-scope requests, or, for splits, training requests that were not drawn, with whole intents held back as
new kinds. Every text is embedded once.
"""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.runner import need_data
from metnos.fastpath.canonical import canonical
from metnos.fastpath.mask import mask
from metnos.fastpath.records import Form
from metnos.fastpath.slots import extract
from metnos.models.embed import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOW = datetime(2026, 1, 15, 10, 0, tzinfo=UTC)
_HOME = Path("/home/owner")
_BATCH = 256
NEW = ""  # the path of a request that none of those seen covers


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: as it came, as it is kept, and what it means."""

    text: str
    canonical: str
    said: str
    path: str

    @property
    def form(self) -> Form:
        return Form(self.path, self.canonical, self.said)


@dataclass(frozen=True, slots=True)
class Draw:
    """What was seen and what is asked then."""

    name: str
    seen: tuple[Asked, ...]
    asked: tuple[Asked, ...]


class Clinc:
    """The data set, read once."""

    def __init__(self, folder: Path) -> None:
        read = json.loads(need_data(folder, "clinc150_train_val.json").read_text(encoding="utf-8"))
        self._train: dict[str, list[Asked]] = {}
        for text, intent in read["train"]:
            self._train.setdefault(intent, []).append(_asked(text, intent))
        self._val = tuple(_asked(text, intent) for text, intent in read["val"])
        self._val += tuple(_asked(text, NEW) for text, _ in read["oos_val"])
        self._odd = tuple(_asked(text, f"alone {at}") for at, (text, _) in enumerate(read["oos_train"]))

    def draw(self, count: int, seed: int | None) -> Draw:
        """So many of each intent, the first or a sample; then the validation part."""
        random = None if seed is None else np.random.default_rng(seed)
        seen: list[Asked] = []
        for each in self._train.values():
            order = range(len(each)) if random is None else random.permutation(len(each))
            seen += [each[at] for at in list(order)[:count]]
        return Draw("first" if seed is None else f"seed {seed}", tuple(seen), self._val)

    def split(self, count: int, seed: int, held_back: int, asked_each: int) -> Draw:
        """Training requests only: so many of each intent are seen, others asked; some intents are never seen."""
        random = np.random.default_rng(seed)
        new = set(random.choice(sorted(self._train), held_back, replace=False))
        seen: list[Asked] = []
        asked: list[Asked] = []
        for intent, each in self._train.items():
            chosen = [each[at] for at in random.permutation(len(each))]
            is_new = intent in new
            seen += [] if is_new else chosen[:count]
            asked += [Asked(a.text, a.canonical, a.said, NEW if is_new else a.path) for a in chosen[-asked_each:]]
        return Draw(f"split {seed}", tuple(seen), tuple(asked))

    def stream(self, seen: int, asked: int, seed: int, odd: float) -> Draw:
        """Training requests as they might come: some intents often and some seldom, a share ``odd`` of no intent.

        A request of no intent is one of its kind, before as well as after: so the stream shows that such ones come.
        """
        random = np.random.default_rng(seed)
        intents = [self._train[name] for name in random.permutation(sorted(self._train))]
        often = np.arange(1, len(intents) + 1) ** -0.5
        left = [list(random.permutation(len(each))) for each in intents]
        alone = list(random.permutation(len(self._odd)))
        came: list[Asked] = []
        while len(came) < seen + asked:
            kind = int(random.choice(len(intents), p=often / often.sum()))
            if alone and random.random() < odd:
                came.append(self._odd[alone.pop()])
            elif left[kind]:
                came.append(intents[kind][left[kind].pop()])
        known = {each.path for each in came[:seen]}
        later = (each if each.path in known else replace(each, path=NEW) for each in came[seen:])
        return Draw(f"stream {seed}", tuple(came[:seen]), tuple(later))


class Vectors:
    """Vectors of texts, each computed once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._held: dict[str, Any] = {}

    def of(self, texts: list[str]) -> "NDArray[np.float32]":
        missing = sorted(set(texts) - self._held.keys())
        for at in range(0, len(missing), _BATCH):
            batch = missing[at : at + _BATCH]
            self._held.update(zip(batch, self._embedder.embed(batch), strict=True))
        return np.stack([self._held[text] for text in texts])


def _asked(text: str, path: str) -> Asked:
    slots = extract(text, now=_NOW, home=_HOME, cwd=_HOME)
    return Asked(text, canonical(text, slots), mask(text, slots), path)
