"""An experiment: all arms on the same tasks, going on after a stop, never mixing two experiments."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from metnos.core.errors import UsageError
from metnos.life import lab, lab_data
from metnos.life.lab import Experiment, Life, arms, piece, read, run
from metnos.life.lab_world import Size

SIZE = Size(generations=2, ticks=12, forms=3, areas=1, entries=4)
ONE = Experiment(SIZE, (1,), ("still",))


def plain(lives: list[Life]) -> list[dict[str, object]]:
    return sorted((asdict(replace(life, cpu_s=0.0)) for life in lives), key=str)


@pytest.mark.slow
def test_a_piece_has_every_arm_and_every_generation(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = piece("returning", 1, SIZE, scratch)
    assert [(life.arm, life.generation) for life in found] == [
        (arm.name, generation) for arm in arms("returning", SIZE) for generation in (1, 2)
    ]
    assert {life.ticks for life in found} == {12}
    assert len({life.wrong for life in found if life.generation == 1}) == 1  # the same tasks, the same luck
    assert not list(scratch.iterdir())


@pytest.mark.slow
def test_one_process_and_two_find_the_same_and_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    two = Experiment(SIZE, (1, 2), ("still",))
    seen: list[tuple[int, int]] = []
    alone = run(two, tmp_path / "alone", 1, lambda done, of: seen.append((done, of)))
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert plain(run(two, tmp_path / "both", 2)) == plain(alone)
    seen.clear()
    assert run(two, tmp_path / "alone", 1, lambda done, of: seen.append((done, of))) == alone
    assert seen == [(2, 2)]


@pytest.mark.slow
def test_what_was_cut_off_by_a_kill_is_run_again(tmp_path: Path) -> None:
    whole = run(ONE, tmp_path, 1)
    path = tmp_path / lab.RUNS
    path.write_text(path.read_text()[:-40])
    assert read(path, ONE) == []
    assert plain(run(ONE, tmp_path, 1)) == plain(whole)


def test_another_experiment_is_not_mixed_in(tmp_path: Path) -> None:
    (tmp_path / lab.RUNS).write_text('{"size": {}}\n')
    with pytest.raises(UsageError, match="another experiment"):
        run(ONE, tmp_path, 1)


def test_further_arms_run_on_one_stream_only() -> None:
    assert len(arms("mixed", SIZE)) == 11
    assert len(arms("still", SIZE)) == 5


def test_public_streams_are_there_only_where_their_package_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"weather", "employment"} < set(lab.streams(False))
    assert "weather" not in lab.streams(True)
    monkeypatch.setattr(lab_data, "PACKAGE", "no_such_package_anywhere")
    assert lab.streams(False) == lab.streams(True)
