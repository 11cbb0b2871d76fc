"""Adopting an executor: everything it must pass before its owner is asked whether to sign it.

Rules: the folder follows the contract, the static gate finds nothing, and every birth test passes in a sandbox of its
own. The order is from cheap to dear, and the first thing that is wrong ends it. Signing itself is the catalog's, and
only ever follows a yes of the owner.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from metnos.core.errors import ExecutorError
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth, gate
from metnos.executors.catalog import Catalog
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool


@dataclass(frozen=True, slots=True)
class Step:
    """One check of an executor that wants to be adopted; ``problem`` is empty when it passed."""

    name: str
    problem: str


def examine(executor: Executor, pool: Pool, settings: ExecutorSettings) -> Iterator[Step]:
    """Every check, one after the other, up to the first that fails before the tests; of the tests, all."""
    findings = gate.inspect(
        executor.source, gate.declared(executor.manifest.model_dump(mode="json", exclude_none=True))
    )
    listed = "\n".join(f"line {each.line}: {each.what} ({each.rule})" for each in findings)
    yield Step("static gate", listed)
    if findings:
        return
    for tried in birth.attend(executor, pool, settings):
        yield Step(f"test: {tried.name}", tried.problem)


def draft(catalog: Catalog, name: str) -> Executor:
    """What lies in a folder, signed or not, as an executor to be examined."""
    look = catalog.look(name)
    if look.executor is None:
        raise ExecutorError(f"{name} cannot be read: {'; '.join(look.problems)}", fix="docs/executors.md")
    return look.executor
