"""Attacks by programs that the owner let in: on what the owner's words stand for, on grants, and on others' yeses."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.app import App
from metnos.core.errors import UsageError
from metnos.law.capability import Capability
from metnos.law.policy import MOST_ASKED
from metnos.law.principal import Autonomy, Channel, Principal, of_account
from metnos.turn.events import Answer
from metnos.turn.request import is_anothers, own_conversation
from signing import approve
from turn.scripted import reopened
from turn.turning import OWNER, follow, take

PROGRAM = Principal(Channel.API, "program", Autonomy.FULL)
LOOKER = Principal(Channel.WEB, "phone", Autonomy.READ_ONLY)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for folder in ("junk", "precious"):
        (home / folder).mkdir()
        (home / folder / f"{folder}.txt").write_text("text\n")
    return home


@pytest.fixture
def full(equipped: App, home: Path) -> Iterator[App]:
    """Nothing of the owner's own is asked about."""
    app, _ = reopened(equipped, model=False, policy__autonomy="full")
    yield app
    app.close()


@pytest.mark.parametrize("stranger", [PROGRAM, LOOKER])
def test_nobody_else_decides_what_the_owners_word_stands_for(full: App, home: Path, stranger: Principal) -> None:
    take(full, "find the txt files in ~/junk", conversation="mine")
    take(full, "find the txt files in ~/precious", principal=stranger, conversation="mine")
    assert take(full, "delete them", conversation="mine").ended.state == "done"
    assert [each.name for each in home.glob("*/*.txt")] == ["precious.txt"]


def test_a_program_does_not_see_what_the_owner_found(full: App, home: Path) -> None:
    first = take(full, "find the txt files in ~/precious")
    assert first.trace is not None
    taken = take(full, "show them", principal=PROGRAM, conversation=first.trace.conversation)
    assert taken.trace is not None
    assert taken.trace.steps == ()


def test_a_conversation_of_a_program_goes_on_under_the_name_it_gave(full: App, home: Path) -> None:
    take(full, "find the txt files in ~/junk", principal=PROGRAM, conversation="talk")
    taken = take(full, "sort them by size", principal=PROGRAM, conversation="talk")
    assert taken.trace is not None
    assert taken.trace.conversation == "api:program:talk"
    assert [step.ok for step in taken.trace.steps] == [True]


def test_the_owner_does_not_join_the_conversation_of_a_program(full: App, home: Path) -> None:
    with pytest.raises(UsageError, match="somebody else's"):
        take(full, "delete them", conversation="api:program:talk")


@example("\n", PROGRAM)
@given(st.text(max_size=20), st.sampled_from([PROGRAM, LOOKER]))
def test_a_conversation_has_the_same_name_however_often_it_is_named(name: str, who: Principal) -> None:
    named = own_conversation(name, who)
    assert own_conversation(named, who) == named
    assert is_anothers(named + "x")


def test_no_grant_and_no_level_speaks_for_a_program(full: App, home: Path) -> None:
    full.grants.grant("write_files", Capability.FS_WRITE, str(home / "junk"), by=OWNER, days=1)
    taken = take(full, "create a file ~/junk/new.txt with the text hello", principal=PROGRAM)
    assert taken.ended.state == "waiting"
    assert not (home / "junk" / "new.txt").exists()


def test_a_yes_to_one_step_of_a_program_is_none_to_the_next(full: App, home: Path) -> None:
    text = "move the txt files in ~/junk to ~/precious and then delete ~/precious/precious.txt"
    assert take(full, text, principal=PROGRAM).ended.state == "waiting"
    (item,) = full.inbox.waiting()
    turn = full.turns.go_on(approve(full.inbox, item.id, OWNER), OWNER)
    assert turn is not None
    taken = follow(full, turn, [Answer.LATER])
    assert taken.ended.state == "waiting"
    assert (home / "precious" / "precious.txt").exists()


def test_a_yes_that_nobody_used_is_not_lent_to_another_program(full: App, home: Path) -> None:
    text = "delete ~/precious/precious.txt"
    other = Principal(Channel.API, "other", Autonomy.FULL)
    take(full, text, principal=PROGRAM)
    (item,) = full.inbox.waiting()
    approve(full.inbox, item.id, OWNER)
    assert take(full, text, principal=other).ended.state == "waiting"
    assert (home / "precious" / "precious.txt").exists()
    assert take(full, text, principal=PROGRAM).ended.state == "done"


def test_a_program_does_not_bury_the_inbox(full: App, home: Path) -> None:
    for number in range(MOST_ASKED):
        take(full, f"create a file ~/junk/{number}.md with the text hello", principal=PROGRAM)
    assert len(full.inbox.waiting()) == MOST_ASKED
    assert take(full, "create a file ~/junk/more.md with the text x", principal=PROGRAM).ended.state != "waiting"
    assert len(full.inbox.waiting()) == MOST_ASKED
    assert take(full, "create a file ~/junk/mine.md with the text x").ended.state == "done"


@pytest.mark.parametrize("answer", [Answer.YES, Answer.ALWAYS, Answer.NO])
def test_a_script_is_shown_where_a_question_waits_and_its_answer_is_none(equipped: App, answer: Answer) -> None:
    letter = Path.home() / "letter.txt"
    letter.write_text("dear all")
    taken = take(equipped, f"delete {letter}", [answer] * 3, principal=of_account(Channel.SCRIPT))
    (item,) = equipped.inbox.waiting()
    assert (taken.ended.state, [each.item for each in taken.wanted], item.yes_count) == ("waiting", [item.id], 0)
    assert (taken.wanted[0].always, letter.exists(), equipped.grants.active()) == ("", True, [])
