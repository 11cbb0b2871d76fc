"""``metnos memory fit``."""

import json

import click
import pytest
from click.testing import CliRunner

from app.test_weighing import app as app
from app.test_weighing import in_force, lived
from metnos.app import App
from metnos.cli import Choice, memory, memory_fit
from metnos.core.errors import UsageError
from metnos.grimoire.admission import Weights


@pytest.fixture(autouse=True)
def _use(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_fit, "open_app", lambda _: app)


def typed(*line: str, command: click.Command = memory.memory) -> str:
    done = CliRunner().invoke(command, ["fit", *line], obj=Choice(None))
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def test_too_little_is_said(app: App) -> None:
    shown = typed("--keep")
    assert "Of 0 facts it is known what became of them" in shown
    assert "too little" in shown
    assert in_force(app) == Weights()


def test_it_shows_what_would_change_and_changes_nothing_before_it_is_told_to(app: App) -> None:
    lived(app)
    shown = typed()
    assert "Of 24 facts it is known what became of them: 12 proved worth it, 12 did not." in shown
    assert "Let in, now: 12 of the 12 that were worth it, 12 of the 12 others." in shown
    assert "Let in, fitted: 12 of the 12 that were worth it, 0 of the 12 others." in shown
    assert "metnos memory fit --keep" in shown
    assert in_force(app) == Weights()
    assert "count from now on" in typed("--keep")
    found = json.loads(typed("--json"))
    assert found["after"] == found["before"] == {name: getattr(in_force(app), name) for name in found["after"]}
    assert (found["enough"], found["kept"]) == (True, False)
    assert "count again" in typed("--default")
    assert "count already" in typed("--default")
    assert in_force(app) == Weights()


def test_one_cannot_keep_and_go_back_at_once() -> None:
    with pytest.raises(UsageError, match="opposite"):
        typed("--keep", "--default")
