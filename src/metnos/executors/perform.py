"""One call of an executor in the sandbox, from prepared arguments to a judged outcome.

Rules: decides nothing about permission. Whoever calls this has a permit, or hands that can only note (a dry run), or a
box that holds nothing of the owner's (a birth test).
"""

import contextlib
import marshal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from metnos.core.errors import ExecutorFailed, SandboxError
from metnos.core.sections import ExecutorSettings
from metnos.core.workspace import Workspace
from metnos.executors.broker import Breached, Broker
from metnos.executors.effect_plan import Planning
from metnos.executors.effects import Acting
from metnos.executors.exposure import Exposed, Exposure
from metnos.executors.manifest import Manifest, Reversal
from metnos.executors.outcome import Breach, Judged, Outcome, judge, judge_reach
from metnos.executors.prepare import Prepared, build_walls, hidden_landings
from metnos.executors.reach import Reach
from metnos.executors.scope import Folders, names_workspace
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.law import aliases
from metnos.law.permit import Effects
from metnos.sandbox.pool import Ended, Job, Pool

_LONGEST, _LONGEST_LOG = 2000, 16_000  # characters that an executor can put into an outcome beside its reply
_LIMIT = 1000  # entries in one reply, unless the arguments say fewer

_EXPOSED = "A private file appeared in a folder being read. The call was stopped and its results discarded. Try again."


@dataclass(frozen=True, slots=True)
class Setting:
    """Where calls are performed; ``halted``: whether what runs there gets no more answers."""

    pool: Pool
    settings: ExecutorSettings
    workspace: Workspace
    halted: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class When:
    """The turn that a call belongs to, what time it is for it, and whether it is only a rehearsal."""

    turn: str
    now: datetime
    dry: bool = False


def perform(
    setting: Setting,
    executor: Executor,
    prepared: Prepared,
    doing: Acting | Planning,
    reach: Reach,
    shown: Effects | None,
    when: When,
) -> Outcome:
    """Run it and judge how it ended."""
    manifest = executor.manifest
    limits = manifest.limits(setting.settings)
    exposure, started = Exposure(), time.perf_counter()
    broker = Broker(manifest, prepared, doing, reach, shown, time.monotonic() + limits.wall_s)

    def answer(message: dict[str, Any], descriptor: int | None) -> Any:
        with aliases.held():
            exposure.check()  # first: an answer carries out what the call asks for
        if setting.halted():
            raise SandboxError("everything was halted while this ran", fix="See: metnos executor panic --help")
        return broker(message, descriptor)

    breach, why, ended, exposed = Breach.NONE, "", Ended(), False
    with contextlib.closing(exposure):
        walls = build_walls(manifest, prepared, limits, exposure, hidden_landings(shown or ()))
        broker.sight = Folders(map(Path, walls.binds))
        facts = _facts(setting, manifest, prepared, when)
        job = Job(_compiled(executor.source), prepared.args, facts, walls, manifest.libraries)
        try:
            ended = setting.pool.run(job, answer, cold=_is_risky(executor))
            exposure.check()
            breach, why = judge_reach(ended.reached, prepared.declared, ended.hostile)
        except Breached as breached:
            breach, why = Breach.QUARANTINE, str(breached)
        except Exposed:
            ended, exposed = Ended(), True  # nothing that it said is kept, not even that it failed
    judged = judge(manifest, ended, limits.wall_s, limits.cpu_s)
    if exposed:
        judged = Judged(kind="conflict", message=_EXPOSED)
    if breach is not Breach.NONE:
        judged = Judged(kind="not_permitted", message=f"{executor.name} was stopped: {why[:_LONGEST]}", fault=True)
    return Outcome(
        executor=executor.name,
        digest=executor.digest,
        turn=when.turn,
        ok=judged.ok,
        reply=judged.reply,
        kind=judged.kind,
        message=judged.message,
        log=_log(ended),
        where=judged.where,
        fault=judged.fault,
        breach=breach,
        wall_ms=round((time.perf_counter() - started) * 1000, 3),
        cpu_ms=ended.cpu_ms,
        action=doing.id if isinstance(doing, Acting) and doing.writes else "",
        effects=tuple(broker.noted),
        writes=doing.writes,
        write_bytes=doing.write_bytes,
    )


def _log(ended: Ended) -> str:
    log = (ended.message or {}).get("log")
    return log[:_LONGEST_LOG] if isinstance(log, str) else ""


def _facts(setting: Setting, manifest: Manifest, prepared: Prepared, when: When) -> dict[str, Any]:
    """What ``ctx`` knows."""
    now = when.now
    asked = prepared.args.get("limit")
    offset = now.astimezone().utcoffset() or timedelta()
    scopes = (*manifest.capabilities.fs.read, *manifest.capabilities.fs.write)
    return {
        "dry_run": when.dry,
        "limit": min(asked, _LIMIT) if type(asked) is int and asked > 0 else _LIMIT,
        "workspace": str(setting.workspace.root) if names_workspace(scopes) else "",
        "utc_offset_s": int(offset.total_seconds()),
        "now": now.timestamp(),
    }


def _is_risky(executor: Executor) -> bool:
    """What gets a sandbox of its own, made for it alone."""
    manifest = executor.manifest
    return (
        executor.state in (State.DRAFT, State.SEED)
        or manifest.reversal is Reversal.IRREVERSIBLE
        or manifest.capabilities.shell.exec is not None
    )


@lru_cache(maxsize=256)
def _compiled(source: str) -> bytes:
    """Verified code, compiled once. A child could compile it too, but would do so at every call."""
    try:
        return marshal.dumps(compile(source, "executor.py", "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ExecutorFailed(f"its code cannot be compiled: {error}") from error
