"""Every built-in executor: follows the contract, passes the gate, and shows what it can in the real sandbox."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.core.sections import ExecutorSettings
from metnos.executors import adopt, birth, manifest
from metnos.executors.builtins import DIGESTS, measure
from metnos.executors.manifest import Kind, Reversal
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Broker, Ended, Job, Pool
from tables import try_each

FOLDER = Path(manifest.__file__).with_name("builtin")
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/manifest.toml"))


def load(name: str) -> Executor:
    files = {file: (FOLDER / name / file).read_text(encoding="utf-8") for file in ("manifest.toml", "executor.py")}
    read = manifest.parse(files["manifest.toml"], defaults=ExecutorSettings())
    tests = (FOLDER / name / "tests.toml").read_text(encoding="utf-8")
    return Executor(
        name,
        read.version,
        read,
        files["executor.py"],
        tests,
        "0" * 64,
        "0" * 64,
        State.ACTIVE,
        Origin.BUILTIN,
        "",
        None,
        1,
    )


class Warm(Pool):
    """All in children of one warm parent, as active executors are run: hundreds of cold sandboxes take long."""

    def run(self, job: Job, broker: Broker, *, cold: bool = False) -> Ended:
        return super().run(job, broker)


@pytest.fixture(scope="module")
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    opened = Pool(warm=0) if request.config.getoption("--soak") else Warm(warm=1)
    yield opened
    opened.close()


def test_there_are_at_least_twenty_eight() -> None:
    assert len(NAMES) >= 28


def test_the_list_of_digests_is_up_to_date() -> None:
    listed = json.loads((FOLDER / DIGESTS).read_text(encoding="utf-8"))
    assert listed == measure(FOLDER), "run `make docs`"


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.parametrize("name", NAMES)
def test_it_lives(name: str, pool: Pool) -> None:
    """Gate and birth tests as for an executor that anybody else wrote; with `--soak` each in a sandbox of its own."""
    problems = [
        f"{step.name}: {step.problem}" for step in adopt.examine(load(name), pool, ExecutorSettings()) if step.problem
    ]
    assert problems == []


@try_each("name", NAMES)
def test_it_is_described_for_people(name: str) -> None:
    executor = load(name)
    assert len(executor.manifest.examples) >= 2
    assert executor.manifest.affinity
    assert (executor.manifest.kind is Kind.PRODUCER) == (executor.manifest.reversal is Reversal.NOTHING)
    assert executor.manifest.reversal is not Reversal.IRREVERSIBLE, "nothing that ships does what cannot be taken back"
    assert len(birth.parse(executor.tests_text)) >= birth.LEAST
