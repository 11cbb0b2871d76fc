"""Times in questions to the memory."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.app import dating
from metnos.grimoire import question
from metnos.grimoire.question import Span
from tables import try_each

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)  # a Wednesday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@try_each(
    ("text", "since", "until"),
    [
        ("what did we buy between 3 and 7 May?", "2026-05-03", "2026-05-08"),
        ("cosa abbiamo comprato dal 3 al 7 maggio?", "2026-05-03", "2026-05-08"),
        ("che cosa ha detto il 3/4/2026?", "2026-04-03", "2026-04-04"),
        ("what did we cook at Easter?", "2026-04-05", "2026-04-06"),
        ("what broke in the first quarter of 2026?", "2026-01-01", "2026-04-01"),
        ("what broke in May 2025?", "2025-05-01", "2025-06-01"),
        ("what broke after 2026-03-02?", "2026-03-02", None),
        ("what broke before 2026-03-02?", None, "2026-03-02"),
    ],
)
def test_what_requests_can_say_questions_can(text: str, since: str | None, until: str | None) -> None:
    wanted = Span(since and day(since), until and day(until))
    assert wanted in question.read(text, NOW, dating.dates).spans


def test_its_words_are_not_looked_for() -> None:
    read = question.read("what did the plumber say on 3/4/2026", NOW, dating.dates)
    assert read.words == ("plumber",)
    assert "2026" in question.read("what did the plumber say on 3/4/2026", NOW).words
    assert question.read("what did we cook at Easter?", NOW, dating.dates).words == ("cook", "easter")


@pytest.mark.parametrize("text", ["what happens tomorrow?", "cosa faremo la prossima settimana?", "and at Christmas?"])
def test_what_is_still_to_come_was_not_lived(text: str) -> None:
    assert question.read(text, NOW, dating.dates).spans == ()


@pytest.mark.parametrize("text", ["in May", "yesterday", "since March", "before 3 June 2025", "on Monday", "last week"])
def test_two_who_read_the_same_are_one(text: str) -> None:
    assert len(question.read(f"what did he say {text}?", NOW, dating.dates).spans) == 1


@given(st.text(max_size=80), st.sampled_from(["3 May", "last week", "dal 3 al 7 maggio", "31/2/2026", "9999-12-31"]))
def test_whatever_is_asked_nothing_breaks(text: str, time: str) -> None:
    for span in question.read(f"{text} {time} {text}", NOW + timedelta(hours=1), dating.dates).spans:
        assert span.since is None or span.until is None or span.since < span.until
