import pytest

from grimoire.traces import trace
from metnos.core.errors import TurnError
from metnos.grimoire.medium import Medium
from metnos.grimoire.trace import State


def test_the_last_word_counts_and_every_word_stays(medium: Medium) -> None:
    medium.close(trace())
    assert medium.opinion("01TURN") is None
    medium.feedback("01TURN", good=True, note="fine")
    medium.feedback("01TURN", good=False, note="on second thought")
    found = medium.opinion("01TURN")
    assert found is not None
    assert (found.good, found.note) == (False, "on second thought")
    assert medium.db.query("SELECT good FROM feedback ORDER BY id") == [(1,), (0,)]


@pytest.mark.parametrize("state", State)
def test_on_a_turn_however_it_ended(medium: Medium, state: State) -> None:
    medium.close(trace(state=state))
    assert medium.feedback("01TURN", good=True).weight > 0


def test_bad_outweighs_good(medium: Medium) -> None:
    medium.close(trace())
    good, bad = medium.feedback("01TURN", good=True).weight, medium.feedback("01TURN", good=False).weight
    assert good > 0 > bad
    assert good + bad < 0


def test_only_on_a_turn_that_there_is(medium: Medium) -> None:
    with pytest.raises(TurnError):
        medium.feedback("01NONE", good=True)


def test_nothing_but_a_note_can_be_changed(medium: Medium) -> None:
    medium.close(trace())
    medium.feedback("01TURN", good=True, note="x" * 10_000)
    found = medium.opinion("01TURN")
    assert found is not None
    assert len(found.note) == 2000
    for sql in ("UPDATE feedback SET good = 0", "UPDATE feedback SET note = 'other'", "DELETE FROM feedback"):
        with pytest.raises(Exception, match="only ever added"), medium.db.write() as tx:
            tx.execute(sql)
