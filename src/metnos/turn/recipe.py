"""What one step hands to the next: all that there is, or nothing.

A reply holds at most so many entries. A step that takes the list of a step which had more than it gave would work on a
part without anybody noticing. A table is then handed on as a recipe: how its rows are made, from the file on, so that
the next executor makes all of them where it needs them. Anything else ends the turn, and the owner is told.

Rules: pure. Whoever asked for a number of entries has all of them once there are so many. One entry of a list
(``entries[0]``) may be taken from a part. What was kept in part only (``cut``) counts as a part.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from metnos.core.errors import ExecutorFailed
from metnos.executors import refs

_READING = ("table", "query", "format", "delimiter", "header", "columns", "offset", "limit")
_WORKING = {
    "filter_tables": ("conditions", "match", "ignore_case", "limit"),
    "sort_tables": ("by", "limit"),
    "group_tables": ("by", "aggregates", "limit"),
    "join_tables": ("on", "how", "limit"),
}
_ROWS = ("entries", "right")  # arguments that stand for rows
_TAKES = frozenset({*_WORKING, "write_tables", "describe_tables"})
_LISTS = ("entries", "results", "count")


@dataclass(frozen=True, slots=True)
class Given:
    """What a step was called with, what it gave, and the folder that its paths are read in."""

    executor: str
    args: Mapping[str, Any]
    reply: Mapping[str, Any]
    cwd: str

    @property
    def held(self) -> int:
        return len(self.reply.get("entries", self.reply.get("results", ())))

    @property
    def is_part(self) -> bool:
        """Whether there was more than it gave, and more than was asked for."""
        if self.reply.get("cut"):
            return True
        offset, limit = (self.args.get(name) for name in ("offset", "limit"))
        there = self.reply.get("total", self.held) - (offset if isinstance(offset, int) else 0)
        return there > self.held and not (isinstance(limit, int) and self.held >= limit)


def complete(
    executor: str, planned: Mapping[str, Any], args: Mapping[str, Any], given: Mapping[str, Given]
) -> dict[str, Any]:
    """The arguments of a step with all that its references stand for. Raises `ExecutorFailed` if only a part is there.

    ``planned`` is the step with its references, ``args`` what they were filled in with, ``given`` what they stand for.
    """
    made = dict(args)
    for name, value in planned.items():
        parts = [ref for ref in refs.within(value) if _takes_all(ref) and ref.step in given and given[ref.step].is_part]
        if not parts:
            continue
        ref = refs.whole(value)
        whole = ref is not None and len(ref.path) == 1 and ref.path[0] != "count"
        if whole and executor in _TAKES and name in _ROWS and _add(made, name, given[parts[0].step]):
            continue
        raise _refusal(given[parts[0].step])
    return made


def _takes_all(ref: refs.Ref) -> bool:
    return ref.path[:1] != () and ref.path[0] in _LISTS and not isinstance((*ref.path, "")[1], int)


def _add(args: dict[str, Any], name: str, source: Given) -> bool:
    """Put a recipe in the place of rows; false if there is none."""
    sources = list(args.get("sources", ()))
    recipe = _recipe(source, sources)
    if recipe is None:
        return False
    args |= {name: [], "sources": sources, "recipe": {**args.get("recipe", {}), name: recipe}}
    return True


def _recipe(source: Given, sources: list[str]) -> dict[str, Any] | None:
    """How a step's rows are made; its files are added to ``sources``."""
    args, name = source.args, source.executor
    if args.get("cut"):
        return None  # what it was called with is not kept whole
    if name == "read_tables":
        path = str(args["path"])
        sources.append(path if path.startswith("~") else str(PurePath(source.cwd, path)))
        return {"do": name, "source": len(sources) - 1} | _chosen(args, _READING)
    if name not in _WORKING:
        return None
    before = [str(path) for path in args.get("sources", ())]
    inner = args.get("recipe", {})
    rows = {side: _moved(inner[side], len(sources)) if side in inner else args[side] for side in _ROWS if side in args}
    sources += before
    return {"do": name} | rows | _chosen(args, _WORKING[name])


def _chosen(args: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {each: args[each] for each in names if each in args}


def _moved(recipe: Any, by: int) -> Any:
    """A recipe whose files stand so many places further."""
    if not isinstance(recipe, Mapping):
        return recipe
    moved = {side: _moved(recipe[side], by) for side in _ROWS if side in recipe}
    return {**recipe, **moved, **({"source": recipe["source"] + by} if "source" in recipe else {})}


def _refusal(source: Given) -> ExecutorFailed:
    total = source.reply.get("total", source.held)
    return ExecutorFailed(
        f"{source.executor} gave {source.held} of {total}, and from a part nothing further is done",
        kind="too_large",
        fix="Ask for less at a time: a smaller folder, a narrower name, or how many of them you want.",
    )
