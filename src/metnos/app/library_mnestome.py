"""`Mnestome`: what works together, as a Python object, for any framework whose tools feed one another.

    >>> from metnos import Mnestome
    >>> with Mnestome(folder) as graph:
    ...     for _ in range(3):
    ...         mnest = graph.passing("search_web", "summarise_text")
    ...     wish = graph.wish("translate_text", source="summarise_text", summary="into Italian")
    ...     [(each.source, each.target, each.uses) for each in graph.top()]
    [('search_web', 'summarise_text', 3)]

Rules: a passing is recorded when data really moved from one tool to another. Weights fade by the calendar and grow by
use; reading one says what it is at this moment. In a workspace this is that workspace's own graph, beside whatever else
uses it.

Does not guarantee that the tools named exist: names are all it knows.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from metnos.app import tables
from metnos.app.library_records import Mnest
from metnos.core import files
from metnos.core.clock import Clock, SystemClock, to_text
from metnos.core.errors import UsageError
from metnos.core.ids import UlidMaker
from metnos.core.workspace import Workspace
from metnos.mnestome import graph, lists, proto, record, words
from metnos.mnestome.mnest import Mnest as Row
from metnos.mnestome.past import Past
from metnos.mnestome.rules import State
from metnos.store.db import Database, Durability

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.mnestome.ager import Report

REQUEST = "request"  # whose wish it is when the first step is what is missing
_SUMMARY = 500  # characters
# What a snapshot of a file that several organs share leaves out: it holds words of requests, and is never deleted.
_NOT_KEPT = ("canonical_query_log", "fast_paths", "form_vectors", "playbook_rules")
_NAMES = "A name has small letters, digits and _, begins with a letter, and has at most 64 of them."
_DAYS = "SELECT DISTINCT date(ts, 'localtime') FROM events WHERE kind = 'reinforce' AND ts > ?"


@dataclass(frozen=True, slots=True)
class _Passing:
    src: str
    src_version: str
    dst: str
    dst_version: str


@dataclass(frozen=True, slots=True)
class _Wish:
    name: str
    source: str
    source_version: str
    signature: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Turn:
    turn: str
    closed: datetime
    passings: Sequence[_Passing]
    desired: Sequence[_Wish]
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Aged:
    """What a day did: how many weights were reckoned anew, how many began to fade, which wishes are gone."""

    weighed: int
    fading: int
    removed: tuple[str, ...]
    recurring: tuple[str, ...]  # wishes that came often enough to be worth fulfilling


class Mnestome:
    """The graph of mnests in a folder, which is made if need be, or of a workspace."""

    def __init__(self, path: str | os.PathLike[str], *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._ids = UlidMaker(self._clock)
        folder = Path(path).expanduser().absolute()
        self._workspace = Workspace(folder) if Workspace(folder).exists() else None
        self._app: App | None = None
        place = self._workspace.mnestome if self._workspace else folder
        files.private_folder(place)
        self._past = Past(place / "events_history.sqlite", clock=self._clock)
        self._db = Database(
            place / "mnest.sqlite", tables.of_mnestome(), durability=Durability.NORMAL, clock=self._clock
        )
        self._ours = True

    @classmethod
    def of(cls, app: "App") -> "Mnestome":
        """The graph of a workspace that is open already, and is closed elsewhere."""
        made = cls.__new__(cls)
        made._clock, made._ids = app.clock, UlidMaker(app.clock)
        made._workspace, made._app, made._past, made._db, made._ours = (
            app.workspace,
            app,
            app.past,
            app.catalog.db,
            False,
        )
        return made

    # -- recording

    def passing(
        self,
        source: str,
        target: str,
        *,
        versions: tuple[str, str] = ("", ""),
        turn: str = "",
        tags: Iterable[str] = (),
        when: datetime | None = None,
    ) -> Mnest:
        """The output of one tool was the input of another, and that one succeeded."""
        _refuse_names(source, target)
        passing = _Passing(source, versions[0], target, versions[1])
        ts, labels = self._moment(when), [str(tag) for tag in tags]
        key = record.record_passing(self._db, passing, turn or self._ids(), ts, labels)
        if key is None:
            raise UsageError(f"{versions} are no versions", fix="Use letters, digits, dots, + and -.")
        return self.mnest(key)

    def wish(
        self,
        name: str,
        *,
        source: str = REQUEST,
        summary: str = "",
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        when: datetime | None = None,
    ) -> Mnest:
        """A tool was needed that does not exist. Wished for again, it grows heavier; else it fades."""
        _refuse_names(name, source)
        if name == source:
            raise UsageError("a tool cannot be missing and there", fix="Name another source.")
        wanted = {"summary": summary[:_SUMMARY], "inputs": dict(inputs or {}), "outputs": dict(outputs or {})}
        ts, labels = self._moment(when), words.tags([str(tag) for tag in tags])
        with self._db.write() as tx:
            proto.record(tx, [_Wish(name, source, "", wanted)], self._ids(), ts, labels)
        return next(each for each in self.wishes() if (each.source, each.target) == (source, name))

    def turn(
        self,
        turn: str,
        passings: Iterable[tuple[str, str]],
        *,
        tags: Iterable[str] = (),
        when: datetime | None = None,
    ) -> bool:
        """All passings of one turn at once. The same ``turn`` again changes nothing; says whether it was new."""
        pairs = [_Passing(source, "", target, "") for source, target in passings]
        for pair in pairs:
            _refuse_names(pair.src, pair.dst)
        return record.record_turn(self._db, _Turn(turn, self._moment(when), pairs, (), [str(tag) for tag in tags]))

    # -- reading

    def top(self, n: int = 20) -> list[Mnest]:
        """The heaviest mnests."""
        now = self._clock.now()
        return [_shown(each, now) for each in graph.top(self._db, n, now)]

    def neighbours(self, name: str, k: int = 8, direction: Literal["out", "in"] = "out") -> list[Mnest]:
        """Where a tool's output goes most, or where its input comes from."""
        now = self._clock.now()
        find = graph.top_k_outgoing if direction == "out" else graph.top_k_incoming
        return [_shown(each, now) for each in find(self._db, name, k, now)]

    def near(self, name: str, depth: int = 2) -> dict[str, float]:
        """What a tool leads to within so many passings, with the weight that reaches it; the strongest first."""
        return {each.name: each.weight for each in graph.walk(self._db, name, depth, self._clock.now())}

    def mnests(self, *, tag: str | None = None, state: str | None = None) -> list[Mnest]:
        """All living mnests, the heaviest first; or those with a tag, or in a state."""
        now = self._clock.now()
        return [_shown(each, now) for each in lists.listing(self._db, now, tag, _state(state))]

    def wishes(self, *, recurring: bool = False) -> list[Mnest]:
        """What was wished for and does not exist; only what is wished for again and again, if so asked."""
        now = self._clock.now()
        found = proto.recurring(self._db, now) if recurring else proto.protos(self._db)
        return [_shown(each, now) for each in found]

    def mnest(self, mnest_id: str) -> Mnest:
        """One mnest, by its id or a part of it."""
        return _shown(lists.find(self._db, mnest_id), self._clock.now())

    def history(self, mnest_id: str) -> list[tuple[datetime, str, float]]:
        """All that happened to a mnest, the oldest first: when, why, and what it weighed then."""
        key = lists.find(self._db, mnest_id).id
        changes = lists.history(self._db, key, self._past)
        return [(each.event.ts, each.event.reason, each.weight) for each in changes]

    # -- time

    def age(self, now: datetime | None = None) -> Aged:
        """Let a day pass: weights are reckoned, states follow, faded wishes go. Once a day is enough, and no harm."""
        if self._workspace is None:
            from metnos.mnestome.ager import Ager

            at = self._clock.now() if now is None else now.astimezone()
            return _aged(Ager(self._db, self._past).age(at, self._active_days))
        if now is not None:
            raise UsageError("a workspace ages by its own clock", fix="Leave the time away.")
        from metnos.app import ageing

        return _aged(ageing.age(self._opened()).aged)

    def snapshot(self) -> Path:
        """A copy of the graph as it is this month, kept for ever: made now, or the one that there is."""
        from metnos.mnestome.snapshot import Snapshots, month_of

        now = self._clock.now()
        kept = Snapshots(self._db.path.parent / "snapshots", self._db.path, tables.of_mnestome(), _NOT_KEPT)
        made = kept.make(now) or kept.find(month_of(now))
        return made.path

    # -- the end

    def close(self) -> None:
        """Let go of every file. Later use opens them again."""
        if self._ours:
            self._past.close()
            self._db.close()
            if self._app is not None:
                self._app.close()

    def __enter__(self) -> "Mnestome":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside

    def _moment(self, when: datetime | None) -> datetime:
        return self._clock.now() if when is None else when.astimezone()

    def _active_days(self, after: datetime) -> int:
        """Whoever records passings is there: without a workspace nothing else tells."""
        return len(self._db.query(_DAYS, (to_text(after),)))

    def _opened(self) -> "App":
        if self._app is None:
            from metnos.app.house import App

            if self._workspace is None:
                raise AssertionError("asked only in a workspace")
            self._app = App.open(self._workspace, self._clock)
        return self._app


def _shown(row: Row, now: datetime) -> Mnest:
    return Mnest(
        id=row.id,
        source=row.src,
        target=row.dst,
        weight=row.at(now),
        uses=row.uses,
        state=str(row.state),
        first_used=row.first,
        last_used=row.used,
        tags=row.tags,
        signature=dict(row.signature),
    )


def _aged(report: "Report") -> Aged:
    return Aged(report.weighed, report.faded, report.removed, tuple(each.dst for each in report.recurring))


def _state(named: str | None) -> State | None:
    try:
        return None if named is None else State(named)
    except ValueError:
        raise UsageError(f"there is no state {named!r}", fix=f"There are: {', '.join(State)}.") from None


def _refuse_names(*names: str) -> None:
    for name in names:
        if not words.is_name(name):
            raise UsageError(f"{name!r} is no name of a tool", fix=_NAMES)
