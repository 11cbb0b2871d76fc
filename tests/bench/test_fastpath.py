"""The arithmetic of the fast paths' benchmark: shares, hindsight, and a plot that stays within its frame."""

import importlib
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def fastpath(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.fastpath")


def test_shares_are_of_all_requests_and_of_all_answers(fastpath: ModuleType) -> None:
    told = fastpath.Told(
        np.array([4, 3, 2, 1]), np.array([True, False, True, True]), np.array([True, True, False, False])
    )
    assert told.left == 50
    assert told.wrong == 50
    none = fastpath.Told(told.sure, told.right, np.zeros(4, dtype=bool))
    assert (none.left, none.wrong) == (100, 0)


def test_hindsight_takes_the_longest_prefix_that_is_good_enough(fastpath: ModuleType) -> None:
    right = np.array([True] * 9 + [False] + [True] * 10)
    told = fastpath.Told(-np.arange(20.0), right, np.ones(20, dtype=bool))
    assert told.hindsight(0.01) == pytest.approx(55)
    assert told.hindsight(0.05) == pytest.approx(0)
    assert fastpath.Told(told.sure, ~right, told.answers).hindsight(0.01) == 100


def test_the_plot_is_a_picture_whose_points_are_inside_it(fastpath: ModuleType) -> None:
    line = fastpath.Line("a < b", np.array([1.0, 50.0, 100.0]), np.array([0.0, 2.0, 40.0]), [(60.0, 30.0, "0.8")])
    drawn = fastpath.svg("title", [line], 1.0)
    ElementTree.fromstring(drawn)
    for x, y in re.findall(r"([\d.]+),([\d.]+)", re.search(r'points="([^"]+)"', drawn)[1]):
        assert 0 <= float(x) <= 720
        assert 0 <= float(y) <= 500
    assert "30 % wrong" in drawn
