"""Attacks on the sandbox, each through the whole production path: signed into the catalog, decided, permitted, run.

Each is made three times: in a warm child, in a cold one, and as a control without the defence that it is about. The
control must succeed, or the attack would prove nothing. Of cold ones and controls each third is in the suite, and all
are in the soak.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

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


def each_of(attacks: Sequence[Attack], *, third: bool) -> pytest.MarkDecorator:
    """Attacks as parameters; of ``third`` only each third is in the suite."""
    marks = [(pytest.mark.soak,) if third and place % 3 else () for place in range(len(attacks))]
    return pytest.mark.parametrize(
        "attack",
        [pytest.param(each, marks=mark) for each, mark in zip(attacks, marks, strict=True)],
        ids=[f"{each.family}: {each.name}" for each in attacks],
    )


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with open_world() as world:
        yield world


def skip_what_only_root_can(attack: Attack, *parts: str) -> None:
    if os.geteuid() != 0 and attack.only_root in parts:
        pytest.skip("an ordinary user cannot do this outside either")


def check_it_holds(world: World, attack: Attack, repeat: Repeat, *, cold: bool) -> None:
    skip_what_only_root_can(attack, "scene")
    for _ in repeat(f"attacks on a {'cold' if cold else 'warm'} sandbox", suite=1, soak=8):
        _, outcome, escaped = world.attempt(attack, cold=cold)
        assert not escaped, f"{attack.holds}: {escaped} ({outcome.message})"


@pytest.mark.repeated
@each_of(ATTACKS, third=False)
def test_it_holds(world: World, attack: Attack, repeat: Repeat) -> None:
    check_it_holds(world, attack, repeat, cold=False)


@pytest.mark.repeated
@each_of(ATTACKS, third=True)
def test_it_holds_in_a_sandbox_of_its_own(world: World, attack: Attack, repeat: Repeat) -> None:
    check_it_holds(world, attack, repeat, cold=True)


@pytest.mark.repeated
@each_of(ATTACKS, third=True)
def test_the_control_escapes(world: World, attack: Attack, repeat: Repeat) -> None:
    if attack.no_control:
        pytest.skip(attack.no_control)
    skip_what_only_root_can(attack, "scene", "control")
    for _ in repeat("attacks without the wall", suite=1, soak=4):
        outcome, escaped = world.control(attack)
        assert escaped, outcome


@pytest.mark.soak
@each_of(ATTACKS, third=False)
def test_it_holds_without_landlock(world: World, attack: Attack) -> None:
    """A kernel without it has one wall less, and none of these attacks gets through for that."""
    skip_what_only_root_can(attack, "scene")
    outcome, escaped = world.control(replace(attack, without="landlock", weaken=None, control={}))
    assert not escaped, f"{attack.holds}: {escaped} ({outcome.message})"


def test_every_attack_has_its_own_name() -> None:
    assert len({(attack.family, attack.name) for attack in ATTACKS}) == len(ATTACKS) >= 60
