"""Sequences of built-ins as an owner uses them, taken for real: their plans, a home for them, and what they leave."""

import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from grimoire.traces import step, trace
from metnos.app import App
from metnos.executors.birth import counted
from metnos.executors.manifest import Manifest, parse
from metnos.grimoire.trace import State, Trace
from metnos.law.principal import at_terminal
from metnos.turn.plan.records import Kind, Plan, Step
from metnos.turn.plan.records import Path as Way
from metnos.turn.planning import Planner
from turn.turning import take

Steps = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the plan that was made for it."""

    text: str
    steps: Steps


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A sequence, as it was asked for more than once; ``takes`` are the arguments that the whole should have."""

    id: str
    takes: tuple[str, ...]
    asked: tuple[Asked, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.asked[0].steps)


def furnish(home: Path) -> None:
    """Documents, tables, archives and things to be tidied."""
    texts = {
        "docs/alpha.txt": "the quick brown fox\njumps over the lazy dog\n",
        "docs/beta.txt": "budget for the kitchen\nnothing else here\n",
        "docs/long.md": "# Plan\n\n" + "A sentence about the garden. " * 12,
        "letters/one.txt": "dear all\nthe budget is fine\n",
        "letters/two.txt": "dear all\nsee you soon\n",
        "scarti/a.tmp": "x",
        "scarti/b.tmp": "y",
        "scarti/keep.txt": "kept",
        "altro/c.tmp": "z",
        "double/first.txt": "same same",
        "double/second.txt": "same same",
        "twice/eins.txt": "gleich",
        "twice/zwei.txt": "gleich",
        "tables/people.csv": "name,city,age\nAda,Rome,36\nBen,Oslo,29\nCleo,Rome,51\nDan,Paris,44\n",
        "tables/staff.csv": "name,city,age\nEva,Oslo,33\nFinn,Oslo,61\n",
        "tables/cities.csv": "city,country\nRome,Italy\nOslo,Norway\nParis,France\n",
        "tables/towns.csv": "city,country\nOslo,Norway\nRome,Italia\n",
        "tables/runs.csv": "day,km\nmon,5\ntue,12.5\n",
        "tables/walks.csv": "day,km\nsat,3\nsun,7\n",
    }
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("packed", "sealed"):
        (home / name).mkdir()
        with zipfile.ZipFile(home / name / f"{name}.zip", "w") as archive:
            archive.writestr("inside.txt", f"from {name}")


def everything(home: Path) -> dict[str, bytes | None]:
    """What is there now, but for what is hidden."""
    shown = (path for path in sorted(home.rglob("*")) if not path.relative_to(home).parts[0].startswith("."))
    return {path.relative_to(home).as_posix(): path.read_bytes() if path.is_file() else None for path in shown}


@contextmanager
def planned(steps: Steps) -> Iterator[None]:
    """Let the planner of every turn make this plan; everything else of a turn stays as it is."""

    def made(_self: Planner, _scratch: object) -> Any:
        yield from ()
        return Plan(Kind.STEPS, Way.MODEL, tuple(Step(name, args) for name, args in steps), certainty=1.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Planner, "_planned", made)
        yield


def record(app: App, home: Path, asked: Asked) -> Trace:
    """Take a turn for real, and return its trace as it is kept."""
    with planned(asked.steps):
        taken = take(app, asked.text, cwd=home)
    assert taken.trace is not None
    return taken.trace


def take_back(app: App, trace: Trace) -> None:
    """Undo everything that a turn did, the last first."""
    for each in reversed(trace.steps):
        if each.action:
            app.undo.undo(each.action, by=at_terminal())


def manifests(app: App, tools: Sequence[str]) -> list[Manifest]:
    return [app.catalog.get(name).manifest for name in tools]


def fresh(home: Path) -> None:
    """The home as it was first."""
    for path in home.iterdir():
        if not path.name.startswith("."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    furnish(home)


def find(folder: str, pattern: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "find_files", {"path": f"~/{folder}", "pattern": pattern, **more}


def table(name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "read_tables", {"path": f"~/tables/{name}.csv", **more}


FOUND = "{{step1.entries.path}}"
ROWS = "{{step1.entries}}"


def _two(make: Any, *particulars: tuple[Any, ...]) -> tuple[Asked, ...]:
    return tuple(Asked(*make(*each)) for each in particulars)


PIPELINES = (
    Pipeline("count found", ("path", "pattern"), _two(
        lambda folder, kind: (f"count the words of the {kind} files in ~/{folder}",
                              [find(folder, f"*.{kind}"), ("count_text", {"paths": FOUND, "top": 3})]),
        ("docs", "txt"), ("letters", "txt"), ("docs", "md"))),
    Pipeline("hash found", ("path", "pattern", "algorithm"), _two(
        lambda folder, how: (f"hash the txt files in ~/{folder} with {how}",
                             [find(folder, "*.txt"), ("hash_files", {"paths": FOUND, "algorithm": how})]),
        ("docs", "sha256"), ("letters", "md5"))),
    Pipeline("search found", ("path", "search_pattern", "pattern"), _two(
        lambda folder, word: (f'cerca "{word}" nei file di testo in ~/{folder}',
                              [find(folder, "*.txt"), ("search_text", {"paths": FOUND, "pattern": word})]),
        ("docs", "budget"), ("letters", "soon"))),
    Pipeline("read the largest", ("path", "order"), _two(
        lambda folder: (f"read the largest file in ~/{folder}",
                        [("find_files", {"path": f"~/{folder}", "order": "largest"}),
                         ("read_files", {"paths": ["{{step1.entries[0].path}}"]})]),
        ("docs",), ("letters",))),
    Pipeline("filter and sort", ("path", "conditions", "by"), _two(
        lambda name, city, by: (f"of ~/tables/{name}.csv, those from {city} by {by}",
                                [table(name),
                                 ("filter_tables", {"entries": ROWS, "conditions": [
                                     {"column": "city", "is": "equals", "value": city}]}),
                                 ("sort_tables", {"entries": "{{step2.entries}}", "by": [{"column": by}]})]),
        ("people", "Rome", "name"), ("staff", "Oslo", "age"))),
    Pipeline("group", ("path", "by"), _two(
        lambda name, by: (f"how many of ~/tables/{name}.csv in each {by}",
                          [table(name), ("group_tables", {"entries": ROWS, "by": [by]})]),
        ("people", "city"), ("staff", "city"), ("people", "age"))),
    Pipeline("sort and write", ("path", "write_path", "by"), _two(
        lambda name, to: (f"sort ~/tables/{name}.csv by age into ~/{to}.csv",
                          [table(name),
                           ("sort_tables", {"entries": ROWS, "by": [{"column": "age", "descending": True}]}),
                           ("write_tables", {"entries": "{{step2.entries}}", "path": f"~/{to}.csv"})]),
        ("people", "sorted"), ("staff", "ordered"))),
    Pipeline("join", ("path", "read_path", "on"), _two(
        lambda one, two: (f"join ~/tables/{one}.csv with ~/tables/{two}.csv by city",
                          [table(one), table(two),
                           ("join_tables", {"entries": ROWS, "right": "{{step2.entries}}",
                                            "on": [{"column": "city"}]})]),
        ("people", "cities"), ("staff", "towns"))),
    Pipeline("move found", ("path", "to", "pattern"), _two(
        lambda folder, to: (f"move the tmp files of ~/{folder} to ~/{to}",
                            [find(folder, "*.tmp"),
                             ("move_files", {"paths": FOUND, "to": f"~/{to}", "make_folder": True})]),
        ("scarti", "cestino"), ("altro", "via"))),
    Pipeline("copy and check", ("path", "to", "pattern"), _two(
        lambda folder, to: (f"copy the txt files of ~/{folder} to ~/{to} and hash the copies",
                            [find(folder, "*.txt"),
                             ("copy_files", {"paths": FOUND, "to": f"~/{to}", "make_folder": True}),
                             ("hash_files", {"paths": "{{step2.results.to}}"})]),
        ("docs", "backup"), ("letters", "copies"))),
    Pipeline("make, find, move", ("paths", "path", "pattern"), _two(
        lambda folder, to: (f"make ~/{to} and move the tmp files of ~/{folder} there",
                            [("make_folders", {"paths": [f"~/{to}"]}), find(folder, "*.tmp"),
                             ("move_files", {"paths": "{{step2.entries.path}}", "to": "{{step1.results[0].path}}"})]),
        ("scarti", "old"), ("altro", "older"))),
    Pipeline("archive found", ("path", "to", "pattern"), _two(
        lambda folder, to: (f"metti i file txt di ~/{folder} in ~/{to}.zip",
                            [find(folder, "*.txt"), ("archive_files", {"paths": FOUND, "to": f"~/{to}.zip"})]),
        ("docs", "docs"), ("letters", "lettere"))),
    Pipeline("delete found", ("path", "pattern"), _two(
        lambda folder: (f"butta i file tmp di ~/{folder}", [find(folder, "*.tmp"), ("delete_files", {"paths": FOUND})]),
        ("scarti",), ("altro",))),
    Pipeline("delete duplicates", ("paths",), _two(
        lambda folder: (f"delete the duplicates in ~/{folder}",
                        [("find_duplicates", {"paths": [f"~/{folder}"], "only_extra": True}),
                         ("delete_files", {"paths": FOUND})]),
        ("double",), ("twice",))),
    Pipeline("replace in found", ("path", "replace_pattern", "replacement", "pattern"), _two(
        lambda folder, old, new: (f'replace "{old}" by "{new}" in the txt files of ~/{folder}',
                                  [find(folder, "*.txt"),
                                   ("replace_text", {"paths": FOUND, "pattern": old, "replacement": new})]),
        ("docs", "the", "a"), ("letters", "dear all", "hello"))),
    Pipeline("rename found", ("path", "rename_pattern", "replacement", "pattern"), _two(
        lambda folder, old, new: (f"rename {old} to {new} in the names of the tmp files in ~/{folder}",
                                  [find(folder, "*.tmp"),
                                   ("rename_files", {"paths": FOUND, "pattern": old, "replacement": new})]),
        ("scarti", "a", "x"), ("altro", "c", "d"))),
    Pipeline("write what is found", ("paths", "pattern", "path"), _two(
        lambda folder, word, to: (f"write the lines with {word} in ~/{folder} to ~/{to}.txt",
                                  [("search_text", {"paths": [f"~/{folder}"], "pattern": word}),
                                   ("write_files", {"path": f"~/{to}.txt", "text": "{{step1.entries.text}}"})]),
        ("docs", "budget", "found"), ("letters", "dear", "greetings"))),
    Pipeline("write how many", ("path", "write_path"), _two(
        lambda folder, to: (f"scrivi in ~/{to}.txt quanti file ci sono in ~/{folder}",
                            [("find_files", {"path": f"~/{folder}"}),
                             ("write_files", {"path": f"~/{to}.txt", "text":
                                 "Ci sono {{step1.count}} file, il primo è {{step1.entries[0].name}}."})]),
        ("docs", "conto"), ("scarti", "numero"))),
    Pipeline("convert a column", ("path", "to", "from"), _two(
        lambda name, unit: (f"the km of ~/tables/{name}.csv in {unit}",
                            [table(name),
                             ("convert_units", {"values": "{{step1.entries.km}}", "from": "km", "to": unit})]),
        ("runs", "mi"), ("walks", "m"))),
    Pipeline("count what is read", ("path",), _two(
        lambda folder: (f"how many words are in ~/{folder} in all",
                        [("find_files", {"path": f"~/{folder}", "pattern": "*.txt", "limit": 2}),
                         ("read_files", {"paths": FOUND}),
                         ("count_text", {"text": "{{step2.entries.text}}", "top": 2})]),
        ("docs",), ("letters",))),
    Pipeline("unpack found", ("path", "to", "pattern"), _two(
        lambda folder, to: (f"unpack the zips of ~/{folder} into ~/{to}",
                            [find(folder, "*.zip"), ("extract_archives", {"paths": FOUND, "to": f"~/{to}"})]),
        ("packed", "open"), ("sealed", "loose"))),
    Pipeline("note what is found", ("paths", "pattern"), _two(
        lambda folder, word: (f"note the lines of ~/{folder} that say {word}",
                              [("search_text", {"paths": [f"~/{folder}"], "pattern": word}),
                               ("append_notes", {"text": "{{step1.entries[0].text}}"})]),
        ("docs", "budget"), ("letters", "soon"))),
)  # fmt: skip


def builtin(name: str) -> Manifest:
    """The manifest of a built-in, as it is shipped."""
    folder = resources.files("metnos.executors").joinpath("builtin", name)
    return parse(folder.joinpath("manifest.toml").read_text(encoding="utf-8"))


def reply_of(part: Manifest, *items: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return counted({part.result_key: [dict(each) for each in items], **more})


def told(number: int, text: str, steps: Steps, called: Sequence[Mapping[str, Any]], replies: Sequence[Any]) -> Trace:
    """A trace as a turn leaves it, without a turn. A reply that is a pair of texts is an error and its message."""
    taken = [
        step(
            place, name, version=builtin(name).version, args=dict(args), ok=isinstance(reply, dict),
            kind="" if isinstance(reply, dict) else reply[0], message="" if isinstance(reply, dict) else reply[1],
            reply=reply if isinstance(reply, dict) else {},
        )
        for place, ((name, _), args, reply) in enumerate(zip(steps, called, replies, strict=False), start=1)
    ]  # fmt: skip
    well = all(each.ok for each in taken)
    plan = {"kind": "steps", "steps": [{"executor": name, "args": dict(args)} for name, args in steps]}
    return trace(
        f"01T{number:05}",
        text=text,
        slots=(),
        plan=plan,
        steps=tuple(taken),
        state=State.DONE if well else State.FAILED,
    )
