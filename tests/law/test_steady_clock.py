"""A clock that never goes back: what ended stays ended, and nothing lives longer."""

from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law.asks import OWNER
from metnos import app
from metnos.core.clock import MovableClock
from metnos.core.errors import Refused
from metnos.law.principal import Autonomy, Channel
from metnos.law.steady_clock import CORRECTION, LatestTime, SteadyClock, advance, parse
from support import START, at_once

DAY = timedelta(days=1)
STEPS = st.lists(st.integers(-(10**9), 10**9).map(lambda seconds: timedelta(seconds=seconds / 7)), max_size=20)


@given(STEPS)
def test_it_never_goes_back_and_is_the_machines_as_soon_as_that_has_caught_up(steps: list[timedelta]) -> None:
    now, latest = START, LatestTime(0, START)
    for step in steps:
        now += step
        before, latest = latest.told, advance(latest, now)
        assert latest.told >= before
        assert latest.told >= now
        assert (latest.told == now) or now < before
        assert parse(latest.encode()) is not None


@given(st.integers(1, 10**9), st.lists(st.integers(1, 10**6), max_size=20))
def test_while_it_runs_ahead_it_keeps_the_pace(back: int, steps: list[int]) -> None:
    """Nothing that is given while the machine's clock stands too early lives longer, but for a correction's length."""
    now = START - timedelta(seconds=back)
    latest = advance(LatestTime(0, START), now)
    for step in steps:
        now += timedelta(seconds=step)
        before, latest = latest, advance(latest, now)
        if latest.ahead:
            assert abs(latest.told - before.told - timedelta(seconds=step)) <= timedelta(milliseconds=1)
        else:
            assert latest.told == max(now, before.told)
            assert before.told - now <= CORRECTION


@given(STEPS.map(lambda steps: [abs(step) for step in steps]))
def test_a_machine_whose_clock_is_right_is_never_changed(steps: list[timedelta]) -> None:
    now, latest = START, LatestTime(0, START)
    for step in steps:
        now += step
        latest = advance(latest, now)
        assert (latest.told, latest.ahead) == (now, timedelta(0))


@pytest.fixture
def steady(tmp_path: Path, clock: MovableClock) -> SteadyClock:
    return SteadyClock(tmp_path / "time", clock, lambda: None)


def test_a_new_process_knows_what_was_seen(steady: SteadyClock, tmp_path: Path, clock: MovableClock) -> None:
    clock.move(9 * DAY)
    assert steady.now() == START + 9 * DAY
    clock.move(-5 * DAY)
    (told,) = at_once([partial(_now, tmp_path / "time", clock)])
    assert told == START + 9 * DAY
    assert steady.ahead() == 5 * DAY


def _now(path: Path, clock: MovableClock) -> datetime:
    return SteadyClock(path, clock, lambda: None).now()


def test_what_another_process_saw_counts_here(steady: SteadyClock, tmp_path: Path, clock: MovableClock) -> None:
    steady.now()
    SteadyClock(tmp_path / "time", MovableClock(START + 9 * DAY), lambda: None).now()
    assert steady.now() == START + 9 * DAY


@pytest.mark.parametrize("content", [None, b"", b"x" * 64, b"1 2 3\n", b"\0" * 64, b"1 9999-99-99T99:99:99.999Z 1\n"])
def test_a_lost_file_is_made_again_of_what_is_recorded(
    tmp_path: Path, clock: MovableClock, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "time").write_bytes(content)
    steady = SteadyClock(tmp_path / "time", clock, lambda: START + DAY)
    assert steady.now() == START + DAY
    assert parse((tmp_path / "time").read_bytes()) == LatestTime(0, START + DAY, DAY)


def test_where_nothing_can_be_kept_this_process_still_knows(tmp_path: Path, clock: MovableClock) -> None:
    (tmp_path / "time").mkdir()
    steady = SteadyClock(tmp_path / "time", clock, lambda: None)
    steady.now()
    clock.move(-DAY)
    assert steady.now() == START


def test_set_right_it_is_right_in_every_process(steady: SteadyClock, tmp_path: Path, clock: MovableClock) -> None:
    other = SteadyClock(tmp_path / "time", clock, lambda: None)
    clock.move(5000 * DAY)
    assert other.now() == steady.now() == START + 5000 * DAY
    clock.move(-5000 * DAY)
    assert other.now() == START + 5000 * DAY
    steady.set_right()
    assert steady.now() == other.now() == START


def test_it_is_seldom_written(steady: SteadyClock, tmp_path: Path, clock: MovableClock) -> None:
    steady.now()
    before = (tmp_path / "time").read_bytes()
    for _ in range(50):
        clock.move(timedelta(seconds=1))
        steady.now()
    assert (tmp_path / "time").read_bytes() == before
    clock.move(timedelta(seconds=20))
    steady.now()
    assert (tmp_path / "time").read_bytes() != before


class TestWhatHadEndedStaysEnded:
    def test_a_grant(self, opened: app.App, clock: MovableClock) -> None:
        opened.grants.grant("*", "fs.write", "/home/owner", days=1, by=OWNER)  # type: ignore[arg-type]
        clock.move(2 * DAY)
        assert opened.grants.active() == []
        clock.move(-1.5 * DAY)
        assert opened.grants.active() == []
        again = app.App.open(opened.workspace, clock)
        assert again.grants.active() == []

    def test_a_device_and_a_code(self, opened: app.App, clock: MovableClock) -> None:
        code = opened.pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER)
        _, secret = opened.pairing.redeem(
            opened.pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER, days=1), Channel.WEB
        )
        assert opened.pairing.by_secret(secret, Channel.WEB)
        clock.move(2 * DAY)
        assert opened.pairing.by_secret(secret, Channel.WEB) is None
        clock.move(-2 * DAY)
        assert opened.pairing.by_secret(secret, Channel.WEB) is None
        with pytest.raises(Refused):
            opened.pairing.redeem(code, Channel.WEB)

    def test_a_question(self, opened: app.App, clock: MovableClock) -> None:
        asked = opened.inbox.ask("act", "a", {}, "0" * 64, asked_by=OWNER, hours=1)
        clock.move(timedelta(hours=2))
        assert opened.inbox.waiting() == []
        clock.move(-timedelta(hours=1.5))
        assert asked.id not in [each.id for each in opened.inbox.waiting()]

    def test_what_is_given_while_the_clock_is_wrong_ends_in_time(self, opened: app.App, clock: MovableClock) -> None:
        opened.steady.now()
        clock.move(-400 * DAY)
        opened.grants.grant("*", "fs.write", "/home/owner", days=1, by=OWNER)  # type: ignore[arg-type]
        assert len(opened.grants.active()) == 1
        clock.move(1.5 * DAY)
        assert opened.grants.active() == []
