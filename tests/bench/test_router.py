"""The arithmetic of the router's benchmark: ranks with equals, the area under the curve, and comparing arguments."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from metnos.turn.plan.records import Tool

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.router")


def item(router: ModuleType, right: str, *names: str) -> Any:
    tools = tuple(Tool(name, "", "", name, False, {}, "entries", {}) for name in names)
    return router.Item(0, "a request", tools, frozenset([right]), {})


@pytest.mark.parametrize(
    ("scores", "first", "hit"),
    [
        ((3, 2, 1), 1, 1.0),
        ((1, 2, 3), 1, 0.0),
        ((1, 2, 3), 3, 1.0),
        ((2, 2, 1), 1, 0.5),
        ((1, 1, 1), 1, 1 / 3),
        ((0, 2, 1), 2, 0),
    ],
)
def test_of_equals_each_has_its_chance(router: ModuleType, scores: tuple[float, ...], first: int, hit: float) -> None:
    assert router._hit(item(router, "a", "a", "b", "c"), scores, first) == pytest.approx(hit)


def test_the_area_is_the_chance_of_being_above(router: ModuleType) -> None:
    assert router.auroc(np.array([3.0, 4.0]), np.array([1.0, 2.0])) == 1.0
    assert router.auroc(np.array([1.0]), np.array([1.0])) == 0.5
    assert router.auroc(np.array([0.0, 2.0]), np.array([1.0])) == 0.5


@pytest.mark.parametrize(
    ("given", "wanted", "same"),
    [
        ("New York, NY", "new york ny", True),
        ("Rome", "Paris", False),
        (5, 5.0, True),
        (True, 1, False),
        (1, True, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": [1, 2]}, True),
        ({"a": 1, "b": 2}, {"a": [1]}, False),
        ("", "", True),
    ],
)
def test_arguments_are_compared_as_the_leaderboard_does(
    router: ModuleType, given: Any, wanted: Any, same: bool
) -> None:
    assert router._same(given, wanted) is same


def test_a_crowd_holds_the_right_one_once_and_is_the_same_each_time(router: ModuleType) -> None:
    pool = [item(router, f"t{n}", f"t{n}") for n in range(20)]
    crowd = router.data.crowded(pool[:3], pool, 10)
    assert [len({tool.name for tool in each.tools}) for each in crowd] == [10, 10, 10]
    assert all(each.tools[0].name in each.right for each in crowd)
    assert crowd == router.data.crowded(pool[:3], pool, 10)


def test_bm25_prefers_the_text_that_has_the_words(router: ModuleType) -> None:
    one = item(router, "weather_forecast", "weather_forecast", "currency_conversion")
    system = router._bm25([one])
    asked = router.data.replace(one, text="what is the weather forecast?")
    scores = system.scores(asked)
    assert scores[0] > scores[1] == 0
    assert system.sure(asked) == scores[0]
