"""The ager of a workspace: what became of executors, who was there, who is asked, and what is kept of the month.

Rules: one pass is safe to repeat at any point. What is on its way out is put before the owner once, and archived when
they say so. The month's snapshot comes after the pass, before past years leave the file and its gaps are closed.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from metnos.app import learning, tables
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import InboxError, StoreBusy, StoreFull, TurnError
from metnos.grimoire.activity import Activity
from metnos.grimoire.trace import Kept
from metnos.law.audit_line import Entry
from metnos.law.inbox import Item
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.mnestome import ager, leaving, proto, record, rewind
from metnos.mnestome.past import Past
from metnos.mnestome.rewind import Rewound
from metnos.mnestome.snapshot import Snapshots
from metnos.night.jobs import Done
from metnos.store.compact import compact

if TYPE_CHECKING:
    from metnos.app.house import App

ARCHIVAL = "archival"
# What the file holds beside the mnestome and what has words of requests: a snapshot is never deleted.
_NOT_KEPT = ("canonical_query_log", "fast_paths", "form_vectors", "playbook_rules")
ARCHIVED = "mnest archived"
REWOUND = "mnestome put back"
_HOURS = 30 * 24.0  # nothing is lost by thinking about it
_REASON = "the owner let it go"

Progress = Callable[[str, int, int], None]


def _quiet(_what: str, _done: int, _of: int) -> None:
    """For whoever does not watch."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a whole pass did: the ager's own report, and what was kept and moved."""

    aged: ager.Report
    asked: int = 0
    snapshot: str = ""
    packed: tuple[str, ...] = ()
    moved: int = 0
    saved: int = 0


def age(app: "App", *, dry_run: bool = False, progress: Progress = _quiet) -> Report:
    """Let the mnestome age, ask what there is to ask, and keep the month."""
    now, db = app.clock.now(), app.catalog.db
    if not dry_run:
        app.refuse_halted()
        learning.follow_executors(app)
    there = Activity.until(app.medium.db, now).days_after
    watch = partial(progress, "weighing mnests")
    aged = ager.Ager(db, past(app), learning.mnest_rules(app)).age(now, there, dry_run=dry_run, progress=watch)
    if dry_run:
        month, moving = snapshots(app).due(now) or "", past(app).due(db, now)
        return Report(aged, asked=len(aged.proposals), snapshot=month, moved=moving)
    return _keep(app, now, Report(aged, _ask(app, aged.proposals)), progress)


def _keep(app: "App", now: datetime, report: Report, progress: Progress) -> Report:
    """What is kept of the month, and what leaves the living file."""
    db, kept = app.catalog.db, snapshots(app)
    made = kept.make(now)
    packed = kept.pack(now)
    moved = past(app).move(db, now, lambda done: progress("moving events of past years", done, 0))
    saved = 0
    if made:
        with contextlib.suppress(StoreBusy, StoreFull):  # gaps in a file do no harm: the next month closes them
            saved = compact(db.path, app.settings.store.busy_timeout_s)
    return replace(report, snapshot=made.month if made else "", packed=packed, moved=moved, saved=saved)


def job(app: "App") -> Done:
    """The same as a job of the night."""
    done = age(app)
    counts = {
        "weighed": done.aged.weighed,
        "fading": done.aged.faded,
        "wishes removed": len(done.aged.removed),
        "archived": done.aged.archived,
        "questions": done.asked,
        "events moved": done.moved,
    }
    message = f"snapshot of {done.snapshot}" if done.snapshot else ""
    return Done(message, {name: count for name, count in counts.items() if count or name == "weighed"})


def past(app: "App") -> Past:
    """The events of past years."""
    return app.past


def snapshots(app: "App") -> Snapshots:
    return Snapshots(app.workspace.snapshots, app.workspace.mnest_db, tables.of_mnestome(), _NOT_KEPT)


# -- what the owner decides about


def _ask(app: "App", proposals: tuple[leaving.Proposal, ...]) -> int:
    asker = Principal(Channel.NIGHT, "ager", Autonomy.READ_ONLY)
    for each in proposals:
        used = f"{each.used.astimezone():%Y-%m-%d}"
        title = f"Let go that {each.source} feeds {each.destination}: not used since {used}"
        body: dict[str, Json] = {
            "mnest": each.id,
            "from": each.source,
            "to": each.destination,
            "uses": each.uses,
            "last": used,
        }
        digest = sha256_hex(canonical_json([ARCHIVAL, each.id, used]))
        app.inbox.ask(ARCHIVAL, title, body, digest, asked_by=asker, hours=_HOURS)
        leaving.asked(app.catalog.db, each)
    return len(proposals)


def archive(app: "App", item: Item) -> bool:
    """Archive what the owner let go, once, whoever else tries; not if it was used again since it was asked about."""
    if app.inbox.take(item.digest, item.needs_yes) is None:
        raise InboxError(f"question {item.id} was used already")
    mnest = str(item.body["mnest"])
    with app.audit.act(Entry(ARCHIVED, {"item": item.id, "mnest": mnest})):
        return leaving.archive(app.catalog.db, mnest, _REASON, app.clock.now())


# -- an earlier month


def put_back(app: "App", month: str, busy: Callable[[], bool]) -> Rewound:
    """Put the mnestome of a month back, and work in again what happened since. ``busy``: whether a daemon runs."""
    app.refuse_halted()
    db = app.catalog.db
    with app.audit.act(Entry(REWOUND, {"month": month})):
        app.medium.offer_again(record.PROJECTION)  # first: marks say what is worked in, wherever this is cut short
        done = rewind.rewind(db, snapshots(app), past(app), month, app.clock.now(), busy=busy)
    for (turn,) in db.query("SELECT DISTINCT desired_by FROM mnests WHERE desired_by IS NOT NULL"):
        with contextlib.suppress(TurnError):  # what a pipeline was wished for came from no turn
            if app.medium.load(turn).kept is not Kept.WHOLE:
                proto.forget_turn(db, turn)  # a snapshot remembers words that were forgotten since
    learning.catch_up_or_later(app)
    return done
