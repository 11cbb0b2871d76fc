"""What makes searching by words affordable in SQLite must not change what is found."""

from pathlib import Path

import pytest

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
