"""How relevant candidates are: words and meaning with neighbours, who is named, which time is meant, the floor."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.question import Span, read
from metnos.grimoire.recall_pool import Pool, in_time, likeness, meaning_share, signals
from metnos.grimoire.recall_rules import Candidate, Rules, Signals
from tables import try_each

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
RULES = Rules()
DAY = timedelta(days=1)


def pool(texts: list[str], *, words: dict[int, float] | None = None, cosines: dict[int, float] | None = None) -> Pool:
    """Candidates of one conversation, in order."""
    every = [Candidate(str(at), text, NOW, seq=at, session="s", sender="ada") for at, text in enumerate(texts)]
    beside = {
        (one.id, other.id): other.seq - one.seq for one in every for other in every if 0 < abs(one.seq - other.seq) <= 2
    }
    return Pool(
        every,
        {str(at): score for at, score in (words or {}).items()},
        {str(at): score for at, score in (cosines or {}).items()},
        beside,
    )


def apart(texts: list[str], words: dict[int, float]) -> Pool:
    """Candidates that have nothing to do with one another."""
    every = [Candidate(str(at), text, NOW) for at, text in enumerate(texts)]
    return Pool(every, {str(at): score for at, score in words.items()}, {}, {})


def judged(question: str, of: Pool) -> list[Signals]:
    found = signals(read(question, NOW), of, RULES)
    return [found[place] for place in range(len(of.candidates))]


def best(found: list[Signals]) -> int:
    return max(range(len(found)), key=lambda at: found[at].relevance)


def test_every_signal_stays_in_its_bounds() -> None:
    of = pool(
        ["the red kite", "a kite", "red paint", "nothing"], words={0: 3.1, 1: 2.0, 2: 1.2}, cosines={0: 0.5, 3: 0.1}
    )
    for each in judged("Where is the red kite?", of):
        for value in (each.relevance, each.words, each.meaning, each.coverage, each.own):
            assert 0 <= value <= 1


def test_an_answer_is_found_by_the_question_before_it() -> None:
    talk = "well that is what it is"
    texts = [talk, "which restaurant did you choose for the anniversary?", "the one by the harbour", talk, talk, talk]
    found = judged("Which restaurant for the anniversary?", pool(texts, words={1: 5.0}))
    assert found[2].relevance > max(found[at].relevance for at in (0, 3, 4, 5))
    assert found[2].passed


def test_two_words_beside_each_other_beat_one_word_twice() -> None:
    texts = ["my violin", "the teacher came", "x", "x", "x", "violin violin", "x", "x"]
    found = judged("Who is the violin teacher?", pool(texts, words={0: 2.0, 1: 2.0, 5: 2.6}))
    assert best(found) in (0, 1)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """As the store's scores tell: what has the rare word was given more."""
    texts = ["the garden", "the garden", "the garden", "the astrolabe"]
    found = judged(
        "astrolabe in the garden", Pool(pool(texts).candidates, {"0": 0.3, "1": 0.3, "2": 0.3, "3": 4.0}, {}, {})
    )
    assert best(found) == 3
    assert found[3].coverage > 0.8 > found[0].coverage


def test_meaning_finds_what_shares_no_word() -> None:
    texts = [f"unrelated {at}" for at in range(30)] + ["the vehicle is on level three"]
    cosines = {at: 0.1 + 0.01 * (at % 5) for at in range(30)} | {30: 0.7}
    found = judged("where did I park", pool(texts, cosines=cosines))
    assert best(found) == 30
    assert "deviations" in found[30].passed


def test_a_question_that_nothing_answers_gets_nothing() -> None:
    texts = [f"small talk about the weather {at}" for at in range(30)]
    cosines = {at: 0.1 + 0.01 * (at % 5) for at in range(30)}
    words = dict.fromkeys(range(30), 0.2)
    found = judged(
        "Which insurer covers the vintage motorcycle, and what is the weather clause?",
        pool(texts, words=words, cosines=cosines),
    )
    assert not any(each.passed for each in found)


STRANGE = "Which hotel did the choir book in Copenhagen for the autumn concert?"


def test_a_name_that_was_never_heard_of_speaks_against_an_answer() -> None:
    texts = ["the choir will book it", *(f"small talk {at}" for at in range(12))]
    words = {0: 4.0}
    assert any(each.passed for each in judged(STRANGE.replace("Copenhagen", "town"), pool(texts, words=words)))
    assert not any(each.passed for each in judged(STRANGE, pool(texts, words=words)))


def test_one_known_name_is_enough_and_whoever_speaks_is_known() -> None:
    texts = ["the choir will book a hotel", "a letter from Copenhagen", *(f"small talk {at}" for at in range(12))]
    assert any(each.passed for each in judged(STRANGE, pool(texts, words={0: 6.0, 1: 3.0})))
    asked = "Which hotel will Ada book for the choir?"
    assert any(each.passed for each in judged(asked, pool(texts[:1] + texts[2:], words={0: 6.0})))


def test_what_stands_out_is_an_answer_with_fewer_of_the_words() -> None:
    """Two of six words together in one place are no chance; where a dozen places have the same two, they may be."""
    asked = "Which harbour restaurant served the smoked eel before the regatta?"
    alone = ["harbour restaurant", *(f"small talk {at}" for at in range(12))]
    assert any(each.passed for each in judged(asked, apart(alone, {0: 8.0})))
    often = [f"harbour restaurant {at}" for at in range(12)]
    assert not any(each.passed for each in judged(asked, apart(often, dict.fromkeys(range(12), 8.0))))


def test_where_an_answer_is_unsure_only_the_best_few_are_given() -> None:
    texts = [f"harbour boat pier {at}" for at in range(20)]
    scores = dict.fromkeys(range(20), 4.0)
    unsure = judged("Which harbour boat pier restaurant serves regatta crews?", apart(texts, scores))
    assert sum(bool(each.passed) for each in unsure) == RULES.few_answers
    assert all(each.passed for each in judged("Which harbour boat pier?", apart(texts, scores)))


def test_accents_make_no_other_word() -> None:
    found = judged("Dov'\u00e8 il caff\u00e8 macinato?", apart(["il caff\u00e8 macinato \u00e8 finito"], {0: 3.0}))
    assert found[0].own == 1.0


@try_each(
    ("asked", "said"),
    [
        ("keys", "key"), ("tv", "tvs"), ("filing", "files"), ("hobby", "hobbies"), ("prayed", "pray"), ("x", "x"),
        ("relational", "relate"), ("3d", "3d"), ("caff\u00e8", "caffe"), ("playing", "played"),
    ],
)  # fmt: skip
def test_a_word_is_found_in_every_form_where_it_begins_and_nowhere_else(asked: str, said: str) -> None:
    others = [f"{before}{said}" for before in ("un", "\u00e0", "7")]
    found = judged(asked, apart([f"({said})", f"what {said}, you say", *others, f"snake_{said}"], {0: 3.0}))
    assert [each.own for each in found] == [1.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def test_of_many_candidates_the_most_relevant_are_told_of() -> None:
    texts = ["nothing", "the red kite", "a kite", "red paint"]
    of = apart(texts, {1: 3.1, 2: 2.0, 3: 1.2})
    every = signals(read("Where is the red kite?", NOW), of, RULES)
    assert next(iter(every)) == 1
    assert sorted(every) == [0, 1, 2, 3]
    best_two = signals(read("Where is the red kite?", NOW), of, RULES, 2)
    assert list(best_two.items()) == list(every.items())[:2]


def test_whoever_is_named_is_preferred_unless_everybody_is() -> None:
    every = [Candidate("a", "I went skiing", NOW, sender="ada"), Candidate("b", "I went skiing", NOW, sender="bruno")]
    found = judged("When did Bruno go skiing?", Pool(every, {"a": 1.0, "b": 1.0}, {}, {}))
    assert found[1].relevance > found[0].relevance
    alone = judged("When did Bruno go skiing?", Pool(every[1:], {"b": 1.0}, {}, {}))
    assert alone[0].named == 0.0


def test_what_lies_in_the_time_that_is_asked_for_is_preferred() -> None:
    then = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)
    every = [Candidate("a", "dinner with friends", then - 40 * DAY), Candidate("b", "dinner with friends", then)]
    found = judged("Who came to dinner on 3 May?", Pool(every, {"a": 1.0, "b": 1.0}, {}, {}))
    assert found[1].relevance > found[0].relevance


def test_a_question_about_nothing_but_a_time_is_answered_by_what_happened_then() -> None:
    every = [Candidate("a", "watered the plants", NOW - DAY), Candidate("b", "mended the fence", NOW - 9 * DAY)]
    found = judged("What did I do yesterday?", Pool(every, {}, {}, {}))
    assert [bool(each.passed) for each in found] == [True, False]


@given(st.floats(0, 400))
def test_things_are_told_after_they_happened_but_not_before(days: float) -> None:
    span = Span(NOW, NOW + DAY)
    after = in_time(NOW + DAY + timedelta(days=days), [span], RULES)
    assert 0 <= after <= 1
    assert in_time(NOW - timedelta(days=days, seconds=1), [span], RULES) == 0.0
    assert in_time(NOW + DAY + timedelta(days=RULES.told_days), [span], RULES) == pytest.approx(0.5)


def test_an_open_time_has_no_end() -> None:
    assert in_time(NOW + 999 * DAY, [Span(NOW, None)], RULES) == 1.0
    assert in_time(NOW - 999 * DAY, [Span(None, NOW)], RULES) == 1.0


@given(st.floats(-5, 50), st.integers(1, 1000))
def test_meaning_counts_more_the_further_the_nearest_stands_out(nearness: float, count: int) -> None:
    share = meaning_share(nearness, count, RULES)
    assert RULES.meaning_least <= share <= RULES.meaning_most
    assert meaning_share(nearness + 1, count, RULES) >= share


def test_without_vectors_texts_are_alike_by_their_words() -> None:
    every = [
        Candidate(text, text, NOW) for text in ("the wifi password is elm", "wifi password: fir", "a walk by the lake")
    ]
    alike = likeness({}, every)
    assert alike[0][1] > 0.5 > alike[0][2]


def test_no_candidates_give_no_signals() -> None:
    assert judged("anything?", Pool([], {}, {}, {})) == []
