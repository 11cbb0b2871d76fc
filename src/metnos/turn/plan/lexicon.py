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
_PIECE = re.compile(r"[^\W\d_]+['\u2019]?|\d+|[^\w\s]|_")
_ENCLITIC = re.compile(r"(?P<stem>\w{3,}?)(?P<pronoun>(?:me|te|ce|se)?(?:lo|la|li|le|ne)|mi|ti|ci|gli|vi)$")
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


def words(text: str, slots: Sequence[Slot]) -> tuple[Word, ...]:
    """The words of a request in their order. Where slots overlap, the first and longest counts."""
    found: list[Word] = []
    at = 0
    for slot in sorted(slots, key=lambda each: (each.start, -each.end)):
        if slot.start < at:
            continue
        found += _plain(text, at, slot.start)
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
