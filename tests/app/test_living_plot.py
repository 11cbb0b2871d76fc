"""A life as a drawing."""

from typing import Any
from xml.etree import ElementTree

from metnos.app.living_plot import picture

_SVG = "{http://www.w3.org/2000/svg}"


def status(runs: dict[str, bool], points: int = 3) -> dict[str, Any]:
    return {
        "tick": points,
        "phase": "stable",
        "clocks": {name: {"value": 1.0, "runs": on} for name, on in runs.items()},
        "points": [
            {"tick": number, "vitality": 1 - number / 10, "economic": 1.0, "epistemic": 0.9, "stochastic": 1.0}
            for number in range(1, points + 1)
        ],
    }


def test_only_clocks_that_run_are_drawn_and_every_bound_has_its_name() -> None:
    drawn = picture(status({"economic": True, "epistemic": True, "stochastic": False}))
    root = ElementTree.fromstring(drawn)
    assert len(list(root.iter(f"{_SVG}polyline"))) == 3
    texts = ["".join(each.itertext()) for each in root.iter(f"{_SVG}text")]
    assert {"vitality", "money", "knowledge", "thriving", "stable", "conservation", "declining"} <= set(texts)
    assert "age" not in texts


def test_a_life_that_has_not_begun_is_an_empty_drawing() -> None:
    root = ElementTree.fromstring(picture(status(dict.fromkeys(("economic", "epistemic", "stochastic"), False), 0)))
    assert list(root.iter(f"{_SVG}polyline")) == []
