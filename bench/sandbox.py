"""What the sandbox costs: a call that does nothing, warm and cold, against starting a bare Python in the same round.

``call`` is the sandbox alone (`metnos.sandbox.pool`), with one folder bound, as most calls have one. A *warm* call
finds a child that waits: calls come with a pause in which the next child is made. *Back to back* there is no pause, so
each call also waits for the making of children, on as many cores as there are; that has no target. ``whole road`` is an
executor through the one door, with the same pause: verified, decided, permitted, audited twice on the disk, recorded.
Also runs ten thousand warm calls and looks for what they left behind. Does not measure the executors' own work.
"""

import marshal
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench import scratch
from bench.runner import BenchError, Cost, Measure, compare
from metnos import app
from metnos.core.workspace import Workspace
from metnos.executors.run import Call
from metnos.law.principal import Channel, of_account
from metnos.sandbox.pool import Job, Pool
from metnos.sandbox.profile import Walls

PURPOSE = "a call in the sandbox, warm and cold, against starting python3 -I -S -c pass"

_WARM_CALLS, _COLD_CALLS, _STARTS = 40, 5, 5  # in one round
_ROUNDS, _BUDGET_S = 15, 30.0
_PAUSE_S = 0.015  # enough to make the next child
_MANY = 10_000
_MOST_WARM, _MOST_COLD = 0.25, 3.0  # set by the specification, for the median of one call
_CODE = marshal.dumps(compile("def run(args, ctx):\n    return {'entries': []}\n", "executor.py", "exec"))
_CONTEXT = {"dry_run": False, "limit": 1, "workspace": "", "utc_offset_s": 0, "now": 0.0}


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    with scratch.folder() as folder:
        job = Job(_CODE, {}, _CONTEXT, Walls(binds=(str(folder),)))
        pool = Pool()
        try:
            _warm_up(pool, job)
            measures = [
                _against_start("warm call", lambda: _p50(pool, job, _WARM_CALLS), _MOST_WARM, "sandbox alone"),
                _against_start("back to back", lambda: _p50(pool, job, _WARM_CALLS, pause_s=0.0), None, "no pause"),
                _against_start(
                    "cold call", lambda: _p50(pool, job, _COLD_CALLS, cold=True, pause_s=0.0), _MOST_COLD, "made for it"
                ),
                _whole_road(folder),
            ]
            return [*measures, *_leaks(pool, job)]
        finally:
            pool.close()


def _against_start(name: str, subject: Cost, limit: float | None, note: str) -> Measure:
    return compare(
        name,
        "ms",
        subject=subject,
        baseline=_start,
        rounds=_ROUNDS,
        budget_s=_BUDGET_S,
        limit=limit,
        note=f"{note}; p50",
    )


def _whole_road(folder: Path) -> Measure:
    workspace = Workspace(folder / "workspace")
    app.found(workspace)
    opened = app.App.open(workspace)
    call = Call("show_time", {}, of_account(Channel.TERMINAL), folder)
    try:
        opened.runner.run(call)

        def median() -> float:
            return _median([_timed(lambda: opened.runner.run(call), _PAUSE_S) for _ in range(_WARM_CALLS)])

        return _against_start("whole road", median, None, "show_time: policy, permit, audit, sandbox")
    finally:
        opened.close()


def _leaks(pool: Pool, job: Job) -> list[Measure]:
    """Descriptors, processes and memory, of this process and of the warm parent, that ten thousand calls left."""
    before = _held()
    for _ in range(_MANY):
        if _answer(pool, job, cold=False) is None:
            raise BenchError("a call did not answer")
    time.sleep(0.5)  # the last children end a moment after their call
    after = _held()
    note = f"{_MANY:,} warm calls"
    return [
        Measure(f"left behind: {name}", unit, (float(after[name] - before[name]),), limit=most, note=note)
        for name, unit, most in (("descriptors", "", 0), ("processes", "", 0), ("memory", "MB", 8))
    ]


def _held() -> dict[str, int]:
    ours = {os.getpid()} | _below(os.getpid())
    memory = sum(_resident_kb(pid) for pid in ours) // 1024
    return {"descriptors": len(list(Path("/proc/self/fd").iterdir())), "processes": len(ours), "memory": memory}


def _below(pid: int) -> set[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return set()
    found = {int(child) for child in children}
    return found.union(*(_below(child) for child in found))


def _resident_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def _warm_up(pool: Pool, job: Job) -> None:
    for _ in range(20):
        _answer(pool, job, cold=False)


def _p50(pool: Pool, job: Job, calls: int, *, cold: bool = False, pause_s: float = _PAUSE_S) -> float:
    return _median([_timed(lambda: _answer(pool, job, cold=cold), pause_s) for _ in range(calls)])


def _answer(pool: Pool, job: Job, *, cold: bool) -> Any:
    return pool.run(job, lambda *_: {"value": None}, cold=cold).message


def _start() -> float:
    """What the baseline costs: the interpreter that runs inside, started bare."""
    line = [os.path.realpath(sys.executable), "-I", "-S", "-c", "pass"]
    return _median([_timed(lambda: subprocess.run(line, env={}, check=True)) for _ in range(_STARTS)])


def _timed(work: Any, pause_s: float = 0.0) -> float:
    time.sleep(pause_s)
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
