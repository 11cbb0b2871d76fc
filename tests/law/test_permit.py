import dataclasses
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forking
from law.asks import ASK, FETCH, OWNER, WRITE
from metnos.core.clock import MovableClock
from metnos.core.errors import Refused
from metnos.law.need import Need
from metnos.law.permit import LIFETIME, Mint, Permit
from metnos.law.principal import Autonomy, Channel, Principal

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def minted(mint: Mint, **changes: Any) -> Permit:
    fields: dict[str, Any] = {
        "principal": OWNER, "executor": ASK.executor, "executor_digest": ASK.executor_digest,
        "arguments_digest": ASK.arguments_digest, "cwd": ASK.cwd, "turn": ASK.turn, "needs": (WRITE, FETCH),
        "effects": (("write", "x"),), "irreversible": False,
    }  # fmt: skip
    return mint.mint(**(fields | changes))


def check(mint: Mint, permit: Permit) -> None:
    mint.check(permit, ASK.executor_digest, ASK.arguments_digest)


@pytest.fixture
def mint(clock: MovableClock) -> Mint:
    return Mint(clock)


def test_good_once(mint: Mint) -> None:
    permit = minted(mint)
    check(mint, permit)
    for _ in range(2):
        with pytest.raises(Refused, match="used before"):
            check(mint, permit)


def test_a_copy_is_the_same_permit(mint: Mint) -> None:
    permit = minted(mint)
    check(mint, dataclasses.replace(permit))
    with pytest.raises(Refused, match="used before"):
        check(mint, permit)


text = st.text(st.characters(codec="utf-8"), max_size=8)
needs = st.lists(st.sampled_from([WRITE, FETCH, dataclasses.replace(FETCH, outside=False)]), max_size=3).map(tuple)
CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "id": text,
    "principal": st.builds(Principal, st.sampled_from(Channel), text, st.sampled_from(Autonomy)),
    "executor": text,
    "executor_digest": text,
    "arguments_digest": text,
    "cwd": text,
    "turn": text,
    "needs": needs,
    "effects": st.none() | st.lists(st.lists(text, max_size=2).map(tuple), max_size=2).map(tuple),
    "issued": st.timedeltas(timedelta(days=-9), timedelta(days=9)).map(lambda by: START + by),
    "expires": st.timedeltas(timedelta(days=-9), timedelta(days=9)).map(lambda by: START + by),
    "irreversible": st.sampled_from([True, 0, None, ""]),
    "because": st.text(max_size=20) | st.none(),
    "mac": text | st.none() | st.integers(),
}


def test_every_field_is_altered_below() -> None:
    assert set(CHANGES) == {field.name for field in dataclasses.fields(Permit)}


@given(st.sampled_from(sorted(CHANGES)), st.data())
def test_altering_any_field_is_noticed(name: str, data: st.DataObject) -> None:
    mint = Mint(MovableClock(START))
    permit = minted(mint)
    value = data.draw(CHANGES[name])
    if value is getattr(permit, name) or (
        type(value) is type(getattr(permit, name)) and value == getattr(permit, name)
    ):
        return
    altered = dataclasses.replace(permit, **{name: value})
    with pytest.raises(Refused, match="not given by this Metnos"):
        mint.check(altered, altered.executor_digest, altered.arguments_digest)
    check(mint, permit)  # and trying it has not spoilt the real one


@pytest.mark.parametrize(
    "other",
    [
        Need(WRITE.capability, WRITE.target, "", outside=False),
        Need(WRITE.capability, WRITE.target + "/..", ""),
        Need(WRITE.capability, WRITE.target, "x"),
    ],
)
def test_altering_one_part_of_one_need_is_noticed(mint: Mint, other: Need) -> None:
    permit = minted(mint)
    with pytest.raises(Refused, match="altered"):
        check(mint, dataclasses.replace(permit, needs=(other, FETCH)))


@pytest.mark.parametrize("forged", [None, "permit", 7, object(), ()])
def test_what_is_no_permit_is_none(mint: Mint, forged: Any) -> None:
    with pytest.raises(Refused, match="not given by this Metnos"):
        check(mint, forged)


def test_a_permit_made_by_hand_or_by_another_mint_is_forged(mint: Mint, clock: MovableClock) -> None:
    real = minted(mint)

    class Lookalike(Permit):
        __slots__ = ()

    fields = {field.name: getattr(real, field.name) for field in dataclasses.fields(real)}
    for forged in (dataclasses.replace(real, mac=""), minted(Mint(clock)), Lookalike(**fields)):
        with pytest.raises(Refused, match="not given by this Metnos"):
            check(mint, forged)


@pytest.mark.parametrize("digests", [("0" * 64, ASK.arguments_digest), (ASK.executor_digest, "0" * 64)])
def test_good_for_nothing_else(mint: Mint, digests: tuple[str, str]) -> None:
    with pytest.raises(Refused, match="something else"):
        mint.check(minted(mint), *digests)


def test_it_expires(mint: Mint, clock: MovableClock) -> None:
    permit, other = minted(mint), minted(mint)
    clock.move(LIFETIME - timedelta(milliseconds=1))
    check(mint, other)
    clock.move(timedelta(milliseconds=1))
    with pytest.raises(Refused, match="expired"):
        check(mint, permit)


def test_a_clock_set_back_gives_nothing_back(mint: Mint, clock: MovableClock) -> None:
    used, unused = minted(mint), minted(mint)
    check(mint, used)
    clock.move(timedelta(hours=1))
    minted(mint)  # by now the mint has forgotten both
    clock.move(timedelta(hours=-1))
    for permit in (used, unused):
        with pytest.raises(Refused, match="used before"):
            check(mint, permit)
    fresh = minted(mint)
    clock.move(timedelta(seconds=-1))
    with pytest.raises(Refused, match="clock went back"):
        check(mint, fresh)


def test_nothing_is_remembered_for_long(mint: Mint, clock: MovableClock) -> None:
    for _ in range(1000):
        check(mint, minted(mint))
    assert len(mint) == 0
    for _ in range(100):
        minted(mint)
        clock.move(timedelta(seconds=1))
    assert len(mint) <= LIFETIME.total_seconds() + 1


def test_of_many_threads_one_gets_it(mint: Mint) -> None:
    permit = minted(mint)
    start, wins = threading.Barrier(8), []

    def attempt() -> None:
        start.wait()
        try:
            check(mint, permit)
            wins.append(1)
        except Refused:
            pass

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wins == [1]


def test_a_child_of_this_process_cannot_use_it(mint: Mint) -> None:
    permit = minted(mint)

    def use() -> None:
        with pytest.raises(Refused):
            check(mint, permit)

    assert forking.run(use) == 0
    check(mint, permit)
