"""How many requests a real language model brings to their end, judged by what they leave behind.

The requests stand in ``bench/scenarios/turns.toml``, half of them Italian. Each runs end to end in a home of its own:
the turn, the policy (every question is answered with yes), the sandbox, the real executors; the model is a file that
llama.cpp serves over HTTP on this machine with one thread. Three planners are measured: ``model`` (it plans every
turn), ``auto`` (it plans where the router is not certain) and ``router`` (there is none). A request fails if anything
is not as it should be, also if more was done than was asked for.

``python -m bench.llm --record`` records the exchanges that the tests replay (`llm_record`).
"""

import contextlib
import os
import shutil
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import llm_record, scratch
from bench.llm_home import Site, furnish, serving
from bench.llm_judge import complaints, look
from bench.runner import BenchError, Measure
from metnos import app
from metnos.core.canon import sha256_file
from metnos.core.errors import ModelError
from metnos.core.workspace import Workspace
from metnos.fastpath.language import language
from metnos.grimoire.trace import Trace
from metnos.law.principal import Channel, of_account
from metnos.models import pins
from metnos.turn.events import Answer, Wanted

PURPOSE = "requests that a real language model does not bring to their end"

MODEL = "qwen2.5-coder-1.5b"
SCENARIOS = Path(__file__).parent / "scenarios" / "turns.toml"
PLANNERS = ("router", "auto", "model")
_MOST_FAILED = 20.0  # per cent; set by the specification for `model`
_TIMEOUT_S = 1800  # of one call: these machines are shared


@dataclass(frozen=True, slots=True)
class Run:
    """One request with one planner: what was wrong, and what it took."""

    name: str
    italian: bool
    wrong: tuple[str, ...]
    seconds: float
    tokens_in: int
    tokens_out: int
    calls: int


def run(data: Path) -> list[Measure]:
    """The measures, for all planners. The model's file is in the cache, or in a folder ``models`` beside the data."""
    file = model_file(data)
    turns = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))["turn"]
    return [each for planner in PLANNERS for each in _measures(planner, list(play(turns, planner, file)))]


def model_file(data: Path) -> Path:
    """The model's file, of the right sha256."""
    pin = pins.require_pin(MODEL)
    try:
        path = pins.find_file(MODEL)
    except ModelError:
        path = data.parent / "models" / pin.file
    if not path.is_file():
        raise BenchError(f"the model {MODEL} is not here. Fetch it: metnos model get {MODEL}")
    if sha256_file(path) != pin.sha256:
        raise BenchError(f"{path} is not the model that it should be: its sha256 differs")
    return path


def play(turns: Sequence[Mapping[str, Any]], planner: str, file: Path) -> Iterator[Run]:
    """Run every request with one planner."""
    with scratch.folder() as folder, _living_in(folder / "home") as home, serving() as site:
        opened = _open(folder / "workspace", planner, file)
        try:
            for turn in turns:
                _empty(home)
                done = _one(opened, turn, home, site)
                print(f"  {planner:7} {'FAILED' if done.wrong else 'ok':7} {done.seconds:6.1f} s  {done.name}", end="")
                print(f": {'; '.join(done.wrong)}" if done.wrong else "", flush=True)
                yield done
        finally:
            opened.close()


def _open(root: Path, planner: str, file: Path) -> app.App:
    workspace = Workspace(root)
    app.found(workspace)
    opened = app.App.open(workspace)
    chosen = {"turn.planner": planner}
    if planner != "router":
        chosen |= {"models.main.provider": "local", "models.main.name": str(file)}
        chosen |= {"models.main.timeout_s": str(_TIMEOUT_S), "models.retries": "0"}
    for name, value in chosen.items():
        opened.set_setting(name, value, of_account(Channel.TERMINAL))
    opened.close()
    return app.App.open(workspace)


def _one(opened: app.App, turn: Mapping[str, Any], home: Path, site: Site) -> Run:
    furnish(home, turn.get("files", {}), turn.get("ages"))
    site.pages = dict(turn.get("pages", {}))
    say = turn["say"].replace("{web}", site.url)
    before, began = look(home), time.monotonic()
    trace = _take(opened, say, home)
    seconds = time.monotonic() - began
    wrong = tuple(complaints(turn, trace, before, home, opened.workspace.notes))
    read, wrote = (sum(getattr(call, kind) for call in trace.calls) for kind in ("input_tokens", "output_tokens"))
    return Run(turn["name"], language(say) == "it", wrong, seconds, read, wrote, len(trace.calls))


def _take(opened: app.App, say: str, home: Path) -> Trace:
    request = opened.turns.request(say, principal=of_account(Channel.TERMINAL), cwd=home)
    turn = opened.turns.run(request)
    sent: Answer | None = None
    with contextlib.suppress(StopIteration):
        while True:
            sent = Answer.YES if isinstance(turn.send(sent), Wanted) else None
    return opened.medium.load(request.id)


@contextlib.contextmanager
def _living_in(home: Path) -> Iterator[Path]:
    """A home of its own for this process, but the cache where the model lies."""
    home.mkdir()
    kept = {name: os.environ.get(name) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    os.environ["HOME"] = str(home)
    for name in list(kept)[1:]:
        os.environ.pop(name, None)
    try:
        yield home
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _empty(home: Path) -> None:
    for path in home.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _measures(planner: str, runs: Sequence[Run]) -> list[Measure]:
    failed = [each for each in runs if each.wrong]
    italian = [each for each in runs if each.italian]
    pin = pins.require_pin(MODEL)
    who = "no model" if planner == "router" else f"{MODEL}, sha256 {pin.sha256}"
    note = f"{len(failed)} of {len(runs)} requests; {who}; failed: {', '.join(each.name for each in failed) or 'none'}"
    limit = _MOST_FAILED if planner == "model" else None
    measures = [
        Measure(f"{planner}: failed", "%", (_share(runs),), limit=limit, note=note),
        Measure(f"{planner}: failed, Italian", "%", (_share(italian),), note=f"{len(italian)} requests"),
        Measure(f"{planner}: a request", "s", tuple(each.seconds for each in runs), note="wall time, whole turn"),
    ]
    asked = [each for each in runs if each.calls]
    if asked:
        calls = f"{sum(each.calls for each in runs)} calls in {len(asked)} requests"
        measures += [
            Measure(f"{planner}: read", "tokens", tuple(float(each.tokens_in) for each in asked), note=calls),
            Measure(f"{planner}: written", "tokens", tuple(float(each.tokens_out) for each in asked), note=calls),
        ]
    return measures


def _share(runs: Sequence[Run]) -> float:
    return 100 * sum(bool(each.wrong) for each in runs) / len(runs)


if __name__ == "__main__":
    _data = Path(__file__).resolve().parents[2] / "shared" / "data"
    if "--record" in sys.argv:
        llm_record.record(model_file(_data), pins.require_pin(MODEL).sha256)
    else:
        _turns = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))["turn"]
        _chosen = [each for each in _turns if not sys.argv[2:] or any(word in each["name"] for word in sys.argv[2:])]
        list(play(_chosen, sys.argv[1], model_file(_data)))
