"""What a turn costs beyond its executor: Metnos's own processor time from the request to the recorded trace.

No language model takes part. The turns run in one process that is already warm, as in the daemon or a chat: ``find`` is
one step, ``find and read`` two with a reference between them. The subject is the processor time of the turn's own
thread: recognising particulars, ranking, planning, the whole door (policy, permit, audit with its syncs, sandbox from
outside), the answer and the commit of the trace. The baseline is the wall time of the executors themselves, as the
sandbox measured it.
"""

from pathlib import Path

from bench import scratch
from bench.runner import BenchError, Measure
from metnos import app
from metnos.core.workspace import Workspace
from metnos.law.principal import Channel, of_account

PURPOSE = "a turn's own processor time, against the time of the executors that it runs"

_ROUNDS, _WARM_UP = 60, 10
_MOST_MS = 10.0  # set by the specification
_FILES = 30


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    with scratch.folder() as folder:
        papers = folder / "papers"
        papers.mkdir()
        for number in range(_FILES):
            (papers / f"note-{number}.txt").write_text(f"line {number}\n" * 20)
        workspace = Workspace(folder / "workspace")
        app.found(workspace)
        opened = app.App.open(workspace)
        try:
            return [
                *_measure(opened, folder, "find", f"find the txt files in {papers}", 1),
                *_measure(opened, folder, "find and read", f"find the txt files in {papers} and read them", 2),
            ]
        finally:
            opened.close()


def _measure(opened: app.App, folder: Path, name: str, text: str, steps: int) -> list[Measure]:
    own, executors = [], []
    for number in range(_ROUNDS + _WARM_UP):
        request = opened.turns.request(text, principal=of_account(Channel.TERMINAL), cwd=folder)
        for _ in opened.turns.run(request):
            pass
        trace = opened.medium.load(request.id)
        if len(trace.steps) != steps or not all(step.ok for step in trace.steps):
            raise BenchError(f"{text!r} did not run as it should: {trace.answer}")
        if number >= _WARM_UP:
            own.append(trace.cpu_ms)
            executors.append(sum(step.wall_ms for step in trace.steps))
    note = "own CPU against the wall time of its executors"
    return [
        Measure(
            f"{name}: own CPU", "ms", tuple(own), limit=_MOST_MS, note="without a baseline: the target is absolute"
        ),
        Measure(f"{name}: against executors", "ms", tuple(own), tuple(executors), note=note),
    ]
