"""Work that takes longer than a request."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from metnos.api.http.errands import Changed, Errand, Errands
from metnos.api.http.inside import Desk
from metnos.core.errors import MetnosError, StoreBusy


@pytest.fixture
def logged() -> list[str]:
    return []


@pytest.fixture
def errands(logged: list[str]) -> Errands:
    @contextlib.contextmanager
    def lease() -> Iterator[Any]:
        yield "the house"

    return Errands(Desk(lease, None, dict, logged.append))  # type: ignore[arg-type]  # neither turns nor a status


def test_what_came_of_it_is_kept(errands: Errands) -> None:
    done = errands.begin("a walk", lambda house, _: f"back in {house}")
    assert done.wait(60) == "back in the house"
    assert errands.find("a walk") is done
    assert not done.running
    assert errands.find("another") is None


def test_of_one_name_one_runs_at_a_time(errands: Errands) -> None:
    going = threading.Event()
    first = errands.begin("a walk", lambda *_: going.wait(60))
    with pytest.raises(Changed, match="a walk is being done already"):
        errands.begin("a walk", lambda *_: None)
    assert errands.join("a walk", lambda *_: None) is first
    assert errands.begin("a swim", lambda *_: 1).wait(60) == 1
    assert first.wait(0) is None
    going.set()
    first.over.wait(60)
    assert errands.join("a walk", lambda *_: 2).wait(60) == 2


def test_what_goes_wrong_is_told_to_whoever_asks(errands: Errands, logged: list[str]) -> None:
    def busy(*_: object) -> None:
        raise StoreBusy("somebody writes")

    def mistaken(*_: object) -> None:
        raise ValueError("a secret")

    with pytest.raises(StoreBusy, match="somebody writes"):
        errands.begin("a walk", busy).wait(60)
    with pytest.raises(MetnosError, match="ValueError") as found:
        asyncio.run(errands.begin("a walk", mistaken).arrival(10))
    assert "secret" not in str(found.value) + str(logged)
    assert logged == ["a mistake in Metnos: ValueError in a walk"]


def test_at_the_end_all_are_asked_to_stop(errands: Errands) -> None:
    def walk(_house: object, errand: Errand) -> str:
        errand.tell("steps", 3, 10)
        return "stopped" if errand.stopping.wait(60) else "never"

    walking = errands.begin("a walk", walk)
    assert errands.stop(10)
    assert walking.wait(0) == "stopped"
    assert walking.progress == ("steps", 3, 10)
