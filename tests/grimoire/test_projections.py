from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.traces import trace
from metnos.core.clock import SystemClock
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.store.db import Database
from support import at_once

NAME = "wishes"


def close(medium: Medium, *turns: str) -> None:
    for turn in turns:
        medium.close(trace(turn))


def test_offered_in_the_order_of_closing_until_acknowledged(medium: Medium) -> None:
    close(medium, "03", "01", "02")
    assert medium.pending(NAME) == medium.pending(NAME) == ["03", "01", "02"]
    medium.applied(NAME, "03", "02")
    assert medium.pending(NAME) == ["01"]
    close(medium, "04")
    assert medium.pending(NAME) == ["01", "04"]
    medium.applied(NAME, "01", "04")
    assert medium.pending(NAME) == []


def test_each_projection_goes_its_own_way(medium: Medium) -> None:
    close(medium, "01", "02")
    medium.applied(NAME, "01")
    assert medium.pending("passings") == ["01", "02"]
    assert medium.pending(NAME) == ["02"]


def test_acknowledging_again_or_what_is_not_there_does_nothing(medium: Medium) -> None:
    close(medium, "01")
    medium.applied(NAME, "99")
    assert medium.pending(NAME) == ["01"]
    for _ in range(2):
        medium.applied(NAME, "01")
    assert medium.pending(NAME) == []


def test_acknowledgements_take_no_room(medium: Medium) -> None:
    close(medium, *(f"{number:03}" for number in range(20)))
    for turn in reversed(medium.pending(NAME)):
        medium.applied(NAME, turn)
    assert medium.db.query("SELECT * FROM projected") == []
    assert medium.db.query("SELECT upto FROM projections") == [(20,)]


def test_the_newest_are_offered_once_more_to_whoever_may_have_lost_them(medium: Medium) -> None:
    close(medium, "01", "02", "03")
    medium.applied(NAME, "01", "02", "03")
    assert medium.pending(NAME, again=2) == ["02", "03"]
    assert medium.pending(NAME, again=99) == ["01", "02", "03"]
    close(medium, "04")
    assert medium.pending(NAME, again=2) == ["03", "04"]


def test_all_of_them_to_whoever_lost_everything(medium: Medium) -> None:
    close(medium, "01", "02", "03")
    medium.applied(NAME, "01", "03")
    medium.offer_again(NAME)
    assert medium.pending(NAME) == ["01", "02", "03"]


@pytest.mark.slow
def test_processes_that_acknowledge_at_once(medium: Medium) -> None:
    turns = [f"{number:03}" for number in range(24)]
    close(medium, *turns)
    at_once([lambda part=part: medium.applied(NAME, *turns[part::4]) for part in range(4)])
    assert medium.pending(NAME) == []
    assert medium.db.query("SELECT * FROM projected") == []


acts = st.lists(
    st.one_of(
        st.just(("close", 0)),
        st.tuples(st.just("apply"), st.integers(0, 30)),
        st.tuples(st.just("again"), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=settings().max_examples // 2)
@given(acts)
def test_whatever_happens_what_is_offered_is_what_is_not_acknowledged(
    tmp_path_factory: object, acts: list[tuple[str, int]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("medium")  # type: ignore[attr-defined]
    medium = Medium(Database(folder / "medium.db", MIGRATIONS), SystemClock())
    closed: list[str] = []
    acknowledged: set[str] = set()
    for act, number in acts:
        turn = f"T{number if act == 'apply' else len(closed)}"
        if act == "close":
            close(medium, turn)
            closed.append(turn)
        elif act == "apply":
            medium.applied(NAME, turn)
            acknowledged |= {turn} & set(closed)
        else:
            medium.offer_again(NAME)
            acknowledged.clear()
        assert medium.pending(NAME) == [each for each in closed if each not in acknowledged]
    medium.db.close()
