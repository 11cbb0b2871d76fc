"""Hidden places that were not named: left out without a failure, counted, however many; named ones are shown."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.core.errors import Waiting
from metnos.executors import prepare
from metnos.executors.call import Call
from metnos.law.principal import Autonomy
from turn.turning import OWNER, take


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for name in ("a.txt", ".one/x.txt", ".two/y.txt", "sub/.env", "sub/.cache.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("findme")
    return home


def _reply(app: App, name: str, args: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
    call = Call(name, args, replace(OWNER, level=Autonomy.FULL), Path.home(), **more)
    try:
        outcome = app.runner.run(call)
    except Waiting as waiting:
        app.inbox.approve(waiting.item, OWNER)
        outcome = app.runner.run(call)
    assert outcome.ok, outcome.message
    return outcome.reply


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("measure_folders", {"path": "~"}),
        ("search_text", {"paths": ["~"], "pattern": "findme"}),
        ("find_files", {"path": "~", "hidden": True}),
        ("find_duplicates", {"paths": ["~"], "hidden": True}),
    ],
)
def test_what_is_hidden_is_left_out_and_no_failure(
    equipped: App, home: Path, name: str, args: Mapping[str, Any]
) -> None:
    reply = _reply(equipped, name, args)
    assert reply["failures"] == []
    assert reply["left_out"] >= 2
    assert not any(".one/" in str(each) for each in reply["entries"])


def test_an_answer_says_so_in_one_line(equipped: App, home: Path) -> None:
    text = take(equipped, "search for findme in ~").ended.text
    assert "Permission denied" not in text
    assert sum("hidden places" in line for line in text.splitlines()) == 1


def test_what_the_system_closes_is_still_a_failure(equipped: App, home: Path) -> None:
    (home / "closed").mkdir(mode=0)
    (failure,) = _reply(equipped, "measure_folders", {"path": "~"})["failures"]
    assert (failure["item"], failure["message"]) == (str(home / "closed"), "Permission denied")


def test_a_hidden_folder_that_was_named_is_shown_after_a_question(equipped: App, home: Path) -> None:
    args = {"path": "~/.one", "hidden": True}
    call = Call("find_files", args, OWNER, Path.home())
    with pytest.raises(Waiting):
        equipped.runner.run(call)
    assert [each["name"] for each in _reply(equipped, "find_files", args)["entries"]] == ["x.txt"]


def test_one_that_the_words_name_is_shown_where_hidden_names_were_wanted(equipped: App, home: Path) -> None:
    named = frozenset({home / ".one"})
    names = {
        each["name"] for each in _reply(equipped, "find_files", {"path": "~", "hidden": True}, named=named)["entries"]
    }
    assert "x.txt" in names
    assert "y.txt" not in names


def test_very_many_end_no_search(equipped: App, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "_MOST_MASKS", 20)
    for number in range(60):
        folder = home / "many" / f"f{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f".h{number}").write_text("findme")
    reply = _reply(equipped, "search_text", {"paths": ["~"], "pattern": "findme"})
    assert [each["path"] for each in reply["entries"]] == [str(home / "a.txt")]
    assert reply["left_out"]
    reply = _reply(equipped, "find_files", {"path": "~", "pattern": "*.txt"})
    assert ([each["name"] for each in reply["entries"]], reply["failures"]) == (["a.txt"], [])


def test_what_an_archive_lacks_is_a_failure(equipped: App, home: Path) -> None:
    """Whoever packs a folder to delete it must not lose what was left out."""
    reply = _reply(equipped, "archive_files", {"paths": ["~/sub"], "to": "~/sub.zip"})
    assert reply["failed"] == 2
