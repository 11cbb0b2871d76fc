"""Somatic markers in real turns: what went badly warns before the next step, and `why` says so."""

from app.remembered import done
from metnos.app import App, reasons
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import State

ASKED = "read the file ~/docs/nothing-here.txt"


def warnings(trace: object) -> list[str]:
    return [str(each["text"]) for each in trace.memories if each["kind"] == "warning"]  # type: ignore[attr-defined]


def test_the_second_time_it_is_said_before_the_step_and_kept_for_why(app: App, clock: MovableClock) -> None:
    first = done(app, ASKED)
    assert first.state is State.FAILED
    assert warnings(first) == []
    second = done(app, ASKED)
    (words,) = warnings(second)
    assert words.startswith("careful: ")
    assert "nothing-here.txt" in words
    assert words in second.plan["notes"]
    assert f"You were warned: {words}" in list(reasons.how(app, second))


def test_what_the_owner_disliked_warns_until_it_is_liked(app: App) -> None:
    asked = "find the PDFs in ~/docs"
    first = done(app, asked)
    app.medium.feedback(first.id, good=False)
    (words,) = warnings(done(app, asked))
    assert words.endswith("you did not like it")


def test_it_is_said_in_the_language_of_the_request(app: App) -> None:
    asked = "leggi il file ~/docs/niente.txt"
    done(app, asked)
    assert warnings(done(app, asked))[0].startswith("attenzione: ")
