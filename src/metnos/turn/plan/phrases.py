"""The router's own words, English and Italian: questions, what was assumed, what cannot be done, and a short
greeting.

The words are data in ``phrases.toml``. Rules: one question asks for one thing; a refusal names what is missing. Does
not translate: a language that is not there is answered in English.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from metnos.turn.plan.lexicon import fold
from metnos.turn.plan.records import Tool

TRIES = 4


@cache
def _data() -> dict[str, Any]:
    text = resources.files("metnos.turn.plan").joinpath("phrases.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def question(missing: str, tool: Tool | None, language: str) -> str:
    """The question for one missing argument."""
    executor, _, argument = missing.rpartition(".")
    asked = _data()["questions"]
    found = asked.get(missing) or (asked.get(argument) if tool is None or "x-path" in str(tool.args) else None)
    if found is not None:
        return _in(found, language)
    schema: Mapping[str, Any] = tool.properties.get(argument, {}) if tool else {}
    description = str(schema.get("description", argument)).rstrip(".")
    return _in(asked["other"], language).format(executor=executor, argument=argument, description=description)


def note(name: str, words: Mapping[str, str], language: str) -> str:
    """One thing that was assumed."""
    return _in(_data()["notes"][name], language).format(**words)


def say(phrase: str, language: str, **words: object) -> str:
    """One of the router's own sentences."""
    return _in(_data()["says"][phrase], language).format(**words)


def talk(text: str, count: int) -> tuple[str, str] | None:
    """An answer to a greeting, to thanks, to somebody who does not know what to ask, or who needs another command; with
    its language."""
    said = " ".join(re.findall(r"[^\W_]+", fold(text)))
    for kind, spoken in _data()["talk"].items():
        for language, listed in spoken.items():
            if said in _phrases(listed):
                return _talk(kind, language, count), language
    for kind, spoken in _data()["begins"].items():
        for language, listed in spoken.items():
            if any(f"{said} ".startswith(f"{each} ") for each in _phrases(listed)):
                return _talk(kind, language, count), language
    return None


def _talk(kind: str, language: str, count: int) -> str:
    first = say(kind, language, count=count)
    tries = say("tries", language).split("|")[:TRIES] if kind in ("hello", "help") else []
    return "\n".join((first, *(f"- {each}" for each in tries)))


def nothing(summary: str, near: Sequence[str], wish: str | None, language: str, done: str = "") -> str:
    """What cannot be done, what is nearest, and what is missing."""
    first = say("rest", language, done=done, summary=summary) if done else say("nothing", language, summary=summary)
    parts = [first if summary else say("unclear", language)]
    if wish is not None:
        parts.append(say("wish", language, name=wish))
    if near:
        parts.append(say("near", language, names=", ".join(near)))
    return " ".join(parts)


@cache
def _phrases(listed: str) -> frozenset[str]:
    return frozenset(" ".join(re.findall(r"[^\W_]+", fold(each))) for each in listed.split(","))


def _in(words: Mapping[str, str], language: str) -> str:
    return words.get(language) or words["en"]
