"""What is said about requests and savings is what was recorded."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.turned import close, pdfs
from metnos.app import App, figures, learning
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import ModelCall
from turn.fasting import fill, make_sure
from turn.scripted import reopened
from turn.turning import take

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _sure(monkeypatch: pytest.MonkeyPatch) -> None:
    make_sure(monkeypatch)


@pytest.fixture
def app(equipped: App, tmp_path: Path) -> Iterator[App]:
    fill(tmp_path / "home")
    opened, _ = reopened(equipped, model=False, turn__planner="router")
    yield opened
    opened.close()


def practised(app: App, usd: float = 0.25, ms: float = 60_000.0) -> None:
    """Four requests whose planning took long and cost something."""
    call = ModelCall("plan", "small", 100, 20, 0, usd, ms)
    for number in range(4):
        close(app, number, *pdfs(f"f{number}"), calls=(call,), plan={"ms": ms})
        learning.catch_up(app)


def test_nothing_was_asked(app: App, clock: MovableClock) -> None:
    found = figures.figures(app, clock.now() - DAY)
    assert (found.turns, found.hits, found.ways, found.days) == (0, 0, (), ())


def test_each_way_each_day_and_what_was_saved(app: App, clock: MovableClock) -> None:
    practised(app)
    clock.move(DAY)
    take(app, "find the PDFs in ~/docs")
    clock.move(DAY)
    take(app, "find the PDFs in ~/docs")
    last = take(app, "find the PDFs in ~/inbox").trace
    assert last is not None
    found = figures.figures(app, clock.now() - 10 * DAY)
    assert {way.path: (way.turns, way.usd) for way in found.ways} == {"model": (4, 1.0), "fast": (3, 0.0)}
    assert (found.turns, found.hits, found.wrong) == (7, 3, 0)
    assert found.saved_usd == pytest.approx(0.75)
    assert 100_000 < found.saved_ms <= 180_000
    assert [(day.day, day.hits) for day in found.days] == [
        ((clock.now() - DAY).date(), 1),
        (clock.now().date(), 2),
    ]
    app.medium.feedback(last.id, good=False)
    learning.catch_up(app)
    again = figures.figures(app, clock.now() - 10 * DAY)
    assert (again.hits, again.wrong, again.saved_usd) == (3, 1, pytest.approx(0.75))
    assert again.bound == app.settings.fastpath.wrong_share


def test_only_the_time_that_is_asked_about(app: App, clock: MovableClock) -> None:
    practised(app)
    take(app, "find the PDFs in ~/docs")
    clock.move(5 * DAY)
    take(app, "find the PDFs in ~/docs")
    found = figures.figures(app, clock.now() - DAY)
    assert (found.turns, found.hits) == (1, 1)


def test_a_path_that_is_slower_than_planning_saves_nothing_and_costs_nothing(app: App, clock: MovableClock) -> None:
    practised(app, usd=0.0, ms=0.0)
    take(app, "find the PDFs in ~/docs")
    found = figures.figures(app, clock.now() - DAY)
    assert (found.hits, found.saved_ms, found.saved_usd) == (1, 0.0, 0.0)


def test_the_facts_for_programs_are_json(app: App, clock: MovableClock) -> None:
    practised(app)
    take(app, "find the PDFs in ~/docs")
    data = figures.data(figures.figures(app, clock.now() - DAY))
    assert data["days"][0]["day"] == clock.now().date().isoformat()
    assert data["hits"] == 1
