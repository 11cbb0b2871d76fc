"""What every benchmark shares: the records, the interleaved comparison, the table and the result file.

Rules: subject and baseline take turns, round by round, and swap who goes first, so that a machine that slows down
slows both; the ratio is the median of the rounds' own ratios, given with the least and the greatest; the first round
only warms up. Smaller is better in every unit. A result names versions and kinds, never this machine, a path of it or
a commit. Does not guarantee that a difference smaller than the spread between least and greatest means anything.
"""

import importlib
import json
import os
import platform
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Protocol, cast

from bench import scratch
from metnos import __version__

BENCHMARKS = (
    *("store", "audit", "help", "gate", "sandbox", "router", "turn", "llm"),
    *("reach", "fastpath", "fastpath_exact", "mnestome", "compiled"),
    *("episodes", "million", "locomo", "supersede", "compress", "forgetting", "memory"),
    *("redcode", "resubmitted", "synt", "web"),
)

LEAST_ROUNDS = 3  # fewer have no median worth the name
_MICROSECONDS = "us/"

Cost = Callable[[], float]  # does one round of the work and returns what one operation of it cost


class BenchError(Exception):
    """A benchmark could not run; says why and what to do."""


class Benchmark(Protocol):
    """What a module of this package that measures something exposes."""

    PURPOSE: str

    @staticmethod
    def run(data: Path) -> "list[Measure]": ...


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing measured: what each round cost, beside a baseline or, without one, for itself alone.

    ``unit`` is "ms", or "us/write" for microseconds per write; ``limit`` is the target's upper end, for the ratio if
    there is a baseline, else for the subject; ``note`` says what the two sides are.
    """

    name: str
    unit: str
    subjects: tuple[float, ...]
    baselines: tuple[float, ...] = ()
    limit: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if not self.subjects or (self.baselines and len(self.baselines) != len(self.subjects)):
            raise ValueError(f"{self.name}: every round needs a subject, and a baseline if any round has one")

    @property
    def ratios(self) -> tuple[float, ...]:
        """Round by round: dividing one median by another would let a slow minute count on one side only."""
        return tuple(subject / baseline for subject, baseline in zip(self.subjects, self.baselines, strict=False))

    @property
    def subject(self) -> float:
        return median(self.subjects)

    @property
    def baseline(self) -> float | None:
        return median(self.baselines) if self.baselines else None

    @property
    def ratio(self) -> float | None:
        return median(self.ratios) if self.baselines else None

    @property
    def met(self) -> bool | None:
        """Whether the target was met; nothing if there is none."""
        if self.limit is None:
            return None
        return (self.subject if self.ratio is None else self.ratio) <= self.limit

    @property
    def rate(self) -> str:
        """The subject's speed in words, "2,400 writes/s", for a unit that counts operations."""
        if not self.unit.startswith(_MICROSECONDS):
            return ""
        return f"{1e6 / self.subject:,.0f} {self.unit.removeprefix(_MICROSECONDS)}s/s"

    def as_dict(self) -> dict[str, Any]:
        spread = self.ratios or self.subjects
        return {
            "name": self.name,
            "note": self.note,
            "unit": self.unit,
            "rounds": len(self.subjects),
            "subject": _short(self.subject),
            "baseline": _short(self.baseline),
            "ratio": _short(self.ratio),
            "least": _short(min(spread)),
            "greatest": _short(max(spread)),
            "target": None if self.limit is None else {"of": self.judged, "at_most": self.limit},
            "met": self.met,
        }

    @property
    def judged(self) -> str:
        """What the target, the least and the greatest are about."""
        return "ratio" if self.baselines else "subject"


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one benchmark, and as much about its circumstances as a reader needs to compare it."""

    benchmark: str
    purpose: str
    date: str
    load_before: tuple[float, float, float]
    load_after: tuple[float, float, float]
    filesystem: str
    measures: tuple[Measure, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "purpose": self.purpose,
            "metnos": __version__,
            "date": self.date,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "cpus": os.cpu_count(),
            "filesystem": self.filesystem,
            "load_before": [round(each, 2) for each in self.load_before],
            "load_after": [round(each, 2) for each in self.load_after],
            "measures": [each.as_dict() for each in self.measures],
        }


# -- running


def load(name: str) -> Benchmark:
    """The benchmark of this name. Only now: one that is not run must not cost its imports."""
    return cast("Benchmark", importlib.import_module(f"bench.{name}"))


def measure(name: str, benchmark: Benchmark, data: Path) -> Result:
    """Run one benchmark and note what the machine was like around it."""
    before = os.getloadavg()
    measures = benchmark.run(data)
    return Result(
        benchmark=name,
        purpose=benchmark.PURPOSE,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        load_before=before,
        load_after=os.getloadavg(),
        filesystem=scratch.filesystem(scratch.place()),
        measures=tuple(measures),
    )


def need_data(data: Path, name: str) -> Path:
    """A file of the data folder, for a benchmark that cannot do without it."""
    path = data / name
    if not path.is_file():
        raise BenchError(f"{path} is not there, and this benchmark needs it. Name the data folder with --data DIR")
    return path


def compare(
    name: str,
    unit: str,
    *,
    subject: Cost,
    baseline: Cost,
    rounds: int,
    budget_s: float,
    limit: float | None = None,
    note: str = "",
) -> Measure:
    """Let subject and baseline take turns for ``rounds`` rounds, or fewer if the time is up before."""
    subject()
    baseline()
    deadline = time.monotonic() + budget_s
    subjects: list[float] = []
    baselines: list[float] = []
    for number in range(rounds):
        if number >= LEAST_ROUNDS and time.monotonic() > deadline:
            break
        # Whoever goes second may find a warmer cache or a fuller journal: they take turns at that too.
        if number % 2:
            subjects.append(subject())
            baselines.append(baseline())
        else:
            baselines.append(baseline())
            subjects.append(subject())
    return Measure(name, unit, tuple(subjects), tuple(baselines), limit, note)


def timed(work: Callable[[], object], operations: int) -> Cost:
    """Work as a cost: wall-clock microseconds for each of the operations that one call of it does."""

    def cost() -> float:
        start = time.perf_counter()
        work()
        return (time.perf_counter() - start) * 1e6 / operations

    return cost


# -- showing and keeping


def listing() -> str:
    """Every benchmark with its purpose, one a line."""
    width = max(len(name) for name in BENCHMARKS)
    return "\n".join(f"{name:<{width}}  {load(name).PURPOSE}" for name in BENCHMARKS)


def table(result: Result) -> str:
    """A result for a person."""
    heads = ("measure", "unit", "subject", "baseline", "ratio", "least..greatest", "target", "", "")
    rows = [heads, *map(_row, result.measures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    facts = result.as_dict()
    circumstances = (
        f"metnos {facts['metnos']}, Python {facts['python']}, SQLite {facts['sqlite']}, {facts['cpus']} CPUs, "
        f"{result.filesystem}, load {result.load_before[0]:.2f} before and {result.load_after[0]:.2f} after"
    )
    notes = [f"  {each.name}: {each.note}" for each in result.measures if each.note]
    missed = [each.name for each in result.measures if each.met is False]
    verdict = [f"TARGET MISSED: {', '.join(missed)}"] if missed else []
    return "\n".join([f"{result.benchmark}: {result.purpose}", circumstances, "", *lines, "", *notes, *verdict])


def write(result: Result, folder: Path) -> Path:
    """Keep a result in ``folder`` in the place of the one before; whoever reads meanwhile sees one of them whole."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.benchmark}.json"
    staged = path.with_suffix(".tmp")
    staged.write_text(json.dumps(result.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return staged.replace(path)


def _row(each: Measure) -> tuple[str, ...]:
    spread: Sequence[float] = each.ratios or each.subjects
    suffix = "" if each.baselines else f" {each.unit}"
    return (
        each.name,
        each.unit,
        _figure(each.subject),
        _figure(each.baseline),
        _figure(each.ratio),
        f"{_figure(min(spread))}..{_figure(max(spread))}",
        "none" if each.limit is None else f"<= {each.limit:g}{suffix}",
        {True: "met", False: "MISSED", None: ""}[each.met],
        each.rate,
    )


def _figure(number: float | None) -> str:
    """Three digits that mean something; more would claim what no noisy machine can know."""
    if number is None:
        return "-"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _short(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")
