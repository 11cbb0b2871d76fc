"""How the suite is run, as a pytest plugin: soak, signals, processes, the slowest tests and the record of a run."""

import gc
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

import processes

SLOWEST = 10
WHOLE = {"_template", "loaded_program", "browser"}  # a workspace with every built-in, the program, a real browser
DEAR = {"loaded_program", "browser"}  # of these each process makes its own, which takes seconds

# No deadline: these machines are noisy, and speed is measured in bench/. The suite tries the same examples each time,
# so that nothing fails by luck; new ones are tried by `make soak`.
hypothesis_settings.register_profile("suite", deadline=None, derandomize=True, max_examples=20)
hypothesis_settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
hypothesis_settings.register_profile("soak", deadline=None, max_examples=1000)

_repeated: Counter[str] = Counter()
_left: list[str] = []  # processes that had to be killed when a worker ended


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("metnos")
    group.addoption("--soak", action="store_true", help="repeat kills, escapes and fuzzing many times more often")
    group.addoption("--quick", action="store_true", help="no slow tests, and few examples of each property")
    group.addoption("--results", type=Path, metavar="FILE", help="write counts and durations to this JSON file")


def pytest_configure(config: pytest.Config) -> None:
    profile = next((each for each in ("soak", "quick") if config.getoption(f"--{each}")), "suite")
    hypothesis_settings.load_profile(profile)
    gc.disable()  # until everything is collected, which leaves no garbage
    processes.reset_signals()
    processes.adopt()
    if config.getoption("--results"):
        config.pluginmanager.register(_Record(config.getoption("--results")), "record of a run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Property tests are repeated in the soak too, with new examples. Whoever opens something whole is slow."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.repeated)
        if WHOLE.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays until the end: all tests, and all that they import."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)  # tests make little that is left, and each look at it takes long


class Repeat:
    """How often to do something that is worth doing again and again: few times in the suite, many with `--soak`."""

    def __init__(self, soaking: bool) -> None:
        self._soaking = soaking

    def __call__(self, what: str, *, suite: int, soak: int) -> range:
        count = soak if self._soaking else suite
        _repeated[what] += count
        return range(count)


@pytest.fixture(scope="session")
def repeat(request: pytest.FixtureRequest) -> Repeat:
    return Repeat(request.config.getoption("--soak"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Nothing that tests started is left, or the run fails."""
    hear_of_worker(end_worker())
    if _left and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def end_worker() -> dict[str, Any]:
    """End what tests of this process started and left; what there is to tell of them."""
    left = [each for each in processes.end_new({}, shared=True) if "resource_tracker" not in each]
    told = {"repeated": dict(_repeated), "left": left}
    _repeated.clear()
    return told


def hear_of_worker(told: dict[str, Any]) -> None:
    _repeated.update(told["repeated"])
    _left.extend(told["left"])


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = [each for kind in terminalreporter.stats.values() for each in kind if hasattr(each, "duration")]
    slowest = measure(reports)[:SLOWEST]
    if len(reports) > SLOWEST:
        terminalreporter.section(f"{SLOWEST} slowest tests", "-")
        for name, seconds in slowest:
            terminalreporter.line(f"{seconds:7.2f} s  {name}")
    for each in _left:
        terminalreporter.line(f"still running after the last test: {each}", red=True)
    if config.getoption("--soak"):
        terminalreporter.section("repeated", "-")
        for what, count in sorted(_repeated.items()):
            terminalreporter.line(f"{count:9,}  {what}")


def measure(reports: list[pytest.TestReport]) -> list[tuple[str, float]]:
    """Seconds of each test with its set-up and its end, the slowest first."""
    seconds: Counter[str] = Counter()
    for each in reports:
        seconds[each.nodeid] += each.duration
    return sorted(seconds.items(), key=lambda pair: (-pair[1], pair[0]))


class _Record:
    """Write what came of a run, for `tools/suite.py`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        stats = terminalreporter.stats
        reports = [each for kind in stats.values() for each in kind if hasattr(each, "duration")]
        kinds = ("passed", "failed", "error", "skipped", "xfailed")
        found = {
            "counts": {kind: len(stats[kind]) for kind in kinds if stats.get(kind)},
            "failed": sorted({each.nodeid for kind in ("failed", "error") for each in stats.get(kind, [])}),
            "slowest": [{"test": name, "seconds": round(took, 2)} for name, took in measure(reports)[:SLOWEST]],
            "repeated": dict(_repeated),
        }
        self._path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
