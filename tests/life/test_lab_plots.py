"""The lab's plots: one of each stream and measure, every arm in it, with its interval."""

from xml.etree import ElementTree

from life.test_lab_report import SIZE, lives
from metnos.life.lab_plots import plots
from metnos.life.lab_report import Found

_SVG = "{http://www.w3.org/2000/svg}"


def test_every_stream_has_two_with_a_line_and_a_band_for_each_arm() -> None:
    found = Found([*lives({"bottleneck": [30, 31, 40]}), *lives({}, "mixed")], SIZE)
    made = plots(found)
    assert sorted(made) == ["mixed-whole.svg", "mixed-youth.svg", "still-whole.svg", "still-youth.svg"]
    for drawing in made.values():
        root = ElementTree.fromstring(drawing)
        assert len(root.findall(f"{_SVG}polyline")) == len(root.findall(f"{_SVG}polygon")) == 5


def test_of_a_single_run_there_are_lines_and_no_bands_beyond_the_scale() -> None:
    one = [life for life in lives({}) if life.seed == 0]
    root = ElementTree.fromstring(plots(Found(one, SIZE))["still-whole.svg"])
    assert len(root.findall(f"{_SVG}polyline")) == 5
