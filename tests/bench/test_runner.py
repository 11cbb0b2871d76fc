"""The benchmarks' own machinery: what it lists, what it refuses, its arithmetic, and the result that it keeps."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.runner")


@pytest.fixture
def command(runner: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """``python -m bench`` in this process, with one tiny benchmark and results of its own."""
    module = importlib.import_module("bench.__main__")
    monkeypatch.setattr(module, "_RESULTS", tmp_path / "results")
    monkeypatch.setattr(runner, "BENCHMARKS", ("tiny",))

    def call(benchmark: Any, *arguments: str) -> int:
        monkeypatch.setattr(runner, "load", lambda name: benchmark)
        code: int = module.main(["tiny", *arguments])
        return code

    return call


def run_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def tiny(runner: ModuleType, *, limit: float) -> Any:
    def run(data: Path) -> list[Any]:
        return [
            runner.Measure("step", "us/step", (2.0, 6.0, 3.0), (2.0, 2.0, 2.0), limit, "a note"),
            runner.Measure("alone", "ms", (150.0, 170.0), limit=200.0),
        ]

    return SimpleNamespace(PURPOSE="a tiny one", run=run)


# -- the command


@pytest.mark.slow
def test_lists_every_benchmark_with_its_purpose(runner: ModuleType) -> None:
    done = run_bench()
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(runner.BENCHMARKS)
    assert all(len(line.split()) > 3 for line in lines)


def test_an_unknown_name_is_refused_and_the_known_ones_are_named(runner: ModuleType) -> None:
    done = run_bench("sotre")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "'sotre'" in done.stderr
    assert all(name in done.stderr for name in runner.BENCHMARKS)


def test_a_missed_target_is_said_and_is_no_failure(
    runner: ModuleType, command: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert command(tiny(runner, limit=1.3)) == 0
    shown = capsys.readouterr().out
    assert "TARGET MISSED: step" in shown
    assert "MISSED" in next(line for line in shown.splitlines() if line.startswith("step"))
    assert json.loads((tmp_path / "results" / "tiny.json").read_bytes())["measures"][0]["met"] is False


def test_a_met_target_is_said_too(runner: ModuleType, command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tiny(runner, limit=2.0)) == 0
    shown = capsys.readouterr().out
    assert "MISSED" not in shown
    assert "<= 2 " in shown
    assert "<= 200 ms" in shown


def test_missing_data_matters_only_to_a_benchmark_that_needs_it(
    runner: ModuleType, command: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = tmp_path / "nowhere"
    assert command(tiny(runner, limit=2.0), "--data", str(missing)) == 0
    capsys.readouterr()
    needy = SimpleNamespace(PURPOSE="needs data", run=lambda data: [runner.need_data(data, "facts.json")])
    assert command(needy, "--data", str(missing)) == 1
    error = capsys.readouterr().err
    assert str(missing / "facts.json") in error
    assert "--data" in error
    missing.mkdir()
    (missing / "facts.json").write_text("{}")
    assert runner.need_data(missing, "facts.json").name == "facts.json"


# -- the arithmetic


def test_the_ratio_is_the_median_of_the_rounds_ratios(runner: ModuleType) -> None:
    # Both sides slow down tenfold in the last round; the quotient of the medians would be 3, not 2.
    measure = runner.Measure("m", "us/step", (2.0, 6.0, 20.0), (1.0, 2.0, 10.0))
    assert measure.ratios == (2.0, 3.0, 2.0)
    assert measure.ratio == 2.0
    assert (measure.subject, measure.baseline) == (6.0, 2.0)
    assert measure.rate == "166,667 steps/s"


@pytest.mark.parametrize(("limit", "met"), [(None, None), (1.99, False), (2.0, True)])
def test_a_target_with_a_baseline_is_for_the_ratio(runner: ModuleType, limit: float | None, met: bool | None) -> None:
    assert runner.Measure("m", "ms", (4.0,), (2.0,), limit).met is met


@pytest.mark.parametrize(("limit", "met"), [(None, None), (3.9, False), (4.0, True)])
def test_a_target_without_one_is_for_the_subject(runner: ModuleType, limit: float | None, met: bool | None) -> None:
    measure = runner.Measure("m", "ms", (4.0,), limit=limit)
    assert measure.met is met
    assert measure.ratio is None
    assert measure.rate == ""


@pytest.mark.parametrize(("subjects", "baselines"), [((), ()), ((1.0, 2.0), (1.0,)), ((1.0,), (1.0, 2.0))])
def test_rounds_without_their_pair_are_refused(
    runner: ModuleType, subjects: tuple[float, ...], baselines: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="every round"):
        runner.Measure("m", "ms", subjects, baselines)


def test_subject_and_baseline_take_turns_after_a_warm_up(runner: ModuleType) -> None:
    turns: list[str] = []

    def cost(name: str, value: float) -> Any:
        def one_round() -> float:
            turns.append(name)
            return value

        return one_round

    measure = runner.compare("m", "ms", subject=cost("s", 3.0), baseline=cost("b", 2.0), rounds=4, budget_s=60)
    assert "".join(turns) == "sb" + "bs" + "sb" + "bs" + "sb"
    assert measure.subjects == (3.0,) * 4
    assert measure.ratio == 1.5


def test_rounds_stop_when_the_time_is_up(runner: ModuleType) -> None:
    measure = runner.compare("m", "ms", subject=lambda: 1.0, baseline=lambda: 1.0, rounds=10**9, budget_s=0.0)
    assert len(measure.subjects) == runner.LEAST_ROUNDS


def test_timed_divides_by_the_operations(runner: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter((10.0, 10.5))
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: next(readings)))
    assert runner.timed(lambda: None, 100)() == pytest.approx(5000.0)


# -- what is kept


def test_a_result_is_whole_and_names_no_machine(runner: ModuleType, tmp_path: Path) -> None:
    result = runner.measure("tiny", tiny(runner, limit=1.3), tmp_path)
    runner.write(result, tmp_path / "results")
    path = runner.write(result, tmp_path / "results")  # the second takes the place of the first
    assert [each.name for each in path.parent.iterdir()] == ["tiny.json"]
    kept = json.loads(path.read_bytes())
    assert set(kept) == {
        *("benchmark", "purpose", "metnos", "date", "python", "sqlite", "cpus", "filesystem"),
        *("load_before", "load_after", "measures"),
    }
    assert kept["benchmark"] == "tiny"
    assert len(kept["load_before"]) == len(kept["load_after"]) == 3
    step, alone = kept["measures"]
    assert step == {
        "name": "step",
        "note": "a note",
        "unit": "us/step",
        "rounds": 3,
        "subject": 3.0,
        "baseline": 2.0,
        "ratio": 1.5,
        "least": 1.0,
        "greatest": 3.0,
        "target": {"of": "ratio", "at_most": 1.3},
        "met": False,
    }
    assert (alone["baseline"], alone["ratio"], alone["met"]) == (None, None, True)
    assert alone["target"] == {"of": "subject", "at_most": 200.0}
    assert str(ROOT) not in path.read_text()


def test_kept_results_are_those_of_known_benchmarks(runner: ModuleType) -> None:
    for path in (ROOT / "bench" / "results").glob("*.json"):
        kept = json.loads(path.read_bytes())
        assert path.stem == kept["benchmark"]
        assert path.stem in runner.BENCHMARKS
        assert str(ROOT) not in path.read_text()


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/home/me", "ext4"), ("/tmp/x", "tmpfs"), ("/tmpx", "ext4"), ("/mnt/my disk/a", "xfs"), ("/twice", "btrfs")],
)
def test_the_file_system_is_that_of_the_deepest_mount(runner: ModuleType, path: str, kind: str) -> None:
    mounts = "\n".join(
        [
            "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/a rw",
            "23 22 0:20 / /tmp rw - tmpfs tmpfs rw",
            r"24 22 8:2 / /mnt/my\040disk rw shared:2 master:1 - xfs /dev/b rw",
            "25 22 8:3 / /twice rw - xfs /dev/c rw",
            "26 22 8:4 / /twice rw - btrfs /dev/d rw",
        ]
    )
    assert runner.scratch.kind_of(Path(path), mounts) == kind
    assert runner.scratch.kind_of(Path(path), "") == "unknown"
