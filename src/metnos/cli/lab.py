"""``metnos lab``: experiments on how memory is handed on. Needs no workspace, no model and no network."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metnos.cli.output import json_option, note, print_json, say
from metnos.cli.progress import Counting
from metnos.core import files
from metnos.core.errors import UsageError

if TYPE_CHECKING:
    from metnos.life.lab import Life
    from metnos.life.lab_world import Size

REPORT, FIGURES = "report.md", "figures"
_QUICK = {"generations": 2, "ticks": 60, "forms": 6, "entries": 8}  # a consolidation in each of two lives
_QUICK_STREAMS = ("still", "returning")


@click.group()
def lab() -> None:
    """Measure what generations gain by what they inherit."""


@lab.command()
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The first run's seed.")
@click.option("--runs", type=click.IntRange(1, 1000), default=5, show_default=True, help="Runs of every stream.")
@click.option("--generations", type=click.IntRange(2, 50), help="Lives in a line. Default: 4.")
@click.option("--entries", type=click.IntRange(1, 2048), help="Entries that may cross a death. Default: 16.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("lab"),
    show_default=True,
    metavar="FOLDER",
    help="Where results go; what is finished there is not run again.",
)
@click.option("--processes", type=click.IntRange(1, 64), help="Processes at once. Default: one for each processor.")
@click.option("--made-only", is_flag=True, help="Leave out the streams made of public measurements.")
@click.option(
    "--quick", is_flag=True, help="Two short generations in two streams: seconds instead of minutes; proves nothing."
)
@json_option
def generations(
    seed: int,
    runs: int,
    generations: int | None,
    entries: int | None,
    out: Path,
    processes: int | None,
    made_only: bool,
    quick: bool,
    as_json: bool,
) -> None:
    """Compare five ways of handing on what was learnt, over generations of agents.

    No inheritance; the bottleneck with decay; total recall without forgetting; as many entries chosen by chance; and
    no death at all. Each runs on the same streams of tasks, in which what is right changes, or does not, or comes back.
    Writes a report, plots and every figure into the folder. It takes about ten minutes of CPU; stopped with Ctrl-C, it
    goes on from there when the same is typed again.
    """
    from metnos.life import lab as labs  # heavy: all of the memory
    from metnos.life import lab_data
    from metnos.life.lab_world import Size

    chosen = {name: value for name, value in (("generations", generations), ("entries", entries)) if value is not None}
    size = Size(**((_QUICK if quick else {}) | chosen))
    streams = _QUICK_STREAMS if quick else labs.streams(made_only)
    experiment = labs.Experiment(size, tuple(range(seed, seed + runs)), streams)
    if not made_only and not quick and lab_data.folder() is None:
        note('the public measurements are left out: they are in a package. Have them: pip install "metnos[lab]"')
    try:
        with Counting("runs of a stream") as counting:
            lives = labs.run(experiment, out, processes or os.cpu_count() or 1, counting.step)
        text = _written(lives, size, out, _command(runs, size, seed, quick=quick, made_only=made_only))
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}", fix="Name another folder: --out") from error
    if as_json:
        print_json([asdict(life) for life in lives])
        return
    say(text)
    note(f"written to {out}: {REPORT}, {FIGURES}/, {labs.RUNS}")


def _written(lives: "Sequence[Life]", size: "Size", out: Path, command: str) -> str:
    """Write the report and the plots; the report."""
    from metnos.life import lab_plots, lab_report

    found = lab_report.Found(lives, size)
    text = lab_report.report(found, command)
    files.replace(out / REPORT, text.encode())
    (out / FIGURES).mkdir(exist_ok=True)
    for name, drawing in lab_plots.plots(found).items():
        files.replace(out / FIGURES / name, drawing.encode())
    return text


def _command(runs: int, size: "Size", seed: int, *, quick: bool, made_only: bool) -> str:
    """What gives the same figures again."""
    said = f"metnos lab generations --seed {seed} --runs {runs} --generations {size.generations}"
    return f"{said} --entries {size.entries}{' --quick' * quick}{' --made-only' * made_only}"
