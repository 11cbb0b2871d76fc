"""Whether the gates of synt are just: everything that comes with Metnos goes through them as if it were a draft.

Every built-in is good, so each must pass every gate that reads, its own birth tests, and the mutation gate; and each is
there already, so that the gate of likeness must refuse it, and nothing else. For each the share of mistakes put into
its code that its tests do not notice is given beside how many were tried; the gate refuses at 60 %. How many are tried
depends on how fast the machine is. Percentages are of what should not happen.
"""

import contextlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from bench.runner import Measure
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth, folder
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool
from metnos.synt import gates, mutants
from metnos.synt.draft import Draft
from metnos.synt.gates import Tools
from metnos.synt.mutants import Proof
from metnos.synt.rules import SyntRules

PURPOSE = "built-ins as drafts: which gates refuse them, and how many mistakes their birth tests do not notice"

_RULES = SyntRules()
_FILES = (folder.MANIFEST, folder.SOURCE, folder.TESTS)


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one built-in: who refused it, which of its tests failed, and what the mutants showed."""

    name: str
    refused: tuple[str, ...]
    failed: tuple[str, ...]
    proof: Proof | None  # none if a test failed

    @property
    def unnoticed(self) -> float:
        """The share of mistakes that no test noticed, in percent; all of them if none could be tried."""
        if self.proof is None or self.proof.hollow or self.proof.empty_lives:
            return 100.0
        whole = self.proof.noticed + len(self.proof.survivors)
        return 100 * len(self.proof.survivors) / whole if whole else 0.0


def drafts() -> list[Draft]:
    """Every built-in as a draft, in the order of their names."""
    root = resources.files("metnos.executors.builtin")
    places = sorted((each for each in root.iterdir() if (each / folder.MANIFEST).is_file()), key=lambda each: each.name)
    return [Draft(each.name, *((each / file).read_text(encoding="utf-8") for file in _FILES)) for each in places]


def judged(draft: Draft, tools: Tools) -> Judged:
    """One built-in, put through all gates."""
    refused = []
    for check in gates.examine(draft, tools, stop=False):
        refused += [] if check.passed else [check.gate]
        if check.gate == "likeness":
            break  # what runs is done below, where the figures can be had
    one, limits = gates.executor(draft), tools.rules.bounded(tools.settings)
    tests = birth.parse(draft.tests)
    tried = [birth.attempt(one, test, tools.pool, limits) for test in tests]
    failed = tuple(each.name for each in tried if each.problem)
    proof = None if failed else mutants.prove(one, tests, tried, tools.pool, limits, tools.rules.mutation)
    return Judged(draft.name, tuple(refused), failed, proof)


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    all_drafts = drafts()
    known: list[Executor] = [gates.executor(each) for each in all_drafts]
    with contextlib.closing(Pool(warm=0)) as pool:
        tools = Tools(pool, ExecutorSettings(), known)
        found = [judged(each, tools) for each in all_drafts]
    share = 100 * (1 - _RULES.mutation.share)
    return [
        _share("refused by a gate that reads", [each for each in found if set(each.refused) - {"likeness"}], found),
        _share("not refused for likeness", [each for each in found if "likeness" not in each.refused], found),
        _share("with a birth test that fails", [each for each in found if each.failed], found),
        _share("refused for mutants", [each for each in found if each.unnoticed > share], found),
        *(Measure(each.name, "%", (each.unnoticed,), limit=share, note=_told(each)) for each in found),
    ]


def _share(name: str, wrong: list[Judged], found: list[Judged]) -> Measure:
    names = f": {', '.join(each.name for each in wrong)}" if wrong else ""
    note = f"{len(wrong)} of {len(found)}{names}"
    return Measure(name, "%", (100 * len(wrong) / len(found),), limit=0.0, note=note)


def _told(one: Judged) -> str:
    if one.proof is None:
        return f"failed: {', '.join(one.failed)}"
    whole = one.proof.noticed + len(one.proof.survivors)
    return f"noticed {one.proof.noticed} of {whole} mistakes; {one.proof.broken} more broke down by themselves"
