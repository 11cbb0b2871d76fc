"""How surprising each word of a text is, in bits, to a small model of what this agent usually reads and writes.

Words after the two words before them; a word that is not known, by its letters after the three before. The bits of a
text are what it costs to tell somebody who has read all that the agent has: what costs little can be left out first.

Rules: no language model is needed, and none is asked (`metnos.context.surprisal_model` does, where the owner wants it;
both are a `Telling`). `general` is what a new agent starts with: everyday sentences
(``general.txt`` beside this file, English and Italian) and the built-in executors' own descriptions; whatever the agent
captures is added to it. Memory is bounded (some 6 MB), and when it is `full` it is made anew from what is recent. What
is kept holds no words (`metnos.context.ngrams`). Does not guarantee that a surprising word matters, nor that an
expected one does not: that is for the question to say (`metnos.context.compress`).
"""

import math
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Protocol

from metnos.context.ngrams import Ngrams

_WORDS = ((19, 18), (18, 16), (16, 0))  # half a million pairs before a word: about twenty thousand episodes
_ALONE = ((16, 0),)
_LETTERS = ((17, 16), (16, 14), (14, 12), (12, 0))
_FULL = 0.5
_UNSEEN_LETTER = 1 / 0x110000  # any code point
_HARDLY = 2.0**-24  # how likely the spelling is of a word that is known: what it adds to what was counted is nothing
_END = 2  # of a word; letters are numbered from their code points on
_FIRST_LETTER = 3
_BY_ITSELF = 0.75  # of what a word tells; chosen by `bench compress`: what is expected where it stands is often needed
_LONGEST = 48  # letters of one word that are looked at; what is longer is no word
_CHECKED = 200_000  # symbols after which the tables are looked at again
_MAGIC = b"metnos-surprisal-1\n"
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*|[^\w\s]|_")
_SAID = re.compile(r'"((?:[^"\\]|\\.){12,})"')


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a sign of a text: where it stands and how many bits it is worth there."""

    start: int
    end: int
    bits: float


class Telling(Protocol):
    """Whoever says how telling words are."""

    def scores(self, texts: Sequence[str], *, seen: bool = False) -> list[tuple[Word, ...]]:
        """Every word of each text, in order, with how much it tells; what all of these tell can be compared.

        ``seen``: these very texts are among what was counted, and are scored as if they were not.
        """
        ...

    def information(self, word: str) -> float:
        """The bits of one word by itself."""
        ...


def words_of(text: str) -> list[tuple[int, int]]:
    """Where the words and signs of a text stand: everything in it but blanks, in order."""
    return [(each.start(), each.end()) for each in _TOKEN.finditer(text)]


class Surprisal:
    """The model. One writer at a time; reading needs no lock."""

    def __init__(self) -> None:
        self._words = Ngrams(_WORDS)
        self._alone = Ngrams(_ALONE)  # how often, where the words' own last level says in how many places
        self._letters = Ngrams(_LETTERS)
        self._count = 0
        self._full = False

    @property
    def count(self) -> int:
        """How many words and signs were counted."""
        return self._count

    @property
    def full(self) -> bool:
        """Whether there is room left. A full model still answers; more text would only blur it."""
        return self._full

    def add(self, texts: Iterable[str]) -> int:
        """Count the words of these texts, until it is full. Says how many of the texts were counted."""
        done = 0
        for text in texts:
            if self._full:
                break
            words = [text[start:end].casefold() for start, end in words_of(text)]
            symbols = [_symbol(word) for word in words]
            for word, symbol in zip(words, symbols, strict=True):
                if not self._alone.often(symbol):  # by kinds of words, not by how often each is used
                    self._letters.add(_spelt(word))
            self._words.add(symbols)
            self._alone.add(symbols)
            before, self._count = self._count, self._count + len(symbols)
            if before // _CHECKED != self._count // _CHECKED:
                self._full = self._words.load > _FULL
            done += 1
        return done

    def scores(self, texts: Sequence[str], *, seen: bool = False) -> list[tuple[Word, ...]]:
        return self.blended(texts, [self.score(text, seen=seen) for text in texts])

    def blended(self, texts: Sequence[str], scored: Sequence[Sequence[Word]]) -> list[tuple[Word, ...]]:
        """How much words tell: mostly by themselves, partly, as they were ``scored``, after the words before them."""
        known: dict[str, float] = {}

        def tells(said: str, word: Word) -> Word:
            if said not in known:
                known[said] = self.information(said)
            return Word(word.start, word.end, _BY_ITSELF * known[said] + (1 - _BY_ITSELF) * word.bits)

        return [
            tuple(tells(text[word.start : word.end], word) for word in found)
            for text, found in zip(texts, scored, strict=True)
        ]

    def score(self, text: str, *, seen: bool = False) -> tuple[Word, ...]:
        """Every word with its bits. ``seen``: this very text was counted, and is scored as if it had not been."""
        found = words_of(text)
        words = [text[start:end].casefold() for start, end in found]
        known: dict[tuple[str, bool], float] = {}

        def base(place: int, mine: bool) -> float:
            key = (words[place], mine)
            if key not in known:
                known[key] = self._spelling(*key)
            return known[key]

        chances = self._words.chances([_symbol(word) for word in words], base, seen)
        return tuple(
            Word(start, end, -math.log2(max(chance, 1e-300)))
            for (start, end), chance in zip(found, chances, strict=True)
        )

    def information(self, word: str) -> float:
        """The bits of one word by itself: small for words that are in every text."""
        folded = word.casefold()
        return -math.log2(max(self._alone.alone(_symbol(folded), lambda seen: self._spelling(folded, seen)), 1e-300))

    def _spelling(self, word: str, seen: bool) -> float:
        if self._alone.often(_symbol(word)) > 1:
            return _HARDLY
        letters = _spelt(word)
        total = sum(map(math.log2, self._letters.chances(letters, lambda _place, _mine: _UNSEEN_LETTER, seen)))
        return float(2 ** max(total * max(1.0, len(word) / _LONGEST), -900.0))

    # -- kept

    def to_bytes(self) -> bytes:
        import zstandard

        tables = (self._words, self._alone, self._letters)
        body = self._count.to_bytes(8, "little") + b"".join(each.to_bytes() for each in tables)
        return _MAGIC + zstandard.compress(body, 3)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Surprisal":
        """Raises `ValueError` if this is not what `to_bytes` gave; then it is made anew."""
        import zstandard

        if not content.startswith(_MAGIC):
            raise ValueError("these bytes hold no model of surprise, or one of another version")
        try:
            body = memoryview(zstandard.decompress(content[len(_MAGIC) :]))
        except zstandard.ZstdError as error:
            raise ValueError("the model of surprise is damaged") from error
        made = cls()
        made._count = int.from_bytes(body[:8], "little")
        place = 8
        for each in (made._words, made._alone, made._letters):
            place += each.read(body[place:])
        if place != len(body):
            raise ValueError("the model of surprise is damaged")
        made._full = made._words.load > _FULL
        return made


def general() -> Surprisal:
    """What a new agent starts with. Made once in a process; each caller gets its own to add to."""
    return Surprisal.from_bytes(_general())


@lru_cache(maxsize=1)
def _general() -> bytes:
    made = Surprisal()
    here = resources.files("metnos.context").joinpath("general.txt").read_text(encoding="utf-8")
    made.add(line for line in here.splitlines() if not line.startswith("#"))
    programs = resources.files("metnos.executors").joinpath("builtin")
    manifests = sorted((each.joinpath("manifest.toml") for each in programs.iterdir() if each.is_dir()), key=str)
    for manifest in (each for each in manifests if each.is_file()):
        made.add(_SAID.findall(manifest.read_text(encoding="utf-8")))
    return made.to_bytes()


def _symbol(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) + _FIRST_LETTER


def _spelt(word: str) -> list[int]:
    return [ord(char) + _FIRST_LETTER for char in word[:_LONGEST]] + [_END]
