"""A memory, put together from its parts wherever it lies: taking in what is told, finding, learning.

Needs no workspace, no turn and no sandbox. What else it depends on (the embedder, the numbers, what became of a turn)
whoever owns the memory says by overriding.

Rules: what is told is taken in with no embedder; what it means is worked out when somebody first asks. One process at a
time learns. Recalling changes nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.core import files
from metnos.core.clock import Clock
from metnos.core.embedding import Embedder
from metnos.core.errors import ModelError
from metnos.core.ids import UlidMaker
from metnos.grimoire import appraisal, capture, happenings, poison
from metnos.grimoire.admission import RULES, AdmissionRules
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.curator_state import CuratorState
from metnos.grimoire.domain import HOME, Domain
from metnos.grimoire.episode import Episode, Viewer, Where
from metnos.grimoire.episodes import Engine
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.mood import Mood
from metnos.grimoire.question import Span
from metnos.grimoire.recall import NOTHING, Memory, Recall, Recollection
from metnos.grimoire.recall_rules import Rules
from metnos.grimoire.somatic import Somatic
from metnos.grimoire.trace import State
from metnos.grimoire.usefulness import Usefulness
from metnos.grimoire.vectored import OfEpisodes, OfFacts, Vectored
from metnos.store.db import Database

if TYPE_CHECKING:
    from metnos.grimoire.curator import Curator, Cycle, Progress, Stop
    from metnos.grimoire.health import EmbeddingHealth
    from metnos.grimoire.learning import Think
    from metnos.grimoire.playbook import Playbook

LEARNING = "learning.lock"  # one process at a time learns and dreams
AT_ONCE = 256  # texts that are embedded together
_UNANSWERED = 30  # times that the same may have been asked in vain and what answers it is still found


class Mind(ABC):
    """What is remembered in one place. Threads may share it."""

    db: Database
    episodes: Engine

    # -- what its owner says

    @property
    @abstractmethod
    def clock(self) -> Clock: ...

    @property
    @abstractmethod
    def root(self) -> Path:
        """The folder of the owner's own files, such as PLAYBOOK.md."""

    @property
    @abstractmethod
    def embedder(self) -> Embedder | None: ...

    @abstractmethod
    def dates(self, text: str, now: datetime) -> Iterator[tuple[str, Span]]:
        """The times that a question speaks of."""

    @abstractmethod
    def asks(self, text: str) -> bool:
        """Whether a text is a question."""

    def numbers(self) -> Rules:
        """The numbers of recall."""
        return Rules()

    def gate(self) -> AdmissionRules:
        """What it takes for something learnt to be kept."""
        return RULES

    def pack(self) -> Domain:
        """The walk of life that it remembers."""
        return HOME

    def again(self, cycle: int) -> Sequence[str]:  # noqa: ARG002 -- whoever inherited episodes overrides this
        """Episodes that the ``cycle``-th consolidation goes through as if they were new."""
        return ()

    def outcome(self, source: str) -> Outcome:  # noqa: ARG002 -- whoever knows what became of it overrides this
        """What came after what an episode was drawn from."""
        return NO_OUTCOME

    # -- its parts

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.db, self.clock, UlidMaker(self.clock), happenings.tell(self.db, self.clock), gate=self.gate)

    @cached_property
    def mood(self) -> Mood:
        return Mood(self.db, self.clock)

    @cached_property
    def playbook(self) -> "Playbook":
        from metnos.grimoire.playbook import Playbook  # as below: what is seldom needed is loaded when it is needed

        return Playbook(self.root / "PLAYBOOK.md", self.db, self.clock, lambda text: poison.screen(text).reason)

    @cached_property
    def health(self) -> "EmbeddingHealth":
        from metnos.grimoire.health import EmbeddingHealth

        return EmbeddingHealth(self.db, self.clock)

    @cached_property
    def usefulness(self) -> Usefulness:
        return Usefulness(self.db, self.clock)

    @cached_property
    def somatic(self) -> Somatic:
        return Somatic(self.db, self.clock)

    @property
    def folder(self) -> Path:
        return self.db.path.parent

    # -- taking in

    def add(self, text: str, tags: Sequence[str] = ()) -> Episode:
        """Remember what the owner says."""
        return self.take_in(capture.note(text, UlidMaker(self.clock)(), self.clock.now(), tags))

    def take_in(self, episode: Episode) -> Episode:
        """Remember an episode, with how surprising it is and what it feels like."""
        felt = self._felt(episode)
        self.episodes.add([felt], None, None)
        self.somatic.note(felt)
        return felt

    def _felt(self, episode: Episode) -> Episode:
        pack = self.pack()
        surprise = capture.surprise(episode, self.episodes, self.usual(pack.key_of(episode)), pack)
        curious = replace(episode, curiosity=surprise)
        return replace(curious, pad=appraisal.affect(curious))

    def usual(self, key: str) -> dict[str, Baseline]:
        """The baselines of what is consolidated under a key, by measure."""
        known = self.facts.find(kinds=(Kind.BASELINE,), domains=(key,), count=50)
        if not known:
            return {}
        from metnos.grimoire.learning import baseline_of

        found = {str(fact.data.get("metric")): baseline_of(fact) for fact in known}
        return {name: each for name, each in found.items() if each is not None}

    # -- recalling

    def recall(
        self, text: str, viewer: Viewer, count: int = 10, facts: int = 10, where: Where | None = None
    ) -> Recollection:
        """What answers a question. By words alone if there is no embedder, or if it fails.

        Questions that came to nothing are left out: they are nearest to the same question, and answer none.
        """
        more = count + _UNANSWERED
        try:
            found = self._recaller(self.meant()).recall(text, viewer, count=more, facts=facts, where=where)
        except ModelError as error:
            found = self._recaller(None).recall(text, viewer, count=more, facts=facts, where=where)
            found = replace(found, notes=(*found.notes, error.what))
        told = tuple(each for each in found.episodes if not self._is_unanswered(each))[:count]
        notes = found.notes if told or found.facts or not found.episodes else (*found.notes, NOTHING)
        return replace(found, episodes=told, notes=notes)

    def _recaller(self, embedder: Embedder | None) -> Recall:
        return Recall(self.episodes, self.facts, embedder, self.clock, self.numbers(), self.mood.now, self.dates)

    def _is_unanswered(self, memory: Memory) -> bool:
        """Whether it says what was asked and nothing else: it came to nothing, or was told from memory. What somebody
        said that was no question is worth telling, whatever came of it."""
        of = memory.of
        state = of.payload.get("state") if isinstance(of, Episode) else ""
        in_vain = state == State.NOTHING or (state == State.TALKED and "\n" not in of.text)
        return state == State.QUESTION or (in_vain and self.asks(of.text.partition("\n")[0]))

    def meant(self, most: int = 2 * AT_ONCE) -> Embedder | None:
        """The embedder, after it has worked out what came in since it was last asked: at most so much of it."""
        embedder = self.embedder
        if embedder is None:
            return None
        if all(store.space in (None, embedder.space) for store in self.vectored.values()):
            self.health.require_writable()
            self.embed_missing(embedder, most)
        return embedder  # if another one made what is there, recall says so, and searches by words

    @property
    def vectored(self) -> dict[str, Vectored]:
        """What has vectors."""
        return {"episodes": OfEpisodes(self.episodes), "facts": OfFacts(self.facts)}

    def embed_missing(self, embedder: Embedder, most: int) -> int:
        """Embed what has no vector, at most so many texts; returns how many."""
        done = 0
        for store in self.vectored.values():
            while done < most and (missing := store.missing(min(AT_ONCE, most - done))):
                vectors = embedder.embed([each.text for each in missing])
                store.put_vectors([each.id for each in missing], vectors, embedder.space)
                done += len(missing)
        return done

    # -- learning

    def curator(self, cpu_s: float, embedder: Embedder | None = None, think: "Think | None" = None) -> "Curator":
        """Who consolidates, with so many seconds."""
        from metnos.grimoire.curator import Curator, Numbers

        return Curator(
            self.db,
            self.clock,
            UlidMaker(self.clock),
            self.episodes,
            self.facts,
            outcome_of=self.outcome,
            playbook=self._considered,
            embedder=embedder,
            think=think,
            domain=self.pack(),
            numbers=Numbers(curator=CuratorRules(cpu_s=cpu_s)),
            again=self.again,
        )

    def consolidate(
        self,
        cpu_s: float,
        embedder: Embedder | None = None,
        think: "Think | None" = None,
        *,
        stop: "Stop" = lambda: False,
        progress: "Progress" = lambda _what, _done, _of: None,
    ) -> "Cycle | None":
        """Learn from what happened, or go on with it; nothing if another process is at it."""
        new = self.episodes.last_seq() - CuratorState(self.db, self.clock).place().judged

        def tell(what: str, done: int, of: int) -> None:
            progress(what, done, max(done, min(of, new)) if what == "judging" else of)

        with files.held(self.folder / LEARNING) as mine:
            return self.curator(cpu_s, embedder, think).run(stop=stop, progress=tell) if mine else None

    def _considered(self, heuristics: Sequence[Fact], ticks: int) -> tuple[int, int]:
        report = self.playbook.consider(heuristics, ticks)
        return len(report.entered), len(report.left)
