"""Bodies and cases are held against each other: what is fixed stays, what two agree on counts, all else goes."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.synt.agreement import Judged, Result, judge
from metnos.synt.sketch import Case, Rejection

Row = Mapping[str, Any]


def gives(*rows: Row) -> Result:
    return Result(entries=rows)


def expects(text: str, *rows: Row, **more: Any) -> Case:
    return Case({"text": text}, rows, **more)


ONE, TWO = expects("a", {"n": 1}), expects("b", {"n": 2})


def test_the_body_that_meets_every_case_is_taken() -> None:
    bad, good = [gives({"n": 1}), gives({"n": 9})], [gives({"n": 1}), gives({"n": 2})]
    found = judge([ONE, TWO], [bad, good])
    assert (found.body, found.unmet) == (1, None)
    assert [case.agreed for case in found.cases] == [2, 1]


def test_what_two_bodies_agree_on_is_expected_where_none_meets_the_case() -> None:
    wrong = expects("c", {"n": 33})
    row = [gives({"n": 1}), gives({"n": 2}), gives({"n": 3})]
    found = judge([ONE, TWO, wrong], [row, row])
    assert found.unmet is None
    assert found.cases[2].entries == ({"n": 3},)
    assert found.cases[2].agreed == 2


def test_one_body_alone_changes_no_expectation() -> None:
    wrong = expects("c", {"n": 33})
    found = judge([ONE, TWO, wrong], [[gives({"n": 1}), gives({"n": 2}), gives({"n": 3})]])
    assert [case.args["text"] for case in found.cases] == ["a", "b"]
    assert found.unmet is None


def test_what_was_observed_is_never_changed() -> None:
    seen = expects("c", {"n": 33}, observed=True)
    row = [gives({"n": 1}), gives({"n": 2}), gives({"n": 3})]
    found = judge([ONE, TWO, seen], [row, row, row])
    assert found.cases[2] == expects("c", {"n": 33}, observed=True)
    assert found.unmet == (seen, gives({"n": 3}))
    assert not found.disputed


def test_what_a_model_wants_refused_goes_if_no_body_refuses_it_and_stays_if_one_does() -> None:
    refused = Case({"text": ""}, error="invalid")
    fine = [gives({"n": 1}), gives({"n": 2}), gives({"n": 0})]
    strict = [gives({"n": 1}), gives({"n": 2}), Result(error="invalid")]
    assert judge([ONE, TWO, refused], [fine, fine]).cases == tuple(judge([ONE, TWO], [fine[:2], fine[:2]]).cases)
    found = judge([ONE, TWO, refused], [fine, strict])
    assert (found.body, found.unmet) == (1, None)


def test_a_body_that_meets_the_cases_counts_more_than_one_that_refuses_what_a_model_guessed() -> None:
    refused = Case({"text": ""}, error="invalid")
    fine = [gives({"n": 1}), gives({"n": 2}), gives({"n": 0})]
    strict = [gives({"n": 1}), Result(error="invalid"), Result(error="invalid")]
    found = judge([ONE, TWO, refused], [strict, fine, strict])
    assert (found.body, found.unmet) == (1, None)
    assert [case.args["text"] for case in found.cases] == ["a", "b"]


def test_bodies_that_agree_with_each_other_and_with_hardly_any_case_are_wrong_together() -> None:
    loud = [gives({"n": 7}), gives({"n": 8}), gives({"n": 9})]
    found = judge([ONE, TWO, expects("c", {"n": 3})], [loud, loud, loud])
    assert found.unmet == (ONE, gives({"n": 7}))
    assert found.disputed
    assert [case.entries for case in found.cases] == [({"n": 1},), ({"n": 2},), ({"n": 3},)]


def test_what_bodies_agree_on_against_a_case_is_disputed() -> None:
    row = [gives({"n": 1}), gives({"n": 8}), gives({"n": 9})]
    found = judge([ONE, TWO, expects("c", {"n": 3})], [row, row])
    assert (found.unmet, found.disputed) == ((TWO, gives({"n": 8})), True)
    alone = judge([ONE, TWO, expects("c", {"n": 3})], [row, [gives({"n": 1}), gives({"n": 5}), gives({"n": 6})]])
    assert not alone.disputed


def test_three_different_functions_are_believed_against_most_cases_if_one_was_met() -> None:
    row = [gives({"n": 1}), gives({"n": 8}), gives({"n": 9})]
    cases = [ONE, TWO, expects("c", {"n": 3})]
    assert judge(cases, [row] * 3, ["a", "b", "b"]).unmet is not None
    found = judge(cases, [row] * 3, ["a", "b", "c"])
    assert found.unmet is None
    assert [case.entries[0]["n"] for case in found.cases] == [1, 8, 9]
    assert found.stood == (ONE,)
    none = [gives({"n": 7}), *row[1:]]
    assert judge(cases, [none] * 3, ["a", "b", "c"]).unmet is not None


def test_against_all_cases_it_takes_four_different_functions_that_agree_everywhere() -> None:
    row = [gives({"n": 7}), gives({"n": 8}), gives({"n": 9})]
    cases = [ONE, TWO, expects("c", {"n": 3})]
    assert judge(cases, [row] * 4, ["a", "b", "c", "c"]).unmet is not None
    found = judge(cases, [row] * 4, ["a", "b", "c", "d"])
    assert (found.unmet, found.stood) == (None, ())
    assert [case.agreed for case in found.cases] == [4, 4, 4]
    other = [gives({"n": 7}), gives({"n": 8}), gives({"n": 6})]  # of two minds about the third
    assert judge(cases, [row, row, other, other], ["a", "b", "c", "d"]).unmet is not None


def test_one_function_that_meets_a_wrong_case_does_not_outvote_three_that_agree() -> None:
    fitted = [gives({"n": 1}), gives({"n": 2}), gives({"n": 3})]
    right = [gives({"n": 1}), gives({"n": 8}), gives({"n": 3})]
    cases = [ONE, TWO, expects("c", {"n": 3})]
    found = judge(cases, [fitted, right, right, right], ["a", "b", "c", "d"])
    assert (found.body, found.unmet) == (1, None)
    assert [case.entries[0]["n"] for case in found.cases] == [1, 8, 3]
    fewer = judge(cases, [fitted, right, right], ["a", "b", "c"])
    assert (fewer.body, [case.entries[0]["n"] for case in fewer.cases]) == (0, [1, 2, 3])


def test_functions_that_differ_in_the_last_digit_agree_and_the_test_has_the_digits_of_the_best() -> None:
    one, other = [gives({"n": 1}), gives({"n": 0.3})], [gives({"n": 1}), gives({"n": 0.1 + 0.2})]
    found = judge([ONE, TWO], [other, one])
    assert (found.body, found.unmet) == (0, None)
    assert found.cases[1].entries[0]["n"] == 0.1 + 0.2
    assert found.cases[1].agreed == 2
    with pytest.raises(Rejection):  # what differs in a digit that counts does not agree
        judge([ONE, expects("c", {"n": 0.3})], [[gives({"n": 1}), gives({"n": 0.3001})]])


def test_a_whole_number_is_the_same_as_a_float_of_it() -> None:
    row = [gives({"n": 1.0}), gives({"n": 2.0})]
    assert judge([ONE, TWO], [row]).unmet is None
    nested = expects("c", {"n": [1.0, {"m": 2.5}]})
    assert judge([ONE, nested], [[gives({"n": 1}), gives({"n": [1, {"m": 2.5}]})]]).unmet is None


def test_what_bodies_refuse_alike_is_refused() -> None:
    row = [gives({"n": 1}), gives({"n": 2}), Result(error="invalid")]
    found = judge([ONE, TWO, expects("c", {"n": 0})], [row, row])
    assert found.unmet is None
    assert (found.cases[2].error, found.cases[2].entries, found.cases[2].agreed) == ("invalid", (), 2)


def test_what_nobody_refuses_is_never_what_a_body_is_told() -> None:
    row = [Result(entries=()), gives({"n": 7}), gives({"n": 8})]
    found = judge([Case({"text": ""}, error="invalid"), ONE, TWO], [row, row])
    assert found.unmet == (ONE, gives({"n": 7}))


def test_a_fault_agrees_with_nothing() -> None:
    broken = [Result(fault="it broke")] * 2
    found = judge([ONE, TWO], [broken, broken])
    assert found.unmet == (ONE, Result(fault="it broke"))
    assert not found.disputed


def test_where_too_few_cases_can_be_judged_others_are_wanted() -> None:
    with pytest.raises(Rejection, match="too few") as error:
        judge([ONE, Case({}, error="invalid", sure=True)], [[gives({"n": 1}), Result(error="invalid")]])
    assert error.value.stage == "tests"


values = (
    st.integers(0, 2).map(lambda n: gives({"n": n})) | st.just(Result(fault="x")) | st.just(Result(error="invalid"))
)


@given(st.data())
def test_whatever_is_given_the_fixed_cases_stay_and_a_body_without_problem_meets_all(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 5))
    fixed = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    cases = [expects(str(place), {"n": place % 3}, observed=is_fixed) for place, is_fixed in enumerate(fixed)]
    rows = data.draw(st.lists(st.lists(values, min_size=count, max_size=count), min_size=1, max_size=4))
    try:
        found = judge(cases, rows)
    except Rejection:
        return
    assert isinstance(found, Judged)
    kept = {case.args["text"]: case for case in found.cases}
    for case in cases:
        if case.observed:
            assert kept[case.args["text"]].entries == case.entries
    if found.unmet is None:
        for text, case in kept.items():
            assert rows[found.body][int(text)].entries == case.entries
