"""The examples in the documentation of a module, run: each in a folder of its own."""

import doctest
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any


def examples(module: ModuleType, tmp_path: Path, **names: Any) -> tuple[int, int]:
    """How many were tried, and how many failed."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    numbers = count()
    for test in doctest.DocTestFinder().find(module):
        if test.examples:
            test.globs.update(names, folder=tmp_path / f"documented-{next(numbers)}")
            runner.run(test)
    found = runner.summarize(verbose=False)
    return found.attempted, found.failed
