import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ModelError
from metnos.models.budget import (
    Budget,
    Meter,
    Metered,
    Price,
    Within,
    least_tokens,
    likely_tokens,
    most_tokens,
    worst_case,
)
from metnos.models.chat import Message, OnText, Prompt, Reply, Usage
from metnos.models.scripted import DIES, GONE, HANGS, Scripted


class Liar:
    """A model that claims what it likes."""

    name, outside = "liar", True

    def __init__(self, reply: Reply | ModelError | BaseException) -> None:
        self.reply = reply

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply


def question(text: str = "hello", max_tokens: int = 50, schema: dict[str, Any] | None = None) -> Prompt:
    return Prompt("be brief", (Message("user", text),), schema, max_tokens)


claims = st.integers(-(10**12), 10**12)
usages = st.builds(Usage, st.integers(-5, 5), claims, claims, claims, st.floats(), st.floats())
replies = st.builds(Reply, st.text(max_size=400), st.none(), usages)
outcomes = replies | st.sampled_from([DIES, HANGS, GONE, ModelError("x", kind="empty"), KeyboardInterrupt()])
prompts = st.builds(
    question, st.text(max_size=200), st.integers(1, 300), st.none() | st.just({"type": "object"})
)  # fmt: skip
prices = st.builds(Price, st.floats(0, 1e4), st.floats(0, 1e4), st.just(0.1), st.sampled_from([1.0, 1.25]))


@given(st.integers(0, 5000), st.floats(0, 2), prices, st.lists(st.tuples(prompts, outcomes), max_size=12))
def test_no_turn_exceeds_its_bounds_whatever_the_replies_say(
    tokens: int, usd: float, price: Price, calls: list[tuple[Prompt, Any]]
) -> None:
    meter = Meter(Budget(tokens, usd))
    for prompt, outcome in calls:
        with suppress(ModelError, KeyboardInterrupt):
            Metered(Liar(outcome), meter, price).ask(prompt)
        assert 0 <= meter.spent.tokens <= tokens
        assert 0 <= meter.spent.usd <= usd
        assert math.isfinite(meter.spent.usd)


@given(st.lists(prompts, min_size=1, max_size=8), st.integers(0, 3000))
def test_calls_at_the_same_time_cannot_overdraw_together(wanted: list[Prompt], tokens: int) -> None:
    meter, held = Meter(Budget(tokens, 1.0)), []
    for prompt in wanted:
        try:
            held.append(meter.require(prompt, Price()))
        except ModelError:
            continue
    assert sum(worst.tokens for worst in held) <= tokens
    for worst in held:
        meter.write_off(worst)
    assert meter.spent.tokens == sum(worst.tokens for worst in held)


def test_a_server_that_claims_nothing_is_counted_by_us() -> None:
    meter = Meter(Budget(100_000, 1.0))
    chat = Metered(Liar(Reply("word " * 100, None, Usage())), meter, Price(1.0, 1.0))
    counted = chat.ask(question("word " * 800, max_tokens=100)).usage
    assert counted.input_tokens >= 500
    assert counted.output_tokens >= 62
    assert counted.usd > 0
    assert meter.spent == counted


def test_an_honest_server_is_believed() -> None:
    meter = Meter(Budget(10_000, 1.0))
    reply = Reply("Rome is the capital.", None, Usage(1, 12, 5, 3, 0.0, 40.0))
    assert Metered(Liar(reply), meter).ask(question()).usage == reply.usage


def test_a_call_that_never_reached_a_model_costs_nothing_and_one_that_broke_off_all_it_could() -> None:
    meter = Meter(Budget(10_000, 1.0))
    with pytest.raises(ModelError):
        Metered(Scripted([GONE]), meter).ask(question())
    assert meter.spent == Usage()
    with pytest.raises(ModelError):
        Metered(Scripted([DIES]), meter).ask(question())
    assert meter.spent.tokens == worst_case(question(), Price()).tokens


def test_what_does_not_fit_is_refused_before_it_is_asked() -> None:
    chat = Scripted(["never"])
    with pytest.raises(ModelError, match="could use") as caught:
        Metered(chat, Meter(Budget(40, 1.0))).ask(question())
    assert caught.value.kind == "budget"
    assert "models.turn_tokens" in caught.value.fix
    with pytest.raises(ModelError, match=r"could cost \$") as caught:
        Metered(chat, Meter(Budget(10_000, 0.001)), Price(100.0, 100.0)).ask(question())
    assert "models.turn_usd" in caught.value.fix
    assert chat.asked == []
    assert Metered(chat, Meter(Budget(10_000, 0.0))).ask(question()).text == "never"  # what is free costs nothing


@given(st.text(max_size=500))
def test_our_three_counts_are_in_order(text: str) -> None:
    assert least_tokens(text) <= likely_tokens(text)
    assert least_tokens(text) <= most_tokens(text) + 1
    assert most_tokens(text) <= len(text.encode(errors="replace"))


def test_a_reply_by_schema_may_be_asked_for_twice() -> None:
    plain, by_schema = question(), question(schema={"type": "object"})
    assert worst_case(by_schema, Price()).tokens > 2 * worst_case(plain, Price()).tokens


def test_a_cached_prefix_has_its_own_price() -> None:
    price = Price(10.0, 0.0, cache_read=0.1, cache_write=1.25)
    assert price.usd(1_000_000, 0) == pytest.approx(10.0)
    assert price.usd(1_000_000, 0, cached=1_000_000) == pytest.approx(1.0)
    assert price.usd(1_000_000, 0, written=1_000_000) == pytest.approx(12.5)
    assert price.worst(1_000_000, 0) == pytest.approx(12.5)


@given(
    st.tuples(st.integers(0, 5000), st.integers(0, 5000)),
    prices,
    st.lists(st.tuples(prompts, outcomes, st.booleans()), max_size=12),
)
def test_a_budget_inside_another_exceeds_neither(
    tokens: tuple[int, int], price: Price, calls: list[tuple[Prompt, Any, bool]]
) -> None:
    outer = Meter(Budget(tokens[0], 1.0))
    inner = Within(Budget(tokens[1], 0.5), outer)
    for prompt, outcome, inside in calls:
        with suppress(ModelError, KeyboardInterrupt):
            Metered(Liar(outcome), inner if inside else outer, price).ask(prompt)
        assert inner.spent.tokens <= min(tokens)
        assert inner.spent.tokens <= outer.spent.tokens <= tokens[0]
        assert inner.spent.usd <= 0.5
        assert outer.spent.usd <= 1.0


def test_what_the_outer_budget_refuses_is_not_held_by_the_inner() -> None:
    inner = Within(Budget(10**6, 1.0), Meter(Budget(0, 1.0)))
    for _ in range(2):
        with pytest.raises(ModelError, match="0 left"):
            Metered(Scripted(["hello"]), inner).ask(question())
    assert inner.spent.tokens == 0
