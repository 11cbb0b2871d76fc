"""Counts of n-grams in tables of fixed size, and what they say about the next symbol: interpolated Kneser-Ney.

A symbol is a number. The longest histories count how often; shorter ones count in how many different places, so that a
word which only ever follows one other is not likely elsewhere. Each level keeps back a discount for what it has not
seen, and the level below divides it.

Rules: memory is bounded by the tables, whatever is added. Tables hold numbers under hashes, never words: who reads the
file finds no text in it. A symbol that was itself counted can be scored as if it had not been (``seen``), else text
that the model was made of would look predictable to the last word. Does not guarantee exact counts: two n-grams may
share a slot, which makes both look a little more common, and rarely so while `load` is below a half.
"""

import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

DISCOUNT = 0.75  # the usual one for absolute discounting
_FACTOR = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: spreads neighbours over the whole table
_BITS64 = (1 << 64) - 1
_MOST = (1 << 16) - 1
START = 1  # what stands before the first symbol


@dataclass(frozen=True, slots=True)
class Level:
    """The tables of one length of history: counts of n-grams, and totals and followers of histories."""

    counts: "array[int]"
    totals: "array[int]"
    followers: "array[int]"
    count_shift: int
    history_shift: int

    @classmethod
    def blank(cls, count_bits: int, history_bits: int) -> "Level":
        return cls(
            array("H", bytes(2 << count_bits)),
            array("I", bytes(4 << history_bits)),
            array("I", bytes(4 << history_bits)),
            64 - count_bits,
            64 - history_bits,
        )

    @property
    def tables(self) -> tuple["array[int]", ...]:
        return self.counts, self.totals, self.followers


class Ngrams:
    """Counts of one alphabet. ``bits`` gives, from the longest history to none, the sizes of both kinds of table."""

    def __init__(self, bits: Sequence[tuple[int, int]]) -> None:
        self._levels = tuple(Level.blank(count, history) for count, history in bits)
        self._before = len(self._levels) - 1

    @property
    def load(self) -> float:
        """The share of the largest table that is in use."""
        counts = self._levels[0].counts
        return 1 - counts.count(0) / len(counts)

    def add(self, symbols: Sequence[int]) -> None:
        for histories, symbol in self._walk(symbols):
            for level, history in zip(self._levels, histories, strict=True):
                at, where = _slots(level, history, symbol)
                level.totals[where] += 1
                known = level.counts[at]
                level.counts[at] = min(known + 1, _MOST)
                if known:
                    break  # what is shorter counts places, and this place is counted
                level.followers[where] += 1

    def chances(
        self, symbols: Sequence[int], base: Callable[[int, bool], float], seen: bool = False
    ) -> Iterator[float]:
        """How likely each symbol is after those before it. ``base`` says it of a place, without any history."""
        for place, (histories, symbol) in enumerate(self._walk(symbols)):
            yield self._chance(histories, symbol, seen, partial(base, place))

    def alone(self, symbol: int, base: Callable[[bool], float]) -> float:
        """How likely a symbol is, whatever stands before it."""
        return self._chance((0,), symbol, False, base)

    def often(self, symbol: int) -> int:
        """How often this symbol was counted without any history."""
        level = self._levels[-1]
        return level.counts[_slots(level, 0, symbol)[0]]

    def _chance(self, histories: Sequence[int], symbol: int, mine: bool, base: Callable[[bool], float]) -> float:
        found = []
        for level, history in zip(self._levels[-len(histories) :], histories, strict=True):
            at, where = _slots(level, history, symbol)
            count, total, followers = level.counts[at], level.totals[where], level.followers[where]
            last = mine and count <= 1  # without this one there would be none, and one place less below
            found.append((count - mine, total - mine, followers - last))
            mine = last
        chance = base(mine)
        for count, total, followers in reversed(found):
            if total > 0:
                kept = max(min(count, total) - DISCOUNT, 0.0)
                # At least one other could follow: a shared slot must not make anything impossible.
                chance = min((kept + DISCOUNT * max(min(followers, total), 1) * chance) / total, 1.0)
        return chance

    def _walk(self, symbols: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
        """Every symbol with the hashes of what stands before it, from the longest to none."""
        before = self._before
        padded = [START] * before + list(symbols)
        for at in range(before, len(padded)):
            histories = []
            for length in range(before, -1, -1):
                history = 0
                for symbol in padded[at - length : at]:
                    history = _mix(history, symbol)
                histories.append(history)
            yield tuple(histories), padded[at]

    # -- as bytes

    def to_bytes(self) -> bytes:
        return b"".join(_little(table).tobytes() for level in self._levels for table in level.tables)

    def read(self, content: memoryview) -> int:
        """Take the tables from the beginning of ``content``; says how many bytes they were. Raises `ValueError`."""
        place = 0
        for level in self._levels:
            for table in level.tables:
                size = len(table) * table.itemsize
                part = content[place : place + size]
                if len(part) != size:
                    raise ValueError("the tables end too early")
                table[:] = _little(array(table.typecode, bytes(part)))
                place += size
        return place


def _slots(level: Level, history: int, symbol: int) -> tuple[int, int]:
    return _mix(history, symbol) >> level.count_shift, (history * _FACTOR & _BITS64) >> level.history_shift


def _mix(history: int, symbol: int) -> int:
    return ((history ^ (history >> 29) ^ symbol) + 1) * _FACTOR & _BITS64


def _little(table: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        table = table[:]
        table.byteswap()
    return table
