"""What the router is measured on: items of the function-calling sets, and requests for the built-in executors.

An item is a request, the tools to choose from, and the right one, or none. Items of even position are those that the
weights of the ranking were fitted on, items of odd position are kept for the report (`bench.router_fit`).
"""

import json
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from bench.runner import need_data
from metnos.executors.manifest import Kind, parse
from metnos.fastpath.slots import Slot, extract
from metnos.turn.plan.records import Tool

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
REQUESTS = Path(__file__).resolve().parent.parent / "tests" / "turn" / "plan" / "requests.toml"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOME = Path("/home/owner")


@dataclass(frozen=True, slots=True)
class Item:
    """One request. ``right`` holds the names that are accepted; none: nothing fits."""

    number: int
    text: str
    tools: tuple[Tool, ...]
    right: frozenset[str]
    answers: Mapping[str, Any]

    @property
    def kept(self) -> bool:
        """Whether no weight was fitted on it."""
        return self.number % 2 == 1

    @property
    def slots(self) -> tuple[Slot, ...]:
        return extract(self.text, now=NOW, home=HOME, cwd=HOME)


def items(data: Path, name: str) -> list[Item]:
    """A set: ``multiple``, ``simple_python`` or ``irrelevance``."""
    rows = _lines(need_data(data, f"bfcl_v4_{name}.jsonl"))
    truths = data / f"answers_bfcl_v4_{name}.jsonl"
    answers = {row["id"]: row["ground_truth"][0] for row in _lines(truths)} if truths.is_file() else {}
    return [
        Item(
            number,
            row["question"][0][-1]["content"],
            tuple(map(_tool, row["function"])),
            frozenset(answers.get(row["id"], {})),
            next(iter(answers.get(row["id"], {}).values()), {}),
        )
        for number, row in enumerate(rows)
    ]


def crowded(chosen: list[Item], pool: list[Item], size: int) -> list[Item]:
    """The same requests with tools of other items beside the right one, ``size`` in all; the same each time."""
    others = list({tool.name: tool for item in pool for tool in item.tools}.values())
    draw = random.Random(20)
    made = []
    for item in chosen:
        right = next(tool for tool in item.tools if tool.name in item.right)
        strangers = [each for each in others if each.name != right.name and each.purpose != right.purpose]
        made.append(replace(item, tools=(right, *draw.sample(strangers, size - 1))))
    return made


def built_in() -> tuple[Tool, ...]:
    """The executors that come with Metnos."""
    home = resources.files("metnos.executors.builtin")
    folders = sorted(
        (each for each in home.iterdir() if each.joinpath("manifest.toml").is_file()), key=lambda it: it.name
    )
    return tuple(_executor(each.joinpath("manifest.toml").read_text(encoding="utf-8")) for each in folders)


def requests() -> list[Item]:
    """Ordinary requests for the built-in executors; those for which there is none have no right tool."""
    rows = tomllib.loads(REQUESTS.read_text(encoding="utf-8"))["request"]
    tools = built_in()
    return [Item(number, row["say"], tools, _accepted(row), {}) for number, row in enumerate(rows)]


def _accepted(row: Mapping[str, str]) -> frozenset[str]:
    return frozenset(each for each in (row["tool"], row.get("or")) if each and each != "none")


def _executor(text: str) -> Tool:
    made = parse(text)
    return Tool(
        name=made.name,
        version=made.version,
        digest="",
        purpose=made.purpose,
        mutates=made.kind is Kind.MUTATOR,
        args=made.args,
        result_key="results" if made.kind is Kind.MUTATOR else "entries",
        output=made.output,
        affinity=made.affinity,
        examples=tuple((each.say, each.args) for each in made.examples),
    )


def _tool(function: Mapping[str, Any]) -> Tool:
    return Tool(function["name"], "", "", function["description"], False, function["parameters"], "entries", {})


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
