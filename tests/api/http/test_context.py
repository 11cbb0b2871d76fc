"""What a language model was sent in a turn, over HTTP."""

import pytest

from api.http.served import Client, entered, serving
from api.http.typed import typed
from app.remembered import quiet
from metnos.app import App
from metnos.cli import context as at_terminal
from metnos.core.clock import MovableClock
from turn.scripted import steps
from turn.turning import take


def test_it_is_shown_to_the_letter(equipped: App, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, _ = quiet(equipped, steps({"answer": {"text": "I do not know."}}))
    trace = take(opened, "who painted the <b>cellar</b>?").trace
    assert trace is not None
    opened.close()
    with serving(equipped.workspace, clock) as served:
        page = entered(served)
        found = page.get(f"/api/context/{trace.id}")
        told = typed(page, monkeypatch, at_terminal.context, "show", trace.id)
        assert found == {"turn": trace.id, "calls": told}
        assert "<b>cellar</b>" in found["calls"][0]["body"]
        assert page.get(f"/api/context/{trace.id[-8:]}")["turn"] == trace.id
        assert page.program("full").refused("GET", f"/api/context/{trace.id}")[0] == 403


def test_a_turn_without_a_model_has_no_calls_and_no_turn_is_not_found(page: Client) -> None:
    page.ask("what time is it")
    turn = page.app.medium.last()
    assert turn is not None
    assert page.get(f"/api/context/{turn.id}") == {"turn": turn.id, "calls": []}
    assert page.refused("GET", "/api/context/NOSUCHTURN")[0] == 404
    assert page.refused("GET", "/api/context/x%20y")[0] == 422
