"""Recorded exchanges of the real model: what was asked, what it replied, so that tests need no model.

What is asked stands in ``tests/turn/recordings/exchanges.toml``: a request with the tools to choose from, and for a
question that goes on after reading, what was done before. The tools are the built-in executors as they are shipped, the
scene is fixed, so a prompt depends on nothing but the planner and the manifests, and a change of either shows as an
exchange that is missing. `record` asks the model anew and writes ``qwen.jsonl`` beside it.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from metnos.core.sections_models import ModelSettings
from metnos.executors import manifest
from metnos.models.chat import Chat
from metnos.models.local import Local
from metnos.models.recorded import Recorder
from metnos.turn.plan import model, react
from metnos.turn.plan.model_scene import Ask, Done, Scene
from metnos.turn.plan.records import Candidate, Kind, Plan, Step, Tool
from metnos.turn.plan.records import Path as Way

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "turn" / "recordings"
EXCHANGES, RECORDING = FOLDER / "exchanges.toml", FOLDER / "qwen.jsonl"
HOME = "/home/owner"
_TIMEOUT_S = 1800


def record(file: Path, sha256: str) -> None:
    """Ask the model everything again."""
    staged = RECORDING.with_suffix(".new")
    staged.unlink(missing_ok=True)
    local = Local(ModelSettings(provider="local", name=str(file), timeout_s=_TIMEOUT_S))
    try:
        for each in exchanges():
            plan = play(each, Recorder(local, staged, sha256))
            print(f"  {each['say']}: {plan.kind} {[step.executor for step in plan.steps]} {plan.say[:80]}", flush=True)
    finally:
        local.close()
    staged.replace(RECORDING)


def exchanges() -> list[dict[str, Any]]:
    return list(tomllib.loads(EXCHANGES.read_text(encoding="utf-8"))["exchange"])


def play(each: Mapping[str, Any], chat: Chat) -> Plan:
    """One exchange through the real planner."""
    ask: Ask = lambda _, prompt: chat.ask(prompt)  # noqa: E731 -- the shape that the planner wants
    candidates = tuple(Candidate(tools()[name], each.get("score", 1.0)) for name in each["tools"])
    scene = Scene(_head(), (), "2026-11-15 Sunday 12:00 +0000", HOME, HOME, "")
    done = list(_done(each))
    if "failed" in each:
        planned = Plan(
            Kind.STEPS, Way.MODEL, tuple(Step(name, args) for call in each["own"] for name, args in call.items())
        )
        return model.repair(each["say"], planned, done[:-1], done[-1], candidates, scene, ask)
    if done:
        return react.reason(each["say"], done, candidates, scene, ask)
    return model.plan(each["say"], candidates, scene, ask)


@cache
def tools() -> dict[str, Tool]:
    """The built-in executors as a planner sees them."""
    folder = resources.files("metnos.executors").joinpath("builtin")
    texts = (each.joinpath("manifest.toml") for each in folder.iterdir())
    read = [manifest.parse(each.read_text(encoding="utf-8")) for each in texts if each.is_file()]
    return {each.name: _tool(each) for each in sorted(read, key=lambda one: one.name)}


def _done(each: Mapping[str, Any]) -> Iterator[Done]:
    for number, step in enumerate(each.get("done", ()), start=1):
        ok = "kind" not in step
        yield Done(
            number,
            step["executor"],
            step["args"],
            ok,
            step.get("kind", ""),
            step.get("message", ""),
            step.get("reply", {}),
        )


def _head() -> str:
    """A head that does not change when the templates of the owner's files do."""
    return "Law 0, perimeter: nothing leaves the home.\nLaw 1, non-harm: nothing is damaged."


def _tool(each: manifest.Manifest) -> Tool:
    return Tool(
        name=each.name,
        version=each.version,
        digest="0" * 64,
        purpose=each.purpose,
        mutates=each.kind is manifest.Kind.MUTATOR,
        args=each.args,
        result_key=each.result_key,
        output=each.output,
        affinity=each.affinity,
        examples=tuple((one.say, one.args) for one in each.examples),
        quiet=each.is_quiet,
    )
