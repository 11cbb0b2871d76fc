"""Slips that small models make again and again, put right before a plan is checked.

* A path or an address that is nearly one the owner named becomes that one: ``sales.csv`` for ``~/sales.csv``.
* A value that was copied from the prompt itself is left out (`model_leaks`).
* A page of the web that is taken for a file is taken by its address.
* A pattern where paths are wanted (``~/inbox/*.txt``) becomes a step that finds them.
* A table tool that is fed by a step which does not give its columns is fed by the one that reads the table.
* A column that is summed is not grouped by as well.

Rules: pure; each slip is told by schemas and by the owner's own words, never by content. What is put in comes from the
candidates. Does not guarantee a right plan: what is still wrong is found by `model_check`.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metnos.fastpath.slots import Kind
from metnos.turn.plan.model_check import gives_rows, is_address, is_path, is_written
from metnos.turn.plan.model_leaks import Request, texts, without_leaks
from metnos.turn.plan.model_read import references, renumbered
from metnos.turn.plan.records import Step, Tool
from metnos.turn.plan.shape import takes_rows

FINDER = "find_files"
_PLACES = (Kind.PATH, Kind.FOLDER, Kind.NAME)
_WILD = re.compile(r"[*?]")
_STEP = re.compile(r"\{\{\s*step(\d{1,3})\b")
_COLUMNS, _SELECTION = ("column", "by"), "columns"  # how table tools call the columns that they work on, and give


def mend(steps: Sequence[Step], known: Mapping[str, Tool], asked: Request, first: int = 1) -> tuple[Step, ...]:
    """The steps without their usual slips; their numbers, and what refers to them, count from ``first``."""
    own = [without_leaks(step, known, asked) for step in steps] if asked.fresh else steps
    found = list(_found(_on_the_web(own, known, asked, first), known, first))
    plain = _grounded(found, known, asked)
    return tuple(_fed(step, plain, known, first) for step in plain)


# -- the owner's own spelling


def _grounded(steps: Sequence[Step], known: Mapping[str, Tool], asked: Request) -> list[Step]:
    """Paths and addresses as the owner wrote them."""
    paths = list(dict.fromkeys(str(slot.value) for slot in asked.slots if slot.kind in _PLACES))
    addresses = list(dict.fromkeys(str(slot.value) for slot in asked.slots if slot.kind is Kind.URL))
    spelled = [_mapped(step, known, is_path, lambda value: _spelled(value, paths, asked.text)) for step in steps]
    spelled = [_mapped(step, known, is_address, lambda value: _spelled(value, addresses, "")) for step in spelled]
    used = {each for step in spelled for value in step.args.values() for each in texts(value)}
    unused = [each for each in paths if each not in used]
    if len(unused) != 1:
        return spelled
    # The model took the folder that it was told of for the only place that was named.
    return [
        _mapped(step, known, is_path, lambda value: unused[0] if value in asked.here else value) for step in spelled
    ]


def _on_the_web(steps: Sequence[Step], known: Mapping[str, Tool], asked: Request, first: int) -> list[Step]:
    """Steps that take a page of the web for a file take its address instead; what only fetched it for them goes."""
    addresses = [str(slot.value) for slot in asked.slots if slot.kind is Kind.URL]
    files = any(slot.kind in _PLACES for slot in asked.slots)
    made: list[Step] = []
    idle: set[int] = set()
    for step in steps:
        fetched = _fetched(step, steps, known, first)
        meant = fetched[1] if fetched else [] if files else _pages(step, known, addresses)
        other = _taking(meant, step.executor, known)
        made.append(other or step)
        if other and fetched:
            idle.add(fetched[0])
    needed = {int(number) for step in made for text in texts(step.args) for number in _STEP.findall(text)}
    return _without(made, idle - needed, first)


def _pages(step: Step, known: Mapping[str, Tool], addresses: Sequence[str]) -> list[str]:
    """The addresses whose last part a step takes for files."""
    values = _path_values(step, known)
    meant = [each for value in values for each in addresses if posixpath.basename(each) == posixpath.basename(value)]
    return meant if len(meant) == len(values) else []


def _fetched(step: Step, steps: Sequence[Step], known: Mapping[str, Tool], first: int) -> tuple[int, list[str]] | None:
    """The step that fetched what another takes for files, and the addresses that it fetched."""
    numbers = {int(number) for value in _path_values(step, known) for number in _STEP.findall(value)}
    if len(numbers) != 1 or not first <= (number := numbers.pop()) < first + len(steps):
        return None
    source = steps[number - first]
    tool = known.get(source.executor)
    if tool is None or "path" in tool.output.get("properties", {}) or gives_rows(tool):
        return None
    found = [
        text
        for name, value in source.args.items()
        if is_address(tool.properties.get(name, {}))
        for text in texts(value)
    ]
    return (number, found) if found else None


def _taking(addresses: list[str], name: str, known: Mapping[str, Tool]) -> Step | None:
    """A call of the tool that takes addresses and is most like ``name``."""
    able = [
        (tool, next((each for each in tool.required if is_address(tool.properties[each])), ""))
        for tool in known.values()
    ]
    able.sort(key=lambda each: each[0].name.split("_")[:2] != name.split("_")[:2])
    return next((Step(tool.name, {taking: addresses}) for tool, taking in able if taking and addresses), None)


def _without(steps: Sequence[Step], gone: set[int], first: int) -> list[Step]:
    places: dict[int, int] = {}
    kept: list[Step] = []
    for number, step in enumerate(steps, start=first):
        if number not in gone:
            kept.append(Step(step.executor, renumbered(step.args, places)))
            places[number] = first + len(kept) - 1
    return kept


def _path_values(step: Step, known: Mapping[str, Tool]) -> list[str]:
    tool = known.get(step.executor)
    properties = tool.properties if tool is not None else {}
    return [text for name, value in step.args.items() if is_path(properties.get(name, {})) for text in texts(value)]


def _mapped(
    step: Step, known: Mapping[str, Tool], chosen: Callable[[Mapping[str, Any]], bool], change: Callable[[str], str]
) -> Step:
    tool = known.get(step.executor)
    properties = tool.properties if tool is not None else {}
    args = {
        name: _each(value, change) if chosen(properties.get(name, {})) else value for name, value in step.args.items()
    }
    return Step(step.executor, args)


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, list):
        return [_each(each, change) for each in value]
    return change(value) if isinstance(value, str) and not references(value) else value


def _spelled(value: str, named: Sequence[str], text: str) -> str:
    if is_written(value, text):
        return value
    longer = set(re.findall(rf"(?<!\S)([~./\w-]*/){re.escape(value)}(?![\w/-]|\.\w)", text)) if value else set()
    if len(longer) == 1:
        return f"{longer.pop()}{value}"
    last = posixpath.basename(value.rstrip("/")).casefold()
    meant = [each for each in named if posixpath.basename(each.rstrip("/")).casefold() == last]
    return meant[0] if last and len(meant) == 1 else value


# -- tables


def _fed(step: Step, steps: Sequence[Step], known: Mapping[str, Tool], first: int) -> Step:
    """A step that is read as a table, if a later one works on columns that it does not give."""
    place = first + next(number for number, each in enumerate(steps) if each is step)
    tool = known.get(step.executor)
    if tool is None or tool.mutates:
        return step
    wanted = _wanted_columns(place, steps, known)
    if gives_rows(tool):
        return _whole(_without_key_figures(step), wanted)
    if not wanted - set(tool.output.get("properties", {})):
        return step
    for reader in known.values():
        shared = {name: value for name, value in _single(step.args).items() if name in reader.properties}
        if gives_rows(reader) and set(reader.required) <= set(shared) and reader.required:
            return Step(reader.name, {name: shared[name] for name in reader.required})
    return step


def _single(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments where a list of one path may also be that path."""
    paths = args.get("paths")
    return {**({"path": paths[0]} if isinstance(paths, list) and len(paths) == 1 else {}), **args}


def _wanted_columns(place: int, steps: Sequence[Step], known: Mapping[str, Tool]) -> set[str]:
    """The columns that later steps want of the rows of one."""
    wanted: set[str] = set()
    for step in steps:
        tool = known.get(step.executor)
        for name, value in step.args.items() if tool is not None else ():
            fed = isinstance(value, str) and (found := _STEP.search(value)) and int(found[1]) == place
            if fed and tool is not None and takes_rows(tool.properties.get(name, {})):
                wanted |= set(_columns(step.args))
    return wanted


def _whole(step: Step, wanted: set[str]) -> Step:
    """A step that gives rows with all the columns that are wanted of them."""
    given = step.args.get(_SELECTION)
    if not isinstance(given, list) or not wanted - {each for each in given if isinstance(each, str)}:
        return step
    return Step(step.executor, {name: value for name, value in step.args.items() if name != _SELECTION})


def _columns(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, str) and name in _COLUMNS:
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _columns(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _columns(each, name)


def _without_key_figures(step: Step) -> Step:
    """Rows that are grouped by the very column that is summed are not grouped at all."""
    by, figures = step.args.get("by"), step.args.get("aggregates")
    if not isinstance(by, list) or not isinstance(figures, list):
        return step
    summed = {each.get("column") for each in figures if isinstance(each, Mapping)}
    kept = [each for each in by if not isinstance(each, str) or each not in summed]
    args = {name: value for name, value in step.args.items() if name != "by" or kept}
    return Step(step.executor, {**args, **({"by": kept} if kept else {})})


# -- patterns where paths are wanted


def _found(steps: Sequence[Step], known: Mapping[str, Tool], first: int) -> Iterator[Step]:
    places: dict[int, int] = {}
    put = first
    for number, step in enumerate(steps, start=first):
        moved = Step(step.executor, renumbered(step.args, places))
        pattern = _pattern(moved, known)
        if pattern is not None:
            name, folder, glob = pattern
            yield Step(FINDER, {"path": folder, "pattern": glob, "depth": 1})
            moved = Step(moved.executor, {**moved.args, name: [f"{{{{step{put}.entries.path}}}}"]})
            put += 1
        yield moved
        places[number] = put
        put += 1


def _pattern(step: Step, known: Mapping[str, Tool]) -> tuple[str, str, str] | None:
    """The argument of a step that is one pattern where a list of paths is wanted, its folder and its pattern."""
    tool = known.get(step.executor)
    if tool is None or FINDER not in known or step.executor == FINDER:
        return None
    for name, value in step.args.items():
        inner = tool.properties.get(name, {})
        if not is_path(inner) or inner.get("type") != "array":
            continue
        listed = value if isinstance(value, list) else [value]
        if len(listed) != 1 or not isinstance(listed[0], str) or references(listed[0]):
            continue
        folder, glob = posixpath.split(listed[0])
        if _WILD.search(glob) and not _WILD.search(folder):
            return name, folder or ".", glob
    return None
