"""The answer to a question of the router: the plan that was asked about, with the missing argument filled in.

Rules: an answer is short, names what was asked for, and begins with no verb; a text that was asked for is taken as it
is. Anything else is a new request and the question is forgotten. The answer's slots are data like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metnos.fastpath.slots import Slot, extract
from metnos.turn.plan import fill_files, fill_small, fill_tables, fill_text
from metnos.turn.plan.chain_state import Scene
from metnos.turn.plan.clauses import Clause, classes
from metnos.turn.plan.fill import fill, is_place, missing
from metnos.turn.plan.fill_values import ARRAY, INTEGER, NUMBER, STRING, kind, numbers
from metnos.turn.plan.lexicon import VERB, words
from metnos.turn.plan.records import Plan, Step, Tool

FREE = ("text",)  # whatever is said is the answer
GIVING_UP = {
    "no",
    "never mind",
    "nevermind",
    "cancel",
    "forget it",
    "nothing",
    "niente",
    "lascia stare",
    "lascia perdere",
    "annulla",
    "nulla",
    "stop",
}
_SHORT = 6  # words of an answer that names something without a path


def gives_up(text: str) -> bool:
    """Whether somebody answers that it does not matter any more."""
    return " ".join(text.casefold().strip(" .!").split()) in GIVING_UP


def complete(plan: Plan, text: str, slots: Sequence[Slot], scene: Scene) -> tuple[tuple[Step, ...], str] | None:
    """The steps with the answer in them and what is missing still; nothing if this is no answer."""
    executor, _, argument = plan.missing.rpartition(".")
    place = next((at for at, step in enumerate(plan.steps) if _lacks(step, executor, argument)), None)
    if place is None or executor not in scene.tools:
        return None
    step = plan.steps[place]
    clause = Clause(text, words(text, slots))
    if all(word.mark for word in clause.words):
        return None
    given = _given(step.executor, argument, clause, fill_files.resolved(slots, scene.ground), scene)
    if not given:
        return None
    args = _with(step, argument, given, scene)
    steps = (*plan.steps[:place], Step(step.executor, args), *plan.steps[place + 1 :])
    return steps, next(lacking(steps, scene), "")


def lacking(steps: Sequence[Step], scene: Scene) -> Any:
    """What the steps lack, as ``executor.argument``, in their order."""
    for step in steps:
        for name in missing(scene.tools[step.executor], step.args):
            yield f"{step.executor}.{name}"
        for condition in step.args.get("conditions", ()):
            if condition.get("is") == "contains" and "value" not in condition:
                yield "search_text.pattern"


def _lacks(step: Step, executor: str, argument: str) -> bool:
    if executor == "search_text" and step.executor == "filter_tables":
        return any("value" not in each for each in step.args.get("conditions", ()))
    return step.executor == executor and argument not in step.args


def _given(executor: str, argument: str, clause: Clause, slots: Sequence[Slot], scene: Scene) -> dict[str, Any]:
    """What the answer gives for the argument, perhaps with another that goes with it."""
    if executor == "filter_tables" and argument == "pattern":
        return {"value": _words(clause)} if _is_short(clause) else {}
    tool = scene.tools[executor]
    schema = tool.properties.get(argument, {})
    if argument in FREE:
        return {argument: clause.text.strip()}
    if argument == "when":
        due = fill_text.moment(_ahead(clause.text, scene), scene.now)
        return {"when": due} if due else {}
    if is_place(argument, schema):
        return _place(argument, schema, clause, slots, new=executor == "make_folders")
    if not _is_short(clause) or _is_request(clause):
        return {}
    return _read(tool, argument, clause, slots, scene)


def _ahead(text: str, scene: Scene) -> Sequence[Slot]:
    """The days and times of an answer to *when*: those that come, for nothing can be told of what has been."""
    return extract(f"remind me {text}", now=scene.now, home=scene.ground.home, cwd=scene.ground.cwd)


def _read(tool: Tool, argument: str, clause: Clause, slots: Sequence[Slot], scene: Scene) -> dict[str, Any]:
    """An answer that is neither a text nor a place: by the executor's own reader, by type, or as it is."""
    schema = tool.properties.get(argument, {})
    reader, own = fill_small.READERS.get(tool.name, (None, ()))
    found: dict[str, Any] = reader(clause, scene.now) if reader is not None and argument in own else {}
    if argument == "on":
        found = {"on": fill_tables.joined_on(clause) or [{"column": _words(clause)}]}
    elif argument == "by":
        column = fill_tables.wanted(clause).named or (_words(clause).removeprefix("by ").removeprefix("per "),)
        found = {"by": [{"column": column[0]}] if tool.name == "sort_tables" else [column[0]]}
    elif argument == "conditions":
        asked = Clause(f"where {clause.text}", words(f"where {clause.text}", ()))
        found = {"conditions": conditions} if (conditions := fill_tables.wanted(asked).conditions) else {}
    elif argument == "aggregates":
        found = {argument: [{"column": _words(clause), "do": "sum"}]}
    if argument not in found and kind(schema) in (INTEGER, NUMBER) and (said := numbers(clause.text)):
        found = {argument: said[0].value}
    if argument not in found:
        found = found | fill(tool, clause.text, slots)[0]
    if argument not in found and kind(schema) == STRING and "enum" not in schema:
        found = {argument: _words(clause)}
    return (
        {name: value for name, value in found.items() if name == argument or name in own} if argument in found else {}
    )


def _place(
    argument: str, schema: Mapping[str, Any], clause: Clause, slots: Sequence[Slot], *, new: bool
) -> dict[str, Any]:
    if _is_request(clause):
        return {}
    places = [str(slot.value) for slot in slots if "place" in classes(slot)]
    if not places and len(clause.words) <= _SHORT and not any(slot.kind != "quoted" for slot in slots):
        places = [_words(clause)] if len(clause.text.split()) == 1 or any(slots) else []
    if not places and new and clause.text.strip()[:1].isalnum() and len(clause.words) <= _SHORT:
        places = [_words(clause)]  # a name may be of several words
    if not places:
        return {}
    return {argument: places if kind(schema) == ARRAY else places[0]}


def _with(step: Step, argument: str, given: dict[str, Any], scene: Scene) -> dict[str, Any]:
    args = dict(step.args)
    if step.executor == "filter_tables" and "value" in given:
        return args | {
            "conditions": [dict(each) | {"value": each.get("value", given["value"])} for each in args["conditions"]]
        }
    if argument == "paths" and (inside := args.pop(fill_small.INSIDE, "")):
        given = {argument: [each if each[:1] in "/~" else f"{inside}/{each}" for each in given[argument]]}
    args |= given
    tool = scene.tools[step.executor]
    if argument == "to" and "make_folder" in tool.properties and not scene.ground.there(str(args["to"])):
        args["make_folder"] = True
    return args


def _words(clause: Clause) -> str:
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    return quoted[0] if quoted else clause.text.strip(" .!?")


def _is_short(clause: Clause) -> bool:
    return len(clause.text.split()) <= _SHORT or bool(clause.slots)


def _is_request(clause: Clause) -> bool:
    """Whether the first word that says something is a verb."""
    told = [word for word in clause.words if not word.stop and not word.mark and not word.means("can", "want")]
    return bool(told) and told[0].of_kind(VERB) and len(told) > 1
