"""What makes searching by words affordable in SQLite must not change what is found."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grimoire.episodes_made import episode
from metnos.core.clock import MovableClock
from metnos.grimoire import episodes_search
from metnos.grimoire.episode import Where
from metnos.grimoire.episodes_search import words_of
from metnos.grimoire.episodes_sqlite import SqliteEpisodes


@pytest.fixture
def store(tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> SqliteEpisodes:
    monkeypatch.setattr(episodes_search, "_LARGE", 10)
    made = SqliteEpisodes(tmp_path, clock)
    texts = ["the cat and the dog", "the dog barks", "the old house", "the house of the cat", "nothing else"] * 4
    made.add([episode(number, text) for number, text in enumerate(texts)])
    return made


@pytest.fixture
def spoken(tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> SqliteEpisodes:
    """Words of all frequencies, once and more than once, in short texts and in long ones."""
    monkeypatch.setattr(episodes_search, "_LARGE", 10)
    monkeypatch.setattr(episodes_search, "_SHARE", 0.5)
    made, draw = SqliteEpisodes(tmp_path, clock), random.Random(3)
    shares = {"rare": 0.02, "seldom": 0.08, "often": 0.2, "usual": 0.4}
    texts = []
    for _ in range(400):
        held = [word for word, share in shares.items() if draw.random() < share for _ in range(draw.choice((1, 1, 4)))]
        texts.append(" ".join([*held, *(f"x{draw.randrange(1000)}" for _ in range(draw.choice((1, 5, 30))))]))
    made.add([episode(number, text) for number, text in enumerate(texts)])
    return made


def test_words_that_most_episodes_hold_change_nothing_beside_others(store: SqliteEpisodes) -> None:
    with_it, without = store.matching("the cat", 20), store.matching("cat", 20)
    assert with_it == without
    assert len(with_it) == 8


def test_alone_they_are_looked_for(store: SqliteEpisodes) -> None:
    assert len(store.matching("the", 20)) == 16


def test_what_is_common_is_asked_again_when_there_is_more(store: SqliteEpisodes) -> None:
    assert store.matching("the house", 20) == store.matching("house", 20)
    store.add([episode(100 + number, "something rather different") for number in range(40)])
    assert len(store.matching("the house", 80)) == 16  # `the` is in 16 of 60 now


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.permutations(["rare", "seldom", "often", "usual"]), count=st.integers(1, 25), worth=st.floats(0, 1))
def test_the_rarer_words_first_find_what_all_at_once_find(
    spoken: SqliteEpisodes, asked: list[str], count: int, worth: float
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(episodes_search, "_FEW", 10**9)
        whole = spoken.matching(" ".join(asked), count)
        patch.setattr(episodes_search, "_FEW", 0)
        patch.setattr(episodes_search, "_WORTH", worth)
        assert [each.score for each in spoken.matching(" ".join(asked), count)] == [each.score for each in whole]


def test_what_holds_only_a_frequent_word_is_not_ranked_in_vain(
    spoken: SqliteEpisodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ranked = episodes_search._ranked
    monkeypatch.setattr(episodes_search, "_FEW", 0)
    monkeypatch.setattr(
        episodes_search, "_ranked", lambda db, query, many: asked.append(query) or ranked(db, query, many)
    )
    assert len(spoken.matching("rare usual", 3)) == 3
    assert asked == ['"rare"', '("rare") AND ("usual")']
    asked.clear()
    assert len(spoken.matching("rare usual", 50)) == 50
    assert asked == ['"rare" OR "usual"'], "too few hold the rare one"


def test_a_condition_that_few_satisfy_is_looked_at_whole(
    store: SqliteEpisodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes_search, "_WIDEST", 4)
    store.add([episode(200, "a cat of another session", session="S")])
    store.add([episode(300 + number, "cat") for number in range(30)])
    assert [each.id for each in store.matching("cat", 1, Where(sessions=("S",)))] == ["E00200"]


def test_words_are_letters_digits_and_their_signs() -> None:
    assert words_of('It\'s 3 "NEAR" (x*) AND é e\u0301 \0 it') == ["it", "s", "3", "near", "x", "and", "é", "e\u0301"]
    assert words_of("😀 -- !") == []
    assert len(words_of(" ".join(map(str, range(500))))) == 64
