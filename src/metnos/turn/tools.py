"""The tools that a turn can choose from: every usable executor as a planner sees it.

Rules: a list for choosing only. What is chosen is verified again when it runs, so an entry that is out of date can be
chosen in vain and never run wrongly. The list is made anew when the index of executors changed, in whatever process.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock

from metnos.executors.catalog import Catalog
from metnos.executors.manifest import Kind
from metnos.executors.verdict import Executor
from metnos.models.embed import Embedder
from metnos.models.embed_kept import Kept
from metnos.turn.plan.rank import Ranker
from metnos.turn.plan.records import Tool


class Kit:
    """All tools at one moment, by name, and what ranks them: by words, and where that is not enough by meaning too."""

    def __init__(self, tools: dict[str, Tool], by_meaning: Callable[[tuple[Tool, ...]], Ranker | None]) -> None:
        self.tools = tools
        self.by_words = Ranker(tuple(tools.values()), None)
        self._make = by_meaning
        self._lock = Lock()

    @cached_property
    def _by_meaning(self) -> Ranker | None:
        return self._make(tuple(self.tools.values()))

    def by_meaning(self) -> Ranker | None:
        """Loads an embedder, which takes a second or two the first time; nothing if there is none."""
        with self._lock:
            return self._by_meaning


@dataclass(slots=True)
class Toolbox:
    """Hands out the kit of this moment. Threads may share it."""

    catalog: Catalog
    embedder: Callable[[], Embedder | None]
    vectors: Path  # where the vectors of what executors say of themselves are kept
    _mark: object = None
    _kit: Kit | None = None
    _lock: Lock = field(default_factory=Lock)

    def kit(self) -> Kit:
        mark = self.catalog.mark()
        with self._lock:
            if self._kit is None or mark != self._mark:
                self._kit = Kit({each.name: as_tool(each) for each in self.catalog.usable()}, self._by_meaning)
                self._mark = mark
            return self._kit

    def _by_meaning(self, tools: tuple[Tool, ...]) -> Ranker | None:
        embedder = self.embedder()
        if embedder is None:
            return None
        kept = Kept(embedder, self.vectors)
        ranker = Ranker(tools, kept)
        with contextlib.suppress(OSError):  # a full disk: then they are computed again the next time
            kept.finish()
        return ranker


def as_tool(executor: Executor) -> Tool:
    """An executor as a planner sees it."""
    manifest = executor.manifest
    return Tool(
        name=executor.name,
        version=executor.version,
        digest=executor.digest,
        purpose=manifest.purpose,
        mutates=manifest.kind is Kind.MUTATOR,
        quiet=manifest.is_quiet,
        covers=manifest.covers,
        args=manifest.args,
        result_key=manifest.result_key,
        output=manifest.output,
        affinity=manifest.affinity,
        examples=tuple((example.say, example.args) for example in manifest.examples),
    )
