"""What a small model copied from its prompt instead of reading it in the request.

The prompt shows an example of each tool, and the time. Models fill in what they see: the example's folder, its pattern,
its switches, the date. A value that is the example's, or the clock's, and that nothing in the request speaks for, is
left out: an optional one falls back to its default, a required one is asked for.

Rules: pure. A required value that is no place counts as copied only if all of them are the example's, for km is km.
Does not guarantee that what is left was meant.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from metnos.executors import vocabulary
from metnos.fastpath.slots import Slot
from metnos.turn.plan import lexical, prompts
from metnos.turn.plan.model_check import is_address, is_path
from metnos.turn.plan.model_read import references
from metnos.turn.plan.records import Step, Tool


@dataclass(frozen=True, slots=True)
class Request:
    """The owner's words, and the particulars in them."""

    text: str
    slots: tuple[Slot, ...]
    here: frozenset[str] = frozenset()  # how the folder where the owner is may be written
    now: str = ""  # the time that the model was told
    fresh: bool = True  # a first plan; later ones have reasons of their own for what they add


def without_leaks(step: Step, known: Mapping[str, Tool], asked: Request) -> Step:
    tool = known.get(step.executor)
    if tool is None:
        return step
    shown = [prompts.literal(args, say) for say, args in tool.examples]
    copied = _copied(step, tool, asked)
    kept = {
        name: value
        for name, value in step.args.items()
        if name not in copied and not _leaked(name, value, shown, tool, asked)
    }
    return Step(step.executor, kept)


def _copied(step: Step, tool: Tool, asked: Request) -> set[str]:
    """The required values of an example that were taken as they are, though the request is about something else."""
    names = {
        name for name in tool.required if not _is_place(tool.properties[name]) and not references(step.args.get(name))
    }
    for say, args in tool.examples:
        same = all(name in step.args and step.args[name] == args.get(name) for name in names)
        if len(names) > 1 and same and not (_stems(say) - _usual()) & _stems(asked.text):
            return names
    return set()


def _leaked(name: str, value: Any, shown: Sequence[Mapping[str, Any]], tool: Tool, asked: Request) -> bool:
    inner = tool.properties.get(name, {})
    if "enum" in inner or references(value):
        return False
    if isinstance(value, bool):
        return _switched(name, value, tool, asked)
    if name in tool.required and not _is_place(inner):
        return False
    if isinstance(value, str) and _is_the_time(value, asked):
        return True
    if not any(name in args and args[name] == value for args in shown):
        return False
    said = {lexical.fold(word) for word in re.findall(r"\w+", asked.text)}
    words = {lexical.fold(word) for each in texts(value) for word in re.findall(r"\w{2,}", each)}
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


def _is_the_time(value: str, asked: Request) -> bool:
    """Whether a text is nothing but the time that the model was told, and the request does not have it."""
    figures = re.findall(r"\d+", value)
    words = re.findall(r"[^\W\d_]+", value)
    told = set(re.findall(r"\w+", asked.now))
    return len(figures) > 1 and value not in asked.text and set(figures) | set(words) <= told


def _is_place(inner: Mapping[str, Any]) -> bool:
    return is_path(inner) or is_address(inner)


def texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)
