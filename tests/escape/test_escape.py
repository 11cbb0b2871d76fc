"""Attacks on the sandbox, each through the whole production path: signed into the catalog, decided, permitted, run.

Each is made three times: in a warm child, in a cold one, and as a control without the defence that it is about. The
control must succeed, or the attack would prove nothing.
"""

from collections.abc import Iterator

import pytest

from escape import (
    attacks_bombs,
    attacks_broker,
    attacks_files,
    attacks_kernel,
    attacks_network,
    attacks_process,
    attacks_python,
)
from escape.world import Attack, World, open_world
from suite import Repeat

FAMILIES = (
    attacks_files, attacks_kernel, attacks_network, attacks_bombs, attacks_process, attacks_broker, attacks_python,
)  # fmt: skip
ATTACKS = tuple(attack for family in FAMILIES for attack in family.ATTACKS)
every = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.family}: {attack.name}")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with open_world() as world:
        yield world


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
@pytest.mark.repeated
@every
def test_it_holds(world: World, attack: Attack, cold: bool, repeat: Repeat) -> None:
    for _ in repeat(f"attacks on a {'cold' if cold else 'warm'} sandbox", suite=1, soak=8):
        _, outcome, escaped = world.attempt(attack, cold=cold)
        assert not escaped, f"{attack.holds}: {escaped} ({outcome.message})"


@pytest.mark.repeated
@every
def test_the_control_escapes(world: World, attack: Attack, repeat: Repeat) -> None:
    if attack.no_control:
        pytest.skip(attack.no_control)
    for _ in repeat("attacks without the wall", suite=1, soak=4):
        outcome, escaped = world.control(attack)
        assert escaped, outcome


def test_every_attack_has_its_own_name() -> None:
    assert len({(attack.family, attack.name) for attack in ATTACKS}) == len(ATTACKS) >= 60
