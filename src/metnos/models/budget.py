"""What one turn, and a whole life, may spend on language models, checked before each call.

Rules: a call is begun only if the worst that it can cost still fits: all of its prompt, counted pessimistically, and
all the tokens that it may write, twice if the reply may have to be asked for again. What it really cost is written down
after it, but never less than our own low count nor more than that worst case, so that a server which lies about it can
neither buy more calls nor end the turn's purse by one word. A call that broke off costs its worst case. While a call
runs its worst case is held, so calls at the same time cannot overdraw together. Where a life has a balance, part of it
is a reserve for its end: only a call that says it is made for that can draw on it. Does not guarantee what a provider
writes on its bill: prices are the owner's settings.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal, Protocol

from metnos.core.errors import ModelError
from metnos.models.chat import Chat, OnText, Prompt, Reply, Usage

_FREE = frozenset(("none", "unreachable", "refused", "budget", "key", "missing"))  # nothing was read or written then
_PER_MESSAGE = 16  # what the server's template puts around each
_REPAIR_WORDS = 400  # tokens of the sentence that asks again
_MILLION = 1_000_000
_RESERVE_USD, _RESERVE_SHARE = 0.30, 0.02  # seed 003: max($0.30, 2 % of the first balance)

Refuse = Callable[[], None]  # raises where no question may be asked
Use = Literal["life", "death"]  # what money is spent on
_DENSE = re.compile(r"[^A-Za-z\s]")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens. ``cache_write`` is what a first reading costs more, where a prefix is kept."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 1.0
    cache_write: float = 1.0

    def usd(self, input_tokens: int, output_tokens: int, cached: int = 0, written: int = 0) -> float:
        """What so many tokens cost; of those read, ``cached`` were known and ``written`` are now."""
        cached = min(max(cached, 0), input_tokens)
        written = min(max(written, 0), input_tokens - cached)
        read = input_tokens - cached - written + cached * self.cache_read + written * self.cache_write
        return (read * self.input + output_tokens * self.output) / _MILLION

    def worst(self, input_tokens: int, output_tokens: int) -> float:
        dearest = max(1.0, self.cache_write) * self.input
        return (input_tokens * dearest + output_tokens * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of one turn."""

    turn_tokens: int
    turn_usd: float


class Fund(Protocol):
    """The money of a whole life, for one use of it (`metnos.models.account`)."""

    def hold(self, usd: float) -> int:
        """Take the most that a call can cost aside; returns its number. Raises `ModelError` if it is not there."""
        ...

    def settle(self, number: int, usd: float) -> None:
        """What it really cost."""
        ...


@dataclass(frozen=True, slots=True)
class Worst:
    """The most that one call can cost, and the least that it costs if it succeeds."""

    input_tokens: int
    output_tokens: int
    usd: float
    least_input: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def most_tokens(text: str) -> int:
    """A high count: two letters or blanks to a token, and one for every byte of digits, signs and other scripts."""
    dense = len("".join(_DENSE.findall(text)).encode(errors="replace"))
    plain = len(text) - len(_DENSE.findall(text))
    return dense + (plain + 1) // 2


def least_tokens(text: str) -> int:
    """A low count: no tokenizer packs ordinary text more densely."""
    return len(text.encode(errors="replace")) // 8


def likely_tokens(text: str) -> int:
    """The count to take when a server gives none."""
    return (len(text.encode(errors="replace")) + 2) // 3


def worst_case(prompt: Prompt, price: Price) -> Worst:
    """What ``prompt`` can cost at most, asking again included."""
    texts = [prompt.system, *(message.text for message in prompt.messages)]
    once = sum(most_tokens(text) + _PER_MESSAGE for text in texts)
    reads, writes = once, prompt.max_tokens
    if prompt.schema is not None:
        schema = most_tokens(json.dumps(dict(prompt.schema)))
        # The second time it also reads its first reply, what is wrong with it, and the schema in words.
        reads = 2 * (once + schema + _REPAIR_WORDS) + prompt.max_tokens
        writes = 2 * prompt.max_tokens
    return Worst(reads, writes, price.worst(reads, writes), min(reads, sum(map(least_tokens, texts))))


def reserve_of(balance: float) -> float:
    """What of a life's balance is kept for its end; never more than there is."""
    return min(max(_RESERVE_USD, _RESERVE_SHARE * balance), max(balance, 0.0))


def left_of(balance: float, spent: float, use: Use) -> float:
    """What may still be spent: by its end all that there is, by the life before it all but the reserve."""
    kept = reserve_of(balance) if use == "life" else 0.0
    return max(0.0, balance - kept - spent)


class Meter:
    """What a turn has spent so far."""

    __slots__ = ("_budget", "_held", "_lock", "_spent")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._spent = Usage()
        self._held: list[Worst] = []
        self._lock = Lock()

    @property
    def spent(self) -> Usage:
        return self._spent

    def require(self, prompt: Prompt, price: Price) -> Worst:
        """Hold the worst case of this call, or raise if it does not fit. To be settled by one of the three below."""
        worst = worst_case(prompt, price)
        with self._lock:
            tokens = self._spent.tokens + sum(each.tokens for each in self._held)
            usd = self._spent.usd + sum(each.usd for each in self._held)
            if tokens + worst.tokens > self._budget.turn_tokens:
                raise _over_tokens(worst, self._budget.turn_tokens - tokens)
            if usd + worst.usd > self._budget.turn_usd:
                raise _over_usd(worst, self._budget.turn_usd, usd)
            self._held.append(worst)
        return worst

    def record(self, worst: Worst, reply: Reply, price: Price) -> Usage:
        """Write down what a call cost; returns it as it counts."""
        said, usage = reply.text, reply.usage
        read = int(_within(usage.input_tokens, worst.least_input, worst.input_tokens))
        wrote = int(_within(usage.output_tokens, least_tokens(said), worst.output_tokens))
        cached = int(_within(usage.cached_tokens, 0, read))
        usd = _within(usage.usd, price.usd(read, wrote, cached), worst.usd)
        counted = Usage(max(usage.calls, 1), read, wrote, cached, usd, usage.wall_ms)
        self._settle(worst, counted)
        return counted

    def write_off(self, worst: Worst) -> None:
        """Write down a call that broke off: nobody knows what it cost, so it cost the most that it could."""
        self._settle(worst, Usage(1, worst.input_tokens, worst.output_tokens, 0, worst.usd))

    def let_go(self, worst: Worst) -> None:
        """Forget a call that never reached a model."""
        self._settle(worst, Usage())

    def _settle(self, worst: Worst, usage: Usage) -> None:
        with self._lock:
            self._held.remove(worst)
            self._spent += usage


class Within(Meter):
    """A budget inside a turn's: what both allow is allowed, and what is spent is spent in both."""

    __slots__ = ("_outer",)

    def __init__(self, budget: Budget, outer: Meter) -> None:
        super().__init__(budget)
        self._outer = outer

    def require(self, prompt: Prompt, price: Price) -> Worst:
        worst = super().require(prompt, price)
        try:
            return self._outer.require(prompt, price)
        except BaseException:
            super()._settle(worst, Usage())
            raise

    def _settle(self, worst: Worst, usage: Usage) -> None:
        super()._settle(worst, usage)
        self._outer._settle(worst, usage)


def _over_tokens(worst: Worst, left: int) -> ModelError:
    return ModelError(
        f"asking the language model could use {worst.tokens} tokens, and this turn has {max(left, 0)} left",
        kind="budget",
        fix="Ask for less at once, or raise models.turn_tokens.",
    )


def _over_usd(worst: Worst, most: float, spent: float) -> ModelError:
    return ModelError(
        f"asking the language model could cost ${worst.usd:.4f}, and of this turn's ${most:.2f} ${spent:.4f} are spent",
        kind="budget",
        fix="Ask for less at once, or raise models.turn_usd.",
    )


def _within(claimed: float, least: float, most: float) -> float:
    """What is claimed, within what is possible. In this order: a claim that is not a number counts as the least."""
    return min(max(least, claimed), most)


class Metered:
    """A model whose every call is checked against a turn's budget first, and against the money of the whole life.

    ``refuse`` raises where nothing may be asked at all, and is called before each question.
    """

    __slots__ = ("_chat", "_fund", "_meter", "_price", "_refuse")

    def __init__(
        self,
        chat: Chat,
        meter: Meter,
        price: Price | None = None,
        fund: Fund | None = None,
        refuse: Refuse = lambda: None,
    ) -> None:
        self._refuse = refuse
        self._chat = chat
        self._meter = meter
        self._price = price or Price()
        self._fund = fund

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def outside(self) -> bool:
        return self._chat.outside

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self._refuse()
        worst = self._meter.require(prompt, self._price)
        held = self._hold(worst)
        try:
            reply = self._chat.ask(prompt, on_text)
        except ModelError as error:
            free = error.kind in _FREE
            (self._meter.let_go if free else self._meter.write_off)(worst)
            self._settle(held, 0.0 if free else worst.usd)
            raise
        except BaseException:  # interrupted: what was asked was asked
            self._meter.write_off(worst)
            self._settle(held, worst.usd)
            raise
        counted = self._meter.record(worst, reply, self._price)
        self._settle(held, counted.usd)
        return replace(reply, usage=counted)

    def _hold(self, worst: Worst) -> int | None:
        """What costs nothing needs no money: a model at home can be asked by whoever has spent all."""
        if self._fund is None or worst.usd <= 0:
            return None
        try:
            return self._fund.hold(worst.usd)
        except BaseException:
            self._meter.let_go(worst)
            raise

    def _settle(self, held: int | None, usd: float) -> None:
        if self._fund is not None and held is not None:
            self._fund.settle(held, usd)
