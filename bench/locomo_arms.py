"""Ways to find the turns that answer a question: recall, and what it is compared with, all over the same episodes.

BM25 and cosine are the engine's own two searches, asked with the question as it is; their reciprocal rank fusion has
the usual constant of 60. txtai (hybrid: its own BM25 and vectors, each half) and mem0 (`infer=False`, so that no model
is asked) get the same texts and the same embedder; where one of them is not installed it is left out, and the result
says so. They are no dependencies of the project: install `txtai` or `mem0ai` beside it to have them in the run.
"""

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from metnos.core.clock import Clock
from metnos.core.embedding import Embedder
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Episode, Viewer
from metnos.grimoire.episodes import Engine
from metnos.grimoire.recall import Recall
from metnos.grimoire.recall_rules import Rules

Ask = Callable[[str, int], list[str]]  # a question, and how many ids are wanted

RRF = 60
OPTIONAL = {"txtai hybrid": "txtai", "mem0": "mem0"}


def is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def recall(store: Engine, embedder: Embedder | None, clock: Clock, rules: Rules, mood: Pad | None = None) -> Ask:
    made = Recall(store, None, embedder, clock, rules, lambda: mood or Pad())
    return lambda question, count: [each.id for each in made.recall(question, Viewer(), count=count).episodes]


def bm25(store: Engine) -> Ask:
    return lambda question, count: [hit.id for hit in store.matching(question, count)]


def cosine(store: Engine, embedder: Embedder) -> Ask:
    return lambda question, count: [hit.id for hit in store.nearest(embedder.embed([question])[0], count)]


def fused(arms: Sequence[Ask], deep: int = 100) -> Ask:
    """Reciprocal rank fusion."""

    def ask(question: str, count: int) -> list[str]:
        scores: dict[str, float] = {}
        for arm in arms:
            for place, key in enumerate(arm(question, deep), 1):
                scores[key] = scores.get(key, 0.0) + 1 / (RRF + place)
        return sorted(scores, key=lambda key: (-scores[key], key))[:count]

    return ask


def txtai(episodes: Sequence[Episode], embedder: Embedder) -> Ask:
    made: Any = importlib.import_module("txtai").Embeddings(
        method="external", transform=lambda texts: embedder.embed(list(texts)), hybrid=True, content=False
    )
    made.index([(each.id, each.text, None) for each in episodes])
    return lambda question, count: [str(key) for key, _ in made.search(question, count)]


class _Lent:
    """Our embedder as mem0 calls one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.config = type("Config", (), {"embedding_dims": embedder.space.dim})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 -- how it is called
        return [float(each) for each in self._embedder.embed([text])[0]]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


def mem0(episodes: Sequence[Episode], embedder: Embedder, folder: Path) -> Ask:
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder), OPENAI_API_KEY="unused")
    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "path": str(folder / "qdrant"),
                "on_disk": False,
                "embedding_model_dims": embedder.space.dim,
                "collection_name": "turns",
            },
        },
        "history_db_path": str(folder / "history.db"),
    }
    made: Any = importlib.import_module("mem0").Memory.from_config(config)
    made.embedding_model = _Lent(embedder)
    for each in episodes:
        made.add(each.text, user_id="owner", infer=False, metadata={"key": each.id})

    def ask(question: str, count: int) -> list[str]:
        found = made.search(question, filters={"user_id": "owner"}, top_k=count)
        return [each["metadata"]["key"] for each in found["results"]]

    return ask
