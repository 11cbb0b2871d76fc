"""What is told from memory: in its own words, only what is still so, and only to who asks."""

from datetime import timedelta
from pathlib import Path

import pytest

from app.remembered import done
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.grimoire.episode import Viewer
from metnos.law.principal import at_terminal

KEY = "the spare key is under the blue flower pot"


@pytest.mark.parametrize("question", ["what do you know about the boiler?", "when was the boiler mended?"])
def test_what_was_to_be_remembered_answers_in_its_own_words(app: App, question: str) -> None:
    assert done(app, "remember that the boiler was mended in May").state == "done"
    first, whence, *more = done(app, question).answer.split("\n")
    assert first == "remember that the boiler was mended in May"  # and not that a note was written, where and how
    assert whence.startswith("(from memory")
    assert more == []


def test_who_names_a_place_is_not_told_what_was_once_said_of_it(app: App, tmp_path: Path) -> None:
    (tmp_path / "one.pdf").write_bytes(b"no pdf")
    done(app, f"read {tmp_path}/one.pdf")
    answer = done(app, f"which of the files in {tmp_path} are not pdf?").answer
    assert "from memory" not in answer
    assert "Failed" not in answer


def test_what_was_taken_back_is_no_answer(app: App) -> None:
    trace = done(app, "remember that the boiler was mended in May")
    app.undo.undo(trace.steps[0].action, by=at_terminal())
    assert "May" not in done(app, "when was the boiler mended?").answer
    app.undo.redo(by=at_terminal())
    assert "May" in done(app, "when was the boiler mended?").answer


@pytest.mark.parametrize("question", ["where is the spare key", "Dov'è finita la spare key?"])
def test_what_is_remembered_is_the_answer_and_is_no_news(app: App, question: str) -> None:
    key = app.grimoire.add(KEY)
    app.grimoire.add("la spare key non è finita in cantina")
    trace = done(app, question)
    assert (trace.state, trace.desired) == ("talked", ())
    first, whence, *_ = trace.answer.split("\n")
    said = key if "flower" in first else app.grimoire.episodes.get([trace.memories[0]["id"]])[0]
    words = "dalla memoria" if question.startswith("Dov") else "from memory"
    assert (first, whence) == (said.text, f"({words}, 2026-11-15: metnos memory show {said.id})")
    (episode,) = app.grimoire.episodes.get([trace.id])
    assert episode.text == question


@pytest.mark.parametrize("wish", ["Can you hide the flower pot?", "Where is the flower pot, and delete it?"])
def test_a_wish_is_not_answered_from_memory(app: App, wish: str) -> None:
    key = app.grimoire.add(KEY)
    trace = done(app, wish)
    assert trace.state == "nothing"
    assert "But this is remembered:" in trace.answer
    assert [each["id"] for each in trace.memories] == [key.id]


def test_what_is_not_about_it_is_not_told(app: App) -> None:
    app.grimoire.add("the boiler was serviced in March")
    trace = done(app, "where is the spare key")
    assert (trace.state, trace.memories) == ("nothing", ())
    assert "remembered" not in trace.answer


def test_what_was_said_a_moment_ago_is_found_a_moment_later(app: App) -> None:
    app.grimoire.add(KEY)
    assert [each.text for each in app.grimoire.recall("spare key", Viewer()).episodes] == [KEY]


def test_a_time_that_a_question_names_as_requests_do_is_understood(app: App, clock: MovableClock) -> None:
    app.grimoire.add("the plumber came about the boiler")
    asked = f"who came on {clock.now():%d/%m/%Y}?"
    clock.move(timedelta(days=40))
    app.grimoire.add("the roofer came about the chimney")
    found = app.grimoire.recall(asked, Viewer())
    assert found.episodes[0].text == "the plumber came about the boiler"
    assert "time" in found.episodes[0].found_by
    assert all("time" not in each.found_by for each in found.episodes[1:])
