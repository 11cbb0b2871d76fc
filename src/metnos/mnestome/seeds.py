"""The first mnests: what manifests declare and what is documented, before anything was seen.

Rules: a seed is planted only where no row for the two names ever was, living, wished for or history, so that planting
again does nothing and what the owner let go does not come back. A seed weighs what a newborn weighs and fades like all
others; the first use makes it an active mnest. Its count of uses begins with one, as every row's does, though nobody
used it: `metnos.mnestome.graph.unused_calls` knows the difference.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources

from metnos.mnestome import rows, words
from metnos.mnestome.rules import Rules, State
from metnos.store.db import Database, Transaction

RULES = Rules()
_REASON = 200  # characters


@dataclass(frozen=True, slots=True)
class Seed:
    """A passing that may be expected, and why."""

    src: str
    src_version: str
    dst: str
    dst_version: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One built-in executor feeds another: the field ``gives`` of its output fits the argument ``takes``."""

    src: str
    gives: str
    dst: str
    takes: str
    why: str


def plant(db: Database, seeds: Iterable[Seed], now: datetime, rules: Rules = RULES) -> int:
    """Plant what was never there; returns how many."""
    ts = rows.to_millisecond(now)
    with db.write() as tx:
        return sum(_plant(tx, seed, ts, rules) for seed in seeds)


def pipelines() -> tuple[Pipeline, ...]:
    """The documented pipelines of the built-in executors."""
    text = resources.files("metnos.mnestome").joinpath("pipelines.toml").read_text(encoding="utf-8")
    return tuple(Pipeline(**each) for each in tomllib.loads(text)["pipelines"])


def documented(versions: Mapping[str, str]) -> list[Seed]:
    """The documented pipelines between executors that are there, by the versions in force."""
    return [
        Seed(each.src, versions[each.src], each.dst, versions[each.dst], f"documented: {each.why}")
        for each in pipelines()
        if each.src in versions and each.dst in versions
    ]


def declared(calls: Mapping[str, Sequence[str]], versions: Mapping[str, str]) -> list[Seed]:
    """The calls that manifests declare, between executors that are there."""
    return [
        Seed(caller, versions[caller], called, versions[called], f"declared: {caller} may call {called}")
        for caller, names in calls.items()
        for called in names
        if caller in versions and called in versions
    ]


def _plant(tx: Transaction, seed: Seed, ts: datetime, rules: Rules) -> bool:
    names = words.is_name(seed.src) and words.is_name(seed.dst)
    versions = words.is_version(seed.src_version) and words.is_version(seed.dst_version)
    if not (names and versions) or _was_there(tx, seed):
        return False
    ends = (seed.src, seed.src_version, seed.dst, seed.dst_version)
    reason = words.bounded(seed.reason, _REASON) or "planted"
    rows.born(tx, ends, State.SEED, rules.birth, ts, reason, decay_lambda=rules.decay_lambda)
    return True


def _was_there(tx: Transaction, seed: Seed) -> bool:
    row = tx.first(
        "SELECT 1 FROM mnests WHERE src_executor = ? AND dst_executor = ?"
        " UNION ALL SELECT 1 FROM mnests_archive WHERE src_executor = ? AND dst_executor = ? LIMIT 1",
        (seed.src, seed.dst, seed.src, seed.dst),
    )
    return row is not None
