"""What stands between quotes: a path, a name, a folder, or words that are meant literally.

Rules: an apostrophe inside or after a word opens nothing. A quote that is not closed is no quote. What looks like a
path, a glob or an address keeps that kind, and what follows the word *folder* is a folder. Work grows with the length
of the text only.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from metnos.fastpath.slots_paths import read
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import Source
from metnos.fastpath.slots_words import words_before

_OPENERS = re.compile(r"(?<!\w)(?:(?P<plain>[\"“”„«»`])|(?P<single>['\u2018\u2019\u201b])(?!\s))")
_SINGLE_CLOSERS = re.compile(r"(?<!\s)['\u2019](?!\w)")
_CLOSING = {'"': '"”“', "“": '”"“', "”": '”"', "„": '“”"', "«": "»", "»": "«", "`": "`"}
_FOLDER = re.compile(
    r"(?P<where>\b(?:in|into|to|from|inside|nella|alla|dalla|sulla|della|of) )?"
    r"(?:\b(?:the|my|a|new|la|una|mia|nuova) ){0,3}"
    r"\b(?:folder|directory|cartella) (?P<called>(?:called|named|titled|chiamata|di nome) )?$"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def slots(source: Source) -> Iterator[Slot]:
    """Every quoted piece, in order."""
    text = source.text
    closers: dict[str, list[int]] = {}
    at = 0
    while opener := _OPENERS.search(text, at):
        start = opener.start()
        close = _close(text, opener, closers)
        at = start + 1
        if close is None:
            continue
        inner = text[start + 1 : close]
        if inner and not _SURROGATE.search(inner):
            yield _slot(source, start, close + 1, inner)
            at = close + 1


def _close(text: str, opener: re.Match[str], closers: dict[str, list[int]]) -> int | None:
    """Where the quote that begins here ends; the places of all closers are looked up once."""
    kind = "'" if opener["single"] else opener["plain"]
    if kind not in closers:
        if opener["single"]:
            closers[kind] = [match.start() for match in _SINGLE_CLOSERS.finditer(text)]
        else:
            closers[kind] = [place for place, char in enumerate(text) if char in _CLOSING[kind]]
    place = bisect_left(closers[kind], opener.end() + (1 if opener["single"] else 0))
    return closers[kind][place] if place < len(closers[kind]) else None


def _slot(source: Source, start: int, end: int, inner: str) -> Slot:
    words = words_before(source.low, start)
    before = words[-1] if words else ""
    reading = read(inner.strip(), before, quoted=True) if inner.strip() else None
    if reading is not None:
        return source.slot(reading.kind, start, end, reading.value)
    folder = _FOLDER.search(source.low[max(0, start - 48) : start])
    if folder and "\n" not in inner:
        start -= len(folder[0])
        role = "as" if folder["called"] and not folder["where"] else ""
        start += len(folder["where"] or "")
        return source.slot(Kind.FOLDER, start, end, inner, role, (f"~/{inner}",))
    if before == "file" and "\n" not in inner and "/" not in inner:
        return source.slot(Kind.NAME, start, end, inner)
    return source.slot(Kind.QUOTED, start, end, inner)
