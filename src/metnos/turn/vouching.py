"""Who vouches for a path or an address that one step hands to another.

An executor vouches for what its manifest declares to be a field of its entries: the paths that `find_files` gives are
files that it saw. A row of a table declares nothing: a column may be called ``path`` and hold whatever somebody wrote
there. Tools that sort, filter or join rows vouch for as much as whoever gave them the rows. For an address nobody
vouches: it was read somewhere.

Rules: pure. Does not guarantee that a path is the right one, only that no content chose it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metnos.executors import refs
from metnos.turn.plan.model_check import is_address, is_path
from metnos.turn.plan.records import Step, Tool
from metnos.turn.plan.shape import takes_rows

Before = Mapping[str, Sequence[Step]]  # `step1`, `step2`, ... and `last`: the steps up to the one that is meant


def is_vouched_for(step: Step, before: Before, tools: Mapping[str, Tool]) -> bool:
    """Whether every path that the step takes from another is declared to be one, and it takes no address."""
    tool = tools.get(step.executor)
    if tool is None:
        return False
    paths = [value for name, value in step.args.items() if is_path(tool.properties.get(name, {}))]
    addresses = [value for name, value in step.args.items() if is_address(tool.properties.get(name, {}))]
    return not any(refs.named(addresses)) and all(
        _declares(before.get(ref.step, ()), ref.field, tools) for ref in refs.within(paths)
    )


def _declares(steps: Sequence[Step], field: str, tools: Mapping[str, Tool]) -> bool:
    """Whether the last of these steps, or whoever gave it its rows, declares this field of its entries."""
    tool = tools.get(steps[-1].executor) if steps else None
    if tool is None:
        return False
    declared = tool.output.get("properties", {}).get(field, {})
    if declared.get("type") == "string":  # what stands for the columns of a table is declared too, but can be anything
        return True
    rows = [value for name, value in steps[-1].args.items() if takes_rows(tool.properties.get(name, {}))]
    given = [ref.number for ref in refs.within(rows)]
    return bool(given) and all(0 < each < len(steps) and _declares(steps[:each], field, tools) for each in given)


def steps_of(plan: Mapping[str, Any], executors: Sequence[str]) -> tuple[Step, ...]:
    """The steps of a plan that was kept, up to the last of the ``executors`` that succeeded."""
    kept = [Step(each["executor"], each.get("args", {})) for each in plan.get("steps", ())][: len(executors)]
    if [each.executor for each in kept] == list(executors):
        return tuple(kept)
    return tuple(Step(name, {}) for name in executors)  # it went another way than it was planned
