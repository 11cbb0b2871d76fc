"""How surprising each word of a text is to a language model of this machine, where the owner wants it to be asked.

The same words as those of `metnos.context.surprisal`, with the bits of the model's own tokens: a token's bits are
shared by its letters, and a word has those of its letters. A blank tells nothing. How much a word tells by itself, and
so what a question is about, is still known from the small model; that stays the greater part of what counts, because
what a great model expects where it stands is often just what is needed.

Rules: what is scored for one context is bounded in tokens and in seconds, because a model without a graphics card
scores some tens of tokens a second. Texts whose bits are compared are scored by one and the same: if the model cannot
score all of them the small model scores them all, and the `note` says so. After a failure the model is not asked again
for this context. What was scored is remembered for as long as this process lives, so that what stands in one context
after another is scored once. Does not guarantee that a context comes as fast as without it.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from metnos.context.surprisal import Surprisal, Word, words_of
from metnos.core.canon import sha256_hex
from metnos.core.errors import ModelError
from metnos.models.scoring import Token

_KEPT = 512  # texts
_BLANK = frozenset(b" \t\n\r\v\f")

Score = Callable[[str, int, float], Sequence[Token]]  # a text, at most so many tokens, at most so many seconds


@dataclass(frozen=True, slots=True)
class Scorer:
    """A model that scores: what it is called, how it is asked, how its tokens are counted, and how much it may do."""

    name: str
    score: Score
    count: Callable[[str], int]
    tokens: int = 512
    seconds: float = 60.0
    kept: "OrderedDict[str, tuple[Word, ...]]" = field(default_factory=OrderedDict)


class ModelSurprisal:
    """A model's surprisal, for one context. ``note`` says who scored what, and is empty if nobody had to."""

    def __init__(self, usual: Surprisal, scorer: Scorer, now: Callable[[], float] = time.monotonic) -> None:
        self._usual = usual
        self._scorer = scorer
        self._now = now
        self._until = now() + scorer.seconds
        self._left = scorer.tokens
        self._scored = 0
        self._why = ""
        self._failed = False

    @property
    def note(self) -> str:
        by = f"{self._scored} tokens scored by {self._scorer.name}" if self._scored else ""
        return "; ".join(filter(None, (by, f"scored without it: {self._why}" if self._why else "")))

    def information(self, word: str) -> float:
        return self._usual.information(word)

    def scores(self, texts: Sequence[str], *, seen: bool = False) -> list[tuple[Word, ...]]:
        need = sum(self._scorer.count(text) for text in texts if _key(text) not in self._scorer.kept)
        if not self._failed and need <= self._left:
            try:
                return self._usual.blended(texts, [self._words(text) for text in texts])
            except ModelError as error:
                self._failed, self._why = True, error.what
        elif not self._failed:
            self._why = f"{need} tokens, and of {self._scorer.tokens} a context {self._left} are left"
        return self._usual.scores(texts, seen=seen)

    def _words(self, text: str) -> tuple[Word, ...]:
        kept, key = self._scorer.kept, _key(text)
        if key not in kept:
            told = self._scorer.score(text, self._left, self._until - self._now())
            self._left -= len(told)
            self._scored += len(told)
            kept[key] = words(text, told)
        kept.move_to_end(key)
        while len(kept) > _KEPT:
            kept.popitem(last=False)
        return kept[key]


def _key(text: str) -> str:
    """What stands for a text that was scored: what is forgotten must not go on living here."""
    return sha256_hex(text.encode(errors="surrogatepass"))


def words(text: str, tokens: Sequence[Token]) -> tuple[Word, ...]:
    """The words of a text with the bits of its tokens, wherever these begin and end."""
    sums = [0.0, *accumulate(bits for token in tokens for bits in _shared(token))]
    places = [0, *accumulate(len(char.encode()) for char in text)]
    return tuple(Word(start, end, max(sums[places[end]] - sums[places[start]], 0.0)) for start, end in words_of(text))


def _shared(token: Token) -> list[float]:
    """A token's bits, byte by byte."""
    telling = [byte not in _BLANK for byte in token.text]
    each = token.bits / max(sum(telling), 1)
    return [each if tells else 0.0 for tells in telling]
