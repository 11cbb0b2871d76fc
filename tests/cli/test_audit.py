"""Taking an audit that is in doubt as it is: a person types a word for it, and no pipe can."""

import pytest

from metnos import app
from metnos.core.workspace import Workspace
from metnos.law.audit_line import ACCEPTED
from support import Say, kinds, metnos, on_a_terminal


@pytest.fixture
def doubted(workspace: Workspace) -> Workspace:
    """One whose audit lost its last line."""
    path = next(workspace.audit.iterdir())
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    return workspace


def test_a_person_types_the_word_and_things_act_again(doubted: Workspace) -> None:
    line = ("--workspace", str(doubted.root), "audit", "accept")
    assert on_a_terminal(*line, typed="yes\n").code == 1
    opened = app.App.open(doubted)
    assert opened.halts.halted()
    done = on_a_terminal(*line, typed="accept\n")
    assert (done.code, "in doubt" in done.out) == (0, True)
    assert opened.halts.halted() is None
    assert ACCEPTED in kinds(doubted)


def test_no_pipe_can(doubted: Workspace) -> None:
    said = metnos("--workspace", str(doubted.root), "audit", "accept", stdin="accept\n")
    assert said.code == 1
    assert app.App.open(doubted).halts.halted()


def test_it_says_why_where_settings_and_laws_are_broken_too(doubted: Workspace, say: Say) -> None:
    doubted.settings.write_text("no [TOML")
    doubted.soul.unlink()
    said = say("--workspace", str(doubted.root), "audit", "accept")
    assert (said.code, "in doubt: " in said.out) == (1, True)


def test_lifting_a_halt_accepts_nothing(doubted: Workspace, say: Say) -> None:
    say("--workspace", str(doubted.root), "executor", "panic", "--lift")
    assert app.App.open(doubted).halts.halted()


def test_where_nothing_is_in_doubt_nothing_is_asked(workspace: Workspace, say: Say) -> None:
    said = say("--workspace", str(workspace.root), "audit", "accept")
    assert (said.code, "Nothing" in said.out) == (0, True)
