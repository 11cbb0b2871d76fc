import os
import pwd
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law.asks import OWNER, others
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal, lower, of_account
from tables import try_each

LEVELS = st.sampled_from(Autonomy)


@given(LEVELS, LEVELS, LEVELS)
def test_the_lower_level_wins_whoever_has_it(one: Autonomy, other: Autonomy, third: Autonomy) -> None:
    assert lower(one, other) is lower(other, one)
    assert lower(one, one) is one
    assert lower(one, lower(other, third)) is lower(lower(one, other), third)
    assert lower(one, Autonomy.READ_ONLY) is Autonomy.READ_ONLY
    assert lower(one, Autonomy.FULL) is one


@pytest.mark.parametrize("channel", [Channel.TERMINAL, Channel.WEB, Channel.TELEGRAM])
@pytest.mark.parametrize("level", [Autonomy.SUPERVISED, Autonomy.FULL])
def test_the_owner_may_answer(channel: Channel, level: Autonomy) -> None:
    assert Principal(channel, "owner", level).may_answer


@try_each("stranger", others(), ids=str)
def test_nobody_else_may(stranger: Principal) -> None:
    assert not stranger.may_answer


@try_each("sender", ["", " ", "a b", "x" * 65, "é", "a\nb", "-a", None, 7])
def test_a_sender_has_a_name_that_can_be_recorded(sender: str) -> None:
    assert not Principal(Channel.WEB, sender, Autonomy.FULL).known


def test_at_the_terminal_it_is_whoever_owns_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    assert at_terminal().may_answer
    assert at_terminal().sender == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "getuid", lambda: 987_654)
    assert at_terminal().sender == "uid-987654"
    assert str(OWNER) == "terminal:owner"


def test_where_no_person_can_type_nobody_is_the_owner_in_person() -> None:
    told = "from metnos.law.principal import at_terminal; at_terminal()"
    ran = subprocess.run([sys.executable, "-c", told], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 1
    assert b"Refused" in ran.stderr


@pytest.mark.parametrize("channel", [Channel.SCRIPT, Channel.LIBRARY])
@given(level=LEVELS)
def test_a_program_of_the_account_asks_as_the_owner_and_is_no_person(channel: Channel, level: Autonomy) -> None:
    who = Principal(channel, "owner", level)
    assert who.is_owner is (level is not Autonomy.READ_ONLY)
    assert not who.may_answer
    assert of_account(channel).channel is channel


@given(
    st.sampled_from(Channel),
    LEVELS,
    st.sampled_from(["mcp:one", "mcp:two", "library:one", "terminal:owner", ""]),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_what_shows_questions_answers_the_acts_it_asked_for_itself_where_one_yes_decides(
    channel: Channel, level: Autonomy, asker: str, yeses: int, act: bool
) -> None:
    who = Principal(channel, "one", level)
    if channel in (Channel.MCP, Channel.LIBRARY):
        own = asker == f"{channel}:one" and yeses == 1 and act and level is not Autonomy.READ_ONLY
        assert who.may_answer_to(asker, yeses, act=act) is own
        assert not who.may_answer
    else:
        assert who.may_answer_to(asker, yeses, act=act) is who.may_answer


@given(st.sampled_from(Channel), LEVELS, st.sampled_from([1, 2]))
def test_only_where_a_person_can_be_anything_but_an_act_is_answered(
    channel: Channel, level: Autonomy, yeses: int
) -> None:
    who = Principal(channel, "one", level)
    answers = who.may_answer_to(str(who), yeses, act=False)
    assert not answers or channel in (Channel.TERMINAL, Channel.WEB, Channel.TELEGRAM)
