from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots, told
from metnos.fastpath.slots import Kind
from tables import try_each

DATES = [
    ("1 March 2026", ["date 2026-03-01 @in"]),
    ("il 1 marzo 2026", ["date 2026-03-01 @in"]),
    ("the 3rd of June 2027", ["date 2027-06-03 @in"]),
    ("June 3rd, 2027", ["date 2027-06-03 @in"]),
    ("il primo maggio 2025", ["date 2025-05-01 @in"]),
    ("il cinque maggio 2025", ["date 2025-05-05 @in"]),
    ("il 20 dicembre", ["date 2026-12-20 @in"]),
    ("2026-03-01", ["date 2026-03-01 @in"]),
    ("del 2026-03-01", ["date 2026-03-01 @in"]),
    ("changed on 03/04/2026", ["date 2026-03-04 @in"]),
    ("modificati il 03/04/2026", ["date 2026-04-03 @in"]),
    ("changed on 25/04/2026", ["date 2026-04-25 @in"]),
    ("il 3.4.2026", ["date 2026-04-03 @in"]),
    ("il 3/4/26", ["date 2026-04-03 @in"]),
    ("today", ["date 2026-11-15 @in"]),
    ("oggi", ["date 2026-11-15 @in"]),
    ("yesterday", ["date 2026-11-14 @in"]),
    ("ieri sera", ["date 2026-11-14 @in"]),
    ("tomorrow", ["date 2026-11-16 @in"]),
    ("dopodomani", ["date 2026-11-17 @in"]),
    ("the day before yesterday", ["date 2026-11-13 @in"]),
    ("l'altro ieri", ["date 2026-11-13 @in"]),
    ("last friday", ["date 2026-11-13 @in"]),
    ("venerdì scorso", ["date 2026-11-13 @in"]),
    ("next monday", ["date 2026-11-16 @in"]),
    ("lunedì prossimo", ["date 2026-11-16 @in"]),
    ("last sunday", ["date 2026-11-08 @in"]),
    ("next sunday", ["date 2026-11-22 @in"]),
    ("files of friday", ["date 2026-11-13 @in"]),
    ("remind me on friday", ["date 2026-11-20 @in"]),
    ("remind me on friday evening", ["date 2026-11-20 @in"]),
    ("tomorrow afternoon", ["date 2026-11-16 @in"]),
    ("domani pomeriggio", ["date 2026-11-16 @in"]),
    ("ricordami venerdì", ["date 2026-11-20 @in"]),
    ("every friday", []),
    ("ogni venerdì", []),
    ("Friday, 20 November 2026", ["date 2026-11-20 @in"]),
    ("venerdì 20 novembre", ["date 2026-11-20 @in"]),
    ("3 days ago", ["date 2026-11-12 @in"]),
    ("tre giorni fa", ["date 2026-11-12 @in"]),
    ("a month ago", ["date 2026-10-15 @in"]),
    ("un anno fa", ["date 2025-11-15 @in"]),
    ("how long until Christmas", ["date 2026-12-25 @before"]),
    ("quanto manca a Natale?", ["date 2026-12-25 @in"]),
    ("quanto manca a Pasqua?", ["date 2027-03-28 @in"]),
    ("by the end of the month", ["date 2026-11-30 @before"]),
    ("entro fine mese", ["date 2026-11-30 @before"]),
    ("30 February 2026", ["number 30", "range 2026-02-01..2026-02-28 @in"]),
    # which year is meant
    ("remind me on 3 March", ["date 2027-03-03 @in"]),
    ("ricordami il 3 marzo", ["date 2027-03-03 @in"]),
    ("changed on 3 March", ["date 2026-03-03 @in"]),
    ("changed since 20 December", ["date 2025-12-20 @after"]),
    # roles
    ("after 1 March 2026", ["date 2026-03-01 @after"]),
    ("dopo il 1 marzo 2026", ["date 2026-03-01 @after"]),
    ("before 1 March 2026", ["date 2026-03-01 @before"]),
    ("prima del 1 marzo 2026", ["date 2026-03-01 @before"]),
    ("since yesterday", ["date 2026-11-14 @after"]),
    ("da ieri", ["date 2026-11-14 @after"]),
    ("from 3 May on", ["date 2026-05-03 @after"]),
    ("dal 3 maggio in poi", ["date 2026-05-03 @after"]),
    ("older than 1 March 2026", ["date 2026-03-01 @before"]),
    ("più vecchi del 1 marzo 2026", ["date 2026-03-01 @before"]),
]
RANGES = [
    ("last week", ["range 2026-11-02..2026-11-08 @in"]),
    ("la settimana scorsa", ["range 2026-11-02..2026-11-08 @in"]),
    ("this week", ["range 2026-11-09..2026-11-15 @in"]),
    ("questa settimana", ["range 2026-11-09..2026-11-15 @in"]),
    ("next week", ["range 2026-11-16..2026-11-22 @in"]),
    ("this month", ["range 2026-11-01..2026-11-30 @in"]),
    ("il mese scorso", ["range 2026-10-01..2026-10-31 @in"]),
    ("lo scorso mese", ["range 2026-10-01..2026-10-31 @in"]),
    ("last year", ["range 2025-01-01..2025-12-31 @in"]),
    ("quest'anno", ["range 2026-01-01..2026-12-31 @in"]),
    ("l'anno scorso", ["range 2025-01-01..2025-12-31 @in"]),
    ("last weekend", ["range 2026-11-07..2026-11-08 @in"]),
    ("photos from last month", ["files *.jpg|*.jpeg|*.png|*.heic|*.gif|*.webp", "range 2026-10-01..2026-10-31 @in"]),
    ("since last week", ["range 2026-11-02..2026-11-08 @after"]),
    ("dalla settimana scorsa", ["range 2026-11-02..2026-11-08 @after"]),
    ("in March", ["range 2026-03-01..2026-03-31 @in"]),
    ("a marzo", ["range 2026-03-01..2026-03-31 @in"]),
    ("in December", ["range 2025-12-01..2025-12-31 @in"]),
    ("marzo 2025", ["range 2025-03-01..2025-03-31 @in"]),
    ("February 2024", ["range 2024-02-01..2024-02-29 @in"]),
    ("lo scorso marzo", ["range 2026-03-01..2026-03-31 @in"]),
    ("you may march", []),
    ("may I see it in May?", ["range 2026-05-01..2026-05-31 @in"]),
    ("in 2025", ["range 2025-01-01..2025-12-31 @in"]),
    ("nel 2025", ["range 2025-01-01..2025-12-31 @in"]),
    ("le spese del 2025", ["range 2025-01-01..2025-12-31 @in"]),
    ("before 2020", ["range 2020-01-01..2020-12-31 @before"]),
    ("of 2000 rows", ["number 2000"]),
    ("from 2020 to 2023", ["range 2020-01-01..2023-12-31 @in"]),
    ("dal 2020 al 2023", ["range 2020-01-01..2023-12-31 @in"]),
    ("between 1 and 5 May", ["range 2026-05-01..2026-05-05 @in"]),
    ("tra l'1 e il 5 maggio", ["range 2026-05-01..2026-05-05 @in"]),
    ("dal 3 al 7 maggio", ["range 2026-05-03..2026-05-07 @in"]),
    ("3-7 maggio 2025", ["range 2025-05-03..2025-05-07 @in"]),
    ("March 1-5, 2025", ["range 2025-03-01..2025-03-05 @in"]),
    ("tra il 1 marzo e il 15 agosto 2026", ["range 2026-03-01..2026-08-15 @in"]),
    ("from 20 December to 6 January 2026", ["range 2025-12-20..2026-01-06 @in"]),
    ("from 2026-01-01 to 2026-02-01", ["range 2026-01-01..2026-02-01 @in"]),
    ("dal 01/02/2026 al 05/03/2026", ["range 2026-02-01..2026-03-05 @in"]),
    ("from January to March 2026", ["range 2026-01-01..2026-03-31 @in"]),
    ("Q1 2026", ["range 2026-01-01..2026-03-31 @in"]),
    ("il primo trimestre del 2026", ["range 2026-01-01..2026-03-31 @in"]),
    ("the last 3 days", ["range 2026-11-12..2026-11-15 3d @in"]),
    ("gli ultimi 3 mesi", ["range 2026-08-17..2026-11-15 90d @in"]),
    ("dell'ultima settimana", ["range 2026-11-08..2026-11-15 7d @in"]),
]


@try_each(("text", "expected"), DATES)
def test_dates(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@try_each(("text", "expected"), RANGES)
def test_ranges(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)), st.sampled_from(["{:%Y-%m-%d}", "{:%d %B %Y}", "{:%B %d, %Y}"]))
def test_every_day_is_found_however_it_is_written(day: date, form: str) -> None:
    (slot,) = slots(f"changed on {form.format(day)}")
    assert (slot.kind, slot.value) == (Kind.DATE, day.isoformat())


@given(
    st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 -- its zone is given
    st.sampled_from([row[0] for row in DATES + RANGES]),
)
def test_a_range_never_ends_before_it_begins_whatever_day_it_is(now: datetime, text: str) -> None:
    for slot in slots(text, now):
        if slot.kind is Kind.RANGE:
            assert date.fromisoformat(slot.value["from"]) <= date.fromisoformat(slot.value["to"])
        elif slot.kind is Kind.DATE:
            assert date.fromisoformat(slot.value)


@pytest.mark.parametrize("now", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
def test_the_ends_of_the_calendar_raise_nothing(now: datetime) -> None:
    for text, _ in DATES + RANGES:
        slots(text, now)
