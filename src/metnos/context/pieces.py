"""What a text is made of, for whoever leaves some of it out: pieces that may not be cut, and sentences of pieces.

A piece is what stands between two blanks, with these exceptions. Larger: what is quoted (in one line), what stands
between two fences of backticks or between DATA and END, a row of a table, a number with blanks in it, a number with the
word after it, a denial (*not*, *never*, *non*, *mai*) with the word after it. Smaller: a sign of a script that is
written without blanks.

Rules: pieces are in order, do not overlap, and hold every character but blanks. A piece is *held* if what stands around
it needs it: the heading of a table. Quotes are known up to 1,000 characters, fences up to 100,000; what is longer is
not taken for one. Any text has pieces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

_SCRIPTS = (  # written without blanks: Thai to Lao, Myanmar, Khmer, kana, ideographs
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe00-\ufe0f"
_NUMERALS = (
    "\u3007\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u4e07\u842c\u4ebf\u5104\u5146"
)
_QUOTED = (
    r'"[^"\n]{0,1000}"|\u201c[^\u201d\n]{0,1000}\u201d|\u201e[^\u201c\u201d\n]{0,1000}[\u201c\u201d]'
    r"|\u00ab[^\u00bb\n]{0,1000}\u00bb|\u300c[^\u300d\n]{0,1000}\u300d|\u2018[^\u2019\n]{0,1000}\u2019(?!\w)"
    r"|`[^`\n]{0,1000}`|(?<!\w)'[^'\n]{1,1000}'(?!\w)"
)
_PIECE = re.compile(
    r"^```[^\n]*\n.{0,100000}?^```[^\n]*$"
    r"|^DATA (?P<digest>[0-9a-f]{12}) [^\n]*\n.{0,100000}?^END (?P=digest)$"
    r"|^[ \t]*\|[^\n]*\|[ \t]*$"
    r"|(?<![\d.,])[-+]?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)\S*"  # 1 000 000
    rf"|(?:{_QUOTED}|\\[ ]|\S)+",
    re.MULTILINE | re.DOTALL,
)
_RULE = re.compile(r"[ \t]*\|[ \t|:-]+\|[ \t]*")
_NUMBER = re.compile(r"[(\[]?[-+~]?[$\u20ac\u00a3]?\d+(?:[.,:/ \u00a0\u202f]\d+)*[%\u20ac$]?|[$\u20ac\u00a3]")
_COUNTED = re.compile(r"[^\W\d_]|[%\u20ac$\u00a3\u00b0]")
_DENIAL = re.compile(
    r"(?:not|no|never|cannot|without|neither|nor|non|n\u00e9|mai|nessun[oa]?|senza|mica|pas|nicht|keine?|\w+n['\u2019]t)",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb\u300d)\]]*$")
_PLACE = re.compile(r"[/\\@]")  # a path or an address may hold signs of any script
_SIGN = re.compile(rf"{_QUOTED}|[{_NUMERALS}]+[{_SCRIPTS}]?[{_MARKS}]*|[{_SCRIPTS}][{_MARKS}]*|.", re.DOTALL)
_IS_SIGN = re.compile(rf"[{_SCRIPTS}]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters ``start`` to ``end`` of a text. ``held``: what stands around needs it; ``ends``: its sentence."""

    start: int
    end: int
    held: bool = False
    ends: bool = False


def pieces(text: str) -> tuple[Piece, ...]:
    """The pieces of a text, in order."""
    found = [part for each in _PIECE.finditer(text) for part in _parted(text, each.start(), each.end())]
    return tuple(_marked(text, list(_glued(text, found))))


def sentences(found: Sequence[Piece]) -> tuple[tuple[Piece, ...], ...]:
    """Pieces in groups: up to the end of a sentence or of a line."""
    groups: list[list[Piece]] = []
    for piece in found:
        if not groups or groups[-1][-1].ends:
            groups.append([])
        groups[-1].append(piece)
    return tuple(map(tuple, groups))


def _parted(text: str, start: int, end: int) -> Iterator[Piece]:
    """A stretch without blanks as one piece, or sign by sign if its script has none."""
    inside = text[start:end]
    if "\n" in inside or not _IS_SIGN.search(inside) or _PLACE.search(inside) or inside.lstrip().startswith("|"):
        yield Piece(start, end)
        return
    begun: int | None = None  # of a run of other letters, which stays together
    for found in _SIGN.finditer(text, start, end):
        alone = _IS_SIGN.match(found.group()) is not None
        counted = alone and begun is not None and text[found.start() - 1].isdecimal()
        if alone and begun is not None and not counted:
            yield Piece(begun, found.start())
        if alone:
            yield Piece(begun if counted and begun is not None else found.start(), found.end())
            begun = None
        elif begun is None:
            begun = found.start()
    if begun is not None:
        yield Piece(begun, end)


def _glued(text: str, found: Sequence[Piece]) -> Iterator[Piece]:
    """A number with what it counts, a denial with what it denies."""
    waiting: Piece | None = None
    for piece in found:
        if waiting is not None and _belong(text, waiting, piece):
            yield Piece(waiting.start, piece.end)
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = piece
    if waiting is not None:
        yield waiting


def _belong(text: str, one: Piece, other: Piece) -> bool:
    if text[one.end : other.start] not in (" ", "\u00a0", "\u202f"):
        return False
    first, second = text[one.start : one.end], text[other.start : other.end]
    if _NUMBER.fullmatch(first):
        return _COUNTED.match(second) is not None or (not first[-1].isalnum() and second[0].isdecimal())
    return _DENIAL.fullmatch(first) is not None and second[0].isalnum()


def _marked(text: str, found: Sequence[Piece]) -> Iterator[Piece]:
    """Pieces with what is known from those around them: ends of sentences, headings of tables."""
    rules = {at for at, piece in enumerate(found) if _RULE.fullmatch(text, piece.start, piece.end)}
    held = rules | {at - 1 for at in rules if at and text[found[at - 1].start : found[at - 1].end].strip()[:1] == "|"}
    breaks = {at for at, (one, other) in enumerate(pairwise(found)) if "\n" in text[one.end : other.start]}
    for at, piece in enumerate(found):
        ends = at in breaks or _END.search(text, piece.start, piece.end) is not None
        yield replace(piece, held=at in held, ends=ends)
