import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from metnos.fastpath.calibrate import Calibration
from metnos.fastpath.match import Matcher
from metnos.fastpath.neighbours import Neighbours
from metnos.fastpath.records import Form
from metnos.fastpath.rules import Curve

CALIBRATED = Calibration(exact_count=50, curve=Curve(0.0, 10.0, 0.3), threshold=0.4)
Vectors = NDArray[np.float32]


def unit(rows: NDArray[np.float64]) -> Vectors:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def crowd(paths: int, each: int, seed: int = 0, spread: float = 0.5) -> tuple[list[Form], Vectors]:
    """Paths that mean different things, each asked for in several ways."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(paths, 16))
    rows = np.repeat(centres, each, axis=0) + spread * random.normal(size=(paths * each, 16))
    forms = [
        Form(f"path{at // each}", f"form {at}", f"do thing{at // each} like this way{at}") for at in range(paths * each)
    ]
    return forms, unit(rows)


def test_the_same_form_of_one_path_is_an_exact_match_without_any_vector() -> None:
    forms = [Form("a", "find <files>", "find pdfs"), Form("b", "read <path>", "read a file")]
    found = Matcher(forms, None, CALIBRATED).match("read <path>", "read a file")
    assert found is not None
    assert (found.path, found.exact, found.form) == ("b", True, "read <path>")
    assert found.probability == CALIBRATED.exact_probability


def test_a_form_that_two_paths_have_is_no_exact_match() -> None:
    forms = [Form("a", "find <files>", "find pdfs"), Form("b", "find <files>", "find pdfs")]
    assert Matcher(forms, None, CALIBRATED).match("find <files>", "find pdfs") is None
    same = unit(np.ones((2, 4)))
    found = Matcher(forms, same, CALIBRATED).match("find <files>", "find pdfs", same[0])
    assert found is not None
    assert not found.exact
    assert found.score == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_forms_are_enough_to_be_asked(count: int) -> None:
    forms, vectors = crowd(2, 1)
    matcher = Matcher(forms[:count], vectors[:count])
    found = matcher.match("another", "something else", vectors[0])
    assert (found is None) == (count == 0)
    assert found is None or (np.isfinite(found.score) and found.probability == 0)


def test_a_request_near_one_path_is_matched_with_it_and_names_the_next() -> None:
    forms, vectors = crowd(6, 5)
    matcher = Matcher(forms, vectors, CALIBRATED)
    for at in range(0, 30, 5):
        found = matcher.match("unseen", forms[at].said, unit(vectors[at : at + 5].mean(axis=0).astype(np.float64)))
        assert found is not None
        assert found.path == forms[at].path
        assert found.runner_up not in {"", found.path}
        assert found.margin == found.score > 0.3
        assert 0 < found.cosine <= 1.0001


def test_between_two_paths_the_margin_is_smaller_than_near_one() -> None:
    forms, vectors = crowd(2, 6, spread=0.1)
    near = Neighbours(forms, vectors)
    clear = near.nearest("", vectors[0])
    torn = near.nearest("", unit((vectors[0] + vectors[6]).astype(np.float64)))
    assert clear is not None
    assert torn is not None
    assert torn.margin < clear.margin / 2


def test_words_decide_where_meanings_are_the_same() -> None:
    forms = [Form("on", "a", "turn the light on"), Form("off", "b", "turn the light off")]
    matcher = Matcher(forms, unit(np.ones((2, 8))))
    found = matcher.match("c", "please turn the light off", unit(np.ones(8)))
    assert found is not None
    assert found.path == "off"


def test_a_form_that_was_doubled_under_one_path_changes_little() -> None:
    forms, vectors = crowd(4, 4)
    doubled = Neighbours([*forms, *[forms[0]] * 20], np.concatenate([vectors, vectors[[0] * 20]]))
    one, other = Neighbours(forms, vectors).nearest("", vectors[5]), doubled.nearest("", vectors[5])
    assert one is not None
    assert other is not None
    assert other.path == one.path
    assert other.margin == pytest.approx(one.margin, abs=0.1)


@settings(max_examples=settings().max_examples // 2)
@given(st.integers(0, 1000))
def test_the_order_of_forms_changes_nothing(seed: int) -> None:
    forms, vectors = crowd(12, 15, seed)  # more than are weighed at once
    order = np.random.default_rng(seed + 1).permutation(len(forms))
    shuffled = Neighbours([forms[at] for at in order], vectors[order])
    asked = unit(np.random.default_rng(seed + 2).normal(size=16))
    assert shuffled.nearest("do thing3", asked) == Neighbours(forms, vectors).nearest("do thing3", asked)


def test_a_form_left_out_is_predicted_by_the_others_and_never_by_itself() -> None:
    forms, vectors = crowd(5, 4, spread=0.2)
    near = Neighbours(forms, vectors)
    for row, form in enumerate(near.forms):
        others, strangers = near.left_out(row)
        assert others is not None
        assert strangers is not None
        assert others.path == form.path
        assert others.form != form
        assert strangers.path != form.path


@pytest.mark.slow
def test_among_many_forms_the_nearest_path_is_found_as_among_few() -> None:
    forms, vectors = crowd(3000, 2, spread=0.3)
    near = Neighbours(forms, vectors)
    for at in range(0, 6000, 601):
        found = near.nearest(forms[at].said, vectors[at])
        assert found is not None
        assert found.path == forms[at].path
        assert found.cosine == pytest.approx(1, abs=1e-5)


def test_forms_without_their_vectors_are_refused() -> None:
    forms, vectors = crowd(2, 2)
    with pytest.raises(ValueError, match="every form needs its vector"):
        Matcher(forms, vectors[:3])
