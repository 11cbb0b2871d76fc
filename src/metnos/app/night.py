"""The night of a workspace: which jobs there are, in which order, and what they work with."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from typing import Any

from metnos.app import ageing, critic, introspecting, learning, paths, remembering, selecting, turning
from metnos.app.house import App
from metnos.app.whole import backup, backup_target, verify_audit
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.law import own_pin
from metnos.law.audit_line import Entry
from metnos.night import backups, desktop, reminders
from metnos.night.jobs import Done, Job, Night, Outlook, Parts, Watcher
from metnos.night.notices import News, Notice, Notices
from metnos.night.records import Run, Runs
from metnos.night.schedule import read_hour

BACKUPS_REMOVED = "old backups removed"

USES_DAYS = 400  # a year and a bit: what an executor did last season still counts when this one is judged

Log = Callable[[str], None]


def build(app: App, log: Log = lambda _: None) -> Night:
    """The night of an open workspace."""
    return Night(
        Parts(
            jobs=jobs(app),
            runs=Runs(app.night_db, app.clock),
            notices=Notices(app.night_db, app.clock),
            file=reminders.File(app.workspace.notes),
            clock=app.clock,
            at=read_hour(app.settings.night.at),
            zone=None,
            halted=app.halted,
            show=_show,
            log=log,
        )
    )


def jobs(app: App) -> tuple[Job, ...]:
    """What is done every night, in this order: first what brings records up to date, last what copies them."""

    def short(name: str, what: str, work: Callable[[App], Done]) -> Job:
        return Job(name, what, lambda _watcher: work(app))  # over before anybody would want it to stop

    def check(name: str, what: str, work: Callable[[App], Done]) -> Job:
        return replace(short(name, what, work), checks=True)

    def long(name: str, what: str, work: Callable[[App, Watcher], Done]) -> Job:
        return Job(name, what, partial(work, app))

    found = [
        short("catch_up", "catching up on what turns left to do", _catch_up),
        short("embedder", "checking what texts are compared by", remembering.check_embedder),
        short("ager", "letting the mnestome age", ageing.job),
        long("curator", "learning from what happened", remembering.curate),
        long("dream", "dreaming", remembering.dream),
        short("fast_paths", "judging fast paths", paths.nightly),
        short("multi_tool_promote", "looking for sequences that deserve an executor", paths.promote_pipelines),
        long("critic", "judging answers that nobody spoke of", critic.job),
        short("selection", "judging what executors are worth", selecting.job),
        replace(
            short("introspection", "looking for what is missing", introspecting.job),
            needs_activity=partial(introspecting.was_active, app),
        ),
        long("synt", "making what you agreed to", introspecting.make),
        short("conversations", "summarising old conversations", _retain),
        short("uses", "forgetting old uses of executors", _forget_uses),
        short("undo", "forgetting what is too old to be undone", _prune_undo),
        check("executors", "verifying every executor", _verify_executors),
        check("code", "comparing the code of Metnos with its pin", _compare_code),
        check("audit", "proving the audit", _verify_audit),
    ]
    if app.settings.night.backup:
        found.append(short("backup", "backing up the workspace", _backup))
    return tuple(found)


# -- the jobs; each is safe to repeat


def _catch_up(app: App) -> Done:
    return Done(counts={"turns": learning.catch_up(app)})


def _retain(app: App) -> Done:
    kept = turning.retain(app)
    counts = {"turns": kept.turns, "messages": kept.messages, "summaries": kept.summaries}
    return Done(counts=counts | {"proposals": len(kept.proposals)})


def _forget_uses(app: App) -> Done:
    from metnos.executors import index  # as in `App`: what acts is loaded when it is needed

    gone = index.forget_uses(app.catalog.db, app.clock.now() - timedelta(days=USES_DAYS))
    return Done(counts={"forgotten": gone})


def _prune_undo(app: App) -> Done:
    days = app.settings.policy.undo_days
    return Done(counts={"forgotten": app.undo.prune(app.clock.now() - timedelta(days=days))})


def _verify_executors(app: App) -> Done:
    wrong = app.catalog.verify_all()
    news = tuple(
        News("executors", f"the executor {look.name} is not as it should be: {'; '.join(look.problems)}")
        for look in wrong
    )
    return Done(counts={"executors": len(app.catalog.names()), "wrong": len(wrong)}, news=news)


def _compare_code(app: App) -> Done:
    """What a daemon that runs for months would not notice: from here on it does not act."""
    wrong = [*own_pin.describe(app.own.look())]
    news = tuple(News("code", f"{each}. If you changed nothing, see: metnos doctor") for each in wrong)
    return Done(counts={"wrong": len(wrong)}, news=news)


def _verify_audit(app: App) -> Done:
    report = verify_audit(app.workspace)
    found = report.faults[:1]
    news = tuple(
        News("audit", f"the audit is broken: {each.place}: {each.detail}. See: metnos audit verify") for each in found
    )
    return Done(counts={"lines": report.lines, "faults": len(report.faults)}, news=news)


def _backup(app: App) -> Done:
    key, now, keep = app.seat.signer.public, app.clock.now(), app.settings.night.keep_backups
    target = backup_target(app.workspace, app.clock).with_name(backups.name_of(key, now))
    made = backup(app.workspace, target, None, lambda *_: None, app.clock)
    gone = 0
    if old := backups.too_many(target.parent, key, now, keep):
        digest = sha256_hex(canonical_json(sorted(old)))
        with app.audit.act(Entry(BACKUPS_REMOVED, digests={"names": digest}, counts={"backups": len(old)})):
            gone = backups.prune(target.parent, key, now, keep)
    return Done(str(target), {"files": len(made.manifest.members), "bytes": made.manifest.size, "removed": gone})


def _show(notices: Sequence[Notice]) -> None:
    desktop.show(notices, desktop.find())


# -- for whoever shows it


def outlook_data(each: Outlook) -> dict[str, Any]:
    """How a job stands, for JSON."""
    return {
        "job": each.job.name,
        "what": each.job.what,
        "verdict": each.verdict,
        "next": to_text(each.next),
        "last": run_data(each.last) if each.last else None,
    }


def run_data(run: Run) -> dict[str, Any]:
    """A run of a job, for JSON."""
    ended = to_text(run.ended) if run.ended else None
    return asdict(run) | {"night": run.night.isoformat(), "started": to_text(run.started), "ended": ended}
