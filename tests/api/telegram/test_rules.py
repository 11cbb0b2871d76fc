"""What may be sent, how it is split, and how often."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from metnos.api.telegram.rules import LONGEST, Limiter, bounded, command, inert, length, one_line, pause, split
from tables import try_each

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@given(st.text(max_size=400), st.integers(50, 80), st.integers(1, 5))
def test_parts_fit_are_never_empty_and_lose_nothing_but_blanks(text: str, longest: int, most: int) -> None:
    parts = split(text, longest, most)
    assert len(parts) <= most
    assert all(0 < length(part) <= longest and part.strip() for part in parts)
    whole = split(text, longest, 1000)
    assert "".join("".join(whole).split()) == "".join(inert(text).split())
    if len(whole) > most:
        assert "more characters" in parts[-1]


@given(st.text(max_size=300))
def test_what_is_sent_can_be_sent_and_obeys_nobody(text: str) -> None:
    shown = inert(text)
    shown.encode("utf-8")
    assert all(char.isprintable() or char in "\n\u200d" for char in shown)
    assert "\n" not in one_line(text, 80)
    assert len(one_line(text, 80)) <= 80


@given(st.text(min_size=1, max_size=200), st.integers(3, 100))
def test_what_is_bounded_fits(text: str, longest: int) -> None:
    assert length(bounded(text, longest)) <= longest


def test_a_text_is_broken_between_lines_before_words() -> None:
    assert split("first line\nsecond one here", 16) == ["first line", "second one here"]
    assert length("🙂" * 2048) == LONGEST
    assert split("🙂" * 2049) == ["🙂" * 2048, "🙂"]


@try_each(
    ("text", "found"),
    [
        ("/undo", ("undo", "")),
        (" /PAIR  abc def ", ("pair", "abc def")),
        ("/undo@metnos_bot", ("undo", "")),
        ("/undo@Metnos_Bot now", ("undo", "now")),
        ("/undo@other_bot", None),
        ("undo", None),
        ("see /undo", None),
        ("/usr/bin is a folder", None),
        ("/", None),
    ],
)
def test_commands(text: str, found: tuple[str, str] | None) -> None:
    assert command(text, "metnos_bot") == found


def test_a_limit_holds_for_its_time_and_for_each_key() -> None:
    limits = Limiter(keys=2)
    hour = timedelta(hours=1)
    assert [limits.allow("a", NOW, 2, hour) for _ in range(3)] == [True, True, False]
    assert limits.allow("b", NOW, 2, hour)
    assert limits.allow("a", NOW + hour, 2, hour)
    assert limits.allow("a", NOW - 9 * hour, 1, hour)  # a clock that was set back silences nobody


def test_a_limiter_remembers_only_so_many() -> None:
    limits = Limiter(keys=2)
    for key in "abc":
        limits.allow(key, NOW, 1, timedelta(hours=1))
    assert limits.allow("a", NOW, 1, timedelta(hours=1))
    assert not limits.allow("c", NOW, 1, timedelta(hours=1))


@given(st.integers(0, 10_000))
def test_pauses_grow_and_end_somewhere(failures: int) -> None:
    assert 1 <= pause(failures, 1, 60) <= pause(failures + 1, 1, 60) <= 60
