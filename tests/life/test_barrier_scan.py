"""The scan: what it finds, what it lets be, and that it never repeats what it found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.life.barrier_scan import RUN, Known, Windows, by_form, runs, scan
from tables import try_each

KNOWN = Known(("correct-horse-battery",), frozenset("find the files in a folder and read them".split()))


class TestByForm:
    @try_each(
        "text",
        [
            "correct-horse-battery",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "AKIA" + "ABCDEFGHIJKLMNOP",
            "ghp_" + "a1B2" * 9,
            "sk-" + "abcd1234" * 4,
            "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK",
            "https://user:hunter2@example.org/",
            "the password is hunter22",
            "q8Zr3Lw0Xv5Tn2Yb7Kp4Hd9Sf6Gj1",
            "/home/somebody/x",
            "~/letters",
            "look in /Users/x/y",
            r"C:\things\x",
            "me@example.org",
            "+39 333 123 4567",
            "IT60 X054 2811 1010 0000 0123 456",
        ],
    )
    def test_found(self, text: str) -> None:
        reason = by_form(text, KNOWN)
        assert reason
        assert text not in reason

    @pytest.mark.parametrize(
        "text",
        [
            "read_tables fails with not_found on some path.",
            "ab" * 32,
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "list_reminders_weekly_and_more",
            "Passwords are not asked for here.",
            'For requests of the form "find <files> in <folder>": find_files.',
        ],
    )
    def test_let_be(self, text: str) -> None:
        assert by_form(text, KNOWN) == ""


class TestWindows:
    PRIVATE = "My sister keeps the old letters in the attic."

    def test_a_run_of_private_words_is_found_however_it_is_written(self) -> None:
        told = {"a": ["It is said: MY SISTER, keeps the\nold things"], "b": ["the old letters are there"]}
        assert Windows(told, KNOWN).repeating([self.PRIVATE]) == {"a"}

    def test_words_that_say_nothing_of_anybody_are_none(self) -> None:
        text = "find the files in a folder and read them"
        assert Windows({"a": [text]}, KNOWN).repeating([text]) == set()

    @given(
        st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta".split()), min_size=RUN, max_size=30), st.data()
    )
    def test_every_long_enough_part_is_found(self, spoken: list[str], data: st.DataObject) -> None:
        start = data.draw(st.integers(0, len(spoken) - RUN))
        part = " ".join(spoken[start : start + RUN])
        assert Windows({"a": [part]}, KNOWN).repeating([" ".join(spoken)]) == {"a"}

    def test_short_texts_have_no_run(self) -> None:
        assert list(runs("one two three four")) == []


class TestScan:
    def test_nothing_for_what_is_fit(self) -> None:
        assert scan({"a": ["Large tables are slow."]}, ["something else that was said here"], KNOWN, ()) == []

    def test_where_and_what_and_never_the_words(self) -> None:
        texts = {"a": ["~/letters"], "b": ["my sister keeps the old letters"], "c": ["fine"]}
        found = scan(texts, [TestWindows.PRIVATE], KNOWN, ())
        assert {each.where for each in found} == {"a", "b"}
        assert not any("letters" in each.what for each in found)

    def test_what_was_released_may_be_private_and_no_secret(self) -> None:
        texts = {"a": ["my sister keeps the old letters"], "b": ["correct-horse-battery"], "c": ["me@example.org"]}
        assert [each.where for each in scan(texts, [TestWindows.PRIVATE], KNOWN, {"a", "b", "c"})] == ["b"]
