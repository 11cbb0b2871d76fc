from hypothesis import given
from hypothesis import strategies as st

from metnos.models.patience import Patience


@given(st.integers(1, 1000), st.floats(0, 1), st.none() | st.floats(0, 60))
def test_a_pause_is_within_its_bounds_and_never_shorter_than_asked(
    failures: int, chance: float, asked: float | None
) -> None:
    pause = Patience(3, chance=lambda: chance).pause(failures, asked)
    assert 0.25 <= pause <= max(20.0, asked or 0.0)
    assert pause >= (asked or 0.0)


@given(st.integers(1, 6), st.floats(0, 1))
def test_pauses_grow(failures: int, chance: float) -> None:
    patience = Patience(9, chance=lambda: chance)
    assert patience.pause(failures) <= patience.pause(failures + 1)


def test_chance_spreads_them() -> None:
    assert Patience(chance=lambda: 0.0).pause(3) < Patience(chance=lambda: 1.0).pause(3)
