import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.context.blocks import Kind
from metnos.context.budgets import FACTORS, SHAPES, Phase, Task, allocate

TASKS, PHASES, WINDOWS = st.sampled_from(Task), st.sampled_from(Phase), st.integers(1024, 2_000_000)
LEARNT = st.dictionaries(st.sampled_from(Kind), st.floats(-5, 5))


@given(TASKS, PHASES, WINDOWS, LEARNT, st.integers(0, 4000))
def test_blocks_and_the_reply_always_fit_the_window(
    task: Task, phase: Phase, window: int, learnt: dict[Kind, float], reserve: int
) -> None:
    found = allocate(task, window, phase=phase, learnt=learnt, reserve=reserve)
    assert sum(found.blocks.values()) <= found.room
    assert found.room + found.reserve <= window
    assert found.reserve >= min(reserve, window // 2)
    assert all(tokens >= 0 for tokens in found.blocks.values())


@given(TASKS, WINDOWS)
def test_a_later_phase_never_gets_more(task: Task, window: int) -> None:
    rooms = [allocate(task, window, phase=phase).room for phase in Phase]
    assert all(one >= other for one, other in itertools.pairwise(rooms))
    assert rooms[0] > rooms[-1]


@given(TASKS, PHASES, WINDOWS, WINDOWS)
def test_a_greater_window_never_gives_less(task: Task, phase: Phase, one: int, other: int) -> None:
    small, great = sorted((one, other))
    assert allocate(task, small, phase=phase).room <= allocate(task, great, phase=phase).room


def test_the_numbers_are_the_seeds_in_its_window() -> None:
    assert list(FACTORS.values()) == [1.0, 0.8, 0.7, 0.6, 0.4]
    found = allocate(Task.REFLECT, 8192)
    assert (found.blocks[Kind.HEAD], found.blocks[Kind.EPISODES], found.blocks[Kind.FACTS]) == (500, 800, 400)
    assert (found.room, found.reserve) == (3200, 500)
    assert allocate(Task.ANSWER, 8192).blocks[Kind.EPISODES] > 2 * allocate(Task.PLAN, 8192).blocks[Kind.EPISODES]
    assert allocate(Task.REFLECT, 8192, phase=Phase.CONSERVATION).room == 2240


@pytest.mark.parametrize("task", Task)
def test_every_task_has_room_for_the_essentials_and_its_own_great_block(task: Task) -> None:
    found = allocate(task, 4096)
    assert all(found.blocks[kind] > 0 for kind in (Kind.HEAD, Kind.REQUEST, Kind.INSTRUCTION))
    assert found.blocks[SHAPES[task].great] == max(found.blocks.values())


def test_what_is_learnt_moves_a_share_within_bounds_and_no_essential_one() -> None:
    plain = allocate(Task.ANSWER, 8192).blocks
    moved = allocate(Task.ANSWER, 8192, learnt={Kind.FACTS: 99.0, Kind.GRAPH: -99.0, Kind.REQUEST: 0.0}).blocks
    assert plain[Kind.FACTS] < moved[Kind.FACTS] <= 1.5 * plain[Kind.FACTS] + 1
    assert 0 < moved[Kind.GRAPH] < plain[Kind.GRAPH]
    assert moved[Kind.REQUEST] >= 0.9 * plain[Kind.REQUEST]


def test_a_huge_window_is_not_filled() -> None:
    assert allocate(Task.ANSWER, 1_000_000).room == 4 * 3200
