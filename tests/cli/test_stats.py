"""``metnos stats``: what was asked, who planned it, what was saved."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.turned import close, pdfs
from metnos.app import App, learning
from metnos.cli import Choice
from metnos.cli import stats as command
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import ModelCall
from turn.fasting import fill, make_sure
from turn.scripted import reopened
from turn.turning import take


@pytest.fixture
def app(equipped: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    make_sure(monkeypatch)
    fill(tmp_path / "home")
    opened, _ = reopened(equipped, model=False, turn__planner="router")
    monkeypatch.setattr(command, "open_app", lambda _: opened)
    yield opened
    opened.close()


def typed(*line: str) -> str:
    done = CliRunner().invoke(command.stats, line, obj=Choice(None))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def practised(app: App) -> None:
    for number in range(4):
        calls = (ModelCall("plan", "small", 100, 20, 0, 0.25, 60_000.0),)
        close(app, number, *pdfs(f"f{number}"), calls=calls, plan={"ms": 60_000.0})
        learning.catch_up(app)


def test_nothing_was_asked(app: App) -> None:
    assert typed() == "Nothing was asked in the last 30 days.\n"
    assert typed("--days", "1") == "Nothing was asked in the last 1 day.\n"
    assert json.loads(typed("--json"))["turns"] == 0


@pytest.mark.parametrize("days", ["0", "-1", "x", "99999"])
def test_days_are_a_number_of_days(app: App, days: str) -> None:
    assert CliRunner().invoke(command.stats, ["--days", days], obj=Choice(None)).exit_code == 2


def test_before_a_path_answers_it_says_so(app: App) -> None:
    practised(app)
    said = typed()
    assert "The last 30 days: 4 requests" in said
    assert "a language model" in said
    assert "No fast path answered in this time" in said


def test_hits_time_and_money_saved(app: App, clock: MovableClock) -> None:
    practised(app)
    clock.move(timedelta(days=1))
    for folder in ("docs", "inbox"):
        take(app, f"find the PDFs in ~/{folder}")
    said = typed()
    for part in (
        "6 requests", "fast paths", "33%", "67%", "Fast paths answered 2 requests and called no language model for it",
        "and 0.5000 USD", "0 of these answers were wrong (0.0%); the bound is 1.0%", "2026-11-16", "█",
    ):  # fmt: skip
        assert part in said, (part, said)
    data = json.loads(typed("--json"))
    assert (data["last_days"], data["hits"], data["saved_usd"]) == (30, 2, 0.5)
    assert [day["hits"] for day in data["days"]] == [2]
    last = app.medium.last()
    assert last is not None
    app.medium.feedback(last.id, good=False)
    learning.catch_up(app)
    assert "1 of these answers was wrong (50.0%)" in typed()
