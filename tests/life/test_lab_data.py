"""Tasks out of public measurements: read from a package whose code is never run."""

import sys
from collections import Counter

import pytest

from metnos.core.errors import UsageError
from metnos.executors import vocabulary
from metnos.life import lab_data
from metnos.life.lab_data import DATA, Data, tasks
from metnos.life.lab_world import Size

SIZE = Size()
by_name = {data.name: data for data in DATA}


@pytest.mark.parametrize("data", DATA, ids=lambda data: data.name)
def test_a_seed_chooses_the_questions_and_everything_else_is_measured(data: Data) -> None:
    made = tasks(data, 1, SIZE)
    assert made == tasks(data, 1, SIZE) != tasks(data, 2, SIZE)
    assert len({task.form for task in made}) == data.asked
    assert len(made) <= SIZE.generations * SIZE.ticks
    assert all(task.right in task.ways and not task.traps for task in made)
    assert [task.day for task in made] == sorted(task.day for task in made)


def test_the_package_is_read_and_not_run() -> None:
    assert lab_data.folder() is not None
    assert "vega_datasets" not in sys.modules


def test_a_recession_is_in_the_figures() -> None:
    place = lab_data.folder()
    assert place is not None
    building = by_name["employment"].series(place)["say where employment in construction goes"]
    assert len(building) == 119
    assert Counter(building[24:48]).most_common(1)[0] == ("say_falls", 24)
    assert Counter(building[95:]).most_common(1)[0][0] == "say_rises"


def test_seasons_come_back() -> None:
    place = lab_data.folder()
    assert place is not None
    warm = by_name["weather"].series(place)["say how warm the day will be"]
    assert len(warm) == 1461
    for year in range(4):
        july = Counter(warm[365 * year + 185 : 365 * year + 210])
        january = Counter(warm[365 * year + 2 : 365 * year + 27])
        assert july["say_warm"] + july["say_hot"] + july["say_scorching"] > 15
        assert january["say_cold"] + january["say_cool"] > 12


def test_without_the_package_it_is_said_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_data, "PACKAGE", "no_such_package_anywhere")
    assert lab_data.folder() is None
    with pytest.raises(UsageError, match="not installed") as raised:
        tasks(by_name["weather"], 1, SIZE)
    assert "metnos[lab]" in raised.value.fix


@pytest.mark.parametrize("data", DATA, ids=lambda data: data.name)
def test_every_answer_is_an_executor_whose_name_crosses_a_death(data: Data) -> None:
    made = tasks(data, 1, SIZE)
    assert all(vocabulary.is_known(way) for task in made for way in task.ways)
    assert max(len(set(task.ways)) for task in made) > 2
