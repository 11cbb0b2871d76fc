import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from metnos.fastpath.calibrate import Calibration, Evidence, Factory, calibrate, may_answer
from metnos.fastpath.match import Matcher
from metnos.fastpath.records import FastPath, Form, State
from metnos.fastpath.rules import Rules
from suite import Repeat

Vectors = NDArray[np.float32]
PATHS, EACH, DIM = 30, 8, 24
RULES = Rules(neighbours=32)
CENTRES = np.random.default_rng(0).normal(size=(2 * PATHS, DIM))  # the second half was never asked for


def asked(seed: int, each: int, paths: range) -> tuple[list[Form], Vectors]:
    random = np.random.default_rng(seed)
    rows = np.repeat(CENTRES[list(paths)], each, axis=0) + 0.55 * random.normal(size=(len(paths) * each, DIM))
    names = [path for path in paths for _ in range(each)]
    forms = [Form(f"p{path}", f"form {at} of {path}", "do it") for at, path in enumerate(names)]
    return forms, (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def answered(
    known: Calibration, forms: list[Form], vectors: Vectors, later: list[Form], their_vectors: Vectors
) -> tuple[int, int]:
    """How many of later requests are answered, and how many of these wrongly."""
    assert known.threshold is not None
    matcher = Matcher(forms, vectors, known, RULES)
    told = [(matcher.match("", form.said, row), form) for form, row in zip(later, their_vectors, strict=True)]
    hits = [(match, form) for match, form in told if match is not None and match.score >= known.threshold]
    return len(hits), sum(match.path != form.path for match, form in hits)


@pytest.fixture(scope="module")
def seen() -> tuple[list[Form], Vectors]:
    return asked(1, EACH, range(PATHS))


@pytest.fixture(scope="module")
def known(seen: tuple[list[Form], Vectors]) -> Calibration:
    return calibrate(*seen, rules=RULES)


@pytest.mark.slow
def test_what_was_seen_is_enough_to_answer_much_of_what_comes_with_few_mistakes(
    seen: tuple[list[Form], Vectors], known: Calibration
) -> None:
    assert known.threshold is not None
    assert known.bound <= 0.01
    hits, wrong = answered(known, *seen, *asked(2, 25, range(PATHS)))
    assert hits > 0.6 * 25 * PATHS
    assert wrong <= 0.01 * hits


@pytest.mark.parametrize(("kinds", "steepness"), [(40, 0.5), (60, 1.0), (100, 1.0)])
@pytest.mark.slow
@pytest.mark.repeated
def test_the_bound_holds_for_streams_in_which_new_kinds_keep_coming(
    kinds: int, steepness: float, repeat: Repeat
) -> None:
    hits = wrong = new = 0
    seeds = repeat("streams of new kinds", suite=2, soak=40)
    for seed in seeds:
        random = np.random.default_rng(seed)
        often = np.arange(1, kinds + 1) ** -steepness
        kind = random.choice(kinds, 800, p=often / often.sum())
        rows = random.normal(size=(kinds, DIM))[kind] + 0.55 * random.normal(size=(len(kind), DIM))
        vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        forms = [Form(f"p{each}", f"form {at}", "do it") for at, each in enumerate(kind)]
        past = calibrate(forms[:300], vectors[:300], rules=RULES)
        some, of_them = answered(past, forms[:300], vectors[:300], forms[300:], vectors[300:])
        hits, wrong = hits + some, wrong + of_them
        new += len(set(kind[300:]) - set(kind[:300]))
    assert new or kinds == 40
    assert hits > 0.5 * len(seeds) * 500
    assert wrong <= 0.01 * hits


@pytest.mark.slow
def test_neither_order_nor_chance_changes_what_is_learnt(seen: tuple[list[Form], Vectors], known: Calibration) -> None:
    forms, vectors = seen
    order = np.random.default_rng(5).permutation(len(forms))
    evidence = [Evidence(0.1 * each, False, each > 3, path=f"p{each}") for each in range(9)]
    one = calibrate(forms, vectors, evidence, rules=RULES)
    assert calibrate([forms[at] for at in order], vectors[order], evidence[::-1], rules=RULES) == one
    assert calibrate(forms, vectors, rules=RULES) == known


@pytest.mark.slow
def test_mistakes_that_were_recorded_make_it_stricter(seen: tuple[list[Form], Vectors], known: Calibration) -> None:
    assert known.threshold is not None
    wrong = [Evidence(known.threshold + 0.1, False, False, path=f"p{each}") for each in range(12)]
    stricter = calibrate(*seen, wrong, rules=RULES)
    assert stricter.threshold is None or stricter.threshold > known.threshold
    assert stricter.known == known.known + 12


@pytest.mark.slow
def test_what_was_recorded_of_a_form_takes_the_place_of_leaving_it_out(seen: tuple[list[Form], Vectors]) -> None:
    forms, vectors = seen
    evidence = [Evidence(0.5, False, True, path=form.path, canonical=form.canonical) for form in forms[:30]]
    assert calibrate(forms, vectors, evidence, rules=RULES).known == len(forms)


@pytest.mark.slow
def test_a_stricter_owner_gets_fewer_answers(seen: tuple[list[Form], Vectors], known: Calibration) -> None:
    looser = calibrate(*seen, delta=0.03, rules=RULES)
    assert looser.threshold is not None
    assert known.threshold is not None
    assert looser.threshold < known.threshold
    assert looser.coverage > known.coverage


def test_exact_evidence_adds_to_what_was_measured_before_delivery() -> None:
    often = [Evidence(0.0, True, right, path="p", canonical="read <path>") for right in (True, True, True, False)]
    evidence = [Evidence(0.0, True, True), Evidence(0.0, True, False, weight=2.0), Evidence(0.9, False, False), *often]
    found = calibrate([], None, evidence, factory=Factory(1000, 1))
    assert (found.exact_count, found.exact_wrong) == (1003, 2.25)  # a form counts once, by the share that was wrong
    assert found.threshold is None
    assert "no embedder" in found.why


def test_three_passes_are_enough_for_the_same_words_where_the_factory_vouches() -> None:
    form = Form("p", "read <path>", "read a file", uses=3)
    path = FastPath("p", (), (), State.ACTIVE, passes=3)
    for factory, may in ((Factory(1000, 1), True), (Factory(), False)):
        known = calibrate([form], None, [Evidence(0.0, True, True)] * 2, factory=factory)
        match = Matcher([form], None, known).match("read <path>", "read a file")
        assert match is not None
        assert may_answer(match, known, path, 0.01).may is may


@pytest.mark.parametrize("paths", [0, 1, 2, 9])
@pytest.mark.parametrize("each", [1, 3])
def test_with_few_paths_nothing_is_answered_by_meaning_and_the_reason_says_so(paths: int, each: int) -> None:
    forms, vectors = asked(1, each, range(paths))
    found = calibrate(forms, vectors, rules=RULES)
    assert found.threshold is None
    assert "too little" in found.why


def test_paths_that_were_asked_for_in_one_way_only_show_nothing(seen: tuple[list[Form], Vectors]) -> None:
    found = calibrate(*asked(1, 1, range(PATHS)), rules=RULES)
    assert found.threshold is None
    assert "no request was asked in two ways" in found.why


@pytest.mark.slow
def test_requests_that_nothing_tells_apart_are_never_answered() -> None:
    forms = [Form(f"p{at % 20}", f"form {at}", "the same words") for at in range(200)]
    found = calibrate(forms, np.full((200, 4), 0.5, dtype=np.float32), rules=RULES)
    assert found.threshold is None


@pytest.mark.slow
def test_the_more_of_what_comes_is_new_the_fewer_answers(seen: tuple[list[Form], Vectors], known: Calibration) -> None:
    forms, vectors = seen
    alone = [Form(f"other {each}", f"other {each}", f"something else {each}") for each in range(len(forms))]
    far = np.random.default_rng(5).normal(size=vectors.shape).astype(np.float32)
    far /= np.linalg.norm(far, axis=1, keepdims=True)
    newer = calibrate([*forms, *alone], np.concatenate([vectors, far]), rules=RULES)
    assert newer.novelty > 0.4 > known.novelty
    assert known.threshold is not None
    assert newer.threshold is None or newer.threshold > known.threshold


@pytest.mark.slow
def test_more_forms_than_are_left_out_are_judged_by_a_sample(seen: tuple[list[Form], Vectors]) -> None:
    forms, vectors = seen
    rules = replace(RULES, most_left_out=100)
    found = calibrate(forms, vectors, rules=rules)
    assert found.known == 100
    assert calibrate(forms[::-1], vectors[::-1], rules=rules) == found


def test_what_was_learnt_survives_json(known: Calibration) -> None:
    assert Calibration.from_data(json.loads(json.dumps(known.to_data()))) == known
