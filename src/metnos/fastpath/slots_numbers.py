"""Numbers: in figures, English or Italian, and in words.

Rules: `1,234.5` and `1.234,5` are read by their last separator; where that says nothing, as in `1.234`, the language of
the request does. `3, 4 and 5` are three numbers. Figures that belong to a name (`mp3`, `E1234`, `utf-8`, `3.5.2`) are
no number. A word that is a number only sometimes (`one`, the Italian for *six*, which also means *you are*) is weak.
"""

import math
import re
from collections.abc import Iterator
from functools import cache

from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import NUMBER_MARK, Number, Source, listed

_UNITS = (
    r"px|pixels?|km|cm|mm|nm|kg|mg|ml|cl|dl|mi|ft|lb|lbs|oz|kwh|kw|mph|kmh|m|g|l|x|c|f|w|v|a|"
    r"h|hrs?|min|mins|sec|ms|s|d|am|pm|kib|mib|gib|tib|kb|mb|gb|tb|k|t|b|bytes?|mega|giga|eur|euro|usd"
)
_FIGURES = re.compile(
    r"(?:(?<![\w.,])(?<![a-z_]-)|(?<=\dx))"
    r"(?:(?<![^ (=<>:,€$£*/+^])-)?"
    r"(?P<figures>\d{1,15}(?:[.,]\d{1,15}){0,8}(?:e[+-]?\d{1,3})?)(?![.,]?\d)"
    r"(?:(?P<percent> ?%| per ?cento?\b)|(?P<ordinal>st|nd|rd|th|°(?! ?[cf]\b)|º|ª)(?!\w)"
    r"|(?= {0,2}(?P<scale>thousand|mila|millions?|milion[ei]|billions?|miliard[oi])\b)|(?!\w)"
    rf"|(?=(?:{_UNITS})(?!\w))|(?=x\d))"
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_SEPARATOR = re.compile(r"[.,]")
_MINUS = re.compile(
    r"(?:^|\b(?:is|are|convert|of|to|from|at|below|above|than|di|a|sono|converti|sotto|sopra) )((?:minus|meno) )$"
)
_AND_MORE = re.compile(r" (?:and|e|ed|or|o) \d")
_SCALE_WORDS = {
    "hundred": 100, "thousand": 1_000, "mila": 1_000, "million": 10**6, "millions": 10**6, "milione": 10**6,
    "milioni": 10**6, "billion": 10**9, "billions": 10**9, "miliardo": 10**9, "miliardi": 10**9,
}  # fmt: skip
_TEENS = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
_ENGLISH = {
    **{word: value for value, word in enumerate(_TEENS)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
}
_ITALIAN_TEENS = listed(
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici"
    " sedici diciassette diciotto diciannove"
)
_ITALIAN_TENS = listed("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
_LOOSE = re.compile(
    r"\b(?:(?P<dozen>(?:a|half a|una|mezza) (?:dozen|dozzina))|(?P<couple>a couple|un paio)|(?P<ten>una decina)"
    r"|(?P<twenty>una ventina)|(?P<thirty>una trentina)|(?P<fifty>una cinquantina)|(?P<hundred>un centinaio|a hundred)"
    r"|(?P<thousand>un migliaio|a thousand)|(?P<half>half an?|half|meta)|(?P<weakhalf>mezz[oa]|mezz'))"
    r"(?: (?:of|di)(?= (?!the |my |il |the )[a-z]))?(?:(?<=')|(?![a-z]))"
)
_LOOSE_VALUES: dict[str, int | float] = {
    "dozen": 12, "couple": 2, "ten": 10, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "thousand": 1_000,
    "half": 0.5, "weakhalf": 0.5,
}  # fmt: skip
_NOT_SIX = re.compile(r"(?:\b(?:chi|tu|ci|non|se|come|dove|che|cosa|quando|perche|mi|ti) |^)$")
_NOT_SIX_AFTER = re.compile(r" (?:un[ao]?|il|la|in|a|di|tu|stat[oa]|sicur[oa]|qui|pront[oa]|capace|mai)\b|[?!.]|$")


def numbers(source: Source) -> list[Number]:
    """Every number that is not part of something found before, in order."""
    low = source.low
    found = [number for match in _FIGURES.finditer(low) for number in _figures(match, low, source.language)]
    taken = {place for number in found for place in range(number.start, number.end)}
    for number in (*_loose(low), *_words(low, source.language)):
        if taken.isdisjoint(range(number.start, number.end)):
            found.append(number)
            taken.update(range(number.start, number.end))
    return sorted(found, key=lambda number: number.start)


def slots(source: Source) -> Iterator[Slot]:
    """The numbers that no other rule had a use for."""
    for place, number in source.numbers.items():
        if source.low[place] == NUMBER_MARK and not number.weak:
            yield source.slot(Kind.NUMBER, place, number.end, number.value)


def value_of(figures: str, language: str) -> int | float | None:
    """What figures mean in a language; None for what is no number, such as ``3.5.2``."""
    base, _, power = figures.partition("e")
    marks = _SEPARATOR.findall(base)
    groups = _SEPARATOR.split(base)
    if not marks:
        plain = base
    elif len(set(marks)) == 2:
        if marks.count(marks[-1]) > 1 or any(len(group) != 3 for group in groups[1:-1]):
            return None
        plain = "".join(groups[:-1]) + "." + groups[-1]
    elif len(marks) > 1:
        if any(len(group) != 3 for group in groups[1:]):
            return None
        plain = "".join(groups)
    else:
        thousands = "," if language == "en" else "."
        grouped = marks[0] == thousands and len(groups[1]) == 3 and groups[0][0] != "0" and len(groups[0]) <= 3
        plain = "".join(groups) if grouped else ".".join(groups)
    if power or "." in plain:
        value = float(f"{plain}e{power}" if power else plain)
        return value if math.isfinite(value) else None
    return int(plain)


def _figures(match: re.Match[str], low: str, language: str) -> Iterator[Number]:
    figures, end = match["figures"], match.end()
    if "," in figures and "." not in figures and _is_list(figures, low, end, language):
        at = match.start("figures")
        for part in figures.split(","):
            yield Number(at, at + len(part), int(part))
            at += len(part) + 1
        return
    value = value_of(figures, language)
    if value is None:
        return
    if match["scale"]:
        value, end = _tidy(value * _SCALE_WORDS[match["scale"]]), match.end("scale")
    start = match.start()
    if minus := _MINUS.search(low[max(0, start - 24) : start]):
        start -= len(minus[1])
    if start < match.start("figures"):
        value = -value
    yield Number(start, end, value, ordinal=bool(match["ordinal"]), percent=bool(match["percent"]))


def _is_list(figures: str, low: str, end: int, language: str) -> bool:
    groups = figures.split(",")
    if len(groups) > 2:
        return any(len(group) != 3 for group in groups[1:])
    return language == "en" and len(groups[1]) != 3 and _AND_MORE.match(low, end) is not None


def _loose(low: str) -> Iterator[Number]:
    for match in _LOOSE.finditer(low):
        name = match.lastgroup or ""
        value = _LOOSE_VALUES[name]
        if name == "dozen" and match[0].startswith(("half", "mezza")):
            value = 6
        yield Number(match.start(), match.end(), value, weak=name == "weakhalf")


def _words(low: str, language: str) -> Iterator[Number]:
    tokens = list(_WORD.finditer(low))
    at = 0
    while at < len(tokens):
        value, used = _run(tokens, at, low)
        if value is None:
            at += 1
            continue
        first, last = tokens[at], tokens[at + used - 1]
        if not (first[0] == "cento" and low[max(0, first.start() - 4) : first.start()] == "per ") and _alone(
            low, first.start(), last.end()
        ):
            weak = used == 1 and _weak(first, low, language)
            yield Number(first.start(), last.end(), value, weak)
        at += used


def _alone(low: str, start: int, end: int) -> bool:
    """Whether no figure, mark or apostrophe makes the word part of another one."""
    before, after = low[start - 1 : start], low[end : end + 1]
    return not (before.isalnum() or before in {"_", "'"} or after.isalnum() or after == "_")


def _run(tokens: list[re.Match[str]], at: int, low: str) -> tuple[int | None, int]:
    """The number that begins with this word, and how many words it takes."""
    value, used = _small(tokens, at, low)
    if value is None:
        return None, 0
    while (scale := _follows(tokens, at + used, low, _SCALE_WORDS)) is not None:
        value, used = value * scale, used + 1
        skip = 1 if _follows(tokens, at + used, low, {"and": 1}) is not None else 0
        if at + used + skip < len(tokens) and _joined(tokens, at + used + skip, low):
            rest, more = _small(tokens, at + used + skip, low)
            if rest is not None and 0 < rest < scale:
                value, used = value + rest, used + skip + more
    return value, used


def _small(tokens: list[re.Match[str]], at: int, low: str) -> tuple[int | None, int]:
    word = tokens[at][0]
    value = _ENGLISH.get(word)
    if value is None:
        return _italian(word), 1
    if value >= 20:
        one = _follows(tokens, at + 1, low, _ENGLISH)
        if one is not None and 0 < one < 10:
            return value + one, 2
    return value, 1


def _follows(tokens: list[re.Match[str]], at: int, low: str, words: dict[str, int]) -> int | None:
    return words.get(tokens[at][0]) if at < len(tokens) and _joined(tokens, at, low) else None


def _joined(tokens: list[re.Match[str]], at: int, low: str) -> bool:
    return low[tokens[at - 1].end() : tokens[at].start()] in {" ", "-"}


def _italian(word: str) -> int | None:
    known = _italian_words()
    value = known.get(word)
    if value is None and word.endswith("mila"):
        thousands = known.get(word[:-4])
        return 1_000 * thousands if thousands else None
    if value is None and word.startswith("mille"):
        rest = known.get(word[5:]) if word != "mille" else 0
        return None if rest is None else 1_000 + rest
    return value


@cache
def _italian_words() -> dict[str, int]:
    """Zero to 999, each as one word, the way Italian writes them."""
    words = dict(zip(_ITALIAN_TEENS, range(20), strict=True))
    for ten, name in enumerate(_ITALIAN_TENS, 2):
        words[name] = 10 * ten
        for one in range(1, 10):
            stem = name[:-1] if one in (1, 8) else name
            words[stem + _ITALIAN_TEENS[one]] = 10 * ten + one
            if one == 1:
                words[stem + "un"] = 10 * ten + one
    below = dict(words)
    for hundred in range(1, 10):
        name = ("" if hundred == 1 else _ITALIAN_TEENS[hundred]) + "cento"
        words[name] = 100 * hundred
        words |= {name + rest: 100 * hundred + value for rest, value in below.items() if value}
    return words


def _weak(token: re.Match[str], low: str, language: str) -> bool:
    word = token[0]
    if word == "sei":
        start = token.start()
        return bool(_NOT_SIX.search(low[max(0, start - 9) : start]) or _NOT_SIX_AFTER.match(low, token.end()))
    if word == "due":
        return language == "en"
    if word == "one":
        return not re.match(r"(?:, | and | plus | minus | times )", low[token.end() : token.end() + 7])
    return word == "uno"


def _tidy(value: float) -> int | float:
    return int(value) if float(value).is_integer() else round(value, 6)
