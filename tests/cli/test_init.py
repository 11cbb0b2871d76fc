"""``metnos init --from`` as a person meets it. The workspace is the usual one, fresh, with every built-in."""

import json
from pathlib import Path

import pytest

from life.willed import a_signer, a_testament, an_entry, of_generation, written
from metnos.core.sign import Signer
from metnos.life.testament import Habit
from support import Say

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture(autouse=True)
def _no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METNOS_EMBED__KIND", "none")


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return a_signer(tmp_path / "predecessor")


def test_a_successor_is_told_what_it_began_with(say: Say, signer: Signer, tmp_path: Path) -> None:
    about = an_entry(7, text="The owner's wife likes tea at five.", held=3)  # so long that chance does not leave it out
    known = tuple(an_entry(number, held=3) for number in range(6))
    left = of_generation(2, entries=(*known, about), habits=(Habit("turn.steps", 20, 3),))
    path = written(tmp_path / "left", left, signer)
    ran = say("init", "--from", str(path), "--key", signer.public[:8])
    assert ran.code == 0, ran.err
    assert f"It is generation 3, the successor of {signer.public[:16]}…, who lived from 2026-01-01" in ran.out
    assert "Inherited: 7 facts, 2 links, 1 episode." in ran.out
    assert "about people, and kept apart until you agree" in ran.out
    assert "1 question about it: metnos inbox list" in ran.out
    assert "Work as 3 generations did: turn.steps = 20" in say("inbox", "list").out


def test_the_same_for_programs_and_again(say: Say, signer: Signer, tmp_path: Path) -> None:
    path = written(tmp_path / "left", a_testament(), signer)
    once = json.loads(say("init", "--from", str(path), "--json").out)
    assert once["generation"] == 1
    assert once["key"] == signer.public
    assert sum(once["taken"][name] for name in ("taken", "doubted", "left out") if name in once["taken"]) == 6
    again = json.loads(say("init", "--from", str(path), "--json").out)
    assert again["taken"] == once["taken"]
    other = written(tmp_path / "other", a_testament(ticks=3), signer)
    ran = say("init", "--from", str(other))
    assert ran.code == 1
    assert "inherited from another testament already" in ran.err


def test_a_key_without_a_testament_is_a_mistake(say: Say) -> None:
    ran = say("init", "--key", "ab")
    assert ran.code == 2
    assert "--key belongs to --from" in ran.err
