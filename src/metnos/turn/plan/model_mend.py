"""Slips that small models make again and again, put right before a plan is checked.

* A path or an address that is nearly one the owner named becomes that one: ``sales.csv`` for ``~/sales.csv``.
* A value that was copied from the prompt's own example and that the request does not speak of is left out, if it is
  optional or a place.
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
from dataclasses import dataclass
from functools import cache
from typing import Any

from metnos.executors import vocabulary
from metnos.fastpath.slots import Kind, Slot
from metnos.turn.plan import lexical, prompts
from metnos.turn.plan.model_check import gives_rows, is_address, is_path, is_written
from metnos.turn.plan.model_read import references, renumbered
from metnos.turn.plan.records import Step, Tool
from metnos.turn.plan.shape import takes_rows

FINDER = "find_files"
_PLACES = (Kind.PATH, Kind.FOLDER, Kind.NAME)
_WILD = re.compile(r"[*?]")
_STEP = re.compile(r"\{\{\s*step(\d{1,3})\b")
_COLUMNS, _SELECTION = ("column", "by"), "columns"  # how table tools call the columns that they work on, and give


@dataclass(frozen=True, slots=True)
class Request:
    """The owner's words, and the particulars in them."""

    text: str
    slots: tuple[Slot, ...]
    here: frozenset[str] = frozenset()  # how the folder where the owner is may be written
    fresh: bool = True  # a first plan; later ones have reasons of their own for what they add


def mend(steps: Sequence[Step], known: Mapping[str, Tool], asked: Request, first: int = 1) -> tuple[Step, ...]:
    """The steps without their usual slips; their numbers, and what refers to them, count from ``first``."""
    own = [_without_leaks(step, known, asked) for step in steps] if asked.fresh else steps
    plain = _grounded(list(_found(own, known, first)), known, asked)
    return tuple(_fed(step, plain, known, first) for step in plain)


# -- the owner's own spelling, and nothing of the example's


def _grounded(steps: Sequence[Step], known: Mapping[str, Tool], asked: Request) -> list[Step]:
    """Paths and addresses as the owner wrote them."""
    paths = list(dict.fromkeys(str(slot.value) for slot in asked.slots if slot.kind in _PLACES))
    addresses = list(dict.fromkeys(str(slot.value) for slot in asked.slots if slot.kind is Kind.URL))
    steps = [_on_the_web(step, known, paths, addresses) for step in steps]
    spelled = [_mapped(step, known, is_path, lambda value: _spelled(value, paths, asked.text)) for step in steps]
    spelled = [_mapped(step, known, is_address, lambda value: _spelled(value, addresses, "")) for step in spelled]
    used = {each for step in spelled for value in step.args.values() for each in _texts(value)}
    unused = [each for each in paths if each not in used]
    if len(unused) != 1:
        return spelled
    # The model took the folder that it was told of for the only place that was named.
    return [
        _mapped(step, known, is_path, lambda value: unused[0] if value in asked.here else value) for step in spelled
    ]


def _on_the_web(step: Step, known: Mapping[str, Tool], paths: Sequence[str], addresses: Sequence[str]) -> Step:
    """A step that takes the name of a page for a file becomes one that takes its address."""
    tool = known.get(step.executor)
    values = [each for name, value in step.args.items() if tool is not None and is_path(tool.properties.get(name, {}))
              for each in _texts(value)]  # fmt: skip
    meant = [each for value in values for each in addresses if posixpath.basename(each) == posixpath.basename(value)]
    if not values or paths or len(meant) != len(values):
        return step
    for other in known.values():
        taking = next((name for name in other.required if is_address(other.properties[name])), None)
        if taking is not None:
            return Step(other.name, {taking: meant})
    return step


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


def _is_place(inner: Mapping[str, Any]) -> bool:
    return is_path(inner) or is_address(inner)


def _spelled(value: str, named: Sequence[str], text: str) -> str:
    if is_written(value, text):
        return value
    longer = set(re.findall(rf"(?<!\S)([~./\w-]*/){re.escape(value)}(?![\w/-]|\.\w)", text)) if value else set()
    if len(longer) == 1:
        return f"{longer.pop()}{value}"
    last = posixpath.basename(value.rstrip("/")).casefold()
    meant = [each for each in named if posixpath.basename(each.rstrip("/")).casefold() == last]
    return meant[0] if last and len(meant) == 1 else value


def _without_leaks(step: Step, known: Mapping[str, Tool], asked: Request) -> Step:
    tool = known.get(step.executor)
    if tool is None:
        return step
    shown = [prompts.literal(args, say) for say, args in tool.examples]
    kept = {name: value for name, value in step.args.items() if not _leaked(name, value, shown, tool, asked)}
    return Step(step.executor, kept)


def _leaked(name: str, value: Any, shown: Sequence[Mapping[str, Any]], tool: Tool, asked: Request) -> bool:
    inner = tool.properties.get(name, {})
    if "enum" in inner or references(value):
        return False
    if isinstance(value, bool):
        return _switched(name, value, tool, asked)
    if name in tool.required and not _is_place(inner):
        return False  # it may well be the same: km is km
    if not any(name in args and args[name] == value for args in shown):
        return False
    said = {lexical.fold(word) for word in re.findall(r"\w+", asked.text)}
    words = {lexical.fold(word) for each in _texts(value) for word in re.findall(r"\w{2,}", each)}
    if not words and isinstance(value, int | float):
        return not any(any(map(str.isdigit, word)) or word in lexical.lists().numbers for word in said)
    stems = {lexical.stem(word) for word in said}
    return bool(words) and not any(word in said or lexical.stem(word) in stems for word in words)


def _switched(name: str, value: bool, tool: Tool, asked: Request) -> bool:
    """Whether a switch was only copied from an example: nothing that is said of it alone is in the request."""
    inner = tool.properties.get(name, {})
    shown = [say for say, args in tool.examples if args.get(name) is value]
    if value is inner.get("default") or not shown:
        return False
    others = [str(each.get("description", "")) for key, each in tool.properties.items() if key != name]
    others += [say for say, args in tool.examples if args.get(name) is not value]
    told = _stems(f"{name} {inner.get('description', '')}") | (_stems(" ".join(shown)) - _usual())
    return not (told - _stems(" ".join(others))) & _stems(asked.text)


@cache
def _usual() -> frozenset[str]:
    """The words of the vocabulary in both languages: they say what a tool does, not how."""
    known = vocabulary.load()
    words = [*known.verbs.values(), *known.objects.values()]
    said = [word.text for word in words] + [each for word in words for way in word.synonyms.values() for each in way]
    return frozenset(_stems(" ".join(said)))


def _stems(text: str) -> set[str]:
    return {lexical.stem(word) for word in lexical.content(text)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


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
