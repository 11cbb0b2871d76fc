"""Which episodes go first when there is no room."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import PLAIN, START, turn
from metnos.grimoire.curator_rules import is_protected, least_worth, rank, worth
from metnos.grimoire.episode import Episode, Verdict

NOW = START + timedelta(days=30)


@given(PLAIN)
def test_worth_is_a_share(episode: Episode) -> None:
    assert 0 <= worth(episode, NOW) <= 1


def test_what_mattered_what_helped_and_what_is_recent_is_worth_more() -> None:
    plain = turn(importance=0.3)
    assert worth(turn(importance=0.8), NOW) > worth(plain, NOW)
    assert worth(turn(importance=0.3, used=3), NOW) > worth(plain, NOW)
    assert worth(turn(importance=0.3, at=timedelta(days=29)), NOW) > worth(plain, NOW)


def test_what_was_learnt_from_goes_first_and_what_is_pinned_last() -> None:
    learnt = turn(replays=1)
    rejected, unjudged = turn(verdict=Verdict.REJECTED), turn(verdict=Verdict.UNJUDGED)
    stained, pinned = turn(bloodstain=True), turn(pinned=True)
    ordered = [learnt, rejected, unjudged, stained, pinned]
    assert sorted(ordered, key=rank) == ordered
    assert [is_protected(each) for each in ordered] == [False, False, False, True, True]
    assert rank(turn(replays=0)) > rank(learnt), "what was not learnt from yet still may teach"


@given(st.lists(PLAIN, max_size=12, unique_by=lambda each: each.id), st.integers(0, 12))
def test_never_more_than_asked_for_and_the_least_worth_of_a_rank_first(offered: list[Episode], count: int) -> None:
    going = least_worth(offered, count, NOW)
    assert len(going) <= count
    staying = [each for each in offered if each not in going]
    for gone in going:
        assert all(
            rank(gone) < rank(left) or worth(gone, NOW) <= worth(left, NOW)
            for left in staying
            if rank(left) <= rank(gone)
        )
