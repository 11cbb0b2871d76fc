"""Words that are handed on as they are."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots import extract
from metnos.turn.plan import fill_text
from metnos.turn.plan.clauses import split
from metnos.turn.plan.fill_text import executor_of, swallows
from turn.plan.routing import CWD, HOME, NOW, calls, route


def clause(text: str) -> Any:
    return split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0]


@pytest.mark.parametrize(("text", "what", "when"), [
    ("remind me tomorrow at 9 to pay the rent", "pay the rent", "2026-11-16 09:00"),
    ("remind me to pay the rent tomorrow at 9", "pay the rent", "2026-11-16 09:00"),
    ("ricordami tra 2 ore di chiamare il dentista", "chiamare il dentista", "2026-11-15 14:00"),
    ("remind me on Friday at 17:00 to buy tickets for 2026-12-24", "buy tickets for 2026-12-24", "2026-11-20 17:00"),
    ("set a reminder for 20 December at 18:30: concert", "concert", "2026-12-20 18:30"),
    ("ricordami domani che devo chiamare Anna", "devo chiamare Anna", "2026-11-16"),
    ("remind me at 11 to leave", "leave", "2026-11-16 11:00"),
])  # fmt: skip
def test_a_reminder_is_a_text_and_one_moment(text: str, what: str, when: str) -> None:
    assert fill_text.reminder(clause(text), NOW) == {"text": what, "when": when}


@given(st.integers(1, 60 * 24 * 60))
def test_a_time_from_now_is_that_many_minutes_later(minutes: int) -> None:
    plan = route(f"remind me in {minutes} minutes to stand up")
    assert calls(plan) == [("set_reminders", {
        "text": "stand up", "when": f"{NOW + timedelta(minutes=minutes):%Y-%m-%d %H:%M}",
    })]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [
    ("remember that the boiler was mended in May", {"text": "the boiler was mended in May"}),
    ("please remember this: the key is under the stone", {"text": "the key is under the stone"}),
    ("remember: bins on Tuesdays", {"text": "bins on Tuesdays"}),
    ("don't forget that the gate sticks", {"text": "the gate sticks"}),
    ("keep in mind that the neighbour eats no fish", {"text": "the neighbour eats no fish"}),
    ("ricorda che la caldaia è stata riparata a maggio", {"text": "la caldaia è stata riparata a maggio"}),
    ("ricordati che il cancello non chiude", {"text": "il cancello non chiude"}),
    ("note: buy milk", {"text": "buy milk"}), ("annota che serve il pane", {"text": "serve il pane"}),
    ("add eggs and flour to the note shopping", {"text": "eggs and flour", "note": "shopping"}),
    ("aggiungi pane alla nota spesa", {"text": "pane", "note": "spesa"}),
    ("note 'delete a.txt'", {"text": "delete a.txt"}),
])  # fmt: skip
def test_a_note_is_taken_letter_by_letter(text: str, expected: dict[str, str]) -> None:
    assert fill_text.note(clause(text), NOW) == expected


@pytest.mark.parametrize(("text", "words"), [
    ("search for dentist in ~/inbox", "dentist"), ("which files in ~/inbox mention the red car?", "red car"),
    ("cerca 'due parole' in ~/inbox", "due parole"), ("quali pdf in ~/inbox parlano dell'affitto?", "affitto"),
    ("what do the pdfs in ~/inbox say about the rent", "rent"), ("search in ~/inbox", ""),
])  # fmt: skip
def test_the_words_to_look_for(text: str, words: str) -> None:
    assert fill_text.wanted_words(clause(text)) == words


@pytest.mark.parametrize(("text", "expected"), [
    ("replace 'a b' with 'c' in x.txt", {"pattern": "a b", "replacement": "c"}),
    ("replace the spaces by underscores in the names", {"pattern": " ", "replacement": "_"}),
    ("sostituisci foo con bar in x.txt", {"pattern": "foo", "replacement": "bar"}), ("replace it", {}),
])  # fmt: skip
def test_what_is_replaced_by_what(text: str, expected: dict[str, str]) -> None:
    assert fill_text.replacing(clause(text), NOW) == expected


@pytest.mark.parametrize(("text", "executor"), [
    ("remind me what reminders I have", None), ("notes about the boiler", None), ("note that it rains", "append_notes"),
    ("don't let me forget the milk", "set_reminders"), ("quali promemoria ho", None),
    ("promemoria: latte", "set_reminders"), ("remember to call tomorrow at 9", "set_reminders"),
    ("remember that the feast is on 3 June", "append_notes"), ("remember that folder we made?", None),
    ("remember when I moved the photos", None), ("ricordami che domani arriva il tecnico", "set_reminders"),
])  # fmt: skip
def test_first_words_that_decide(text: str, executor: str | None) -> None:
    assert executor_of(text) == executor
