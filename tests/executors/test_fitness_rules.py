"""What a call is worth, what an executor is worth, and who is hidden."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.traces import START, step
from metnos.executors import fitness_rules as rules_of
from metnos.executors.fitness_rules import Fitness, Rules, Said, Seen, Why
from metnos.executors.outcome import KINDS
from tables import try_each

RULES = Rules()
DAY = timedelta(days=1)

steps = st.builds(
    step,
    executor=st.sampled_from(["find_files", "summarise_text", "move_files"]),
    ok=st.booleans(),
    kind=st.sampled_from(sorted(KINDS)),
    reply=st.fixed_dictionaries({"count": st.integers(0, 50), "failed": st.integers(0, 50)}),
    wall_ms=st.floats(0, 1e9),
    gap_before=st.integers(0, 50),
    gap_after=st.integers(0, 50),
)
words = st.builds(
    Said, st.none() | st.booleans(), st.booleans(), st.none() | st.floats(-3, 3, allow_nan=False, allow_infinity=False)
)
moments = st.floats(0, 1000).map(lambda days: START - timedelta(days=days))
seen = st.lists(st.builds(Seen, moments, st.none() | st.floats(-2, 1)), min_size=1, max_size=30)


def worth(made: object, said: Said = Said(), changed: bool = False) -> float | None:  # noqa: B008 -- frozen
    return rules_of.utility(rules_of.measured(made, RULES), said, RULES, changed=changed)  # type: ignore[arg-type]


# -- one call


@given(steps, words, st.booleans())
def test_a_utility_is_bounded(made: object, said: Said, changed: bool) -> None:
    found = worth(made, said, changed)
    assert found is None or -RULES.bad <= found <= 1


@given(steps)
def test_utility_is_the_gap_before_less_the_gap_after(made: object) -> None:
    found = rules_of.measured(made, RULES)  # type: ignore[arg-type]
    before, after = rules_of.gaps(made, RULES)  # type: ignore[arg-type]
    assert found is None or found == before - after


def test_a_step_that_went_well_closes_one_step_of_the_gap_and_a_slow_one_less() -> None:
    quick, slow, slower = (worth(step(wall_ms=ms)) for ms in (0, 15_000, 3_600_000))
    assert (quick, slow, slower) == (1.0, 0.875, 0.75)


def test_what_it_left_undone_is_not_closed() -> None:
    assert worth(step(wall_ms=0, reply={"count": 3, "failed": 1})) == 0.75
    assert worth(step(wall_ms=0, reply={"count": 0, "failed": 4})) == 0.0


def test_a_failure_of_its_own_opens_the_gap_and_one_that_it_could_not_help_hardly() -> None:
    own, hindered = (worth(step(ok=False, kind=kind, gap_after=2, wall_ms=0)) for kind in ("failed", "not_found"))
    assert (own, hindered) == pytest.approx((-1.0, -0.2))


def test_of_a_fuzzy_goal_only_a_judgement_tells_but_a_failure_is_one() -> None:
    told = step(executor="summarise_text")
    assert worth(told) is None
    assert worth(told, Said(owner=True)) == RULES.good
    assert worth(told, Said(owner=False)) == -RULES.bad
    assert worth(told, Said(critic=1.0)) == 0.5
    assert worth(told, Said(critic=-1.0)) == -1.0
    assert worth(replace(told, ok=False, kind="failed", gap_after=2, wall_ms=0)) == -1.0


@given(steps, st.floats(0, 1))
def test_a_bad_word_outweighs_a_good_one_whoever_says_it(made: object, strength: float) -> None:
    good, bad = worth(made, Said(owner=True)), worth(made, Said(owner=False))
    assert good is not None
    assert bad is not None
    assert bad < 0
    assert good + bad < 0
    liked, disliked = worth(made, Said(critic=strength)), worth(made, Said(critic=-strength))
    assert liked is not None
    assert disliked is not None
    assert liked + disliked <= 2 * max(0.0, rules_of.measured(made, RULES) or 0.0)  # type: ignore[arg-type]


@given(steps, st.floats(-1, 1))
def test_the_owner_is_heard_before_a_critic(made: object, score: float) -> None:
    for owner in (True, False):
        assert worth(made, Said(owner=owner, critic=score)) == worth(made, Said(owner=owner))


def test_what_was_taken_back_is_still_to_do_where_it_changed_something() -> None:
    moved = step(executor="move_files", wall_ms=0)
    assert worth(moved, Said(undone=True), changed=True) == -1.0
    assert worth(moved, Said(undone=True), changed=False) == 1.0


# -- goals


@pytest.mark.parametrize(
    ("names", "goal"),
    [
        (["find_files", "move_files"], "move files"),
        (["extract_text_pdf"], "extract text"),
        ([], ""),
        (["move_files", "frobnicate_files"], ""),
        (["My Secret Words"], ""),
    ],
)
def test_a_class_of_goals_is_what_the_plan_ends_with_in_words_of_the_vocabulary(names: list[str], goal: str) -> None:
    assert rules_of.goal_of(names) == goal


def test_words_of_whoever_asks_find_the_class_also_in_italian_and_by_name() -> None:
    goals = ["move files", "find files", "summarise text", "list folders"]
    assert rules_of.goals_like("relocate some documents", ["move files", "find files"]) == ["move files"]
    assert rules_of.goals_like("summarise evening log", goals) == ["summarise text"]
    assert rules_of.goals_like("sposta", goals) == ["move files"]
    assert rules_of.goals_like("move_files", goals) == ["move files"]
    assert rules_of.goals_like("file", goals) == ["find files", "move files"]
    assert rules_of.goals_like("the weather on mars", goals) == []


# -- fitness


@given(seen)
def test_fitness_is_bounded_by_what_was_seen(told: list[Seen]) -> None:
    found = rules_of.fitness("move files", told, START, RULES)
    low = sum(min(0.0, each.utility or 0.0) for each in told)
    high = sum(max(0.0, each.utility or 0.0) for each in told)
    assert low - 1e-9 <= found.value <= high + 1e-9
    assert found.uses == len(told) >= found.signals == sum(each.utility is not None for each in told)


@given(st.lists(st.builds(Seen, moments, st.floats(0, 1)), min_size=1, max_size=20), st.floats(0, 500))
def test_without_anything_new_fitness_only_fades(told: list[Seen], days: float) -> None:
    now = rules_of.fitness("", told, START, RULES).value
    later = rules_of.fitness("", told, START + timedelta(days=days), RULES).value
    assert 0 <= later <= now
    grudge = [replace(each, utility=-(each.utility or 0.0)) for each in told]
    assert rules_of.fitness("", grudge, START + timedelta(days=days), RULES).value == -later


@given(seen, st.randoms(use_true_random=False))
def test_the_order_in_which_calls_are_told_changes_nothing(told: list[Seen], dice: random.Random) -> None:
    mixed = list(told)
    dice.shuffle(mixed)
    assert rules_of.fitness("", mixed, START, RULES) == rules_of.fitness("", told, START, RULES)


def test_half_is_left_after_the_half_life_of_a_mnest() -> None:
    told = [Seen(START, 1.0)]
    assert rules_of.fitness("", told, START + 38.508 * DAY, RULES).value == pytest.approx(0.5, abs=1e-3)


# -- decline


def line(value: float = 1.0, uses: int = 10, signals: int | None = None, goal: str = "move files") -> Fitness:
    return Fitness(goal, value, uses, uses if signals is None else signals, START)


@try_each(
    ("classes", "quiet", "why"),
    [
        ([], 0, None),  # newly born
        ([], 89, None),
        ([], 90, Why.DORMANT),
        ([line(40)], 90, Why.DORMANT),
        ([line(-1.1, 5)], 0, Why.UNFIT),
        ([line(-1.0, 5)], 0, None),
        ([line(-4.0, 4)], 0, None),  # too early to tell
        ([line(-4.0), line(0.5, goal="find files")], 0, None),  # good for something
        ([line(-4.0), line(-1.5, goal="find files")], 0, Why.UNFIT),
        ([line(-4.0), line(0.0, 9, 0, goal="ask questions")], 0, Why.UNFIT),
        ([line(0.0, 9, 0)], 0, None),
        ([line(0.0, 10, 0)], 0, Why.UNPROVEN),
        ([line(0.0, 5, 0, goal="plan tasks"), line(0.0, 5, 0, goal="")], 0, Why.UNPROVEN),
        ([line(0.0, 30, 1)], 0, None),
    ],
)
def test_who_declines_and_why(classes: list[Fitness], quiet: int, why: Why | None) -> None:
    assert rules_of.decline(classes, quiet, RULES) is why


# -- exploration

names = st.sets(st.text("abc_", min_size=1, max_size=6), max_size=5)


@given(st.text(max_size=30), names, st.floats(0, 1))
def test_a_turn_always_explores_the_same_and_only_what_is_hidden(turn: str, hidden: set[str], share: float) -> None:
    rules = Rules(explore=share)
    found = rules_of.explored(turn, hidden, rules)
    assert found == rules_of.explored(turn, sorted(hidden, reverse=True), rules)
    assert found in hidden or found == ""


def test_the_share_of_turns_that_explore_is_the_rule() -> None:
    turns = [f"01TURN{number:06}" for number in range(4000)]
    found = [rules_of.explored(turn, ["a", "b", "c", "d"], RULES) for turn in turns]
    assert 0.04 < sum(map(bool, found)) / len(turns) < 0.06
    assert set(found) == {"", "a", "b", "c", "d"}
    assert all(rules_of.explored(turn, ["a"], Rules(explore=1.0)) == "a" for turn in turns[:100])
    assert not any(rules_of.explored(turn, ["a"], Rules(explore=0.0)) for turn in turns[:100])


def test_a_clock_that_was_set_back_makes_nothing_of_more_worth() -> None:
    told = [Seen(datetime(2030, 1, 1, tzinfo=UTC), 1.0)]
    assert rules_of.fitness("", told, START, RULES).value == 1.0
