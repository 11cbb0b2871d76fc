"""JSON of a child, decoded in little room: eight megabytes of empty lists would become hundreds.

Rules: how much room a message takes, itself included, is judged before it is decoded, and never too low; what takes
more than it may is refused. Only ASCII comes, as the child's own encoder writes it. A text of many escapes is put
together from pieces, because the decoder keeps a hundred bytes and more for each escape until a text ends. Numbers that
are none are refused.
"""

import json
import math
import re
import sys
from json.decoder import scanstring  # type: ignore[attr-defined]  # the same
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # as in every Python that we run under
from typing import Any

_WORST = 128  # bytes that one byte can become, while it is decoded
_LIST, _TABLE, _ENTRY, _COMMA, _NUMBER, _STRING, _KEY = 112, 152, 56, 12, 32, 56, 120
_CACHED = 3  # bytes of a string of at most one letter, which exists already
_KEYS = 2000  # names that are known again
_ESCAPES, _ESCAPE = 10_000, 192  # how many of one text the fast decoder may keep, and what it takes for each
_SLACK = 1 << 18

_SHORT = 200  # bytes of a name
_PAIR = 16  # bytes for each quotation mark: a string, and its place in a list, take twice that and more

# Nothing of these is tried in another way: that would be kept in mind for each escape.
_STRING_IN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_COLON = re.compile(rb"[ \t\n\r]*+:")
_WIDE, _ASTRAL = re.compile(rb"\\u(?!00)"), re.compile(rb"\\u[dD][89abAB]")
_PIECE = re.compile(r'(?:[^"\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u.{4}|\\[^u]){1,500}+')


class TooRoomy(ValueError):
    """The message would take more room than it may."""


def decode(body: bytearray, room: int) -> Any:
    """What the JSON says, if it takes no more than ``room`` bytes with the message itself. Empties ``body``."""
    room += _SLACK
    spliced = False
    if len(body) * _WORST > room:
        needed, spliced = judge(body, room - len(body))
        if needed + len(body) > room:
            raise TooRoomy(f"{len(body)} bytes would take more than {room}")
    if not body.isascii():
        raise ValueError("it is not written as it should be")
    text = body.decode("ascii")
    body.clear()  # or it would be there twice
    return (_SPLICING if spliced else _FAST).decode(text)


def judge(body: bytes | bytearray, enough: int) -> tuple[int, bool]:
    """How many bytes the JSON takes when it is decoded, or more, and whether a text in it has many escapes.

    Stops counting beyond ``enough``.
    """
    quick = _quick(body)
    return (quick, False) if quick <= enough else _look(body, enough)


def _look(body: bytes | bytearray, enough: int) -> tuple[int, bool]:
    """The same by a look at each string."""
    if body.count(b'"') - body.count(b'\\"') > enough // _PAIR:
        return enough + 1, False  # too many strings to look at each
    room = at = values = kept = 0
    is_rich = False
    known: set[bytes] = set()
    outside = bytearray()
    while (start := body.find(b'"', at)) >= 0 and room <= enough:
        found = _STRING_IN.match(body, start)
        if found is None:
            return enough + 1, is_rich  # it has no end
        end = found.end()
        outside += body[at:start]
        at = end
        escapes = body.count(b"\\", start, end)
        kept = max(kept, escapes * _ESCAPE if escapes <= _ESCAPES else 0)
        if _COLON.match(body, end):
            room += _name(body, start, end, known) if escapes <= _ESCAPES else enough  # nobody calls a thing so
        else:
            values += 1
            is_rich = is_rich or escapes > _ESCAPES
            twice = 2 if escapes > _ESCAPES else 1  # in pieces, and in one
            room += _STRING + _text(body, start, end) * twice if end - start > _CACHED else _COMMA
    with memoryview(body) as whole:
        outside += whole[at:]  # without a copy on the way
    if room > enough:
        return enough + 1, is_rich
    numbers = max(0, outside.count(b",") + 1 - values)
    room += outside.count(b"[") * _LIST + outside.count(b"{") * _TABLE + outside.count(b",") * _COMMA
    return room + kept + outside.count(b":") * _ENTRY + numbers * _NUMBER + len(outside), is_rich


def _quick(body: bytes | bytearray) -> int:
    """As much as it takes at the very most, without a look at each string."""
    escapes = body.count(b"\\")
    if escapes > _ESCAPES:
        return sys.maxsize
    commas, colons, quotes = body.count(b","), body.count(b":"), body.count(b'"')
    names = min(colons, quotes // 2)
    room = body.count(b"[") * _LIST + body.count(b"{") * _TABLE + (commas + 1) * (_COMMA + _NUMBER) + colons * _ENTRY
    room += names * _KEY + (quotes // 2 - names) * _STRING + escapes * _ESCAPE
    return room + len(body) * (1 if _WIDE.search(body) is None else 4)


def _name(body: bytes | bytearray, start: int, end: int, known: set[bytes]) -> int:
    """What the name of a field takes: nothing where the same was there before."""
    name = bytes(body[start:end]) if end - start < _SHORT else b""
    if name in known:
        return 0
    if name and len(known) < _KEYS:
        known.add(name)
    return _KEY + _text(body, start, end)


def _text(body: bytes | bytearray, start: int, end: int) -> int:
    """A string's own letters: one that is wide makes all of them wide."""
    pairs = body.count(b"\\\\", start, end)
    # A backslash that is itself written with one makes no escape of what follows.
    coded = max(0, body.count(b"\\u", start, end) - body.count(b"\\\\u", start, end))
    letters = end - start - (body.count(b"\\", start, end) - pairs) - 4 * coded
    if _WIDE.search(body, start, end) is None:
        return letters
    return letters * (4 if _ASTRAL.search(body, start, end) else 2)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _splice(text: str, start: int, strict: bool = True) -> tuple[str, int]:
    """A string from behind its first quote on, and where it ends."""
    pieces: list[str] = []
    while found := _PIECE.match(text, start):
        pieces.append(scanstring(found[0] + '"', 0, strict)[0])
        start = found.end()
    if text[start : start + 1] != '"':
        raise ValueError("a string has no end")
    return "".join(pieces), start + 1


class _Splicing(json.JSONDecoder):
    """Reads strings by `_splice`: the fast scanner asks nobody how a string is read."""

    def __init__(self) -> None:
        super().__init__(parse_constant=_refuse_number, parse_float=_finite)
        self.parse_string = _splice
        self.scan_once = py_make_scanner(self)


_FAST = json.JSONDecoder(parse_constant=_refuse_number, parse_float=_finite)
_SPLICING = _Splicing()
