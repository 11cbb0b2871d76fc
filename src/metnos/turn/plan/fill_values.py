"""Values that a request gives for arguments of any JSON Schema: numbers, choices, switches, names and lists.

An argument is known by the words of its name and description; a value by the words around it. Each value goes to the
argument that speaks of it most; what is left goes in order, to what is required only.

Rules: a value comes from the request. Nothing is converted but what the schema says (a number is a number, a choice
is spelled as the schema spells it). Does not guarantee that the right one of two equal values is taken.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.turn.plan.lexicon import fold
from metnos.turn.plan.patterns import pattern, word_list

NUMBER, INTEGER, STRING, BOOLEAN, ARRAY = "number", "integer", "string", "boolean", "array"
TYPES = {"float": NUMBER, "double": NUMBER, "int": INTEGER, "dict": "object", "tuple": ARRAY, "list": ARRAY,
         "bool": BOOLEAN}  # fmt: skip
COUNTING = {
    name: number
    for language in ("counting", "counting_it")
    for number, name in enumerate(word_list(language))
}  # fmt: skip
_SCALE = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "mila": 1_000, "milioni": 1_000_000}
_ALSO_ARTICLES = ("one", "uno", "due")  # in running text these are rarely meant as numbers
_WORD = re.compile(r"[^\W_]+")
NEAR, FAR = 28, 60  # characters around a value whose words speak for an argument


@dataclass(frozen=True, slots=True)
class Found:
    """A value in the request, and where."""

    value: Any
    start: int
    end: int


def kind(schema: Mapping[str, Any]) -> str:
    """The JSON type of a schema; the first that is not null where there are several."""
    said = schema.get("type", STRING)
    named = said if isinstance(said, str) else next((each for each in said if each != "null"), STRING)
    return TYPES.get(named, named)


def numbers(text: str, *, taken: Iterable[tuple[int, int]] = ()) -> list[Found]:
    """Every number of the request in its order, written in digits or in words."""
    spans = list(taken)
    found = []
    for match in pattern("values.number").finditer(text):
        digits = match["digits"].replace(",", "")
        value = float(digits) * _SCALE.get(match["scale"] or "", 1)
        value = -value if match.group().startswith("-") else value
        value = value / 100 if match["percent"] else value
        found.append(Found(int(value) if value == int(value) and "." not in digits else value, *match.span()))
    for match in _WORD.finditer(text):
        name = match.group().casefold()
        if name in COUNTING and name not in _ALSO_ARTICLES:
            found.append(Found(COUNTING[name], *match.span()))
    return sorted((each for each in found if not _inside(each, spans)), key=lambda each: each.start)


def lists(text: str) -> list[Found]:
    """Every bracketed list of numbers."""
    return [
        Found([_plain(each) for each in match["numbers"].split(",")], *match.span())
        for match in pattern("values.list").finditer(text)
    ]


def names(text: str) -> list[Found]:
    """Words that may be names of things: those with a capital letter, a sentence's first word left out."""
    found = []
    asking = word_list("asking")
    for match in pattern("values.capital").finditer(text):
        start, said = match.start(), match.group().rstrip(".,'\u2019")
        first, _, rest = said.partition(" ")
        begins = start == 0 or text[:start].rstrip().endswith((".", "?", "!", "'", '"'))
        if first.casefold() in asking or (begins and not rest):
            start, said = start + len(first) + 1, rest
        said = said.strip()
        if said and said.casefold() not in asking and said != "I":
            found.append(Found(pattern("values.possessive").sub("", said), start, start + len(said)))
    return found


def about(name: str, schema: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """The words of an argument's name, and those of its description."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return _stems(apart.replace("_", " ")), _stems(str(schema.get("description", "")))


def near(text: str, found: Found, own: set[str], told: set[str]) -> float:
    """How much the words around a value speak for an argument: its name's weigh most, and the nearer the more."""
    before = _stems(text[max(0, found.start - NEAR) : found.start])
    after = _stems(text[found.end : found.end + NEAR])
    wide = _stems(text[max(0, found.start - FAR) : found.start])
    score = 3.0 * len(own & before) + 2.0 * len(own & after) + 0.6 * len(told & before) + 0.5 * len(told & after)
    close = _stems(" ".join(text[: found.start].split()[-2:]) + " " + " ".join(text[found.end :].split()[:1]))
    return score + 1.5 * len(own & close) + 0.5 * len(told & close) + 0.3 * len(own & wide)


def assigned(
    text: str, found: Sequence[Found], wanted: Mapping[str, Mapping[str, Any]], required: Sequence[str]
) -> dict[str, Found]:
    """Which value goes to which argument: the strongest ties first, then what is left in order, to what is required."""
    told = {name: about(name, schema) for name, schema in wanted.items()}
    ties = sorted(
        ((near(text, each, *told[name]), -place, name, each) for name in wanted for place, each in enumerate(found)),
        key=lambda tie: (-tie[0], -tie[1], list(wanted).index(tie[2])),
    )
    given: dict[str, Found] = {}
    for score, _, name, each in ties:
        enough = 0.5 if name in required else 1.9
        if score >= enough and name not in given and each not in given.values():
            given[name] = each
    left = [each for each in found if each not in given.values()]
    for name in (name for name in required if name in wanted and name not in given):
        if left:
            given[name] = left.pop(0)
    return _in_order(given, wanted)


def choice(text: str, values: Sequence[Any]) -> Any | None:
    """The value of a list of choices that the request names; the longest if several."""
    said = f" {_spaced(text)} "
    for value in sorted(values, key=lambda each: -len(str(each))):
        plain = _spaced(str(value))
        if plain and (f" {plain} " in said or f" {plain}s " in said):
            return value
    return None


def examples(schema: Mapping[str, Any]) -> list[str]:
    """Values that a description gives as examples, which then work like choices."""
    return pattern("values.example").findall(str(schema.get("description", "")))


def switch(text: str, name: str) -> bool | None:
    """Whether the request turns a switch on or off by its name; nothing if it does not speak of it."""
    stems = _stems(name.replace("_", " ")) - _stems("include get is has use with return only allow show")
    said = _stems(text)
    if not stems or not stems <= said:
        return None
    denied = re.search(pattern("values.denied").pattern + re.escape(min(stems)), fold(text))
    return denied is None


def _in_order(given: dict[str, Found], wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, Found]:
    """Arguments that differ only in a number or in first/second take their values in the order of the request."""
    groups: dict[str, list[str]] = {}
    for name in wanted:
        if name in given:
            plain = re.sub(r"(\d+|first|second|third|start|end|from|to|min|max|initial|final|[a-z]$)", "", fold(name))
            groups.setdefault(plain.strip("_"), []).append(name)
    for members in groups.values():
        if len(members) > 1:
            ordered = sorted((given[name] for name in members), key=lambda each: each.start)
            given.update(zip(members, ordered, strict=True))
    return given


def _stems(text: str) -> set[str]:
    return {word[:6] for word in map(fold, _WORD.findall(text)) if word not in word_list("dull") and not word.isdigit()}


def _spaced(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def _plain(text: str) -> float | int:
    return float(text) if "." in text else int(text)


def _inside(found: Found, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= found.start < end for start, end in spans)
