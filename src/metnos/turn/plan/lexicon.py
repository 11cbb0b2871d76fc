"""What the words of a request mean: each word, or phrase, with the concepts it may stand for.

The words are data in ``lexicon.toml``, joined by the verbs and objects of the vocabulary. A slot (a path, a date, a
quoted text) is one word without concepts: what it says is data, never an instruction.

Rules: the longest phrase wins; accents and capital letters do not matter; an Italian verb gives its pronoun up
(*spostali* is *sposta* and *them*). Does not guarantee that a word is meant in any of its concepts: an intent
decides.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from metnos.executors import vocabulary
from metnos.fastpath.slots import Slot

VERB, LIGHT, THING, HINT, STOP = "verb", "light", "thing", "hint", "stop"
KINDS = {"verbs": VERB, "light": LIGHT, "things": THING, "hints": HINT, "stop": STOP}
_PIECE = re.compile(r"\w+(?<!_)_\w+|[^\W\d_]+['\u2019]?|\d+|[^\w\s]|_")  # what is joined by _ is one name
_ENCLITIC = re.compile(r"(?P<stem>\w{3,}?)(?P<pronoun>(?:me|te|ce|se)?(?:lo|la|li|le|ne)|mi|ti|ci|gli|vi)$")
_FIRST = re.compile(r"[^\W\d_]{5,20}(?=\s)")
_LOOKING = frozenset({"find", "search", "list", "count", "summarise", "compare", "describe", "show", "compute"})
_LONG_ENOUGH = 5  # letters of a verb that may be misspelled
_FEWEST = 4  # letters of a word that a mistyped one may stand for


@dataclass(frozen=True, slots=True)
class Word:
    """One word, phrase, mark or slot of a request. ``text`` is folded: small letters, no accents."""

    text: str
    raw: str
    start: int
    end: int
    meanings: Mapping[str, str] = field(default_factory=dict)  # concept -> kind
    slot: Slot | None = None

    @property
    def mark(self) -> bool:
        return self.slot is None and not any(char.isalnum() for char in self.text)

    @property
    def unknown(self) -> bool:
        return self.slot is None and not self.meanings and not self.mark and not self.text.isdigit()

    @property
    def stop(self) -> bool:
        return bool(self.meanings) and set(self.meanings.values()) <= {STOP}

    def means(self, *concepts: str) -> bool:
        return any(each in self.meanings for each in concepts)

    def of_kind(self, kind: str) -> bool:
        return kind in self.meanings.values()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Phrases by their first piece, the longest first, each with its meanings."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], Mapping[str, str]], ...]]
    kinds: Mapping[str, str]

    def longest(self, pieces: Sequence[str], at: int) -> tuple[int, Mapping[str, str]]:
        """How many pieces from ``at`` on are one phrase, and what it means."""
        for phrase, meanings in self.phrases.get(pieces[at], ()):
            if tuple(pieces[at : at + len(phrase)]) == phrase:
                return len(phrase), meanings
        return 0, {}


def fold(text: str) -> str:
    """Small letters, straight apostrophes, no accents."""
    apart = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    return "".join(char for char in apart if not unicodedata.combining(char))


@cache
def load() -> Lexicon:
    """The lexicon as it is shipped, with the vocabulary's words."""
    text = resources.files("metnos.turn.plan").joinpath("lexicon.toml").read_text(encoding="utf-8")
    meanings: dict[tuple[str, ...], dict[str, str]] = {}
    kinds: dict[str, str] = {}
    for concept, kind, phrase in (*_own(tomllib.loads(text)), *_of_vocabulary()):
        kinds.setdefault(concept, kind)
        meanings.setdefault(tuple(_PIECE.findall(fold(phrase))), {})[concept] = kinds[concept]
    phrases: dict[str, list[tuple[tuple[str, ...], Mapping[str, str]]]] = {}
    for pieces, found in meanings.items():
        phrases.setdefault(pieces[0], []).append((pieces, found))
    longest_first = {first: tuple(sorted(them, key=lambda each: -len(each[0]))) for first, them in phrases.items()}
    return Lexicon(longest_first, kinds)


def spelled(text: str) -> str:
    """The request with its first word mended, if that is a verb that only looks, with one letter wrong.

    Verbs that change something are never guessed at.
    """
    first = _FIRST.match(text)
    if first is None or fold(first[0]) in load().phrases or _guess(fold(first[0])):
        return text
    said = fold(first[0])
    near = {verb for each in _shorter(said) for verb in _misspelled().get(each, ()) if _is_near(said, verb)}
    return near.pop() + text[first.end() :] if len(near) == 1 else text


@cache
def _misspelled() -> Mapping[str, tuple[str, ...]]:
    """Verbs that only look, by what is left of them when they lose a letter."""
    found: dict[str, tuple[str, ...]] = {}
    for first, them in load().phrases.items():
        looks = any(len(phrase) == 1 and meanings.keys() & _LOOKING for phrase, meanings in them)
        for each in _shorter(first) if looks and len(first) >= _LONG_ENOUGH else ():
            found[each] = (*found.get(each, ()), first)
    return found


def _shorter(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _is_near(said: str, meant: str) -> bool:
    """Whether one letter is too many, missing, wrong, or changed places with the next."""
    if said[0] != meant[0]:
        return False
    start = next((at for at, pair in enumerate(zip(said, meant, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return abs(len(said) - len(meant)) == 1
    one, other = said[start:], meant[start:]
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return one[1:] == other or one == other[1:] or one[1:] == other[1:] or swapped


def words(text: str, slots: Sequence[Slot]) -> tuple[Word, ...]:
    """The words of a request in their order. Where slots overlap, the first and longest counts."""
    found: list[Word] = []
    at = 0
    for slot in sorted(slots, key=lambda each: (each.start, -each.end)):
        if slot.start < at:
            continue
        found += _plain(text, at, slot.start)
        if found and slot.role in ("in", "from") and slot.kind == "path" and set(found[-1].meanings) == {"folders"}:
            found.pop()  # *in the folder ~/x*: the noun says what the path is, and asks for nothing
        raw = text[slot.start : slot.end]
        found.append(Word(fold(raw), raw, slot.start, slot.end, slot=slot))
        at = slot.end
    return (*found, *_plain(text, at, len(text)))


def _plain(text: str, start: int, end: int) -> Iterator[Word]:
    """The words between two slots."""
    pieces = [(match.group(), match.start(), match.end()) for match in _PIECE.finditer(text, start, end)]
    folded = [fold(piece) for piece, _, _ in pieces]
    at = 0
    while at < len(pieces):
        length, meanings = load().longest(folded, at)
        if not length:
            length, meanings = 1, _guess(folded[at])
        first, last = pieces[at], pieces[at + length - 1]
        raw = text[first[1] : last[2]]
        yield Word(fold(raw), raw, first[1], last[2], meanings)
        at += length


def _guess(piece: str) -> Mapping[str, str]:
    """What a word means that stands in no list: an elision, a verb with a pronoun, or nothing."""
    if piece.endswith("'"):
        return {"": STOP}
    found = _ENCLITIC.fullmatch(piece)
    if found is None:
        return {}
    for stem in (found["stem"], found["stem"] + "e"):
        length, meanings = load().longest([stem], 0)
        verbs = {concept: kind for concept, kind in meanings.items() if kind in (VERB, LIGHT)}
        if length and verbs and len(stem) >= _FEWEST:
            pronoun = found["pronoun"] not in ("mi", "ti", "ci", "gli", "vi")
            return verbs | ({"it": HINT} if pronoun else {})
    return {}


def _own(data: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str, str]]:
    for section, entries in data.items():
        for concept, phrases in entries.items():
            name = "" if section == "stop" else concept
            for phrase in phrases.split(","):
                yield name, KINDS[section], phrase.strip()


def _of_vocabulary() -> Iterator[tuple[str, str, str]]:
    known = vocabulary.load()
    for kind, table in ((VERB, known.verbs), (THING, known.objects)):
        for word in table.values():
            for phrase in (word.text, *_said(word.synonyms.values())):
                yield word.text, kind, phrase


def _said(groups: Iterable[Iterable[str]]) -> Iterator[str]:
    return (phrase for group in groups for phrase in group)
