"""The report: it says plainly which claim holds where, and never more than the runs can carry."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.life.lab import Life, arms
from metnos.life.lab_report import CLAIMS, Found, best, report, summary, whole, youth
from metnos.life.lab_stats import estimate
from metnos.life.lab_world import Size

SIZE = Size(generations=3)
LIFE = Life(100, 50, 50, 25, 0, 0, 3, 10, 5, 1, facts=9, cpu_s=0.5)


def lives(wrong: dict[str, list[int]], stream: str = "still") -> list[Life]:
    """Heirs of each arm are wrong so often, run by run; who is not named, half the time."""
    return [
        replace(
            LIFE, stream=stream, seed=seed, arm=arm.name, generation=generation, wrong=count, young_wrong=count // 2
        )
        for arm in arms(stream, SIZE)
        for seed, count in enumerate(wrong.get(arm.name, [50, 51, 49]))
        for generation in (1, 2, 3)
    ]


def test_a_claim_holds_is_refuted_or_is_not_shown() -> None:
    found = Found(
        lives(
            {"bottleneck": [30, 31, 29], "total recall": [10, 11, 9], "random": [20, 31, 49], "no death": [30, 31, 29]}
        ),
        SIZE,
    )
    assert [found.differs("still", claim).sign for claim in CLAIMS] == [-1, 1, 0, 0]
    text = report(found, "metnos lab generations")
    assert "| still | +20.0 [+20.0, +20.0] | refuted * |" in text
    assert "### A small, faded inheritance serves better than total recall.\n\n**refuted** in still." in text
    assert "**not shown** in still" in text
    assert "`metnos lab generations`" in text


def test_the_first_generation_does_not_count() -> None:
    told = [replace(life, wrong=100) if life.generation == 1 else life for life in lives({"random": [20, 20, 20]})]
    found = Found(told, SIZE)
    assert found.by_run("still", "random", whole) == [20.0, 20.0, 20.0]
    assert found.by_run("still", "random", whole, generation=1) == [100.0, 100.0, 100.0]


def test_the_least_is_named_with_those_that_may_be_as_good() -> None:
    found = Found(lives({"random": [10, 10, 11], "no death": [9, 12, 11], "bottleneck": [20, 21, 20]}), SIZE)
    assert best(found, "still", whole) == ["random", "no death"]


def test_growth_is_told_only_of_several_heirs() -> None:
    told = [replace(life, young_wrong=10 * (4 - life.generation)) for life in lives({})]
    assert Found(told, SIZE).grows("still").mean == pytest.approx(-20.0)
    assert "Each generation starts ahead" in report(Found(told, SIZE), "x")
    assert "Each generation starts ahead" not in report(Found(told, Size(generations=2)), "x")


def test_further_arms_are_told_of_their_stream() -> None:
    text = report(Found(lives({}, "mixed"), SIZE), "x")
    assert "bottleneck, 2048 entries" in text
    assert "bottleneck, heeding only its own" in text
    assert "bottleneck, 2048 entries" not in report(Found(lives({}), SIZE), "x")


def test_a_single_run_shows_nothing() -> None:
    found = Found(lives({arm.name: [40] for arm in arms("still", SIZE)} | {"bottleneck": [1]}), SIZE)
    assert {found.differs("still", claim).sign for claim in CLAIMS} == {0}
    assert "**not shown** in still" in report(found, "x")


def test_a_summary_names_every_stream_once() -> None:
    rows = {"one": estimate([-2.0, -2.1]), "two": estimate([2.0, 2.1]), "three": estimate([-1.0, 1.0])}
    assert summary(rows) == "**holds** in one; **refuted** in two; **not shown** in three."


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=4))
def test_whatever_was_found_can_be_told(wrong: list[int]) -> None:
    told = lives({arm.name: wrong for arm in arms("still", SIZE)})
    assert report(Found(told, SIZE), "x").startswith("# What generations inherit")


def test_shares_of_nothing_are_nothing() -> None:
    assert (whole([]), youth([])) == (0.0, 0.0)
