"""What a sequence does, step by step, for given arguments and given answers of its parts: the pattern that is compiled.

Rules: those by which a turn follows a plan. A reference to an empty list means that there is nothing to do, which is no
failure; several texts for an argument that takes one are joined; a part that fails ends it with its own error; after a
change that did not wholly succeed nothing else is changed; a part that had more than it gave ends it, unless a limit
was asked for or only one of its entries was wanted. What a turn tells the owner of each step, the whole tells of
itself: the failures of every part, in order. Pure: calls nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metnos.core.errors import ExecutorFailed
from metnos.executors import refs
from metnos.synt.compiler_form import Form, Handed, Part, Taken
from metnos.synt.compiler_runs import Answer

Call = tuple[str, dict[str, Any]]
_UNKNOWN = Answer({}, "unavailable", "what it answered is not recorded")


@dataclass(frozen=True, slots=True)
class Followed:
    """The calls that were made, and how it ended: with a reply, or with an error."""

    calls: tuple[Call, ...]
    reply: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    message: str = ""


def follow(form: Form, args: Mapping[str, Any], answers: Sequence[Answer]) -> Followed:
    """Take every step, as long as there is something to do. ``args`` has its defaults filled in."""
    calls: list[Call] = []
    replies: list[Mapping[str, Any]] = []
    failures: list[Any] = []
    for number, part in enumerate(form.parts, start=1):
        try:
            given = arguments(part, args, replies)
        except ExecutorFailed as error:
            return Followed(tuple(calls), error=error.kind, message=error.what)
        if any(given.get(name) == [] for name, source in part.sources.items() if isinstance(source, Handed)):
            return Followed(tuple(calls), reply=_reply(form, [], failures))
        calls.append((part.manifest.name, fitted(part, given)))
        answer = answers[number - 1] if number <= len(answers) else _UNKNOWN
        if answer.error:
            return Followed(tuple(calls), error=answer.error, message=answer.message)
        replies.append(answer.reply)
        failures += answer.reply["failures"]
        if tells_more(form, number) and answer.reply["truncated"] and "limit" not in given:
            message = more(part.manifest.name, answer.reply["count"], answer.reply["total"])
            return Followed(tuple(calls), error="too_large", message=message)
        if stops(form, number) and answer.reply["failed"]:
            return Followed(tuple(calls), reply=_reply(form, [], [*failures, left(form, number)]))
    last = replies[-1]
    return Followed(tuple(calls), reply=_reply(form, list(last[form.parts[-1].manifest.result_key]), failures, last))


def arguments(part: Part, args: Mapping[str, Any], replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a step is called with, before it is made to fit. Raises `ExecutorFailed`."""
    given = {f"step{number}": reply for number, reply in enumerate(replies, start=1)}
    found: dict[str, Any] = {}
    for name, source in part.sources.items():
        if isinstance(source, Taken):
            if source.argument in args:
                found[name] = args[source.argument]
        elif isinstance(source, Handed):
            found[name] = refs.resolve(source.value, given)
        else:
            found[name] = source.value
    return found


def fitted(part: Part, given: Mapping[str, Any]) -> dict[str, Any]:
    """Several texts for an argument that takes one are one text."""
    made = dict(given)
    for name, value in given.items():
        texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if texts and value and takes_text(part, name):
            made[name] = "\n\n".join(value)
    return made


def takes_text(part: Part, name: str) -> bool:
    said = part.manifest.args["properties"][name].get("type", "string")
    return bool(said == "string" or (isinstance(said, list) and next((x for x in said if x != "null"), "") == "string"))


def tells_more(form: Form, number: int) -> bool:
    """Whether it matters that this step had more than it gave: if all of it, and not one entry, is handed on."""
    part = form.parts[number - 1]
    if number == len(form.parts) or "default" in part.manifest.args["properties"].get("limit", {}):
        return False
    handed = [source.value for each in form.parts for source in each.sources.values() if isinstance(source, Handed)]
    found = [ref.path for ref in refs.within(handed) if ref.number == number]
    return any(path[:1] == (part.manifest.result_key,) and not isinstance((*path, "")[1], int) for path in found)


def stops(form: Form, number: int) -> bool:
    """Whether what follows a step must not be done unless all of the step was."""
    return form.parts[number - 1].mutates and any(part.mutates for part in form.parts[number:])


def more(name: str, count: int | str, total: int | str) -> str:
    return f"{name} gave {count} of {total}, and from a part nothing further is done"


def left(form: Form, number: int) -> dict[str, str]:
    names = ", ".join(dict.fromkeys(form.tools[number:]))
    return {"item": names, "kind": "conflict", "message": f"not done: {form.tools[number - 1]} did not do all of it"}


def _reply(
    form: Form, items: list[Any], failures: Sequence[Any], last: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    total = int(last["total"]) if last is not None else len(items)
    return {
        form.key: items,
        "count": len(items),
        "total": total,
        "truncated": total > len(items),
        "failures": list(failures),
        "failed": len(failures),
    }
