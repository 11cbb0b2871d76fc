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
from metnos.turn.plan.records import Kind
from tables import try_each
from turn.plan.routing import CWD, HOME, NOW, calls, route


def clause(text: str) -> Any:
    return split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0]


@try_each(("text", "what", "when"), [
    ("remind me tomorrow at 9 to pay the rent", "pay the rent", "2026-11-16 09:00"),
    ("remind me to pay the rent tomorrow at 9", "pay the rent", "2026-11-16 09:00"),
    ("ricordami tra 2 ore di chiamare il dentista", "chiamare il dentista", "2026-11-15 14:00"),
    ("remind me on Friday at 17:00 to buy tickets for 2026-12-24", "buy tickets for 2026-12-24", "2026-11-20 17:00"),
    ("set a reminder for 20 December at 18:30: concert", "concert", "2026-12-20 18:30"),
    ("ricordami domani che devo chiamare Anna", "devo chiamare Anna", "2026-11-16"),
    ("remind me at 11 to leave", "leave", "2026-11-16 11:00"),
    ("remind me tonight to lock the door", "lock the door", "2026-11-15 21:00"),
    ("remind me this afternoon to call", "call", "2026-11-15 15:00"),
    ("remind me to call mum this evening", "call mum", "2026-11-15 19:00"),
    ("remind me tomorrow morning to call", "call", "2026-11-16 09:00"),
    ("remind me tomorrow evening to call", "call", "2026-11-16 19:00"),
    ("remind me tomorrow night to call", "call", "2026-11-16 21:00"),
    ("remind me tomorrow night at 9 to call", "call", "2026-11-16 21:00"),
    ("remind me tomorrow at noon to call", "call", "2026-11-16 12:00"),
    ("remind me in the evening to call", "call", "2026-11-15 19:00"),
    ("remind me on friday evening to call", "call", "2026-11-20 19:00"),
    ("ricordami stasera di chiudere", "chiudere", "2026-11-15 19:00"),
    ("ricordami stanotte di chiudere", "chiudere", "2026-11-15 21:00"),
    ("ricordami domattina di chiudere", "chiudere", "2026-11-16 09:00"),
    ("ricordami domani sera di chiudere", "chiudere", "2026-11-16 19:00"),
    ("ricordami domani pomeriggio di chiudere", "chiudere", "2026-11-16 15:00"),
    ("ricordami venerdì sera di chiudere", "chiudere", "2026-11-20 19:00"),
    ("remind me on monday morning to write the night report", "write the night report", "2026-11-16 09:00"),
])  # fmt: skip
def test_a_reminder_is_a_text_and_one_moment(text: str, what: str, when: str) -> None:
    assert fill_text.reminder(clause(text), NOW) == {"text": what, "when": when}


@pytest.mark.parametrize("text", [
    "remind me today to call", "remind me this morning to call", "remind me today at 9 to call",
    "ricordami oggi di chiamare", "ricordami stamattina di chiamare",
])  # fmt: skip
def test_a_time_that_has_passed_is_asked_for_again(text: str) -> None:
    plan = route(text)
    assert (plan.kind, plan.missing) == (Kind.QUESTION, "set_reminders.when")


@given(
    st.integers(0, 60 * 24 * 700),
    st.sampled_from(["tonight", "today", "this evening", "tomorrow night", "at 9", "friday evening", "noon"]),
)
def test_no_moment_has_passed(minutes: int, when: str) -> None:
    now = NOW + timedelta(minutes=minutes)
    text = f"remind me {when} to call"
    found = split(text, extract(text, now=now, home=HOME, cwd=CWD), swallows)[0]
    due = fill_text.reminder(found, now).get("when")
    assert due is None or (due if " " in due else f"{due} 09:00") > f"{now:%Y-%m-%d %H:%M}"


@try_each(("text", "word"), [
    ("remind me every Monday at 8 to put the bins out", "every Monday"), ("remind me daily at 7 to stretch", "daily"),
    ("remind me to take my pills every 8 hours", "every 8 hours"), ("remind me on mondays to call", "on mondays"),
    ("wake me every day at 7", "every day"), ("ricordami ogni lunedì alle 8 di uscire", "ogni lunedì"),
    ("ricordami tutti i giorni alle 7 di bere", "tutti i giorni"), ("svegliami ogni mattina alle 7", "ogni mattina"),
])  # fmt: skip
def test_a_reminder_that_repeats_is_refused_in_plain_words(text: str, word: str) -> None:
    plan = route(text)
    assert (plan.kind, plan.steps) == (Kind.NOTHING, ())
    assert f'"{word}"' in plan.say


@given(st.integers(1, 60 * 24 * 60))
def test_a_time_from_now_is_that_many_minutes_later(minutes: int) -> None:
    plan = route(f"remind me in {minutes} minutes to stand up")
    assert calls(plan) == [("set_reminders", {
        "text": "stand up", "when": f"{NOW + timedelta(minutes=minutes):%Y-%m-%d %H:%M}",
    })]  # fmt: skip


@try_each(("text", "expected"), [
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


@try_each(("text", "expected"), [
    ("replace 'a b' with 'c' in x.txt", {"pattern": "a b", "replacement": "c"}),
    ("replace the spaces by underscores in the names", {"pattern": " ", "replacement": "_"}),
    ("sostituisci foo con bar in x.txt", {"pattern": "foo", "replacement": "bar"}), ("replace it", {}),
    ("replace milk with oat milk in x.txt", {"pattern": "milk", "replacement": "oat milk"}),
    ("in x.txt replace foo with bar baz", {"pattern": "foo", "replacement": "bar baz"}),
    ("replace foo with bar everywhere in x.txt", {"pattern": "foo", "replacement": "bar"}),
    ("replace the word cat with the word dog in x.txt", {"pattern": "cat", "replacement": "dog"}),
    ("replace the cat with the dog in x.txt", {"pattern": "the cat", "replacement": "the dog"}),
    ("cambia rosso in blu in x.txt", {"pattern": "rosso", "replacement": "blu"}),
    ("replace A with made in Italy in x.txt", {}), ("replace a with b with c in x.txt", {}),
])  # fmt: skip
def test_what_is_replaced_by_what(text: str, expected: dict[str, str]) -> None:
    assert fill_text.replacing(clause(text), NOW) == expected


@try_each(("text", "executor"), [
    ("remind me what reminders I have", None), ("notes about the boiler", None), ("note that it rains", "append_notes"),
    ("don't let me forget the milk", "set_reminders"), ("quali promemoria ho", None),
    ("promemoria: latte", "set_reminders"), ("remember to call tomorrow at 9", "set_reminders"),
    ("remember that the feast is on 3 June", "append_notes"), ("remember that folder we made?", None),
    ("remember when I moved the photos", None), ("ricordami che domani arriva il tecnico", "set_reminders"),
])  # fmt: skip
def test_first_words_that_decide(text: str, executor: str | None) -> None:
    assert executor_of(text) == executor
