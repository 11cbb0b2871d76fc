"""Figures, times and sizes as people read them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.core.clock import to_text
from metnos.web import words
from tables import try_each

NOW = datetime(2026, 4, 21, 12, tzinfo=UTC)
anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())


@try_each(
    ("passed", "said"),
    [
        (timedelta(seconds=2), "just now"),
        (timedelta(seconds=40), "40 s ago"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=30), "30 h ago"),
        (timedelta(days=5), "5 days ago"),
        (timedelta(days=120), "4 months ago"),
        (timedelta(days=1200), "3 years ago"),
        (timedelta(hours=-2), "in 2 h"),
    ],
)
def test_how_long_ago(passed: timedelta, said: str) -> None:
    assert words.ago(to_text(NOW - passed), NOW) == said


@try_each(
    ("said", "value"),
    [
        (words.milliseconds(3.04), "3.0 ms"), (words.milliseconds(34.4), "34 ms"), (words.milliseconds(2500), "2.5 s"),
        (words.milliseconds(200_000), "3 min 20 s"), (words.milliseconds(7_260_000), "2 h 1 min"),
        (words.size(685), "685 bytes"), (words.size(2_040_000), "2.0 MB"), (words.size(5e18), "5000.0 PB"),
        (words.money(0), "nothing"), (words.money(0.0042), "$0.0042"), (words.money(1234.5), "$1,234.50"),
        (words.percent(0.125, 1), "12.5%"), (words.figure(12345), "12,345"), (words.figure(0.5), "0.50"),
        (words.counted(1, "line"), "1 line"), (words.counted(2000, "entry", "entries"), "2,000 entries"),
        (words.short("01ABCDEFGHIJ"), "CDEFGHIJ"), (words.plain(["a", 1, True]), "a, 1, yes"),
        (words.plain({"a": "ü"}), '{"a": "ü"}'), (words.points([1, 2, 3], 100, 24), "0.0,22.0 50.0,12.0 100.0,2.0"),
        (words.points([5]), "0.0,12.0 100.0,12.0"), (words.points([]), ""),
    ],
)  # fmt: skip
def test_figures_read_as_people_write_them(said: str, value: str) -> None:
    assert said == value


@given(anything)
def test_whatever_comes_something_is_shown(value: Any) -> None:
    shown = [words.ago(value, NOW)]
    shown += [show(value) for show in (words.moment, words.size, words.money, words.percent, words.figure, words.plain)]
    assert all(isinstance(each, str) for each in shown)
