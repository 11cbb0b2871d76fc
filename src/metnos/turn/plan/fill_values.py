"""Values that a request gives for arguments of any JSON Schema: numbers, choices, switches, names and lists.

An argument is known by the words of its name and description; a value by the words around it. Each value goes to the
argument that speaks of it most; what is left goes in order, to what is required only.

Rules: a value comes from the request. Nothing is converted but what the schema says (a number is a number, a choice
is spelled as the schema spells it). Does not guarantee that the right one of two equal values is taken.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

from metnos.turn.plan.lexicon import fold
from metnos.turn.plan.patterns import leading, pattern, word_list

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
NEAR, FAR = 30, 60  # characters after and before a value whose words speak for an argument
STEM = 6  # letters by which two forms of a word are the same
LED, YEAR, FIRST_YEAR, LAST_YEAR = 2.2, 3.0, 1500, 2100
ENOUGH, ORDER, MOST = (
    2.0,
    1.2,
    6,
)  # for an optional argument; for keeping the order; values that are tried in every order


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


def numbers(text: str, *, taken: Iterable[tuple[int, int]] = (), wanted: int = 0) -> list[Found]:
    """Every number of the request in its order; those in words only where digits give fewer than ``wanted``."""
    spans = list(taken)
    found = []
    for match in pattern("values.number").finditer(text):
        digits = match["digits"].replace(",", "")
        # A whole number stays what it is: as a float it would lose its last digits.
        value = (int(digits) if digits.isdigit() else float(digits)) * _SCALE.get(match["scale"] or "", 1)
        value = -value if match.group().startswith("-") else value
        value = value / 100 if match["percent"] else value
        found.append(Found(int(value) if value == int(value) and "." not in digits else value, *match.span()))
    found = [each for each in found if not _inside(each, spans)]
    for match in _WORD.finditer(text) if len(found) < max(1, wanted) else ():
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


def near(text: str, found: Found, fence: tuple[int, int], own: set[str], told: set[str]) -> float:
    """How much the words around a value speak for an argument: the nearer the more, and its name's most of all.

    ``fence`` are the ends of the values before and after it: words beyond them speak for those.
    """
    before = text[max(fence[0], found.start - FAR) : found.start]
    after = text[found.end : min(fence[1], found.end + NEAR)]
    score = _led(before, own) + (YEAR if "year" in own and _is_year(found.value) else 0.0)
    for words, weight in ((_WORD.findall(fold(before))[::-1], 1.2), (_WORD.findall(fold(after)), 1.0)):
        for distance, word in enumerate(words):
            if word not in word_list("dull"):
                stem = word[:STEM]
                score += (
                    weight * (3.0 * (stem in own) + 0.8 * (stem in told and stem not in own)) / (1 + 0.35 * distance)
                )
    return score


def _led(before: str, own: set[str]) -> float:
    """Whether the word right before a value (*from*, *in*) speaks for an argument of such a name."""
    words = _WORD.findall(fold(before))
    return LED if words and own & {word[:STEM] for word in leading(words[-1])} else 0.0


def _is_year(value: Any) -> bool:
    return isinstance(value, int) and FIRST_YEAR <= value <= LAST_YEAR


def assigned(
    text: str, found: Sequence[Found], wanted: Mapping[str, Mapping[str, Any]], required: Sequence[str]
) -> dict[str, Found]:
    """Which value goes to which argument: what speaks for it most, and where nothing does, in the order of mention."""
    if not found or not wanted:
        return {}
    names_ = _by_mention(text, wanted)
    told = {name: about(name, schema) for name, schema in wanted.items()}
    fences = _fences(found, len(text))
    scores = {
        (name, place): near(text, each, fences[place], *told[name])
        for name in names_
        for place, each in enumerate(found)
    }
    must = [name for name in names_ if name in required]
    chosen = _best(must, len(found), scores)
    may = [name for name in names_ if name not in required]
    for name in may:
        left = [place for place in range(len(found)) if place not in chosen.values()]
        best = max(left, key=lambda place: scores[name, place], default=None)
        if best is not None and scores[name, best] >= ENOUGH:
            chosen[name] = best
    return {name: found[place] for name, place in chosen.items()}


def _best(names_: Sequence[str], count: int, scores: Mapping[tuple[str, int], float]) -> dict[str, int]:
    """One value for each argument so that the words agree most; of equals the one that keeps the order."""
    if len(names_) > MOST or count > MOST:
        return dict(zip(names_, range(count), strict=False))
    best: tuple[float, dict[str, int]] = (-1.0, {})
    for places in permutations(range(count), min(len(names_), count)):
        total = sum(scores[name, place] for name, place in zip(names_, places, strict=False))
        total += ORDER * sum(one < other for one, other in pairwise(places)) - ORDER * sum(places) / 100
        if total > best[0]:
            best = total, dict(zip(names_, places, strict=False))
    return best[1]


def _by_mention(text: str, wanted: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The arguments as the request mentions them (*base and height as 6 and 10*); the others as they are listed."""
    said = [word[:STEM] for word in _WORD.findall(fold(text))]
    first = {
        name: min((said.index(stem) for stem in about(name, {})[0] if stem in said), default=None) for name in wanted
    }
    places = {name: place for name, place in first.items() if place is not None}
    if len(places) != len(wanted) or len(set(places.values())) != len(places):
        return list(wanted)
    return sorted(wanted, key=lambda name: places[name])


def _fences(found: Sequence[Found], end: int) -> list[tuple[int, int]]:
    """For each value where the one before it ends and the one after it begins."""
    ends = [0, *(each.end for each in found[:-1])]
    starts = [*(each.start for each in found[1:]), end]
    return list(zip(ends, starts, strict=True))


def choice(text: str, values: Sequence[Any]) -> Any | None:
    """The value of a list of choices that the request names; the longest if several."""
    said = f" {_spaced(text)} "
    for value in sorted(values, key=lambda each: -len(str(each))):
        plain = _spaced(str(value))
        if plain and (f" {plain} " in said or f" {plain}s " in said):
            return value
    return None


def run_on(text: str, first: Found, every: Sequence[Found]) -> list[Any]:
    """A value with those that follow it as in a list: parted by a comma or by *and*."""
    listed, end = [first.value], first.end
    for each in sorted(every, key=lambda one: one.start):
        if each.start >= end and pattern("values.gap").fullmatch(text[end : each.start]):
            listed.append(each.value)
            end = each.end
    return listed


def choices(text: str, listed: Sequence[Any]) -> list[Any]:
    """Every choice that the request names, in the order of the choices."""
    return [each for each in listed if choice(text, [each]) is not None]


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


def _stems(text: str) -> set[str]:
    return {
        word[:STEM] for word in map(fold, _WORD.findall(text)) if word not in word_list("dull") and not word.isdigit()
    }


def _spaced(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def _plain(text: str) -> float | int:
    return float(text) if "." in text else int(text)


def _inside(found: Found, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= found.start < end for start, end in spans)
