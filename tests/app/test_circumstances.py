"""What fast paths and the mnestome must not keep, repeat or stumble over; each was a mistake once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.turned import close, pdfs
from metnos.app import App, ageing, learning, paths
from metnos.core.canon import canonical_json
from metnos.fastpath.records import State
from metnos.fastpath.rules import Calibration, Curve
from metnos.grimoire.medium import Facts
from metnos.grimoire.trace import Desired
from metnos.grimoire.trace import State as Turn
from metnos.law.principal import at_terminal
from metnos.mnestome import record
from turn.fasting import events, every, fill, make_sure, path_of
from turn.scripted import reopened
from turn.turning import take

SECRET = "zanzibar"


@pytest.fixture(autouse=True)
def _sure(monkeypatch: pytest.MonkeyPatch) -> None:
    make_sure(monkeypatch)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def app(equipped: App, home: Path) -> Iterator[App]:
    opened, _ = reopened(equipped, model=False, policy__autonomy="full", turn__planner="router")
    yield opened
    opened.close()


def test_where_something_was_asked_is_no_habit(app: App) -> None:
    """A model is told the folder and writes it out; elsewhere that would be the wrong one."""
    for number in range(5):
        close(
            app,
            number,
            "find the PDFs",
            [("find_files", {"path": "/home/o/docs", "pattern": "*.pdf"})],
            cwd="/home/o/docs",
        )
        learning.catch_up(app)
    assert every(app) == []


def test_when_something_was_asked_is_no_habit(app: App) -> None:
    today = f"{app.clock.now().astimezone():%Y-%m-%d}"
    for number in range(5):
        close(app, number, "append the date to ~/log.txt", [("write_files", {"path": "~/log.txt", "text": today})])
        learning.catch_up(app)
    assert every(app) == []


def test_what_was_disliked_each_time_never_answers(app: App) -> None:
    for number, folder in enumerate("abcd"):
        turn = close(app, number, *pdfs(folder))
        learning.catch_up(app)
        app.medium.feedback(turn, good=False)
        learning.catch_up(app)
    path = path_of(app, "find_files")
    assert path.state in (State.CANDIDATE, State.DEMOTED)
    assert events(app, path)["fail"] == 4


def test_what_was_liked_speaks_for_a_path(app: App) -> None:
    for number, folder in enumerate(("a", "b", "c", "d")):
        close(app, number, *pdfs(folder))
        learning.catch_up(app)
    for _ in range(4):  # one in so many is planned all the same
        trace = take(app, "find the PDFs in ~/docs").trace
        assert trace is not None
        app.medium.feedback(trace.id, good=True)
    learning.catch_up(app)
    assert events(app, path_of(app, "find_files"))["good"] >= 1


def test_a_month_comes_back_also_when_a_pipeline_was_wished_for(app: App) -> None:
    wish = Desired("describe_urls", "request", "", {"summary": "x"})
    record.record_turn(app.catalog.db, Facts("pipeline abcd", app.clock.now(), Turn.DONE, (), (wish,), ()))
    made = ageing.snapshots(app).make(app.clock.now())
    assert made is not None
    turn = close(app, 1, *pdfs("a"))
    ageing.put_back(app, made.month, busy=lambda: False)
    assert record.unapplied(app.catalog.db, [turn]) == []


def secretive(app: App) -> str:
    call = ("find_files", {"path": "~/a", "pattern": "*.pdf", "contains": SECRET})
    turn = close(app, 1, f"find the PDFs in ~/a about {SECRET}", [call])
    learning.catch_up(app)
    assert SECRET.encode() in app.workspace.mnest_db.read_bytes() + wal(app)
    return turn


def wal(app: App) -> bytes:
    beside = app.workspace.mnest_db.with_name(f"{app.workspace.mnest_db.name}-wal")
    return beside.read_bytes() if beside.exists() else b""


def test_no_snapshot_keeps_words_of_requests(app: App) -> None:
    secretive(app)
    made = ageing.snapshots(app).make(app.clock.now())
    assert made is not None
    assert SECRET.encode() not in made.path.read_bytes()


def test_no_wish_for_a_pipeline_keeps_words_of_requests(app: App) -> None:
    for number in range(50):
        find = ("find_files", {"path": f"~/{'abc'[number % 3]}", "pattern": "*.pdf"})
        count = ("count_text", {"paths": "{{step1.entries.path}}", "of": SECRET})
        close(app, number, f"count the {SECRET} words of the PDFs in ~/{'abc'[number % 3]}", [find, count])
    learning.catch_up(app)
    assert paths.promote_pipelines(app).counts == {"offered": 1}
    kept = app.catalog.db.query("SELECT desired_sig FROM mnests WHERE state = 'proto'")
    assert "count_text" in str(kept)
    assert SECRET not in str(kept)


def test_a_forgetting_that_was_cut_short_is_finished_the_next_time(app: App) -> None:
    turn = secretive(app)
    app.medium.redact(turn)  # and killed here
    learning.forget_turn(app, turn, at_terminal())
    assert every(app) == []


def test_a_memory_without_forms_recognises_nothing(app: App) -> None:
    fitted = canonical_json(Calibration(curve=Curve(0, 1, 1), threshold=0.5).to_data()).decode()
    with app.catalog.db.write() as tx:
        tx.execute("INSERT INTO calibrations (ts, space, fitted) VALUES ('2026', 's', ?)", (fitted,))
    trace = take(app, "frobnicate the wibble with care").trace
    assert trace is not None
    assert trace.error == ""


def test_a_turn_that_cannot_be_learnt_from_stops_no_other(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    close(app, 1, *pdfs("a"))
    with monkeypatch.context() as patch:
        patch.setattr(paths, "_link", lambda *_: 1 / 0)
        learning.catch_up(app)
    assert next(line.kind for line in app.audit.newest()) == paths.NOT_LEARNT
    close(app, 2, *pdfs("b"))
    learning.catch_up(app)
    assert path_of(app, "find_files").passes == 1


def test_a_dry_run_is_no_answer(app: App) -> None:
    for number, folder in enumerate("abcd"):
        close(app, number, *pdfs(folder))
        learning.catch_up(app)
    before = path_of(app, "find_files").hits
    take(app, "find the PDFs in ~/docs", dry_run=True)
    assert path_of(app, "find_files").hits == before
