"""Code varies the arguments of the cases; what bodies agree on there becomes a test, and nothing else does."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from metnos.core.canon import canonical_json
from metnos.synt import probes, scaffold
from metnos.synt.agreement import Result
from metnos.synt.sketch import Case, Field, Sketch, Type
from synt.sketches import LINES, TITLE


def keys(cases: tuple[Case, ...]) -> list[bytes]:
    return [canonical_json([dict(case.args), dict(case.files)]) for case in cases]


def test_a_text_is_tried_empty_doubled_and_cut_but_never_as_a_case_that_exists() -> None:
    texts = [case.args["texts"] for case in probes.of(TITLE)]
    assert ["hello world\nhello world"] in texts
    assert ["hello"] in texts
    assert [""] not in texts  # a case says already what comes of it


def test_a_file_is_tried_empty_and_with_its_last_line_twice() -> None:
    contents = [dict(case.files) for case in probes.of(LINES)]
    assert {"a.txt": ""} in contents
    assert {"a.txt": "one\ntwo\ntwo\n"} in contents


def test_every_argument_is_varied_even_if_the_first_has_many_variants() -> None:
    assert {case.args.get("least") for case in probes.of(LINES)} >= {0, 1, -1}


def test_without_a_case_that_succeeds_there_is_nothing_to_vary() -> None:
    assert probes.of(replace(TITLE, cases=(Case({"texts": []}, error="invalid", sure=True),))) == ()


def test_only_what_another_body_gives_too_is_kept() -> None:
    tried = tuple(Case({"n": number}, edge=True) for number in range(3))
    one = [Result(entries=({"x": 1},)), Result(entries=({"x": 2},)), Result(error="invalid")]
    two = [Result(entries=({"x": 1},)), Result(entries=({"x": 9},)), Result(error="invalid")]
    kept = probes.agreed(tried, [one, two], 0)
    assert [(case.args["n"], case.entries, case.error, case.agreed) for case in kept] == [
        (0, ({"x": 1},), "", 2),
        (2, (), "invalid", 2),
    ]


def test_two_bodies_that_agree_against_the_chosen_one_add_nothing() -> None:
    other = [Result(entries=({"x": 2},))]
    assert probes.agreed((Case({}),), [[Result(entries=({"x": 1},))], other, other], 0) == ()


def test_faults_agree_with_nothing() -> None:
    broken = [Result(fault="no")]
    assert probes.agreed((Case({}),), [broken, broken], 0) == ()


def test_refusals_do_not_crowd_out_what_succeeds() -> None:
    tried = tuple(Case({"n": number}) for number in range(10))
    row = [Result(error="invalid")] * 7 + [Result(entries=({"x": 1},))] * 3
    kept = probes.agreed(tried, [row, row], 0)
    assert [bool(case.error) for case in kept] == [True, True, False, False, False]


def test_a_test_says_that_code_thought_of_it() -> None:
    made = scaffold.tests(replace(TITLE, cases=(Case({"texts": ["a"]}, ({"text": "a", "title": "A"},), edge=True),)))
    assert 'name = "edge 1"' in made


@given(
    st.sampled_from(list(Type)),
    st.one_of(st.text(max_size=9), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans()),
)
@example(Type.NUMBER, 1.7e308)
def test_probes_differ_from_each_other_and_from_the_cases_and_are_few(kind: Type, value: object) -> None:
    case = Case({"field": [value] if kind.is_list else value}, ({"x": 1},))
    sketch = Sketch(TITLE.need, takes=(Field("field", kind, "What."),), cases=(case,))
    found = keys((case, *probes.of(sketch)))
    assert len(set(found)) == len(found) <= 11
