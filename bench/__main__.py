"""``python -m bench [NAME] [--data DIR]``: list the benchmarks, or run one, print its table and keep its result."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import runner

_ROOT = Path(__file__).resolve().parent.parent
_RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 also when a target was missed, 1 when a benchmark could not run; argparse itself leaves with 2."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="List the benchmarks, or run one.")
    parser.add_argument("name", nargs="?", help="the benchmark to run; without it they are listed")
    parser.add_argument(
        "--data",
        type=Path,
        default=_ROOT.parent / "shared" / "data",
        metavar="DIR",
        help="the data sets, for a benchmark that needs some (default: ../shared/data beside the project)",
    )
    chosen = parser.parse_args(arguments)
    if chosen.name is None:
        print(runner.listing())
        return 0
    if chosen.name not in runner.BENCHMARKS:
        parser.error(f"no benchmark is called {chosen.name!r}; there are: {', '.join(runner.BENCHMARKS)}")
    try:
        result = runner.measure(chosen.name, runner.load(chosen.name), chosen.data)
    except runner.BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(runner.table(result))
    print(f"\nwritten: {os.path.relpath(runner.write(result, _RESULTS))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
