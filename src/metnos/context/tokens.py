"""How many tokens a text is for the model in use.

Three ways, the best that there is: the vocabulary in the model's own GGUF file, exact, with no server started; the
server's own count, for whoever passes a callable that asks it (llama.cpp and vLLM have ``/tokenize``); else an estimate
from the kinds of characters, which the servers' own counts correct as they come (every reply says how much was read).

Rules: an estimate leans to too many, since too few is what overflows a window; what a server says moves it by a bounded
factor only, because it may lie. Counts are remembered by text. Nothing is downloaded and no package is needed for
it. Does not count what a template puts around a message: `PER_MESSAGE` stands for that.
"""

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from metnos.context.tokens_bpe import BytePairs
from metnos.context.tokens_gguf import NoVocabulary, read

PER_MESSAGE = 16  # tokens of what a chat template puts around one message, counted high
_REMEMBERED = 512  # texts
_LEAST, _MOST = 0.5, 2.0  # what a server may say about our estimate
_STEP = 0.2  # how far one reply moves it
_MARGIN = 1.03  # above what was learnt, since the next text is not the last one


@dataclass(frozen=True, slots=True)
class Rates:
    """Tokens for each kind of stretch, measured high against three vocabularies of 100,000 to 200,000 tokens.

    A word of up to ``short`` letters is one token, a longer one is one for each ``letters``; both for English, which
    vocabularies are made of, and below it for what is not English.
    """

    short: int = 7
    letters: float = 4.2
    short_other: int = 3
    letters_other: float = 3.0
    accented: float = 2.2  # letters of a word that has any beyond ASCII
    digit: float = 1.0  # tokens of each digit: some models read them one by one
    sign: float = 0.85  # of each other sign
    rare_sign: float = 2.5  # of each sign beyond Latin: it is read byte by byte
    blank: float = 0.3  # of each blank beyond the one before a word, and of each line break
    far: float = 1.5  # of each letter of other scripts


RATES = Rates()
_KINDS = re.compile(
    r"(?P<ascii>[A-Za-z]+(?![\u00c0-\u024f]))|(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<digit>\d+)|(?P<blank>\s+)"
    r"|(?P<far>[^\W\d_]+)|(?P<sign>.)",
    re.DOTALL,
)
# English is told by its most usual words: in any English text of some length they are more than one word in eight.
_ENGLISH = re.compile(
    r"\b(?:the|of|to|and|is|for|that|it|with|you|on|are|this|was|be|not|have|my|so|by|or|an)\b", re.IGNORECASE
)
_ONE_IN = 8


class Tokens:
    """Counts for one model. ``how``: by its own vocabulary, by its server, or estimated."""

    def __init__(self, count: Callable[[str], int], how: Literal["vocabulary", "server", "estimate"]) -> None:
        self._count = count
        self.how = how
        self._known: OrderedDict[str, int] = OrderedDict()
        self._factor = 1.0

    @property
    def exact(self) -> bool:
        return self.how != "estimate"

    @property
    def factor(self) -> float:
        """What an estimate is multiplied by, as learnt; the caller may keep it for the next time."""
        return self._factor

    def count(self, text: str) -> int:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._count(text)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found if self.exact else math.ceil(found * self._factor)

    def learn(self, text: str, read: int) -> None:
        """A server says that it read ``text`` as so many tokens. Moves an estimate, and nothing else."""
        estimated = self._count(text)
        if self.exact or estimated < 64 or read <= 0:
            return
        aim = min(max(_MARGIN * read / estimated, _LEAST), _MOST)
        self._factor += _STEP * (aim - self._factor)

    def settle(self, factor: float) -> None:
        """Begin with what was learnt before."""
        self._factor = min(max(factor, _LEAST), _MOST)


def estimated() -> Tokens:
    return Tokens(estimate, "estimate")


def served(ask: Callable[[str], int]) -> Tokens:
    """``ask`` gives the server's own count, or raises `OSError`; then and from then on it is estimated."""
    made = Tokens(ask, "server")

    def count(text: str) -> int:
        if made.how == "server":
            try:
                return ask(text)
            except OSError:
                made.how = "estimate"
        return estimate(text)

    made._count = count
    return made


def of_file(path: Path) -> Tokens:
    """By the vocabulary in a GGUF file, or estimated if it has none that is known."""
    try:
        vocabulary = _vocabulary(path, path.stat().st_mtime_ns)
    except (NoVocabulary, OSError):
        return estimated()
    return Tokens(vocabulary.count, "vocabulary")


@lru_cache(maxsize=1)
def _vocabulary(path: Path, _changed: int) -> BytePairs:
    return read(path)


def estimate(text: str, rates: Rates = RATES) -> int:
    """A count that is seldom too small."""
    lengths: dict[str, list[int]] = {}
    breaks = 0
    rare = 0
    for found in _KINDS.finditer(text):
        kind = found.lastgroup or "sign"
        lengths.setdefault(kind, []).append(found.end() - found.start())
        breaks += kind == "blank" and "\n" in found.group()
        rare += kind == "sign" and found.group() > "\u024f"
    words = lengths.get("ascii", [])
    english = len(_ENGLISH.findall(text)) * _ONE_IN >= len(words)
    short, letters = (rates.short, rates.letters) if english else (rates.short_other, rates.letters_other)
    total = sum(1 if length <= short else length / letters for length in words)
    total += sum(lengths.get("latin", ())) / rates.accented
    total += sum(lengths.get("digit", ())) * rates.digit + sum(lengths.get("far", ())) * rates.far
    total += (sum(length - 1 for length in lengths.get("blank", ())) + breaks) * rates.blank
    total += (len(lengths.get("sign", ())) - rare) * rates.sign + rare * rates.rare_sign
    return math.ceil(total)
