"""Making text shorter by leaving out what can be missed: whole sentences first, then words inside those that stay.

What stays is chosen by two things: how much a word tells (its surprisal, `metnos.context.surprisal`) and how near its
sentence is to the question. A sentence is near if it has the question's telling words, or stands in a text that has:
an answer often follows what it answers.

Rules (property-tested): the result meets its target by the caller's own count of tokens, always, and if nothing else
fits it is empty. It is made of pieces of the text in their order, and no piece is cut: a piece is what stands between
blanks, or more (`pieces`), so no code point, number, path, address, quoted string, row of a table or fence is ever in
two; a number stays with what it counts, and a *not* with what it denies. The same input gives the same text. Does not
guarantee that what was left out was not needed, nor good style.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metnos.context.pieces import Piece, pieces, sentences
from metnos.context.surprisal import Telling, Word

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Rules:
    """Numbers of compression, chosen by `bench compress` on conversations; the seed gives none that is used."""

    thinnest: float = 0.9  # of the tokens of the sentences that stay; beyond function words more is lost than won
    question: float = 24.0  # what having all of the question's words is worth, where a mean sentence's bits are one
    around: float = 0.8  # of nearness: how much the part as a whole counts, beside the sentence itself
    prior: float = 1.0  # what the caller's weight of a part is worth: it decides where the question does not
    digit_bits: float = 12.0  # that anything with a digit has at least: a date is expected and still the answer
    most_bits: float = 24.0  # of one word: a longer string of letters is not more telling


DEFAULT = Rules()
_TRIES = 12  # pieces that are tried one by one to use up what is left


@dataclass(frozen=True, slots=True)
class Part:
    """One text of several that are shortened together. ``weight`` in [0, 1]: how much it matters, if that is known."""

    text: str
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Shortened:
    """What is left of one part, and which of its characters that is."""

    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece that may be kept: of which part and sentence, and how many bits and tokens it is worth."""

    part: int
    sentence: int
    piece: Piece
    bits: float
    cost: int


def compress(text: str, target: int, *, question: str = "", count: Count, model: Telling, seen: bool = False) -> str:
    """``text`` in at most ``target`` tokens. ``seen``: the model was made with this text among others."""
    (only,) = compress_parts([Part(text)], target, question=question, count=count, model=model, seen=seen)
    return only.text


def compress_parts(
    parts: Sequence[Part],
    target: int,
    *,
    question: str = "",
    count: Count,
    apiece: Count | None = None,
    model: Telling,
    seen: bool = False,
    rules: Rules = DEFAULT,
) -> tuple[Shortened, ...]:
    """All parts together in at most ``target`` tokens, each as what is left of it; nothing may be left of some.

    They are counted as they will stand, one under the other; ``apiece`` counts one piece, if ``count`` adds to it.
    """
    whole = tuple(Shortened(part.text, ((0, len(part.text)),) if part.text else ()) for part in parts)
    if _total(whole, count) <= target:
        return whole
    groups = [sentences(pieces(part.text)) for part in parts]
    items = _items(parts, groups, apiece or count, model, seen, rules)
    worth = _worth(parts, groups, items, question, model, rules)
    small = [each for each in items if each.cost <= target]
    apart = sum(each.cost for each in items) / max(_total(whole, count), 1)  # pieces cost more one by one
    order = _order(_sentences(small, worth, target * apart / rules.thinnest), worth)
    return _fit(parts, order, target, count)


# -- what each piece is worth


def _items(
    parts: Sequence[Part],
    groups: Sequence[Sequence[Sequence[Piece]]],
    count: Count,
    model: Telling,
    seen: bool,
    rules: Rules,
) -> list[_Item]:
    found: list[_Item] = []
    costs: dict[str, int] = {}
    number = 0
    scored = model.scores([part.text for part in parts], seen=seen)
    for place, (part, group) in enumerate(zip(parts, groups, strict=True)):
        words = deque(scored[place])
        for sentence in group:
            for piece in sentence:
                bits = 0.0
                while words and words[0].start < piece.end:
                    bits += _bits(part.text, words.popleft(), rules)
                text = part.text[piece.start : piece.end]
                if text not in costs:
                    costs[text] = max(count(f" {text}"), 1)
                found.append(_Item(place, number, piece, bits, costs[text]))
            number += 1
    return found


def _bits(text: str, word: Word, rules: Rules) -> float:
    least = rules.digit_bits if any(char.isdecimal() for char in text[word.start : word.end]) else 0.0
    return max(min(word.bits, rules.most_bits), least)


def _worth(
    parts: Sequence[Part],
    groups: Sequence[Sequence[Sequence[Piece]]],
    items: Sequence[_Item],
    question: str,
    model: Telling,
    rules: Rules,
) -> list[float]:
    """What each sentence is worth: how telling it is, how near to the question, and the weight of its part."""
    asked = _asked(question, model)
    bits, cost = sum(each.bits for each in items), sum(each.cost for each in items)
    mean = bits / cost if bits else 1.0
    told: list[tuple[float, int]] = [(0.0, 0)] * sum(len(group) for group in groups)
    for each in items:
        have, tokens = told[each.sentence]
        told[each.sentence] = (have + each.bits, tokens + each.cost)
    worth: list[float] = []
    for part, group in zip(parts, groups, strict=True):
        around = asked.nearness(part.text)
        values: list[float] = []
        for sentence in group:
            have, tokens = told[len(worth) + len(values)]
            own = asked.nearness(part.text[sentence[0].start : sentence[-1].end])
            nearness = (1 - rules.around) * own + rules.around * around
            values.append(have / tokens / mean + rules.question * nearness + rules.prior * part.weight)
        worth += _headed(group, values)
    return worth


def _headed(group: Sequence[Sequence[Piece]], values: Sequence[float]) -> list[float]:
    """The heading of a table is worth as much as the best of what stands below it."""
    best = 0.0
    found: list[float] = []
    for sentence, value in zip(reversed(group), reversed(values), strict=True):
        best = max(best, value)
        found.append(best if sentence[0].held else value)
    return found[::-1]


# -- what is left out


def _sentences(items: Sequence[_Item], worth: Sequence[float], room: float) -> list[_Item]:
    """The pieces of the sentences that are worth most, as long as there is room; the last of them may not fit whole."""
    costs = [0] * len(worth)
    for each in items:
        costs[each.sentence] += each.cost
    kept: set[int] = set()
    used = 0
    for number in sorted(range(len(worth)), key=lambda at: (-worth[at], at)):
        if used >= room:
            break
        kept.add(number)
        used += costs[number]
    return [each for each in items if each.sentence in kept]


def _order(kept: Sequence[_Item], worth: Sequence[float]) -> list[_Item]:
    """The pieces of these sentences, the one to be left out first at the end: the one that tells least, and rather of a
    sentence that is worth little."""
    best = max(worth, default=1.0)

    def value(each: _Item) -> float:
        return each.bits * (1 + worth[each.sentence] / best)

    return sorted(kept, key=lambda each: (not each.piece.held, -value(each)))  # stable: of two alike the later goes


def _fit(parts: Sequence[Part], order: Sequence[_Item], target: int, count: Count) -> tuple[Shortened, ...]:
    """As many of the pieces, the best first, as the target allows, and of the next ones those that still fit."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        if _total(_joined(parts, order[:middle]), count) <= target:
            low = middle
        else:
            high = middle - 1
    # A tokenizer may count less for more, which misleads the search: what counts is what is counted now.
    while low and _total(_joined(parts, order[:low]), count) > target:
        low -= 1
    kept = list(order[:low])
    left = target - _total(_joined(parts, kept), count)
    for each in order[low : low + _TRIES]:
        if each.cost <= left and (used := _total(_joined(parts, [*kept, each]), count)) <= target:
            kept.append(each)
            left = target - used
    return _joined(parts, kept)


def _joined(parts: Sequence[Part], kept: Sequence[_Item]) -> tuple[Shortened, ...]:
    chosen: list[list[Piece]] = [[] for _ in parts]
    for each in kept:
        chosen[each.part].append(each.piece)
    return tuple(_one(part.text, sorted(found, key=_start)) for part, found in zip(parts, chosen, strict=True))


def _start(piece: Piece) -> int:
    return piece.start


def _one(text: str, kept: Sequence[Piece]) -> Shortened:
    """Pieces as they stood: side by side if they were, else with one blank, or one line break if there was one."""
    out: list[str] = []
    last: Piece | None = None
    for piece in kept:
        if last is not None:
            between = text[last.end : piece.start]
            out.append(between if not between.strip() else "\n" if "\n" in between else " ")
        out.append(text[piece.start : piece.end])
        last = piece
    return Shortened("".join(out), tuple((each.start, each.end) for each in kept))


def _total(made: Sequence[Shortened], count: Count) -> int:
    text = "\n".join(each.text for each in made if each.text)
    return count(text) if text else 0


# -- the question


class _Asked:
    """The telling words of a question, each with its share of all that they tell."""

    def __init__(self, shares: dict[str, float]) -> None:
        self._shares = shares
        self._begin: dict[str, list[str]] = {}
        for word in shares:
            self._begin.setdefault(word[:_STEM], []).append(word)

    def nearness(self, sentence: str) -> float:
        """Which share of the question a sentence has, in [0, 1]."""
        met: dict[str, float] = {}
        for found in _WORD.finditer(sentence):
            word = _folded(found.group())
            for asked in self._begin.get(word[:_STEM], ()):
                met[asked] = max(met.get(asked, 0.0), _alike(word, asked))
        return sum(self._shares[word] * much for word, much in met.items())


_STEM = 4
_WORD = re.compile(r"[^\W_]+")
_DULL = 7.0  # bits: what is in every text says nothing about any; the usual function words have two to seven


def _asked(question: str, model: Telling) -> _Asked:
    words = dict.fromkeys(found.group() for found in _WORD.finditer(question))
    telling = {_folded(word): max(model.information(word) - _DULL, 0.0) for word in words}
    total = sum(telling.values())
    return _Asked({word: bits / total for word, bits in telling.items() if bits > 0} if total else {})


def _alike(one: str, other: str) -> float:
    """Whether two words are forms of one another: 1 if equal, less if only their endings differ, else 0."""
    if one == other:
        return 1.0
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return 0.8 if shared >= _STEM and max(len(one), len(other)) - shared <= 3 else 0.0


def _folded(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
