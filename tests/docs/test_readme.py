"""The README's tour, run as it stands, in a home of its own."""

import re
import socket

import pytest

from docs import tour
from support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("loaded_program")
def test_the_tour_is_real() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tour.check(README.replace("8347", str(port)), ROOT)


@pytest.mark.usefixtures("loaded_program")
def test_the_tour_can_fail() -> None:
    assert re.fullmatch(tour.pattern("a … c"), "a  bbb c")
    assert not re.fullmatch(tour.pattern("a … c"), "a bbb d")
    assert not re.fullmatch(tour.pattern("plain"), "plain text")
    assert len(tour.steps(README)) >= 8
    with pytest.raises(AssertionError):
        tour.check("```console\n$ echo one\ntwo\n```\n")


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_two_commands_exist(target: str) -> None:
    assert re.search(rf"^make {target} ", README, re.MULTILINE)
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_ci_calls_exactly_the_readmes_test_command() -> None:
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[-1] == "make test"
