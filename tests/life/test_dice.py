"""Throws that are checked: what was written down is derived again, and held against the audit."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from life.willed import a_signer
from metnos.core.sign import Signer
from metnos.life import dice, vitality_rules
from metnos.life.dice import Thrown
from metnos.life.vitality_rules import PURPOSE, RULES


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return a_signer(Path(tmp_path_factory.mktemp("who")))


def lived(signer: Signer, limits: list[int]) -> list[Thrown]:
    """A life in which the owner set another greatest age now and then."""
    made, gone = list[Thrown](), False
    for tick, limit in enumerate(limits, start=1):
        proof = signer.sign(PURPOSE, vitality_rules.throw_message(tick))
        hazard, roll = vitality_rules.hazard(tick, limit), vitality_rules.throw_of(proof)
        gone = gone or roll < hazard
        made.append(Thrown(tick, limit, hazard, roll, proof, 0.0 if gone else vitality_rules.survival(tick, limit)))
    return made


@given(limits=st.lists(st.integers(1, 200), max_size=12))
def test_every_honest_life_is_proved(signer: Signer, limits: list[int]) -> None:
    made = lived(signer, limits)
    found = dice.prove(made, [each.recorded() for each in made], signer.public, RULES)
    assert (found.throws, found.faults) == (len(limits), ())


@given(limits=st.lists(st.integers(1, 200), min_size=1, max_size=8), data=st.data())
def test_what_the_audit_does_not_bear_out_is_found(signer: Signer, limits: list[int], data: st.DataObject) -> None:
    made = lived(signer, limits)
    place = data.draw(st.integers(0, len(made) - 1))
    audited = [each.recorded() for number, each in enumerate(made) if number != place]
    (fault,) = dice.prove(made, audited, signer.public, RULES).faults
    assert fault == f"tick {place + 1}: the audit does not know this throw"


def test_somebody_elses_throw_is_none_of_ours(signer: Signer, tmp_path: Path) -> None:
    (made,) = lived(a_signer(tmp_path / "other"), [100])
    (fault,) = dice.prove([made], [made.recorded()], signer.public, RULES).faults
    assert "key did not make" in fault


def test_where_nobody_aged_there_is_nothing_to_prove(signer: Signer) -> None:
    (made,) = lived(signer, [100])
    quiet = replace(made, roll=None, proof="", hazard=0.0, hayflick=0, survival=1.0)
    assert dice.prove([quiet], [], signer.public, RULES) == dice.Proof(0, ())


def test_a_pause_without_dice_revives_nobody(signer: Signer) -> None:
    """Ended by a throw, then a tick at which nobody aged: the next throw finds the life over."""
    made = lived(signer, [100, 1, 100, 100])
    made[2] = replace(made[2], roll=None, proof="", hazard=0.0, hayflick=0, survival=1.0)
    audited = [each.recorded() for each in made if each.roll is not None]
    assert dice.prove(made, audited, signer.public, RULES) == dice.Proof(3, ())
    made[3] = replace(made[3], survival=vitality_rules.survival(4, 100))
    (fault,) = dice.prove(made, audited, signer.public, RULES).faults
    assert fault == "tick 4: the throw should have ended this life"
