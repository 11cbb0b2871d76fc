import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.records import FastPath, Form, Match, State
from metnos.fastpath.rules import (
    Calibration,
    Curve,
    Rules,
    may_answer,
    novelty_share,
    relative_risk,
    upper,
)

PATH = FastPath("p", (), (), State.ACTIVE)
PROVEN = Calibration(curve=Curve(0.0, 10.0, 0.3), threshold=0.4, bound=0.0099, risk=0.006, why="")
share = st.floats(0, 5, allow_nan=False)


def match(score: float = 0.0, *, exact: bool = False) -> Match:
    return Match("p", "form", PROVEN.probability(score), exact, score)


@given(share, share, st.floats(-5, 5), st.floats(0, 50), st.floats(0, 5))
def test_a_higher_score_never_has_a_lower_probability(
    one: float, other: float, offset: float, slope: float, log_slope: float
) -> None:
    known = Calibration(curve=Curve(offset, slope, log_slope))
    low, high = sorted((one, other))
    assert 0 <= known.probability(low) <= known.probability(high) <= 1


@given(st.integers(1, 3000), st.integers(0, 40))
def test_the_upper_bound_is_the_one_of_the_binomial(count: int, wrong: int) -> None:
    bound = upper(wrong, count, 0.95)
    if wrong >= count:
        assert bound == 1
        return
    logs = (
        math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1)
        + i * math.log(bound) + (count - i) * math.log1p(-bound)
        for i in range(wrong + 1)
    )  # fmt: skip
    assert sum(map(math.exp, logs)) == pytest.approx(0.05, abs=1e-6)


def test_one_per_cent_takes_299_right_answers_in_a_row() -> None:
    assert upper(0, 298, 0.95) > 0.01 >= upper(0, 299, 0.95)
    assert upper(0, 0, 0.95) == 1


def test_a_match_above_the_threshold_answers_and_one_below_does_not() -> None:
    assert may_answer(match(0.4), PROVEN, PATH, 0.01).may
    below = may_answer(match(0.39), PROVEN, PATH, 0.01)
    assert not below.may
    assert "not sure enough" in below.why


def test_a_path_that_was_wrong_needs_to_be_surer_than_others() -> None:
    burnt = replace(PATH, hits=2, wrong=2)
    assert not may_answer(match(0.45), PROVEN, burnt, 0.01).may
    assert "wrong before" in may_answer(match(0.45), PROVEN, burnt, 0.01).why
    assert may_answer(match(0.9), PROVEN, burnt, 0.01).may


def test_a_path_that_often_agreed_may_be_a_little_less_sure() -> None:
    proven = replace(PATH, agreed=400)
    assert may_answer(match(0.35), PROVEN, proven, 0.01).may
    assert not may_answer(match(0.1), PROVEN, proven, 0.01).may


@given(st.floats(0, 2), st.integers(0, 1000), st.floats(-9, 5), st.floats(0, 30), st.floats(0, 5))
def test_what_is_rather_wrong_than_right_is_never_answered(
    score: float, hits: int, offset: float, slope: float, log_slope: float
) -> None:
    """Where all that was seen lies far apart, the least margin may be one at which nearly everything is wrong."""
    known = Calibration(curve=Curve(offset, slope, log_slope), threshold=0.1, bound=0.0099, why="")
    answers = may_answer(match(score), known, replace(PATH, hits=hits), 0.01).may
    assert not (answers and known.probability(score) < 0.5)


def test_the_same_words_answer_once_enough_of_them_were_right() -> None:
    few = Calibration(exact_count=3)
    many = Calibration(exact_count=1000, exact_wrong=2)
    assert not may_answer(match(exact=True), few, PATH, 0.01).may
    assert may_answer(match(exact=True), many, PATH, 0.01).may
    assert not may_answer(match(exact=False), many, PATH, 0.01).may
    assert not may_answer(match(exact=True), many, replace(PATH, disagreed=3), 0.01).may


def test_without_any_calibration_nothing_answers_and_the_reason_says_so() -> None:
    verdict = may_answer(match(5.0, exact=True), None, PATH, 0.01)
    assert not verdict.may
    assert "nothing was measured" in verdict.why


def test_a_calibration_for_a_looser_bound_is_not_used_for_a_stricter_one() -> None:
    assert not may_answer(match(2.0), PROVEN, PATH, 0.001).may
    assert may_answer(match(2.0), PROVEN, PATH, 0.05).may


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 20), st.integers(0, 20))
def test_each_wrong_answer_raises_the_risk_of_a_path_and_each_right_one_lowers_it(
    agreed: int, hits: int, disagreed: int, wrong: int
) -> None:
    rules = Rules()
    path = replace(PATH, agreed=agreed, hits=hits + wrong, disagreed=disagreed, wrong=wrong)
    here = relative_risk(path, 0.01, rules)
    assert relative_risk(replace(path, disagreed=disagreed + 1), 0.01, rules) >= here
    assert relative_risk(replace(path, hits=path.hits + 1, wrong=wrong + 1), 0.01, rules) >= here
    assert relative_risk(replace(path, agreed=agreed + 1), 0.01, rules) <= here
    assert here >= rules.most_gain


def _forms(alone: int, pairs: int) -> list[Form]:
    paths = [f"alone {each}" for each in range(alone)] + [f"pair {each // 2}" for each in range(2 * pairs)]
    return [Form(path, f"form {at}", "said") for at, path in enumerate(paths)]


def test_where_most_was_asked_once_most_of_what_comes_is_new() -> None:
    rules = Rules()
    assert novelty_share([], rules) == rules.most_novelty
    assert novelty_share(_forms(10, 0), rules) == rules.most_novelty
    assert novelty_share(_forms(0, 50), rules) == pytest.approx(upper(0, 100, rules.confidence))
    assert novelty_share(_forms(20, 40), rules) == pytest.approx(upper(20, 100, rules.confidence))
    assert novelty_share(_forms(0, 5000), rules) == rules.least_novelty


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_kind_that_was_met_once_makes_new_ones_more_likely_and_one_met_twice_less(alone: int, pairs: int) -> None:
    rules = Rules()
    here = novelty_share(_forms(alone, pairs), rules)
    assert novelty_share(_forms(alone + 1, pairs), rules) >= here
    assert novelty_share(_forms(alone, pairs + 1), rules) <= here
    assert here >= min(rules.most_novelty, alone / max(1, alone + 2 * pairs))


def test_the_same_words_again_say_nothing_about_new_kinds() -> None:
    forms = _forms(5, 20)
    assert novelty_share([replace(each, uses=100) for each in forms], Rules()) == novelty_share(forms, Rules())


def test_a_calibration_survives_json() -> None:
    for known in (PROVEN, Calibration()):
        assert Calibration.from_data(json.loads(json.dumps(known.to_data()))) == known
