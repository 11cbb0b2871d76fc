"""The benchmark of just gates: what it makes of a built-in, and that it would see an unjust one."""

import contextlib
import dataclasses
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool
from metnos.synt import gates
from metnos.synt.draft import Draft
from metnos.synt.gates import Tools

ROOT = Path(__file__).resolve().parents[2]
QUICK = "list_disks"  # of all that comes with Metnos the one whose tests take least


@pytest.fixture
def resubmitted(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.resubmitted")


@pytest.fixture
def one(resubmitted: ModuleType) -> Draft:
    return next(each for each in resubmitted.drafts() if each.name == QUICK)


@pytest.fixture
def tools(one: Draft) -> Iterator[Tools]:
    known: list[Executor] = [gates.executor(one)]
    with contextlib.closing(Pool(warm=0)) as pool:
        yield Tools(pool, known=known)


@pytest.mark.slow
def test_a_built_in_is_refused_for_likeness_and_nothing_else(resubmitted: ModuleType, one: Draft, tools: Tools) -> None:
    found = resubmitted.judged(one, tools)
    assert (found.refused, found.failed) == (("likeness",), ())
    assert found.unnoticed <= 100 * (1 - tools.rules.mutation.share)


@pytest.mark.slow
def test_one_that_fails_is_seen(resubmitted: ModuleType, one: Draft, tools: Tools) -> None:
    spoilt = dataclasses.replace(
        one, code=one.code.replace("def run(args, ctx):", "def run(args, ctx):\n    ctx.fail('x')")
    )
    found = resubmitted.judged(spoilt, dataclasses.replace(tools, known=()))
    assert "likeness" not in found.refused
    assert found.failed
    assert found.unnoticed == 100.0


def test_all_that_comes_with_metnos_is_judged(resubmitted: ModuleType) -> None:
    shipped = {path.parent.name for path in (ROOT / "src/metnos/executors/builtin").glob("*/manifest.toml")}
    assert {each.name for each in resubmitted.drafts()} == shipped
