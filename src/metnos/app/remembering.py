"""The memory of a workspace, put together: episodes, facts, playbook, recall, curator, dreams.

Rules: a turn is taken in after it is recorded, with no language model and no embedder; what it means is worked out when
somebody first asks, or by night. What is taken in is marked where it is kept, so nothing is lost or counted twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from metnos.app import dating, sight, weighing
from metnos.app.paths import NOT_LEARNT
from metnos.core import files
from metnos.core.errors import ModelError, StoreError
from metnos.core.ids import UlidMaker
from metnos.executors.manifest import Reversal
from metnos.grimoire import appraisal, capture, happenings, poison
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.curator_state import CuratorState
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Episode, Viewer
from metnos.grimoire.episodes import Engine, open_episodes
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.mood import Mood
from metnos.grimoire.recall import NOTHING, Memory, Recall, Recollection
from metnos.grimoire.trace import State, Trace
from metnos.grimoire.usefulness import Usefulness
from metnos.grimoire.vectored import OfEpisodes, OfFacts, Vectored
from metnos.law.audit_line import Entry
from metnos.night.jobs import NOBODY, Done, Watcher
from metnos.night.notices import News
from metnos.store import applied
from metnos.store.db import Database
from metnos.turn.plan.records import Plan
from metnos.turn.playbook import RULE, rules_of
from metnos.turn.reminding import Reminding, asks

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.core.embedding import Embedder
    from metnos.grimoire.curator import Curator, Cycle
    from metnos.grimoire.dream import Dreamer
    from metnos.grimoire.health import EmbeddingHealth
    from metnos.grimoire.learning import Think
    from metnos.grimoire.playbook import Playbook

PROJECTION = "episodes"
LEARNING = "learning.lock"  # one process at a time learns and dreams
BUSY = "another process is learning"
OUT_OF_TIME = "its time was used up, and the next run goes on"
STOPPED = "it was stopped, and the next run goes on"
AGAIN = 16  # turns that a power cut may have taken out of the episodes again
_AT_ONCE = 256  # texts that are embedded together
_BETWEEN_TURNS_S = 0.5  # of CPU that learning may take right after a turn; the next one, or the night, goes on
_NIGHT_S = 120.0
_FADED = timedelta(days=90)  # for so long what faded away is still there for whoever asks what became of it
_NIGHTLY = 20_000  # texts that are embedded in one night: minutes with a slow embedder
_UNANSWERED = 30  # times that the same may have been asked in vain and what answers it is still found
_ADVICE = 200  # facts that may be about one plan
_NO_COUNTS = frozenset({"seed", "stopped", "cpu_s"})
_BARRED = (  # what the owner took out of the playbook does not steer either
    "SELECT json_extract(f.data, '$.fact') FROM heuristics h JOIN facts f ON f.id = h.fact WHERE h.barred = 1"
)
_STEERING = (Kind.PROCEDURAL, Kind.ANTI)


@dataclass(frozen=True)
class Grimoire:
    """What is remembered in an open workspace."""

    app: "App"
    db: Database
    episodes: Engine

    @classmethod
    def open(cls, app: "App", db: Database) -> "Grimoire":
        settings = app.settings
        folder = app.workspace.episodes
        return cls(app, db, open_episodes(folder, settings.memory.engine, app.clock, settings.store.busy_timeout_s))

    @cached_property
    def facts(self) -> Facts:
        clock = self.app.clock
        gate = weighing.fitting(self.app, self.db).rules
        return Facts(self.db, clock, UlidMaker(clock), happenings.tell(self.db, clock), gate=gate)

    @cached_property
    def mood(self) -> Mood:
        return Mood(self.db, self.app.clock)

    @cached_property
    def playbook(self) -> "Playbook":
        from metnos.grimoire.playbook import (
            Playbook,  # as below: what most turns do not need is loaded when it is needed
        )

        path = self.app.workspace.root / "PLAYBOOK.md"
        return Playbook(path, self.db, self.app.clock, lambda text: poison.screen(text).reason)

    @cached_property
    def health(self) -> "EmbeddingHealth":
        from metnos.grimoire.health import EmbeddingHealth

        return EmbeddingHealth(self.db, self.app.clock)

    @cached_property
    def usefulness(self) -> Usefulness:
        return Usefulness(self.db, self.app.clock)

    def curator(self, cpu_s: float, embedder: "Embedder | None" = None, think: "Think | None" = None) -> "Curator":
        """Who consolidates, with so many seconds."""
        from metnos.grimoire.curator import Curator, Numbers

        clock = self.app.clock
        return Curator(
            self.db,
            clock,
            UlidMaker(clock),
            self.episodes,
            self.facts,
            outcome_of=self.outcome,
            playbook=self._considered,
            embedder=embedder,
            think=think,
            numbers=Numbers(curator=CuratorRules(cpu_s=cpu_s)),
        )

    def dreamer(self) -> "Dreamer":
        from metnos.grimoire.dream import Dreamer

        return Dreamer(self.episodes, self.facts, self.app.clock, embedder=self.app.embedder)

    # -- taking in

    def catch_up(self) -> int:
        """Take in every turn that was not taken in yet; returns how many."""
        medium = self.app.medium
        offered = medium.pending(PROJECTION, again=AGAIN)
        if offered and self.db.first("SELECT 1 FROM applied_turns WHERE projection = ?", (PROJECTION,)) is None:
            medium.offer_again(PROJECTION)  # nothing was ever taken in, or its file was lost
            offered = medium.pending(PROJECTION)
        new = 0
        for turn in applied.unapplied(self.db, PROJECTION, offered):
            trace = medium.load(turn)
            self._guarded(turn, partial(self._take_in, trace))
            with self.db.write() as tx:
                if applied.mark(tx, PROJECTION, turn, trace.closed.isoformat()):
                    self.usefulness.note(turn, trace.memories)
                    new += 1  # once, also if another process takes it in at the same time
        medium.applied(PROJECTION, *offered)
        sight.learn(self.app, self.usefulness.settle(self.facts, self.episodes, self.outcome))
        if new and CuratorState(self.db, self.app.clock).tick(new, CuratorRules().every):
            self._guarded("", partial(self.learn, _BETWEEN_TURNS_S))
        return new

    def _take_in(self, trace: Trace) -> None:
        episode = capture.episode_of(trace, self._is_irreversible, self._question(trace))
        if episode is not None:
            self.episodes.add([self._felt(episode)], None, None)

    def _guarded(self, turn: str, work: Callable[[], object]) -> None:
        """What nobody foresaw in a turn or a memory must not stop the turns after it; it is recorded."""
        try:
            work()
        except StoreError:
            raise  # busy, or full: the next time
        except Exception as error:  # noqa: BLE001 -- a border: traces and memories hold what models and owners wrote
            names = {"error": type(error).__name__, **({"turn": turn} if turn else {})}
            self.app.audit.append(Entry(NOT_LEARNT, names))

    def _question(self, trace: Trace) -> Trace | None:
        """The turn before, if this one answered what it asked back."""
        last = trace.plan.get("last")
        before = self.app.medium.load(last) if last else None
        return before if capture.answers(trace, before) else None

    def add(self, text: str, tags: Sequence[str] = ()) -> Episode:
        """Remember what the owner says."""
        made = self._felt(capture.note(text, UlidMaker(self.app.clock)(), self.app.clock.now(), tags))
        self.episodes.add([made], None, None)
        return made

    def _felt(self, episode: Episode) -> Episode:
        surprise = capture.surprise(episode, self.episodes, self._usual(episode.domain), HOME)
        curious = replace(episode, curiosity=surprise)
        return replace(curious, pad=appraisal.affect(curious))

    def _usual(self, domain: str) -> dict[str, Baseline]:
        known = self.facts.find(kinds=(Kind.BASELINE,), domains=(domain,), count=50)
        if not known:
            return {}
        from metnos.grimoire.learning import baseline_of

        found = {str(fact.data.get("metric")): baseline_of(fact) for fact in known}
        return {name: each for name, each in found.items() if each is not None}

    def _is_irreversible(self, executor: str) -> bool:
        return executor in self._irreversible

    @cached_property
    def _irreversible(self) -> frozenset[str]:
        usable = self.app.catalog.usable()
        return frozenset(each.name for each in usable if each.manifest.reversal is Reversal.IRREVERSIBLE)

    def outcome(self, source: str) -> Outcome:
        """What came after a turn: the owner's word, whether it was taken back, how often it was asked for again."""
        again = self.app.medium.asked_again(source)
        if again is None:
            return appraisal.NO_OUTCOME
        said = self.app.medium.opinion(source)
        undone = source in self.app.undo.undone_turns()
        return Outcome(None if said is None else said.good, undone, again)

    # -- learning

    def learn(
        self,
        cpu_s: float,
        embedder: "Embedder | None" = None,
        watcher: Watcher = NOBODY,
        think: "Think | None" = None,
    ) -> "Cycle | None":
        """Consolidate, or go on with it; nothing if another process is at it."""
        new = self.episodes.last_seq() - CuratorState(self.db, self.app.clock).place().judged

        def progress(what: str, done: int, of: int) -> None:
            watcher.progress(what, done, max(done, min(of, new)) if what == "judging" else of)

        with files.held(self.app.workspace.memory / LEARNING) as mine:
            return self.curator(cpu_s, embedder, think).run(stop=watcher.stop, progress=progress) if mine else None

    def _considered(self, heuristics: Sequence[Fact], ticks: int) -> tuple[int, int]:
        report = self.playbook.consider(heuristics, ticks)
        return len(report.entered), len(report.left)

    # -- recalling

    def recall(self, text: str, viewer: Viewer, count: int = 10, facts: int = 10) -> Recollection:
        """What answers a question. By words alone if there is no embedder, or if it fails.

        Questions that came to nothing are left out: they are nearest to the same question, and answer none.
        """
        more = count + _UNANSWERED
        try:
            found = self._recaller(self.meant()).recall(text, viewer, count=more, facts=facts)
        except ModelError as error:
            found = self._recaller(None).recall(text, viewer, count=more, facts=facts)
            found = replace(found, notes=(*found.notes, error.what))
        told = tuple(each for each in found.episodes if not _is_unanswered(each))[:count]
        notes = found.notes if told or found.facts or not found.episodes else (*found.notes, NOTHING)
        return replace(found, episodes=told, notes=notes)

    def _recaller(self, embedder: "Embedder | None") -> Recall:
        numbers = sight.rules(self.app)
        return Recall(self.episodes, self.facts, embedder, self.app.clock, numbers, self.mood.now, dating.dates)

    def meant(self, most: int = 2 * _AT_ONCE) -> "Embedder | None":
        """The embedder, after it has worked out what came in since it was last asked: at most so much of it."""
        embedder = self.app.embedder
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

    def embed_missing(self, embedder: "Embedder", most: int) -> int:
        """Embed what has no vector, at most so many texts; returns how many."""
        done = 0
        for store in self.vectored.values():
            while done < most and (missing := store.missing(min(_AT_ONCE, most - done))):
                vectors = embedder.embed([each.text for each in missing])
                store.put_vectors([each.id for each in missing], vectors, embedder.space)
                done += len(missing)
        return done

    def reminding(self) -> Reminding:
        return Reminding(self._advice, self._rules, partial(self.recall, count=5, facts=5))

    def _rules(self) -> list[Fact]:
        """What the owner wrote into the playbook in so many words."""
        try:
            text = (self.app.workspace.root / "PLAYBOOK.md").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []  # the doctor says that it is missing
        if RULE not in text:
            return []  # the common case, which costs one small read
        return rules_of(text, {line.words for line in self.playbook.lines()}, self.app.clock.now())

    def _advice(self, plan: Plan, viewer: Viewer) -> list[Fact]:
        """What is known about how such things are done."""
        domains = {capture.domain_of([step.executor for step in plan.steps])} if plan.steps else set()
        if not domains:
            return []
        barred = {fact for (fact,) in self.db.query(_BARRED)}
        found = self.facts.find(kinds=_STEERING, domains=sorted(domains), visible_to=viewer, count=_ADVICE)
        return [fact for fact in found if fact.id not in barred]


def _is_unanswered(memory: Memory) -> bool:
    """Whether it says what was asked and nothing else: it came to nothing, or was told from memory. What somebody said
    that was no question is worth telling, whatever came of it."""
    of = memory.of
    state = of.payload.get("state") if isinstance(of, Episode) else ""
    in_vain = state == State.NOTHING or (state == State.TALKED and "\n" not in of.text)
    return state == State.QUESTION or (in_vain and asks(of.text.partition("\n")[0]))


# -- the night


def curate(app: "App", watcher: Watcher = NOBODY, *, now: bool = False) -> Done:
    """Work out what is new, then consolidate if enough has happened, or if it is to be ``now``.

    Each part can be stopped, and the next run goes on with it.
    """
    from metnos.app import keeping, thinking
    from metnos.grimoire import reembed

    counts, message = dict[str, int](), ""
    try:
        if reembed.unfinished(app.workspace.memory) and app.embedder is not None:
            step = partial(watcher.progress, "embedding")
            keeping.embed_anew(app, step, watcher.stop, again=False)  # somebody began it, and was interrupted
        embedder = _worked_out(app, watcher)
    except ModelError:
        embedder = None  # the check of the embedder says so; words are enough to learn from
    think = thinking.of(app, watcher.stop)
    every = 1 if think else CuratorRules().every  # what a model is to think about is not left until it is old
    if not watcher.stop() and (now or CuratorState(app.grimoire.db, app.clock).due(every)):
        cycle = app.grimoire.learn(_NIGHT_S, embedder, watcher, think)
        counts |= {**(cycle.counts if cycle else {}), **(think.counts if think else {})}
        message = BUSY if cycle is None else OUT_OF_TIME if cycle.why == "cpu" else think.message if think else ""
    if not watcher.stop():
        counts |= {"read": sight.read(app)}
        app.grimoire.episodes.tend(watcher.stop)
        app.grimoire.facts.clean_up(app.clock.now() - _FADED)
        keeping.ask_consent(app)
    stopped = watcher.stop()
    return Done(STOPPED if stopped else message, counts, stopped=stopped)


def _worked_out(app: "App", watcher: Watcher) -> "Embedder | None":
    """The embedder, after what came in since was embedded: a part at a time, and at most so much in one night."""
    grimoire = app.grimoire
    embedder, stores = grimoire.meant(most=0), grimoire.vectored.values()
    if embedder is None or any(store.space not in (None, embedder.space) for store in stores):
        return embedder  # there is none; or another one made what is there
    done, of = 0, min(_NIGHTLY, sum(len(store.missing(_NIGHTLY)) for store in stores))
    while done < of and not watcher.stop() and (more := grimoire.embed_missing(embedder, _AT_ONCE)):
        done += more
        watcher.progress("embedding", min(done, of), of)
    return embedder


def dream(app: "App", watcher: Watcher = NOBODY) -> Done:
    """Replay and recombine, or go on with a dream that was interrupted."""
    seed = int(app.clock.now().timestamp())
    with files.held(app.workspace.memory / LEARNING) as mine:
        if not mine:
            return Done(BUSY)
        dreamer = app.grimoire.dreamer()
        report = dreamer.dream(seed, cpu_s=_NIGHT_S, stop=watcher.stop, progress=watcher.progress)
    counts = {name: each for name, each in asdict(report).items() if name not in _NO_COUNTS and each}
    message = {"asked": STOPPED, "cpu": OUT_OF_TIME}.get(report.stopped, "")
    return Done(message, counts, stopped=report.stopped == "asked")


def check_embedder(app: "App") -> Done:
    """Once a week: whether vectors of today still belong to those of last week."""
    embedder, health = app.embedder, app.grimoire.health
    if embedder is None or not health.due():
        return Done()
    found = health.check(embedder)
    news = tuple(
        News("memory", f"the embedder has changed: {reason}", once=f"drift {reason}") for reason in found.reasons
    )
    return Done(str(found.state), news=news)
