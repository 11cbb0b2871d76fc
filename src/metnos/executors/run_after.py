"""What follows from how a call ended: the use is recorded, and breaches and strikes have their consequences."""

import contextlib
from datetime import datetime

from metnos.core.clock import to_text
from metnos.core.errors import MetnosError
from metnos.core.sections import ExecutorSettings
from metnos.executors import index, journal, quotas
from metnos.executors.catalog import Catalog
from metnos.executors.outcome import Breach, Outcome
from metnos.executors.state import State
from metnos.executors.verdict import Executor


def learn(catalog: Catalog, settings: ExecutorSettings, executor: Executor, outcome: Outcome, now: datetime) -> None:
    """Record the use, and draw the consequences of a breach or of too many strikes."""
    use = index.Use(
        executor.name, executor.digest, now, outcome.ok, outcome.kind, outcome.fault, int(outcome.wall_ms),
        int(outcome.cpu_ms), outcome.writes, outcome.write_bytes,
    )  # fmt: skip
    index.record_use(catalog.db, use)
    line = journal.Line(to_text(now), outcome.ok, outcome.kind, int(outcome.wall_ms), int(outcome.cpu_ms))
    journal.append(catalog.folder_of(executor.name), line)
    answer_breach(catalog, executor, outcome)
    if outcome.fault and outcome.breach is Breach.NONE:
        # Whoever switched it on again after the last ones forgave them.
        since = max(now - quotas.DAY, executor.since or now - quotas.DAY)
        strikes = index.strikes_since(catalog.db, executor.name, since)
        if strikes >= settings.strikes:
            _punish(catalog, executor.name, State.QUARANTINE, f"{strikes} faults of its own within a day")


def answer_breach(catalog: Catalog, executor: Executor, outcome: Outcome) -> None:
    """Law 3, also in a rehearsal: what was tried counts."""
    if outcome.breach is not Breach.NONE:
        state = State.REVOKED if outcome.breach is Breach.REVOKE else State.QUARANTINE
        _punish(catalog, executor.name, state, outcome.message)


def _punish(catalog: Catalog, name: str, state: State, reason: str) -> None:
    with contextlib.suppress(MetnosError):  # another process may have been faster
        catalog.change(name, state, reason)
