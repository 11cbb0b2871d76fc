"""``metnos life retire`` as a person meets it."""

import json
from pathlib import Path

import pytest

from life.lived import SECRET, WORDS, live
from metnos.app import App
from metnos.cli import person
from metnos.core.workspace import Workspace
from support import Say

pytestmark = pytest.mark.usefixtures("alive", "typist")


@pytest.fixture
def alive(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METNOS_EMBED__KIND", "none")
    live(App.open(Workspace(root))).close()


def test_it_shows_what_would_happen_and_changes_nothing(say: Say, tmp_path: Path) -> None:
    ran = say("life", "retire", "--dry-run", "--to", str(tmp_path / "x.testament"))
    assert ran.code == 0
    assert "7 lessons of what it learnt would cross" in ran.out
    assert "questions (1)" in ran.out
    assert "--release" in ran.out
    assert not (tmp_path / "x.testament").exists()
    assert say("life", "retire", "--resume").code == 2


def test_nobody_is_retired_without_a_person_who_types_it(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("life", "retire", "--to", str(tmp_path / "x.testament"))
    assert say(*line, "--yes").code == 2
    with monkeypatch.context() as patch:
        patch.setattr(person, "read_line", lambda *_: "yes\n")
        assert say(*line).code == 1
        patch.setattr(person, "is_at_terminal", lambda: False)
        ran = say(*line)
    assert (ran.code, "only a person may retire an agent" in ran.err) == (1, True)
    assert not (tmp_path / "x.testament").exists()


def test_it_is_done_and_says_what_was_left(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "x.testament"
    ran = say("life", "retire", "--to", str(path))
    assert ran.code == 0
    assert "Retired. Its testament" in ran.out
    assert "init --from" in ran.out
    assert "stands for" in ran.out
    assert "legacy" in ran.err
    assert SECRET not in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o077 == 0
    again = say("ask", "find the PDFs")
    assert again.code == 1
    assert "was retired" in again.err


def test_a_program_gets_figures(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "x.testament"
    found = json.loads(say("life", "retire", "--json", "--release", "P0001", "--to", str(path)).out)
    assert found["file"] == str(path)
    assert found["bytes"] == path.stat().st_size
    assert found["core_bytes"] < 5120
    assert found["episodes"] == 1
    assert WORDS in path.read_text(encoding="utf-8")


def test_once_more_says_the_same_and_changes_nothing(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "x.testament"
    first = json.loads(say("life", "retire", "--json", "--to", str(path)).out)
    assert json.loads(say("life", "retire", "--resume", "--json").out) == first
    ran = say("life", "retire", "--resume", "--release", "P0001")
    assert ran.code == 2
    assert "fixed" in ran.err


def test_what_is_not_there_cannot_be_released(say: Say) -> None:
    ran = say("life", "retire", "--dry-run", "--release", "NOBODY")
    assert ran.code == 2
    assert "no episode" in ran.err
