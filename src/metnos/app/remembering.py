"""The memory of a workspace, put together: episodes, facts, playbook, recall, curator, dreams.

Rules: a turn is taken in after it is recorded, with no language model and no embedder; what it means is worked out when
somebody first asks, or by night. What is taken in is marked where it is kept, so nothing is lost or counted twice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.app import dating, profiles, sight, weighing
from metnos.app.paths import NOT_LEARNT
from metnos.core import files
from metnos.core.errors import ModelError, NotTrusted, StoreError
from metnos.executors.manifest import Reversal
from metnos.grimoire import appraisal, capture
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.curator_state import CuratorState
from metnos.grimoire.episode import Viewer
from metnos.grimoire.episodes import Engine, open_episodes
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.mind import AT_ONCE, LEARNING, Mind
from metnos.grimoire.question import Span
from metnos.grimoire.trace import Trace
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
    from metnos.core.clock import Clock
    from metnos.core.embedding import Embedder
    from metnos.grimoire.admission import AdmissionRules
    from metnos.grimoire.curator import Cycle
    from metnos.grimoire.domain import Domain
    from metnos.grimoire.dream import Dreamer
    from metnos.grimoire.fitting import Fitting
    from metnos.grimoire.learning import Think
    from metnos.grimoire.recall_rules import Rules
    from metnos.grimoire.somatic import Planned, Warned

PROJECTION = "episodes"
BUSY = "another process is learning"
OUT_OF_TIME = "its time was used up, and the next run goes on"
STOPPED = "it was stopped, and the next run goes on"
AGAIN = 16  # turns that a power cut may have taken out of the episodes again
_BETWEEN_TURNS_S = 0.5  # of CPU that learning may take right after a turn; the next one, or the night, goes on
_NIGHT_S = 120.0
_FADED = timedelta(days=90)  # for so long what faded away is still there for whoever asks what became of it
_NIGHTLY = 20_000  # texts that are embedded in one night: minutes with a slow embedder
_ADVICE = 200  # facts that may be about one plan
_NO_COUNTS = frozenset({"seed", "stopped", "cpu_s"})
_BARRED = (  # what the owner took out of the playbook does not steer either
    "SELECT json_extract(f.data, '$.fact') FROM heuristics h JOIN facts f ON f.id = h.fact WHERE h.barred = 1"
)
_STEERING = (Kind.PROCEDURAL, Kind.ANTI)


@dataclass(frozen=True)
class Grimoire(Mind):
    """What is remembered in an open workspace."""

    app: "App"
    db: Database
    episodes: Engine

    @classmethod
    def open(cls, app: "App", db: Database) -> "Grimoire":
        settings = app.settings
        folder = app.workspace.episodes
        return cls(app, db, open_episodes(folder, settings.memory.engine, app.clock, settings.store.busy_timeout_s))

    @property
    def clock(self) -> "Clock":
        return self.app.clock

    @property
    def root(self) -> Path:
        return self.app.workspace.root

    @property
    def embedder(self) -> "Embedder | None":
        return self.app.embedder

    def dates(self, text: str, now: datetime) -> Iterator[tuple[str, Span]]:
        return dating.dates(text, now)

    def asks(self, text: str) -> bool:
        return asks(text)

    def numbers(self) -> "Rules":
        return sight.rules(self.app)

    def gate(self) -> "AdmissionRules":
        return self._fitting.rules()

    def pack(self) -> "Domain":
        return self._pack

    @cached_property
    def _pack(self) -> "Domain":
        return profiles.pack(self.app)

    @cached_property
    def _fitting(self) -> "Fitting":
        return weighing.fitting(self.app, self.db)

    def dreamer(self) -> "Dreamer":
        from metnos.grimoire.dream import Dreamer

        return Dreamer(self.episodes, self.facts, self.app.clock, embedder=self.app.embedder, pack=self.pack())

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
        if new and CuratorState(self.db, self.app.clock).tick(new, self.app.living.effects().curator_every):
            self._guarded("", partial(self.learn, _BETWEEN_TURNS_S))
        return new

    def _take_in(self, trace: Trace) -> None:
        episode = capture.episode_of(trace, self._is_irreversible, self._question(trace))
        if episode is not None:
            self.take_in(episode)

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

    def _is_irreversible(self, executor: str) -> bool:
        try:
            found = self.app.catalog.look(executor).executor
        except NotTrusted:  # it is gone
            return False
        return found is not None and found.manifest.reversal is Reversal.IRREVERSIBLE

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
        from metnos.app import inheriting

        cycle = self.consolidate(cpu_s, embedder, think, stop=watcher.stop, progress=watcher.progress)
        inheriting.settle(self.app)
        return cycle

    def again(self, cycle: int) -> Sequence[str]:
        from metnos.app import inheriting

        return inheriting.replayed(self.app, cycle)

    # -- recalling

    def reminding(self) -> Reminding:
        recall = partial(self.recall, count=5, facts=5)
        return Reminding(self._advice, self._rules, recall, self._feel, self.app.undo.undone_turns)

    def _feel(self, steps: "Sequence[Planned]", form: str, sender: str) -> "Sequence[Warned]":
        """Which of these steps enter situations that went badly."""
        return self.somatic.warnings(steps, form, sender, self.outcome)

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


# -- the night


def curate(app: "App", watcher: Watcher = NOBODY, *, now: bool = False) -> Done:
    """Work out what is new, then consolidate if enough has happened, or if it is to be ``now``.

    Each part can be stopped, and the next run goes on with it.
    """
    from metnos.app import keeping, thinking
    from metnos.grimoire import reembed

    app.refuse_halted()
    counts, message = dict[str, int](), ""
    try:
        if reembed.unfinished(app.workspace.memory) and app.embedder is not None:
            step = partial(watcher.progress, "embedding")
            keeping.embed_anew(app, step, watcher.stop, again=False)  # somebody began it, and was interrupted
        embedder = _worked_out(app, watcher)
    except ModelError:
        embedder = None  # the check of the embedder says so; words are enough to learn from
    think = thinking.of(app, watcher.stop)
    # What a model is to think about is not left until it is old.
    every = 1 if think else app.living.effects().curator_every
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
    while done < of and not watcher.stop() and (more := grimoire.embed_missing(embedder, AT_ONCE)):
        done += more
        watcher.progress("embedding", min(done, of), of)
    return embedder


def dream(app: "App", watcher: Watcher = NOBODY) -> Done:
    """Replay and recombine, or go on with a dream that was interrupted."""
    app.refuse_halted()
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
