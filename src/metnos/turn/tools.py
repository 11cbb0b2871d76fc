"""The tools that a turn can choose from: every usable executor as a planner sees it.

Rules: a list for choosing only. What is chosen is verified again when it runs, so an entry that is out of date can be
chosen in vain and never run wrongly. The list is made anew when the index of executors changed, in whatever process. A
planner chooses from what is shown. What selection hides is known all the same, so that what it gave can be referred to
and a fast path can lead to it; now and then a turn is shown one of the hidden.
"""

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from metnos.executors.arguments import INNER_KEY
from metnos.executors.catalog import Catalog
from metnos.executors.manifest import Kind
from metnos.executors.selection import Selection
from metnos.executors.verdict import Executor
from metnos.models.embed import Embedder
from metnos.models.embed_kept import Kept
from metnos.turn.plan.rank import Ranker, rank_by_words
from metnos.turn.plan.records import Tool


class Kit:
    """All tools at one moment, by name, and what ranks them: by words, and where that is not enough by meaning too."""

    def __init__(
        self,
        tools: dict[str, Tool],
        by_meaning: Callable[[tuple[Tool, ...]], Ranker | None],
        hidden: Collection[str] = (),
        explored: str = "",
        off: Mapping[str, Tool] = MappingProxyType({}),
    ) -> None:
        self.tools = tools
        self.off = off  # what is switched off: nothing is planned with it
        self.shown = {name: tool for name, tool in tools.items() if name not in hidden}
        self.explored = explored  # what is hidden, and shown all the same
        self._make = by_meaning
        self._lock = Lock()

    @cached_property
    def by_words(self) -> Ranker:
        return rank_by_words(tuple(self.shown.values()))

    @cached_property
    def _by_meaning(self) -> Ranker | None:
        return self._make(tuple(self.shown.values()))

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
    selection: Selection | None = None  # nothing: nothing is hidden
    _mark: object = None
    _kit: Kit | None = None
    _exploring: dict[str, Kit] = field(default_factory=dict)  # with one of the hidden shown, by its name
    _lock: Lock = field(default_factory=Lock)

    def kit(self, turn: str = "") -> Kit:
        """The tools of this moment. In some turns one of the hidden is shown."""
        hidden = self.selection.hidden() if self.selection else {}
        seen = self.selection.explored(turn, hidden) if self.selection else ""
        mark = (self.catalog.mark(), tuple((each.name, each.digest) for each in hidden.values()))
        with self._lock:
            if self._kit is None or mark != self._mark:
                tools = {each.name: as_tool(each) for each in self.catalog.usable()}
                names = {name for name, tool in tools.items() if name in hidden and hidden[name].digest == tool.digest}
                off = {each.name: as_tool(each) for each in self.catalog.switched_off()}
                self._kit, self._mark, self._exploring = Kit(tools, self._by_meaning, names, off=off), mark, {}
            kit = self._kit
            if seen in kit.shown or seen not in kit.tools:
                return kit
            if seen not in self._exploring:
                others = kit.tools.keys() - kit.shown.keys() - {seen}
                self._exploring[seen] = Kit(kit.tools, self._by_meaning, others, seen, kit.off)
            return self._exploring[seen]

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
    shown = {name: inner for name, inner in manifest.args["properties"].items() if not inner.get(INNER_KEY)}
    return Tool(
        name=executor.name,
        version=executor.version,
        digest=executor.digest,
        purpose=manifest.purpose,
        mutates=manifest.kind is Kind.MUTATOR,
        quiet=manifest.is_quiet,
        covers=manifest.covers,
        args={**manifest.args, "properties": shown},
        result_key=manifest.result_key,
        output=manifest.output,
        affinity=manifest.affinity,
        examples=tuple((example.say, example.args) for example in manifest.examples),
    )
