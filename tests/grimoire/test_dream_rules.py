"""What dreams are made of: scenes, replays, and what might have been."""

import random
from dataclasses import astuple
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.dreams import START, done, mixed, seen, turn
from metnos.grimoire.affect import Pad
from metnos.grimoire.dream_rules import (
    Product,
    Question,
    Rules,
    Scene,
    Seen,
    Shape,
    Step,
    World,
    backward,
    counterfactuals,
    depotentiated,
    forward,
    perturbed,
    scene,
    shown,
)
from metnos.grimoire.episode import Episode
from metnos.grimoire.fact import Kind

RULES = Rules()
affects = st.floats(-1, 1, allow_nan=False)


def dreamt(scenes: list[Scene], seed: int = 1) -> list[Product]:
    """Replay all of them and ask."""
    world, chance = World(), random.Random(seed)
    for each in scenes:
        forward(world, each)
    for each in scenes:
        backward(world, each, RULES)
        others = [other for other in scenes if other.id != each.id and other.domain == each.domain]
        for _ in range(0 if each.good or not others else RULES.perturbations):
            perturbed(world, each, others, chance)
    return counterfactuals(world, RULES)


def scenes_of(episodes: list[Episode]) -> list[Scene]:
    return [made for each in episodes if (made := scene(each)) is not None]


# -- scenes


def test_a_scene_holds_the_steps_their_chosen_arguments_and_how_it_ended() -> None:
    made = scene(turn(1, done("find_files", entries=["x"], path="/home"), done("move_files", ok=False, overwrite=True)))
    assert made is not None
    assert made.steps == (
        Step("find_files", True, "", (("path", '"/home"'),)),
        Step("move_files", False, "exists", (("overwrite", "true"),)),
    )
    assert not made.good
    assert "move_files fails with exists" in made.names


def test_an_episode_without_steps_or_event_is_no_scene_and_neither_is_one_that_never_ended() -> None:
    assert scene(Episode("E1", START, "a note", "note 1")) is None
    assert scene(turn(1, done("find_files"), state="waiting")) is None
    assert scene(Episode("E1", START, "x", "s", payload={"steps": "rm", "state": "done"})) is None


def test_an_event_without_steps_is_a_scene_that_can_be_a_cause() -> None:
    made = scene(Episode("E1", START, "the heating", "s", payload={"event": "the heating went off"}))
    assert made is not None
    assert made.names == ('"the heating went off"',)


# -- replays


def test_a_failed_step_bears_the_bad_end_and_steps_before_it_bear_less() -> None:
    world = World()
    backward(world, seen(1, Step("find_files", True), Step("sort_files", True), good=False), RULES)
    assert world.blame["papers", "sort_files"] > world.blame["papers", "find_files"] > 0
    failed = World()
    backward(failed, seen(1, Step("find_files", True), Step("move_files", False, "x"), good=False), RULES)
    assert dict(failed.blame) == {("papers", "move_files"): 1.0, ("papers", "find_files"): 0.0}


def test_what_ended_well_is_nobodys_fault_and_forward_counts_what_follows_what() -> None:
    world = World()
    for number in range(3):
        good = seen(number, Step("find_files", True), Step("move_files", True))
        forward(world, good)
        backward(world, good, RULES)
    assert world.follows["find_files", "move_files"] == 3
    assert not world.blame


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_blame_is_shared_and_never_more_than_one(oks: list[bool]) -> None:
    world = World()
    backward(world, seen(1, *(Step(f"e{n}", ok) for n, ok in enumerate(oks)), good=False), RULES)
    assert 0 < sum(world.blame.values()) <= 1 + 1e-9
    assert all(each >= 0 for each in world.blame.values())


@given(affects, affects, affects)
def test_replaying_calms_towards_neutral_and_never_across_it(pleasure: float, arousal: float, dominance: float) -> None:
    before = Pad(pleasure, arousal, dominance)
    after = depotentiated(before, RULES)
    for old, new in zip(astuple(before), astuple(after), strict=True):
        assert abs(new) <= abs(old)
        assert new * old >= 0
    assert abs(after.arousal) <= abs(arousal) * RULES.pleasure, "excitement goes before value"


# -- what might have been


def test_had_the_argument_been_otherwise_is_answered_by_those_who_did_it_otherwise() -> None:
    (found,) = [each for each in dreamt(scenes_of(mixed())) if each.shape is Shape.ARGUMENT]
    assert found.kind is Kind.PROCEDURAL
    assert found.data["prefer"] == {"executor": "move_files", "args": {"overwrite": True}}
    assert found.data["when"] == {"canonical": "move the {glob} to {path}"}
    assert (found.data["support"], found.data["against"], found.data["lift"]) == (4, 4, 1.0)
    assert found.sources == ("E0000", "E0001", "E0002", "E0003"), "those that show it, and none of the others"
    assert "4 of 4 went well, otherwise 0 of 4" in found.text


def test_had_the_step_not_failed_compares_whole_requests() -> None:
    (found,) = [each for each in dreamt(scenes_of(mixed())) if each.shape is Shape.STEP]
    assert found.kind is Kind.CAUSAL
    assert found.data["cause"] == "move_files failed"
    assert found.data["support"] == 4


def test_had_another_executor_done_it_needs_one_that_stood_in_the_same_place() -> None:
    well = [turn(n, done("find_files"), done("copy_files")) for n in range(4)]
    ill = [turn(10 + n, done("find_files"), done("move_files", ok=False)) for n in range(4)]
    elsewhere = [turn(20 + n, done("copy_files"), done("find_files")) for n in range(4)]
    (found,) = [each for each in dreamt(scenes_of(well + ill)) if each.shape is Shape.INSTEAD]
    assert found.data["prefer"]["executor"] == "copy_files"
    assert found.data["instead_of"]["executor"] == "move_files"
    world = World()
    for other in scenes_of(elsewhere):
        bad = scenes_of(ill)[0]
        moved = Scene(bad.id, bad.ts, bad.domain, bad.steps[1:], good=False)
        perturbed(world, moved, [Scene(other.id, other.ts, other.domain, other.steps[1:], True)], random.Random(1))
    assert Question(Shape.INSTEAD, "papers", "move_files", value="copy_files") not in world.questions


@pytest.mark.parametrize(("good", "bad"), [(2, 6), (6, 2), (0, 6), (6, 0)])
def test_too_few_episodes_on_either_side_answer_nothing(good: int, bad: int) -> None:
    assert dreamt(scenes_of(mixed(good=good, bad=bad))) == []


def test_what_makes_no_difference_is_not_dreamt() -> None:
    same = [
        turn(n, done("move_files", ok=n % 2 == 0, overwrite=n % 4 < 2)) for n in range(16)
    ]  # overwriting or not, half of them fail
    assert [each for each in dreamt(scenes_of(same)) if each.shape is Shape.ARGUMENT] == []


def test_other_domains_prove_nothing() -> None:
    well = [turn(n, done("move_files", overwrite=True), domain="photos") for n in range(4)]
    ill = [turn(10 + n, done("move_files", ok=False, overwrite=False)) for n in range(4)]
    assert dreamt(scenes_of(well + ill)) == []


def test_the_same_seed_gives_the_same_dream_and_names_do_not_depend_on_the_figures() -> None:
    scenes = scenes_of(mixed())
    assert dreamt(scenes, 7) == dreamt(scenes, 7)
    more = scenes_of(mixed(good=9))
    assert {each.key for each in dreamt(scenes)} == {each.key for each in dreamt(more)}


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_every_counterfactual_is_supported_on_both_sides_and_its_bounds_do_not_meet(
    turns: list[tuple[bool, bool]],
) -> None:
    scenes = scenes_of([turn(n, done("move_files", ok=ok, overwrite=over)) for n, (ok, over) in enumerate(turns)])
    for product in dreamt(scenes):
        assert product.data["support"] >= RULES.least
        assert product.data["against"] >= RULES.least
        assert product.data["lift"] > 0
        assert set(product.sources) <= {each.id for each in scenes}


@given(st.integers(0, 50), st.integers(0, 50))
def test_bounds_hold_the_rate_and_narrow_with_evidence(good: int, bad: int) -> None:
    some, many = Seen(good, good + bad), Seen(10 * good, 10 * (good + bad))
    low, high = some.bounds(1.0)
    assert 0 <= low <= high <= 1
    if good + bad:
        assert low - 1e-9 <= some.rate <= high + 1e-9
        assert many.bounds(1.0)[1] - many.bounds(1.0)[0] <= high - low + 1e-9


def test_a_question_survives_being_written_down() -> None:
    asked = Question(Shape.ARGUMENT, "papers", "move_files", "overwrite", "true")
    assert Question.of(asked.as_dict(), "papers") == asked
    assert asked.wanted is True
    assert Question.of({"shape": "pair"}, "papers") is None
    assert Question.of({"shape": "argument", "executor": 3, "argument": "", "value": ""}, "papers") is None


def test_an_episode_says_nothing_about_what_it_did_not_do() -> None:
    asked = Question(Shape.ARGUMENT, "papers", "move_files", "overwrite", "true")
    assert shown(asked, seen(1, Step("find_files", True))) is None
    assert shown(asked, seen(1, Step("move_files", True), domain="photos")) is None
    late = seen(2, Step("move_files", True, "", (("overwrite", "true"),)))
    assert shown(asked, late) == (True, True)
    assert late.ts - START == timedelta(minutes=2)
