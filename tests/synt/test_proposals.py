"""A need becomes one proposal, which goes one way and says why."""

from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError
from metnos.store.db import Database
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Evidence, Example, Need, Way
from metnos.synt.proposals import OPEN, Proposals, State
from metnos.synt.schema import MIGRATIONS

NEED = Need(
    "Put texts into title case",
    Way.DIRECT,
    name="format_text",
    inputs=("texts",),
    examples=(Example({"texts": ["a b"]}, ({"text": "a b", "title": "A B"},), observed=True),),
    evidence=Evidence(turns=("01A", "01B", "01C"), uses=3, days=7, saved_ms=1200, says="asked for three times"),
    mnest="01M",
)


@pytest.fixture
def proposals(tmp_path: Path, clock: MovableClock) -> Proposals:
    return Proposals(Database(tmp_path / "synt.db", MIGRATIONS, clock=clock), clock)


def test_a_need_comes_back_as_it_was(proposals: Proposals) -> None:
    made, new = proposals.take_up(NEED, "it recurs")
    assert new
    assert made.need == NEED
    assert proposals.get(made.id) == made
    assert [(each.state, each.reason) for each in proposals.events(made.id)] == [(State.WEIGHED, "it recurs")]


def test_the_same_need_is_one_proposal_as_long_as_it_is_open(proposals: Proposals) -> None:
    first, _ = proposals.take_up(NEED, "it recurs")
    again, new = proposals.take_up(NEED, "still")
    assert (again.id, new) == (first.id, False)
    proposals.refused(first, "not this")
    other, new = proposals.take_up(NEED, "once more")
    assert new
    assert other.id != first.id
    assert proposals.refusals(other.subject) == 1


def test_what_metnos_thought_of_is_commissioned_only_after_its_direction_was_asked(proposals: Proposals) -> None:
    made, _ = proposals.take_up(NEED, "it recurs")
    with pytest.raises(ExecutorError, match="direction"):
        proposals.commission(made, "somebody tries")
    asked = proposals.ask_direction(made, "01Q")
    assert proposals.commission(asked, "agreed").state is State.COMMISSIONED


@pytest.mark.parametrize("way", [Way.OWNER, Way.EXTERNAL, Way.IMPORTED])
def test_what_the_owner_asked_for_may_be_made_at_once(proposals: Proposals, way: Way) -> None:
    made, _ = proposals.take_up(Need("sort the versions", way), "you said so")
    assert made.state is State.COMMISSIONED


def test_only_what_is_green_is_drafted(proposals: Proposals) -> None:
    made, _ = proposals.take_up(Need("x", Way.OWNER), "you said so")
    draft = Draft("format_text", "", "", "")
    with pytest.raises(ExecutorError, match="every gate"):
        proposals.drafted(made, Made(draft, (Check("static gate", "no"),)), "01Q")
    with pytest.raises(ExecutorError, match="every gate"):
        proposals.drafted(made, Made(None, abandoned="no"), "01Q")


@pytest.mark.parametrize("state", [State.REFUSED, State.ABANDONED])
def test_what_ended_does_not_begin_again(proposals: Proposals, state: State) -> None:
    made, _ = proposals.take_up(Need("x", Way.OWNER), "you said so")
    ended = proposals.refused(made, "") if state is State.REFUSED else proposals.abandon(made, "three refusals")
    assert ended.state is state
    for try_again in (
        lambda: proposals.commission(ended, "again"),
        lambda: proposals.refused(ended, "again", again=True),
        lambda: proposals.ask_direction(ended, "01Q"),
    ):
        with pytest.raises(ExecutorError, match="does not become"):
            try_again()


def test_a_reason_of_the_owner_goes_with_the_need(proposals: Proposals) -> None:
    made, _ = proposals.take_up(NEED, "it recurs")
    refused = proposals.refused(made, "I want sentences, not words")
    assert refused.need.refused == ("I want sentences, not words",)


def test_a_proposal_is_found_by_the_end_of_its_id_or_its_name(proposals: Proposals) -> None:
    made, _ = proposals.take_up(NEED, "it recurs")
    assert proposals.find(made.id[-6:].lower()) == made
    assert proposals.find("format_text") == made
    with pytest.raises(ExecutorError, match="no proposal"):
        proposals.find("zzzzzz")


def test_forgetting_leaves_no_word_in_the_file(proposals: Proposals, tmp_path: Path) -> None:
    made, _ = proposals.take_up(Need("send the secretword to nobody", Way.OWNER), "secretword said")
    proposals.forget(made.id)
    proposals.db.query("PRAGMA wal_checkpoint(TRUNCATE)")
    assert all(b"secretword" not in path.read_bytes() for path in tmp_path.glob("synt.db*"))
    assert proposals.get(made.id).need.text == "(forgotten)"


def test_open_states_are_those_from_which_something_follows() -> None:
    assert set(OPEN) == set(State) - {State.ACTIVE, State.REFUSED, State.ABANDONED}
