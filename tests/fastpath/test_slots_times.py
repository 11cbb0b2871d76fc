from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots, told
from metnos.fastpath.slots import Kind
from tables import try_each

TIMES = [
    ("at 5pm", ["time 17:00"]),
    ("alle 17", ["time 17:00"]),
    ("18:30", ["time 18:30"]),
    ("alle 18.30", ["time 18:30"]),
    ("at 5:30 pm", ["time 17:30"]),
    ("12 am", ["time 00:00"]),
    ("12pm", ["time 12:00"]),
    ("noon", ["time 12:00"]),
    ("a mezzogiorno", ["time 12:00"]),
    ("midnight", ["time 00:00"]),
    ("mezzanotte", ["time 00:00"]),
    ("alle nove", ["time 09:00"]),
    ("at nine tomorrow", ["time 09:00", "date 2026-11-16 @in"]),
    ("domani alle 9 di pagare", ["date 2026-11-16 @in", "time 09:00"]),
    ("alle 8 di sera", ["time 20:00"]),
    ("at 8 in the evening", ["time 20:00"]),
    ("alle 17 e 30", ["time 17:30"]),
    ("alle cinque e mezza", ["time 05:30"]),
    ("alle sette meno un quarto", ["time 06:45"]),
    ("half past six", ["time 06:30"]),
    ("a quarter to six", ["time 05:45"]),
    ("all'una", ["time 13:00"]),
    ("2026-03-01T10:30", ["date 2026-03-01 @in", "time 10:30"]),
    ("20 December at 18:30: concert", ["date 2026-12-20 @in", "time 18:30"]),
    ("tonight at 8", ["date 2026-11-15 @in", "time 20:00"]),
    ("stasera alle otto", ["date 2026-11-15 @in", "time 20:00"]),
    ("for eight o'clock", ["time 08:00"]),
    ("tomorrow night at 9", ["date 2026-11-16 @in", "time 21:00"]),
    ("tomorrow night at 2", ["date 2026-11-16 @in", "time 02:00"]),
    ("remind me in the evening", ["time 19:00"]),
    ("ricordami di sera", ["time 19:00"]),
    ("files of the evening", []),
    ("alle 3 foto", ["number 3", "files *.jpg|*.jpeg|*.png|*.heic|*.gif|*.webp"]),
    ("at 90%", ["number 90"]),
    ("25:99", ["number 25", "number 99"]),
    ("16:9", ["number 16", "number 9"]),
    ("13 pm", ["number 13"]),
    ("18:30 pm", ["time 18:30"]),
    ("alle 9 e 75", ["number 9", "number 75"]),
    ("at 5 %", ["number 5"]),
]
LENGTHS = [
    ("older than 30 days", ["duration 30 @older"]),
    ("più vecchi di 30 giorni", ["duration 30 @older"]),
    ("più vecchie di un anno", ["duration 365 @older"]),
    ("not opened for 2 years", ["duration 730 @older"]),
    ("non aperti da 2 anni", ["duration 730 @older"]),
    ("that are 3 weeks old", ["duration 21 @older"]),
    ("more than 3 days ago", ["duration 3 @older"]),
    ("più di 3 giorni fa", ["duration 3 @older"]),
    ("less than a week ago", ["duration 7 @newer"]),
    ("meno di una settimana fa", ["duration 7 @newer"]),
    ("in the last 2 weeks", ["duration 14 @newer"]),
    ("nelle ultime 2 settimane", ["duration 14 @newer"]),
    ("in the last week", ["duration 7 @newer"]),
    ("nell'ultimo mese", ["duration 30 @newer"]),
    ("newer than 10 days", ["duration 10 @newer"]),
    ("più recenti di 10 giorni", ["duration 10 @newer"]),
    ("in 12 hours", ["duration 0.5 @in"]),
    ("tra 12 ore", ["duration 0.5 @in"]),
    ("fra tre giorni", ["duration 3 @in"]),
    ("90 days from today", ["duration 90 @in"]),
    ("3 days from now", ["duration 3 @in"]),
    ("the next 3 days", ["duration 3 @in"]),
    ("nei prossimi 3 giorni", ["duration 3 @in"]),
    ("6 hours ago", ["duration 0.25 @ago"]),
    ("sei ore fa", ["duration 0.25 @ago"]),
    ("every 2 days", ["duration 2 @every"]),
    ("ogni 2 giorni", ["duration 2 @every"]),
    ("for 3 weeks", ["duration 21 @for"]),
    ("3 days and 12 hours", ["duration 3.5"]),
    ("tra un giorno e mezzo", ["duration 1.5 @in"]),
    ("in a day and a half", ["duration 1.5 @in"]),
    ("a couple of weeks", ["duration 14"]),
    ("once a month", []),
    ("2 hours and 5 files", ["duration 0.083333333333", "number 5"]),
    ("mezz'ora", ["duration 0.020833333333"]),
    ("over 3 hours ago", ["duration 0.125 @older"]),
    ("remind me within 3 days", ["duration 3 @in"]),
    ("ricordami entro 12 ore", ["duration 0.5 @in"]),
    ("in a quarter of an hour", ["duration 0.010416666667 @in"]),
    ("tra un quarto d'ora", ["duration 0.010416666667 @in"]),
    ("older than 5000 years", ["number 5000"]),
    ("the next 900000 years", ["number 900000"]),
    ("in the last 9000 years", ["count 9000 @last"]),
]


@try_each(("text", "expected"), TIMES)
def test_times_of_day(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@try_each(("text", "expected"), LENGTHS)
def test_lengths_of_time(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@given(st.times())
def test_every_minute_of_a_day_is_a_time(time: object) -> None:
    (slot,) = slots(f"remind me at {time:%H:%M} to go")
    assert (slot.kind, slot.value) == (Kind.TIME, f"{time:%H:%M}")


def test_the_word_that_looks_ahead_belongs_to_a_length() -> None:
    assert [slot.text for slot in slots("remind me in 2 hours to call")] == ["in 2 hours"]
    assert [slot.text for slot in slots("ricordami tra due ore di chiamare")] == ["tra due ore"]
