"""Dreams on a real memory: what comes out, what becomes of it, that they stop and go on, and that they cannot act."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from grimoire.dreams import done, dreams, mixed, near_pair, shaped, turn
from metnos.core.clock import MovableClock
from metnos.core.ids import UlidMaker
from metnos.grimoire.affect import Pad
from metnos.grimoire.dream import LAST, NAME, Dreamer
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict
from metnos.grimoire.episodes import Episodes, open_episodes
from metnos.grimoire.fact import Decay, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.reports import Reports
from metnos.store.db import Database


@pytest.fixture
def episodes(tmp_path: Path, clock: MovableClock) -> Iterator[Episodes]:
    made = open_episodes(tmp_path / "episodes", "sqlite", clock)
    yield made
    made.close()


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    db = Database(tmp_path / "grimoire.db", MIGRATIONS, clock=clock)
    yield Facts(db, clock, UlidMaker(clock))
    db.close()


@pytest.fixture
def dreamer(episodes: Episodes, facts: Facts, clock: MovableClock) -> Dreamer:
    clock.move(timedelta(days=1))
    return Dreamer(episodes, facts, clock)


def later(number: int, clock: MovableClock, ok: bool = True, **changes: Any) -> Episode:
    """A turn of now that moves with overwriting."""
    step = done("move_files", ok=ok, overwrite=True)
    return turn(number, done("find_files"), step, ts=clock.now(), **changes)


# -- what comes out


def test_what_might_have_been_is_kept_as_a_dream_that_waits_for_confirmation(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    report = dreamer.dream(1)
    assert report.admitted == report.counterfactuals == 2
    for dream in dreams(facts):
        assert dream.provenance is Provenance.DREAM
        assert dream.confidence <= 0.3
        assert dream.decay is Decay.EPHEMERAL
        assert dream.confirm_by == clock.now() + timedelta(days=7)
    found = shaped(facts, "argument")
    assert found.kind is Kind.INSIGHT, "a dream is never of a kind that steers plans"
    assert found.data["prefer"] == {"executor": "move_files", "args": {"overwrite": True}}
    assert set(found.sources) == {"E0000", "E0001", "E0002", "E0003"}


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": Verdict.UNJUDGED},
        {"verdict": Verdict.REJECTED},
        {"scope": Scope.SESSION},
        {"scope": Scope.SENDER},
        {"sender": "somebody"},
        {"provenance": Provenance.LETHE},
    ],
)
def test_only_own_verified_episodes_that_are_nobody_elses_are_dreamt_of(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, changes: dict[str, Any]
) -> None:
    episodes.add([replace(each, **changes) for each in mixed()])
    assert dreamer.dream(1).replayed == 0
    assert dreams(facts) == []


def test_replaying_takes_the_excitement_off_once_a_dream(dreamer: Dreamer, episodes: Episodes) -> None:
    episodes.add(mixed())
    assert dreamer.dream(1).calmed == 8
    (once,) = episodes.get(["E0001"])
    assert once.pad.arousal == pytest.approx(0.6 * 0.7, abs=1e-6)
    assert once.pad.pleasure == pytest.approx(-0.5 * 0.9, abs=1e-6)
    assert once.replays == 1
    assert dreamer.dream(2).calmed == 0, "nothing is new, so nothing is replayed"
    (again,) = episodes.get(["E0001"])
    assert again.pad == once.pad


def test_the_past_is_replayed_with_what_is_new_and_witnesses_without_being_replayed(
    dreamer: Dreamer, episodes: Episodes, facts: Facts
) -> None:
    episodes.add(mixed(good=20, bad=0))
    dreamer.dream(1)
    failed = [turn(100 + n, done("find_files"), done("move_files", ok=False, overwrite=False)) for n in range(4)]
    episodes.add(failed)
    report = dreamer.dream(2)
    assert 4 < report.replayed < 8, "four new ones and three to seven of the past"
    assert shaped(facts, "argument").data["support"] == 20, "all the others are asked"


def test_the_same_memory_and_seed_give_the_same_dream(tmp_path: Path, clock: MovableClock) -> None:
    told = []
    for name in ("one", "two"):
        episodes = open_episodes(tmp_path / name, "sqlite", clock)
        db = Database(tmp_path / name / "grimoire.db", MIGRATIONS, clock=clock)
        facts = Facts(db, clock, UlidMaker(clock))
        episodes.add(mixed())
        report = Dreamer(episodes, facts, clock).dream(11, cpu=lambda: 0.0)
        told.append((report, [(fact.id, fact.text, fact.data) for fact in dreams(facts)]))
        episodes.close()
        db.close()
    assert told[0] == told[1]


def test_dreaming_it_again_does_not_make_it_truer(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    dreamer.dream(1)
    before = shaped(facts, "argument")
    episodes.add([turn(50, done("find_files"), done("move_files", ok=False, overwrite=False))])
    report = dreamer.dream(1)
    assert report.admitted == 0
    assert report.known >= 1
    assert shaped(facts, "argument") == before


# -- what becomes of it


def test_an_own_verified_episode_that_shows_the_same_confirms_a_dream(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    dreamer.dream(1)
    clock.move(timedelta(days=2))
    episodes.add([later(60, clock)])
    assert dreamer.dream(2).confirmed == 1
    found = shaped(facts, "argument")
    assert (found.provenance, found.kind, found.standing) == (Provenance.SELF, Kind.PROCEDURAL, Standing.ACTIVE)
    assert found.confidence == 0.5
    assert found.confirm_by is None
    assert "E0060" in found.sources
    assert "dreamt" in found.tags


def test_an_episode_that_shows_the_contrary_ends_a_dream(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    dreamer.dream(1)
    clock.move(timedelta(days=2))
    episodes.add([later(60, clock, ok=False)])
    dreamer.dream(2)
    assert shaped(facts, "argument").standing is Standing.EXPIRED


@pytest.mark.parametrize("changes", [{"verdict": Verdict.UNJUDGED}, {"provenance": Provenance.CLADE}, {"domain": "x"}])
def test_nothing_else_confirms_a_dream(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock, changes: dict[str, Any]
) -> None:
    episodes.add(mixed())
    dreamer.dream(1)
    clock.move(timedelta(days=2))
    episodes.add([replace(later(60, clock), **changes)])
    assert dreamer.dream(2).confirmed == 0
    assert shaped(facts, "argument").provenance is Provenance.DREAM


def test_what_nothing_confirmed_within_seven_days_expires_at_fourteen(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    dreamer.dream(1)
    clock.move(timedelta(days=8))
    episodes.add([later(60, clock)])
    assert dreamer.dream(2).confirmed == 0, "it came too late"
    assert shaped(facts, "argument").standing is not Standing.EXPIRED
    clock.move(timedelta(days=6))
    dreamer.dream(3)
    assert shaped(facts, "argument").standing is Standing.EXPIRED


def test_a_verdict_may_come_late_if_the_episode_did_not(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    dreamer.dream(1)
    clock.move(timedelta(days=6))
    episodes.add([later(60, clock)])
    clock.move(timedelta(days=4))
    assert dreamer.dream(2).confirmed == 1


# -- stopping and going on


@pytest.mark.parametrize("checks", range(12))
def test_it_stops_at_any_moment_and_goes_on_to_the_same_end(
    episodes: Episodes, facts: Facts, clock: MovableClock, checks: int
) -> None:
    episodes.add(mixed())
    near_pair(facts, clock)
    dreamer, asked = Dreamer(episodes, facts, clock), iter([False] * checks)
    assert dreamer.dream(1, stop=lambda: next(asked, True)).stopped == "asked"
    report = dreamer.dream(99)
    assert (report.stopped, report.seed) == ("", 1)
    assert (report.admitted, report.known, report.calmed, report.replayed) == (3, 0, 8, 8)
    assert len(dreams(facts)) == 3
    assert all(each.replays == 1 for each in episodes.get([f"E{n:04}" for n in range(8)]))
    assert facts.db.first("SELECT 1 FROM progress WHERE name = ?", (NAME,)) is None


def test_it_ends_when_its_cpu_seconds_are_used_up(dreamer: Dreamer, episodes: Episodes, facts: Facts) -> None:
    episodes.add(mixed())
    spent = iter(range(1000))
    report = dreamer.dream(1, cpu_s=5, cpu=lambda: float(next(spent)))
    assert report.stopped == "cpu"
    assert facts.db.first("SELECT 1 FROM progress WHERE name = ?", (NAME,)) is not None
    assert dreamer.dream(1).stopped == ""


def test_after_a_kill_between_calming_and_noting_it_nothing_is_calmed_twice(
    episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())

    class Killed(Exception):
        pass

    class Dies:
        """The episodes, whose process ends right after it was written that they are calmer."""

        def __getattr__(self, name: str) -> Any:
            return getattr(episodes, name)

        def mark(self, marks: Sequence[Any]) -> None:
            episodes.mark(marks)
            raise Killed

    with pytest.raises(Killed):
        Dreamer(Dies(), facts, clock).dream(1)  # type: ignore[arg-type]  # as far as it goes
    Dreamer(episodes, facts, clock).dream(1)
    (found,) = episodes.get(["E0001"])
    assert found.replays == 1
    assert found.pad == Pad(*(pytest.approx(each, abs=1e-6) for each in (-0.45, 0.42, -0.18)))


def test_progress_is_shown_and_a_report_is_left(
    dreamer: Dreamer, episodes: Episodes, facts: Facts, clock: MovableClock
) -> None:
    episodes.add(mixed())
    seen: list[tuple[str, int, int]] = []
    report = dreamer.dream(1, progress=lambda *told: seen.append(told))
    assert list(dict.fromkeys(phase for phase, _, _ in seen)) == ["replay", "products", "calm"]
    assert all(0 < part <= of for _, part, of in seen)
    (left,) = Reports(facts.db, clock).latest("dream")
    assert left.data["admitted"] == report.admitted
    assert "move_files" not in str(left.data), "a report holds numbers"
    assert facts.db.first("SELECT value FROM progress WHERE name = ?", (LAST,)) == ("8",)


def test_what_is_forgotten_in_the_middle_of_a_dream_is_simply_gone(
    dreamer: Dreamer, episodes: Episodes, facts: Facts
) -> None:
    episodes.add(mixed())
    asked = iter([False])
    dreamer.dream(1, stop=lambda: next(asked, True))
    episodes.remove([f"E{n:04}" for n in range(4)])
    report = dreamer.dream(1)
    assert report.stopped == ""
    assert report.admitted == 0


# -- what it cannot do


@pytest.mark.slow
def test_a_dream_can_never_act() -> None:
    """Nothing that acts is loaded for dreaming: no executor, no permit, no sandbox, no model."""
    code = (
        "import sys, metnos.grimoire.dream\n"
        "print([name for name in sys.modules if name.startswith(('metnos.executors', 'metnos.law', 'metnos.sandbox',"
        " 'metnos.models', 'metnos.turn', 'subprocess', 'socket'))])"
    )
    line = [sys.executable, "-c", code]
    # Measuring coverage would load things of its own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    ran = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True, env=environment)
    assert ran.stdout.strip() == "[]"
