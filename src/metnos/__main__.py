"""The program: ``metnos``, and ``python -m metnos``, which is the same.

Rules: Python looks for libraries in the folder of the program and in those that ``PYTHONPATH`` and ``.pth`` files name.
Anything may be written there, and would run as the owner, outside the sandbox. So before anything else is loaded they
are taken out of ``sys.path``, and what was loaded from one of them already ends the program. What stays is Python's own
libraries, installed packages, and behind them the folder of this package, all of which are own places. Until that is
done, only what the interpreter has loaded anyway is used. Does not cover what Python itself loads before: that is the
affair of all programs in Python that are started so.
"""

import os
import sys
from collections.abc import Iterable

_PACKAGES = ("site-packages", "dist-packages")
_LIBRARIES = ("lib", "lib32", "lib64")
_FIX = "Unset PYTHONPATH, and start Metnos as metnos. If that does not help: remove the .pth file that names it."


def main() -> int:
    """Run one command and return its exit code."""
    package_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- see above
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    kept, dropped = divide(sys.path, package_folder, prefixes)
    sys.path[:] = kept
    loaded = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()] if name != "__main__"}
    for name, file in loaded.items():
        if isinstance(file, str) and (folder := strange(file, kept, dropped)):
            return _refuse(f"Python looks for libraries in {folder}, and loaded {name} from there")

    if is_below(os.path.expanduser("~"), package_folder):  # noqa: PTH111
        return _refuse(f"Metnos itself lies in {package_folder}, which holds your home: nothing can protect it there")

    from metnos.cli import main as run  # not before it is sure where it comes from

    return run()


def divide(entries: Iterable[str], package_folder: str, prefixes: Iterable[str]) -> tuple[list[str], list[str]]:
    """The folders that Python may go on importing from, and those that it may not."""
    libraries = [os.path.join(prefix, name) for prefix in prefixes for name in _LIBRARIES]
    kept, dropped = [], []
    for entry in entries:
        path = os.path.normpath(entry)
        is_own = any(is_below(path, library) for library in libraries)
        if os.path.isabs(entry) and (is_own or any(name in path.split("/") for name in _PACKAGES)):  # noqa: PTH117
            kept.append(entry)
        elif path != package_folder:
            dropped.append(path)
    if package_folder not in kept:
        kept.append(package_folder)
    return kept, dropped


def strange(file: str, kept: Iterable[str], dropped: Iterable[str]) -> str:
    """The folder that was dropped and that this file of a loaded module came from; empty if it is from none."""
    path = os.path.abspath(file)  # noqa: PTH100
    if any(is_below(path, os.path.normpath(entry)) for entry in kept):
        return ""
    return next((entry for entry in map(os.path.abspath, dropped) if is_below(path, entry)), "")


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _refuse(what: str) -> int:
    sys.stderr.write(f"error: {what}\n  fix: {_FIX}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
