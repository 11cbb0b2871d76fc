"""Which episodes are replayed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import PLAIN, turn
from metnos.grimoire.episode import Episode, Verdict
from metnos.grimoire.replay import ReplayRules, choose, gain, need, priority, surprise, utility

MANY = st.lists(PLAIN, max_size=20, unique_by=lambda each: each.id)
SMALL = ReplayRules(batch=10)


def test_surprise_is_how_far_the_first_impression_was_off() -> None:
    assert surprise(turn(importance=0.9, curiosity=0.2)) == pytest.approx(0.7)
    assert surprise(turn(importance=0.2, curiosity=0.9)) == pytest.approx(0.7)


def test_priority_weighs_surprise_and_importance() -> None:
    episode = turn(importance=0.8, curiosity=0.2)
    assert priority(episode, ReplayRules(surprise_weight=1.0)) == pytest.approx(0.6)
    assert priority(episode, ReplayRules(surprise_weight=0.0)) == pytest.approx(0.8)
    assert priority(episode, ReplayRules(surprise_weight=0.25)) == pytest.approx(0.75)


@given(PLAIN)
def test_priority_gain_and_utility_are_shares(episode: Episode) -> None:
    assert 0 <= utility(episode, 0.5, 0.5) <= gain(episode) <= priority(episode) <= 1


@given(PLAIN, st.floats(0, 1), st.floats(0, 1))
def test_each_replay_teaches_less(episode: Episode, share: float, near: float) -> None:
    again = replace(episode, replays=episode.replays + 1)
    assert gain(again) <= gain(episode)
    assert utility(again, share, near) <= utility(episode, share, near)


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_need_is_a_share(share: float, near: float) -> None:
    assert 0 <= need(share, near) <= 1


@given(MANY, MANY)
def test_only_verified_episodes_are_ever_chosen_and_none_twice(new: list[Episode], old: list[Episode]) -> None:
    chosen = choose(new, old, {}, {}, SMALL)
    everything = [*chosen.recent, *chosen.old, *chosen.waiting]
    assert all(each.verdict is Verdict.VERIFIED for each in everything)
    assert len({each.id for each in everything}) == len(everything)
    assert len(chosen.recent) + len(chosen.old) <= SMALL.batch


@given(MANY, MANY)
def test_nothing_new_that_is_verified_gets_lost(new: list[Episode], old: list[Episode]) -> None:
    chosen = choose(new, old, {}, {}, SMALL)
    kept = {each.id for each in (*chosen.recent, *chosen.waiting)}
    assert kept == {each.id for each in new if each.verdict is Verdict.VERIFIED}


@given(MANY, MANY, st.randoms())
def test_the_same_offer_gives_the_same_choice(new: list[Episode], old: list[Episode], chance: object) -> None:
    shuffled = list(new)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose(shuffled, old, {}, {}, SMALL).recent == choose(new, old, {}, {}, SMALL).recent


def test_new_and_old_are_mixed_seventy_to_thirty() -> None:
    new, old = [turn() for _ in range(100)], [turn() for _ in range(100)]
    chosen = choose(new, old, {}, {}, SMALL)
    assert (len(chosen.recent), len(chosen.old)) == (7, 3)
    assert len(chosen.waiting) == 93


def test_with_little_new_there_is_little_old_and_with_nothing_new_nothing() -> None:
    old = [turn() for _ in range(100)]
    assert len(choose([turn() for _ in range(4)], old, {}, {}, SMALL).old) == 2
    assert choose([], old, {}, {}, SMALL).old == ()


def test_where_there_is_nothing_old_the_new_ones_get_the_room() -> None:
    assert len(choose([turn() for _ in range(20)], [], {}, {}, SMALL).recent) == 10


def test_of_the_new_the_most_urgent_come_first() -> None:
    plain, urgent = turn(importance=0.3, curiosity=0.3), turn(importance=1.0, curiosity=0.0)
    assert choose([plain, urgent], [], {}, {}, ReplayRules(batch=1)).recent == (urgent,)


def test_of_the_old_those_that_are_about_now_come_first() -> None:
    new = [turn(domain="files") for _ in range(7)]
    near, far, elsewhere = turn(domain="files"), turn(domain="files"), turn(domain="mail")
    key = {each.id: each.domain for each in (*new, near, far, elsewhere)}
    chosen = choose(new, [elsewhere, far, near], {near.id: 0.9, far.id: 0.1, elsewhere.id: 0.0}, key, SMALL)
    assert [each.id for each in chosen.old] == [near.id, far.id, elsewhere.id]
    worn = replace(near, replays=50)
    again = choose(new, [elsewhere, far, worn], {near.id: 0.9, far.id: 0.1}, key, SMALL)
    assert again.old[0].id == far.id, "what was replayed often has little left to teach"
