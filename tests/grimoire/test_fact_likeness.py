import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.facts_made import START, fact
from metnos.grimoire import fact_likeness
from metnos.grimoire.episode import Scope
from metnos.grimoire.fact import Kind

BASE = "read_pdf takes 4 seconds when a file has more than 200 pages"


@pytest.mark.parametrize(
    "other",
    [
        {"text": "Read_PDF takes 4 seconds, when the file has more than 200 pages!"},
        {"text": "When a file has more than 200 pages, read_pdf takes 4 seconds"},
    ],
)
def test_the_same_in_other_dress_is_the_same(other: dict[str, str]) -> None:
    assert fact_likeness.is_same(fact(text=BASE), fact("02", **other), None)


@pytest.mark.parametrize(
    "other",
    [
        {"text": BASE.replace("4 seconds", "9 seconds")},
        {"text": BASE.replace("takes", "never takes")},
        {"domain": "mail"},
        {"kind": Kind.INSIGHT},
        {"sender": "somebody"},
        {"scope": Scope.SHARED},
        {"subject": "read_pdf"},
    ],
)
def test_another_number_negation_place_or_speaker_is_not_the_same(other: dict[str, object]) -> None:
    assert not fact_likeness.is_same(fact(text=BASE), fact("02", **{"text": BASE, **other}), 1.0)


def test_a_near_vector_makes_other_words_the_same_and_a_far_one_does_not() -> None:
    one, other = fact(text="The printer is slow in the morning"), fact("02", text="Mornings, printing takes long")
    assert fact_likeness.is_same(one, other, 0.95)
    assert not fact_likeness.is_same(one, other, 0.80)
    assert not fact_likeness.is_same(one, other, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"subject": "port", "value": "80"}, {"subject": "port", "value": "8080"}),
        ({"text": "convert_image works on webp files"}, {"text": "convert_image does not work on webp files"}),
        ({"text": "La stampante funziona di notte"}, {"text": "La stampante non funziona di notte"}),
        ({"text": "The backup of photos fails on sundays"}, {"text": "The backup of photos on sundays"}),
    ],
)
def test_what_cannot_both_be_true_contradicts(one: dict[str, str], other: dict[str, str]) -> None:
    assert fact_likeness.contradicts(fact(**one), fact("02", **other))
    assert fact_likeness.contradicts(fact("02", **other), fact(**one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"subject": "port", "value": "80"}, {"subject": "port", "value": " 80"}),
        ({"subject": "port", "value": "80"}, {"subject": "host", "value": "x"}),
        ({"text": "It never rains here"}, {"text": "convert_image works on webp files"}),
        ({"text": "find_files works"}, {"text": "find_files does not work", "domain": "mail"}),
        (
            {"subject": "port", "value": "80", "valid_until": START},
            {"subject": "port", "value": "81", "valid_from": START},
        ),
    ],
)
def test_what_can_both_be_true_does_not(one: dict[str, object], other: dict[str, object]) -> None:
    assert not fact_likeness.contradicts(fact(**one), fact("02", **other))


@pytest.mark.parametrize(("mean", "agrees"), [(10.0, True), (12.0, True), (17.0, False)])
def test_baselines_agree_within_a_few_deviations(mean: float, agrees: bool) -> None:
    def baseline(key: str, mean: float) -> object:
        data = {"metric": "seconds", "mean": mean, "stddev": 2.0, "count": 9}
        return fact(key, kind=Kind.BASELINE, text=f"It takes {mean} s", subject="seconds", value=f"{mean}", data=data)

    one, other = baseline("01", 10.0), baseline("02", mean)
    assert fact_likeness.is_same(one, other, None) is agrees  # type: ignore[arg-type]
    assert fact_likeness.contradicts(one, other) is not agrees  # type: ignore[arg-type]


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_the_same_both_ways_and_within_bounds(one: str, other: str) -> None:
    first, second = fact(text=one), fact("02", text=other)
    assert fact_likeness.similarity(first, second, None) == fact_likeness.similarity(second, first, None)
    assert 0 <= fact_likeness.similarity(first, second, None) <= 1
    assert fact_likeness.contradicts(first, second) == fact_likeness.contradicts(second, first)
    assert not (fact_likeness.is_same(first, second, None) and fact_likeness.contradicts(first, second))
