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

_LIBRARIES = ("lib", "lib32", "lib64")
_FROM_ELSEWHERE = (
    "Unset PYTHONPATH, and type metnos to start it. If that does not help: remove the .pth file that names it."
)
_NO_HOME = "Set the variable HOME to your home folder."
_IN_A_HOME = "Install it in a folder of its own: pipx install metnos, or python3 -m venv FOLDER."


def main() -> int:
    """Run one command and return its exit code."""
    package_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- see above
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    kept, dropped = divide(sys.path, package_folder, [*library_folders(prefixes), *_site_folders()])
    sys.path[:] = kept
    loaded = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()] if name != "__main__"}
    for name, file in loaded.items():
        if isinstance(file, str) and (folder := strange(file, kept, dropped)):
            return _refuse(f"Python looks for libraries in {folder}, and loaded {name} from there", _FROM_ELSEWHERE)

    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    environment = [sys.prefix] if sys.prefix != sys.base_prefix else []
    inside = next((each for each in (*library_folders(prefixes), *environment) if is_below(home, each)), "")
    if inside:
        return _refuse(f"the home folder {home} lies in {inside}, where Metnos runs from", _NO_HOME)
    if is_below(home, package_folder):
        what = f"Metnos is installed in {package_folder}, a folder that contains your home, so it cannot protect itself"
        return _refuse(what, _IN_A_HOME)

    from metnos.cli import main as run  # not before it is sure where it comes from

    return run()


def library_folders(prefixes: Iterable[str]) -> list[str]:
    """Where Python's own libraries and those of an environment lie."""
    return [os.path.join(prefix, name) for prefix in prefixes for name in _LIBRARIES]


def _site_folders() -> list[str]:
    """Where Python itself looks for installed packages, also outside its prefix: the account's and the system's."""
    site = sys.modules.get("site")  # loaded by the interpreter, if at all
    if site is None:
        return []
    user = site.USER_SITE if site.ENABLE_USER_SITE else None
    return [*site.getsitepackages(), *([user] if user else [])]


def divide(entries: Iterable[str], package_folder: str, libraries: Iterable[str]) -> tuple[list[str], list[str]]:
    """The folders that Python may go on importing from, and those that it may not."""
    libraries = tuple(libraries)
    kept, dropped = [], []
    for entry in entries:
        path = os.path.normpath(entry)
        is_own = any(is_below(path, library) for library in libraries)
        if os.path.isabs(entry) and is_own:  # noqa: PTH117
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


def _refuse(what: str, fix: str) -> int:
    sys.stderr.write(f"error: {what}\n  fix: {fix}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
