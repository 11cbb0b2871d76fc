"""From what a model wrote to the data that was asked for.

Rules: a model's text is untrusted. It is read as strict JSON: no key twice, no NaN, no number beyond measure, no broken
characters, no depth beyond `_DEEPEST`; then held against the schema. What surrounds the JSON (a fence, a sentence
before or after) is let go. Does not mend broken JSON: the model is asked again instead.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

_DEEPEST = 64
_BEGINNINGS = 40  # of objects inside a text that are tried, so that a text of braces costs little
_SHOWN = 300

_FENCE = re.compile(r"```[A-Za-z]*\s*\n?(.*?)```", re.DOTALL)
_START = re.compile(r"[{\[]")


class NotFitting(ValueError):
    """What was wrong with a reply, in words that help the model to do better."""


def read(text: str, schema: Mapping[str, Any]) -> Any:
    """The data in ``text`` that fits ``schema``. Raises `NotFitting`."""
    validator = Draft202012Validator(dict(schema), pattern_options=RegexOptions())
    wrong: NotFitting | None = None
    for data in _candidates(text):
        found = data if isinstance(data, NotFitting) else _misfit(validator, data)
        if found is None:
            return data
        wrong = wrong or found
    raise wrong or NotFitting("there is no JSON in the reply")


def _candidates(text: str) -> Iterator[Any]:
    """What the text may mean, the likeliest first: all of it, what is fenced, what begins with a brace."""
    whole = text.strip()
    first = _loads(whole)
    if not isinstance(first, NotFitting):
        yield first
        return
    for fenced in _FENCE.findall(whole):
        data = _loads(fenced.strip())
        if not isinstance(data, NotFitting):
            yield data
    yield from _embedded(whole)
    if whole.startswith(("{", "[")):
        yield first


def _embedded(text: str) -> Iterator[Any]:
    """Objects and lists inside other text, from left to right, none inside another."""
    end = 0
    for tried, match in enumerate(_START.finditer(text)):
        if tried >= _BEGINNINGS:
            return
        if match.start() < end:
            continue
        try:
            data, end = _DECODER.raw_decode(text, match.start())
            _check_shape(data)
        except (ValueError, RecursionError):
            continue
        yield data


def _loads(text: str) -> Any:
    try:
        data = _DECODER.decode(text)
        _check_shape(data)
    except json.JSONDecodeError as error:
        return NotFitting(f"the reply is not valid JSON: {error.msg} at character {error.pos}")
    except RecursionError:
        return NotFitting("the reply is nested too deeply")
    except ValueError as error:
        return NotFitting(str(error)[:_SHOWN])
    return data


def _misfit(validator: Draft202012Validator, data: Any) -> NotFitting | None:
    error: ValidationError | None = next(iter(validator.iter_errors(data)), None)
    if error is None:
        return None
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return NotFitting(f"at ${where[:_SHOWN]}: {error.message[:_SHOWN]}")


def _check_shape(data: Any) -> None:
    """Refuse what is nested too deeply, and text that cannot be stored; without recursion of our own."""
    waiting = [(data, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise NotFitting("the reply is nested too deeply")
        if isinstance(value, str):
            _check_text(value)
        elif isinstance(value, dict):
            for key in value:
                _check_text(key)
            waiting.extend((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list):
            waiting.extend((inner, depth + 1) for inner in value)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NotFitting("the reply holds half a character") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotFitting("the reply has a key twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise NotFitting(f"the reply holds {name}, which is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotFitting("the reply holds a number beyond measure")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
