"""What a question asks for: words, names and times, in two languages."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.question import Span, names, read, spans, words
from tables import try_each

NOW = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)  # a Monday


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def span(since: tuple[int, int, int], until: tuple[int, int, int]) -> Span:
    return Span(day(*since), day(*until))


@try_each(
    ("text", "expected"),
    [
        ("Where did we eat in May 2023?", span((2023, 5, 1), (2023, 6, 1))),
        ("Dove abbiamo mangiato a maggio 2023?", span((2023, 5, 1), (2023, 6, 1))),
        ("nel maggio del 2023", span((2023, 5, 1), (2023, 6, 1))),
        ("who came in December 2024?", span((2024, 12, 1), (2025, 1, 1))),
        ("who came in May", span((2026, 5, 1), (2026, 6, 1))),
        ("who came in December?", span((2025, 12, 1), (2026, 1, 1))),
        ("chi è venuto a dicembre?", span((2025, 12, 1), (2026, 1, 1))),
        ("what broke on 3 June?", span((2026, 6, 3), (2026, 6, 4))),
        ("what broke on the 3rd of June 2024?", span((2024, 6, 3), (2024, 6, 4))),
        ("dinner on May 3, 2023", span((2023, 5, 3), (2023, 5, 4))),
        ("cena del 3 maggio 2023", span((2023, 5, 3), (2023, 5, 4))),
        ("what happened on 24 December?", span((2025, 12, 24), (2025, 12, 25))),
        ("logs of 2026-02-28", span((2026, 2, 28), (2026, 3, 1))),
        ("what did I do yesterday?", span((2026, 11, 15), (2026, 11, 16))),
        ("cosa ho fatto ieri?", span((2026, 11, 15), (2026, 11, 16))),
        ("cosa ho fatto l\u2019altro ieri?", span((2026, 11, 14), (2026, 11, 15))),
        ("what did I ask today", span((2026, 11, 16), (2026, 11, 17))),
        ("which files changed last week?", span((2026, 11, 9), (2026, 11, 16))),
        ("quali file sono cambiati la settimana scorsa?", span((2026, 11, 9), (2026, 11, 16))),
        ("what did I spend last month", span((2026, 10, 1), (2026, 11, 1))),
        ("quanto ho speso il mese scorso", span((2026, 10, 1), (2026, 11, 1))),
        ("what did I spend this month", span((2026, 11, 1), (2026, 12, 1))),
        ("trips of last year", span((2025, 1, 1), (2026, 1, 1))),
        ("i viaggi dell'anno scorso", span((2025, 1, 1), (2026, 1, 1))),
        ("i viaggi di quest'anno", span((2026, 1, 1), (2027, 1, 1))),
        ("the call last Friday", span((2026, 11, 13), (2026, 11, 14))),
        ("la chiamata di venerdì", span((2026, 11, 13), (2026, 11, 14))),
        ("what did I say on Monday?", span((2026, 11, 9), (2026, 11, 10))),
        ("what did I say two weeks ago?", span((2026, 11, 2), (2026, 11, 9))),
        ("cosa ho detto 3 giorni fa?", span((2026, 11, 13), (2026, 11, 14))),
        ("what did we plan 14 months ago", span((2025, 9, 1), (2025, 10, 1))),
        ("where were we in 2022?", span((2022, 1, 1), (2023, 1, 1))),
        ("dove eravamo nel 2022?", span((2022, 1, 1), (2023, 1, 1))),
        ("the summer of 2022", span((2022, 6, 1), (2022, 9, 1))),
        ("l'inverno del 2022", span((2022, 12, 1), (2023, 3, 1))),
        ("where did we go last summer?", span((2026, 6, 1), (2026, 9, 1))),
        ("last weekend", span((2026, 11, 14), (2026, 11, 16))),
        ("what changed since May 2023?", Span(day(2023, 5, 1), None)),
        ("cosa è cambiato dopo il 3 maggio 2023?", Span(day(2023, 5, 3), None)),
        ("what was true before June 2023?", Span(None, day(2023, 6, 1))),
        ("com'era prima del 2023?", Span(None, day(2023, 1, 1))),
    ],
)  # fmt: skip
def test_a_time_is_read_as_an_interval_of_days(text: str, expected: Span) -> None:
    assert spans(text, NOW) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "may I march to the second door?",
        "what is the weekly plan?",
        "room 2023",
        "31 February",
        "the fall from the ladder",
        "I have two weeks of holiday",
        "",
    ],
)
def test_what_is_no_time_is_only_words(text: str) -> None:
    assert spans(text, NOW) == []


def test_several_times_come_in_the_order_of_the_text() -> None:
    found = spans("Was it yesterday, or on 3 June 2024?", NOW)
    assert found == [span((2026, 11, 15), (2026, 11, 16)), span((2024, 6, 3), (2024, 6, 4))]


def test_days_are_those_of_the_zone_of_whoever_asks() -> None:
    there = timezone(timedelta(hours=10))
    late = datetime(2026, 11, 15, 23, 0, tzinfo=UTC).astimezone(there)  # the 16th over there
    assert spans("yesterday", late) == [
        Span(datetime(2026, 11, 15, tzinfo=there), datetime(2026, 11, 16, tzinfo=there))
    ]


def test_words_that_only_hold_a_sentence_together_are_left_out() -> None:
    assert words("When did the plumber repair the kitchen sink?") == ("plumber", "repair", "kitchen", "sink")
    assert words("Quando è venuto l'idraulico per la perdita in cucina?") == (
        "venuto",
        "idraulico",
        "perdita",
        "cucina",
    )


def test_a_question_of_nothing_but_such_words_keeps_them() -> None:
    assert words("What is it?") == ("what", "is", "it")


def test_words_that_only_say_when_are_not_looked_for() -> None:
    assert read("What did the plumber say on 3 June 2024?", NOW).words == ("plumber",)
    assert read("What did I do yesterday?", NOW).words == ()


def test_names_are_words_with_a_capital_that_say_something() -> None:
    assert names("What did Ada's sister tell Bruno in Perugia?") == ("ada", "bruno", "perugia")


def test_a_reader_of_dates_that_is_handed_in_adds_what_it_finds() -> None:
    easter = span((2026, 4, 5), (2026, 4, 6))
    asked = read(
        "What did we eat at Easter, and yesterday?",
        NOW,
        lambda text, now: [("Easter", easter)] if "Easter" in text else [],
    )
    assert asked.spans == (span((2026, 11, 15), (2026, 11, 16)), easter)


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    asked = read(text, NOW)
    assert asked.text == text
    assert len(set(asked.words)) == len(asked.words)


@given(st.dates(min_value=day(1990, 1, 1).date(), max_value=day(2026, 11, 15).date()))
def test_a_date_in_full_is_that_day_however_it_is_written(date) -> None:
    start = datetime(date.year, date.month, date.day, tzinfo=UTC)
    expected = [Span(start, start + timedelta(days=1))]
    assert spans(f"on {date:%d %B %Y}", NOW) == expected
    assert spans(f"on {date:%B %d, %Y}", NOW) == expected
    assert spans(f"on {date.isoformat()}", NOW) == expected


@try_each(
    ("text", "known"),
    [
        ("Which hotel did we book in Copenhagen?", ("copenhagen",)),
        ("Describe the trip. Describe Lisbon", ("lisbon",)),  # a capital at the start of a sentence tells nothing
        ("What is the PIN of the card?", ()),
        ("WHERE IS THE HOTEL IN COPENHAGEN?", ()),
        ("Where Is The Hotel In Copenhagen", ()),
        ("where is the hotel in copenhagen?", ()),
        ("Quanto costa il caff\u00e8 a Forl\u00ec?", ("forli",)),
        ("What happened in May?", ()),  # a time, and no word to look for
    ],
)
def test_only_what_is_beyond_doubt_is_a_proper_name(text: str, known: tuple[str, ...]) -> None:
    assert read(text, NOW).proper == known
