"""How much an executor may still do today. Counts what it did within the last day, whatever the date says."""

from collections.abc import Callable
from datetime import timedelta

from metnos.core.clock import Clock
from metnos.core.sections import ExecutorSettings
from metnos.executors import index
from metnos.executors.catalog import Catalog
from metnos.executors.manifest import Kind, Manifest
from metnos.law.policy import Ask

DAY = timedelta(days=1)


def left(catalog: Catalog, manifest: Manifest, settings: ExecutorSettings, clock: Clock) -> tuple[int, int]:
    """How many changes and how many bytes an executor may still make and write."""
    limits = manifest.limits(settings)
    writes, written = index.written_since(catalog.db, manifest.name, clock.now() - DAY)
    return max(0, limits.writes - writes), max(0, (limits.write_mb << 20) - written)


def used_up(catalog: Catalog, settings: ExecutorSettings, clock: Clock) -> Callable[[Ask], str | None]:
    """Why an executor may not do more today, for the policy."""

    def full(ask: Ask) -> str | None:
        manifest = catalog.get(ask.executor).manifest
        if manifest.kind is Kind.PRODUCER:
            return None
        limits = manifest.limits(settings)
        writes, size = left(catalog, manifest, settings, clock)
        if not writes:
            return f"it made all {limits.writes} changes that it may make within a day"
        if not size:
            return f"it wrote all {limits.write_mb} MB that it may write within a day"
        return None

    return full
