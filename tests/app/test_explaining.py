"""What the owner sees of fast paths, and does about them by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.turned import close, pdfs
from metnos.app import App, explaining, learning
from metnos.fastpath.records import State
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.turn.shortcut import Shortcuts
from turn.fasting import IS_CHECKED, events, fill, make_sure, path_of, practise, there
from turn.scripted import reopened

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


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


def test_explaining_does_nothing(app: App, home: Path) -> None:
    practise(app, "delete the PDFs in {}")
    before, turns = there(home), len(app.medium.newest(100))
    told = explaining.explain(app, "delete the PDFs in ~/docs", OWNER, home)
    assert told["found"][0]["may"] is True
    assert told["found"][0]["steps"][0]["args"] == {"path": "~/docs", "pattern": "*.pdf"}
    assert (told["said"], told["found"][0]["said"]) == ("delete the pdfs in a folder",) * 2
    assert explaining.explain(app, "sing a song", OWNER, home)["found"] == []
    assert (there(home), len(app.medium.newest(100))) == (before, turns)


def test_what_is_explained_does_not_depend_on_which_turns_are_checked(
    app: App, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    practise(app, "find the PDFs in {}")
    monkeypatch.setattr(Shortcuts, "_is_checked", IS_CHECKED)
    app.set_setting("fastpath.check_every", "2", at_terminal())
    told = [explaining.explain(app, "find the PDFs in ~/docs", OWNER, home)["found"][0]["may"] for _ in range(12)]
    assert told == [True] * 12


def test_a_request_reads_in_its_own_words_as_long_as_it_is_kept(app: App) -> None:
    turn = close(app, 1, *pdfs("secret"))
    learning.catch_up(app)
    assert explaining.reading(app.medium.load(turn)) == "find the pdfs in a folder"
    app.medium.redact(turn)
    assert explaining.reading(app.medium.load(turn)) == ""


def test_a_form_that_is_not_known_any_more_is_shown_as_it_is(app: App) -> None:
    for number, folder in enumerate("abc"):
        close(app, number, *pdfs(folder))
    learning.catch_up(app)
    found = path_of(app, "find_files")
    (form,) = app.fast.logs[0].forms(found.id)
    assert explaining.spelled(app, found.id, form.canonical) == "find the pdfs in a folder"
    assert explaining.spelled(app, found.id, "another form") == "another form"
    assert explaining.spelled(app, "nobody", form.canonical) == form.canonical


def test_switching_by_hand_changes_what_is_not_so_already_and_leaves_an_event(app: App) -> None:
    for number, folder in enumerate("abc"):
        close(app, number, *pdfs(folder))
    learning.catch_up(app)
    found = path_of(app, "find_files")
    assert explaining.restore(app, found) is False, "it is not switched off"
    assert explaining.demote(app, found) is True
    assert explaining.demote(app, found) is False
    assert path_of(app, "find_files").state is State.DEMOTED
    assert explaining.restore(app, path_of(app, "find_files")) is True
    after = path_of(app, "find_files")
    assert (after.state, after.reason) == (State.SHADOW, "you switched it on again")
    assert events(app, found)["state"] == 3
