"""A request as the ranking sees it: its words, its text without the values in it, and what values it has to give.

Rules: what stands in a slot (a path, a number, a quoted text) is a value and says nothing about what is wanted, except
for the kind of a file; a name with a capital letter inside a sentence is a value too. A word that the lexicon knows
counts as itself and as its concept. What nobody put into a slot is found here by its shape only:
this does not read values, it counts them. Pure, and bounded for any text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from metnos.turn.plan import lexicon
from metnos.turn.plan.lexical import (
    COMMON_WEIGHT,
    MOST_CHARACTERS,
    Token,
    fold,
    lists,
    name_parts,
    stem,
    tokens,
    weight,
)
from metnos.turn.plan.lexicon import THING, VERB

if TYPE_CHECKING:
    from metnos.fastpath.slots import Slot

WEB = "web"  # what an address points at, where a path points at a kind of file
MOST_UNITS = 32  # words of a request that are compared one by one; a longer one is a text and not a request


class Value(IntEnum):
    """Kinds of values that a request gives and that arguments need."""

    NUMBER = 0
    TIME = 1
    PATH = 2
    URL = 3
    EMAIL = 4
    TEXT = 5


# What a slot of each kind can be used for; a word that is quoted, or a name, is a text.
_SLOTS: Mapping[str, tuple[Value, ...]] = {
    "path": (Value.PATH,),
    "folder": (Value.PATH,),
    "name": (Value.PATH, Value.TEXT),
    "glob": (Value.PATH,),
    "files": (Value.PATH,),
    "url": (Value.URL,),
    "email": (Value.EMAIL,),
    "number": (Value.NUMBER,),
    "size": (Value.NUMBER,),
    "count": (Value.NUMBER,),
    "date": (Value.TIME,),
    "range": (Value.TIME,),
    "time": (Value.TIME,),
    "duration": (Value.TIME, Value.NUMBER),
    "quoted": (Value.TEXT,),
}
_URL = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b")
_PATH = re.compile(
    r"(?<!\w)(?:~|\.{1,2})?/[^\s'\",;]+|(?<!\w)~(?!\w)|(?<![\w@/])[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}\b(?![@/])"
)
_QUOTES = (("'", "'"), ('"', '"'), ("\u201c", "\u201d"), ("\u2018", "\u2019"), ("«", "»"))
_QUOTED = re.compile(r"(?<!\w)(?:" + "|".join(rf"{a}[^{b}\n]{{1,300}}{b}" for a, b in _QUOTES) + r")(?!\w)")
_NUMBER = re.compile(r"(?<!\w)[-+]?[$€£]?\d[\d.,]*")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_SHAPES = (
    (_QUOTED, Value.TEXT),
    (_URL, Value.URL),
    (_EMAIL, Value.EMAIL),
    (_PATH, Value.PATH),
    (_NUMBER, Value.NUMBER),
)
_IN_WORDS = {Value.URL: "web page", Value.EMAIL: "address", Value.TEXT: "text"}
_QUESTIONS = ("how", "what", "quant")
_OF_QUESTIONS = frozenset(("count", "compute"))
_OPENERS = " \t(" + "".join(opening for opening, _ in _QUOTES)
_CLOSERS = "".join(closing for _, closing in _QUOTES)
_ENDS = ".!?:;\n"


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or a phrase to compare. ``weight`` is how much of the request it says; names say nothing by themselves."""

    text: str
    weight: float
    stem: str
    known: frozenset[str] = frozenset()  # the concepts that it may stand for
    name: bool = False  # of somebody or something: a value, unless a tool has the same name


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, taken apart."""

    text: str
    core: str  # with the kind of a value in the place of each value
    units: tuple[Unit, ...]
    values: tuple[int, ...]  # how many of each `Value`
    kinds: frozenset[str]  # what kinds of files it names: extensions, and what they are; or the `WEB`
    verbs: frozenset[str]  # the concepts of what is to be done

    def stems(self, known: Callable[[str], bool]) -> Mapping[str, float]:
        """Each stem, and each concept that is meant by it, with its weight; of names only those that are known."""
        found: dict[str, float] = {}
        for unit in self.units:
            share = float(known(unit.stem)) if unit.name else unit.weight
            for each in (unit.stem, *map(stem, unit.known)):
                found[each] = max(found.get(each, 0.0), share)
        return {each: share for each, share in found.items() if share > 0}


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a value stands, what it can be used for, and its kind in words."""

    start: int
    end: int
    values: tuple[Value, ...]
    instead: str
    kinds: tuple[str, ...] = ()


def ask(text: str, slots: Sequence["Slot"] = ()) -> Asked:
    """Take a request apart."""
    shown = text[:MOST_CHARACTERS]
    spans = _spans(shown, slots)
    hidden = [span for span in spans if span.instead != shown[span.start : span.end] or Value.PATH not in span.values]
    covered = _covered(len(shown), hidden)
    outside = [word for word in tokens(shown) if not covered[word.start]]
    names = _names(shown, outside)
    plain = [fold(word.text) for word in outside]
    values = Counter(value for span in spans for value in span.values)
    values[Value.NUMBER] += sum(word in lists().numbers for word in plain)
    values[Value.TIME] += sum(word in lists().times for word in plain)
    values[Value.TEXT] += len(names)
    blank = "".join(" " if is_hidden else char for char, is_hidden in zip(shown, covered, strict=True))
    meant = tuple(word for word in lexicon.words(blank, ()) if not word.mark)
    return Asked(
        text=shown,
        core=_core(shown, spans, names),
        units=_units(outside, names, meant),
        values=tuple(values[each] for each in Value),
        kinds=frozenset(kind for span in spans for kind in span.kinds) | ({WEB} if values[Value.URL] else set()),
        verbs=frozenset(concept for each in meant for concept in _verbs(each)),
    )


def _spans(text: str, slots: Sequence["Slot"]) -> list[_Span]:
    """Where values stand: the slots, and what has the shape of a value and is in none. They do not overlap."""
    found = [_of_slot(slot) for slot in slots if slot.kind in _SLOTS and slot.end <= len(text)]
    taken = _covered(len(text), found)
    for shape, value in _SHAPES:
        for match in shape.finditer(text):
            if not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = b"\1" * len(match.group())
                year = (Value.TIME,) if _YEAR.fullmatch(match.group()) else ()
                kinds = _kinds(match.group()) if value is Value.PATH else ()
                instead = _place(match.group(), kinds) if value is Value.PATH else _IN_WORDS.get(value, match.group())
                found.append(_Span(match.start(), match.end(), (value, *year), instead, kinds))
    return sorted(found, key=lambda span: (span.start, -span.end))


def _of_slot(slot: "Slot") -> _Span:
    values = _SLOTS[slot.kind]
    if Value.PATH in values:
        kinds = _kinds(*str(slot.value).split("|"))
        # *The photos* are words of the request that happen to be a pattern too; a folder's name is only a name.
        instead = slot.text if slot.kind == "files" else "folder" if slot.kind == "folder" else _place(slot.text, kinds)
        return _Span(slot.start, slot.end, values, instead, kinds)
    return _Span(slot.start, slot.end, values, _IN_WORDS.get(values[0], slot.text))


def _place(path: str, kinds: Sequence[str]) -> str:
    """A path in words: what kind of file it is, or else a folder."""
    if kinds:
        return f"{kinds[-1]} file"
    return "file" if "." in path.rsplit("/", 1)[-1].strip(".") else "folder"


def _names(text: str, words: Sequence[Token]) -> frozenset[Token]:
    """Words with a capital letter inside a sentence; not those in capital letters only, which often say the subject."""
    found = set()
    for word in words:
        if not word.text[0].isupper() or (len(word.text) > 1 and word.text.isupper()):
            continue
        before = text[: word.start].rstrip(_OPENERS)
        if before and before[-1] not in _ENDS and weight(word.text) and fold(word.text) not in lists().times:
            found.add(word)
    return frozenset(found)


def _core(text: str, spans: Sequence[_Span], names: frozenset[Token]) -> str:
    cuts = [(span.start, span.end, span.instead) for span in spans]
    cuts += [(name.start, name.end, "") for name in names]
    parts, at = [], 0
    for start, end, instead in sorted(cuts):
        if start >= at:
            parts += [text[at:start], instead]
            at = end
    return " ".join("".join((*parts, text[at:])).split()) or text


def _kinds(*values: str) -> tuple[str, ...]:
    """The extensions of paths or patterns, if they are known ones, and at last what such files are."""
    extensions = [fold(value.rsplit(".", 1)[-1].rstrip(_CLOSERS)) for value in values if "." in value]
    kinds = {each: kind for each in extensions if (kind := lists().extensions.get(each))}
    return (*kinds, *dict.fromkeys(kinds.values()))


def _covered(length: int, spans: Sequence[_Span]) -> bytearray:
    """For each character whether it is in one of the spans."""
    made = bytearray(length)
    for span in spans:
        made[span.start : span.end] = b"\1" * (span.end - span.start)
    return made


def _units(outside: Sequence[Token], names: frozenset[Token], meant: Sequence["lexicon.Word"]) -> tuple[Unit, ...]:
    known = {word.start: _concepts(word) for word in meant}
    found: dict[str, Unit] = {}
    for word in outside:
        for part in name_parts(word.text):
            said = weight(part)
            if said and len(part) > 1 and not part[0].isdigit():
                is_name = word in names
                concepts = known.get(word.start, frozenset())
                found.setdefault(part, Unit(part, 0.0 if is_name else said, stem(part), concepts, is_name))
    for phrase in meant:
        if " " in phrase.text and _concepts(phrase):
            found.setdefault(phrase.text, Unit(phrase.text, COMMON_WEIGHT, phrase.text, _concepts(phrase)))
    return tuple(found.values())[:MOST_UNITS]


def _verbs(word: "lexicon.Word") -> Iterator[str]:
    """What a word says is to be done. *How many* and *what is* ask about anything: they are no verbs here."""
    asks = word.text.startswith(_QUESTIONS)
    return (each for each, kind in word.meanings.items() if kind == VERB and not (asks and each in _OF_QUESTIONS))


def _concepts(word: "lexicon.Word") -> frozenset[str]:
    return frozenset(concept for concept, kind in word.meanings.items() if concept and kind in (VERB, THING))
