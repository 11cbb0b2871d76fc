"""The router's regular expressions: data in ``patterns.toml``, compiled when one is first used.

Rules: a part is written ``{name}`` and put in where it stands; whatever the case of letters. What a pattern repeats
is bounded, so that no request, however long, takes long.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from metnos.turn.plan.lexicon import fold

_PART = re.compile(r"\{([a-z_]+)\}")
_LINE_END = re.compile(r"\n\s*")
_DEEPEST = 4  # parts within parts


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One expression, by its section and name."""
    section, _, key = name.partition(".")
    return re.compile(_whole(_data()[section][key]), re.IGNORECASE)


@cache
def signs() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Words and the signs that they become, in their order."""
    return tuple((re.compile(each["said"], re.IGNORECASE), each["sign"]) for each in _data()["signs"])


@cache
def comparisons() -> tuple[str, ...]:
    """How a cell may be compared, in the order in which they are tried."""
    return tuple(_data()["compared"])


@cache
def works() -> tuple[str, ...]:
    """What may be worked out of a column."""
    return tuple(_data()["works"])


@cache
def units() -> Mapping[str, str]:
    """Every unit as people write it, and what it is called then."""
    named = ("celsius", "fahrenheit", "kelvin")
    return {each: kind if kind in named else each for kind, them in _data()["units"].items() for each in them.split()}


@cache
def feasts() -> Mapping[str, tuple[int, int]]:
    """Names of feasts, the longest first, with month and day."""
    days = {fold(name.strip()): day for day, names in _data()["feasts"].items() for name in names.split(",")}
    return {name: (int(days[name][:2]), int(days[name][3:])) for name in sorted(days, key=len, reverse=True)}


@cache
def leading(word: str) -> tuple[str, ...]:
    """The words of an argument's name that a word before a value speaks for."""
    return tuple(_data()["leading"].get(word, "").split())


@cache
def word_list(name: str) -> tuple[str, ...]:
    """One of the lists of words."""
    return tuple(_data()["words"][name].split())


@cache
def qualities() -> Mapping[str, str]:
    """Words that say which files are meant, and what each says."""
    return {word: said for said, words in _data()["qualities"].items() for word in words.split()}


@cache
def _data() -> dict[str, Any]:
    text = resources.files("metnos.turn.plan").joinpath("patterns.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _parts() -> Mapping[str, str]:
    data = _data()
    parts = dict(data["parts"])
    parts["unit"] = "|".join(sorted((re.escape(each).replace("_", r"\s+") for each in units()), key=len, reverse=True))
    parts["compared"] = "|".join(
        f"(?P<how_{name}>{_LINE_END.sub('', said)})" for name, said in data["compared"].items()
    )
    parts["works"] = "|".join(f"(?P<{name}>{said})" for name, said in data["works"].items())
    return parts


def _whole(text: str) -> str:
    text = _LINE_END.sub("", text)
    for _ in range(_DEEPEST):
        text = _PART.sub(lambda found: _parts()[found[1]], text)
    return text
