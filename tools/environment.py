"""Compare an environment with a lock. Run it with the environment's own Python:

    .venv/bin/python tools/environment.py lock/run.txt             print every difference; exit 1 if there is one
    .venv/bin/python tools/environment.py lock/run.txt --surplus   print the packages that are installed and not locked

Rules: every locked package is installed in the locked version, and every requirement of the project and of each locked
package, with the extras that were asked for, is met by a locked one. Nothing here asks an index.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

KEPT = {"pip", "setuptools"}  # `venv` brings them

Requires = Callable[[str], Sequence[str]]


def read_lock(text: str) -> dict[str, str]:
    """Name and version of each package that the lock wants on this machine."""
    locked: dict[str, str] = {}
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.split(" #")[0].split("--hash")[0].strip()
        if not line or line.startswith("#"):
            continue
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate():
            (pinned,) = wanted.specifier
            locked[canonicalize_name(wanted.name)] = pinned.version
    return locked


def find_differences(locked: Mapping[str, str], installed: Mapping[str, str]) -> Iterator[str]:
    """Packages that are missing or of another version."""
    for name, version in locked.items():
        if name not in installed:
            yield f"{name} {version} is locked and not installed"
        elif installed[name] != version:
            yield f"{name} {version} is locked, {installed[name]} is installed"


def find_gaps(roots: Sequence[str], locked: Mapping[str, str], requires: Requires) -> Iterator[str]:
    """Requirements that no locked package meets, followed from ``roots`` and from every locked package."""
    waiting = [("the project", Requirement(root)) for root in roots]
    waiting += [("the lock", Requirement(name)) for name in locked]
    seen: set[tuple[str, str]] = set()
    while waiting:
        asker, wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name not in locked:
            yield f"{asker} requires {wanted}, which is not locked"
            continue
        if not wanted.specifier.contains(locked[name], prereleases=True):
            yield f"{asker} requires {wanted}, and {locked[name]} is locked"
        for extra in {"", *map(canonicalize_name, wanted.extras)}:
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += [(name, each) for each in _requirements(requires(name), extra)]


def _requirements(lines: Sequence[str], extra: str) -> Iterator[Requirement]:
    for line in lines:
        wanted = Requirement(line)
        if wanted.marker is None:
            if not extra:
                yield wanted
        # A requirement without an extra holds for each extra, too; it is followed once, for none.
        elif wanted.marker.evaluate({"extra": extra}) and not (extra and wanted.marker.evaluate({"extra": ""})):
            yield wanted


def read_roots(root: Path) -> tuple[str, list[str]]:
    """The project's own name, and what it requires."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return canonicalize_name(project["name"]), project.get("dependencies", [])


def check(lock: Path, root: Path) -> list[str]:
    """Every difference between the environment of this Python and the lock."""
    locked = read_lock(lock.read_text(encoding="utf-8"))
    found = list(find_differences(locked, installed_packages()))
    _, roots = read_roots(root)
    # What is missing cannot tell what it requires; that it is missing was said above.
    return found or list(find_gaps(roots, locked, lambda name: metadata.requires(name) or ()))


def installed_packages() -> dict[str, str]:
    return {canonicalize_name(each.name): each.version for each in metadata.distributions()}


def main() -> int:
    root = Path(__file__).parents[1]
    parser = argparse.ArgumentParser(description="Compare this Python's environment with a lock.")
    parser.add_argument("lock", type=Path, help="a requirements file with one version of each package")
    parser.add_argument("--surplus", action="store_true", help="print what is installed and not locked")
    options = parser.parse_args()
    if options.surplus:
        name, _ = read_roots(root)
        lines = sorted(set(installed_packages()) - set(read_lock(options.lock.read_text("utf-8"))) - KEPT - {name})
    else:
        lines = check(options.lock, root)
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines and not options.surplus else 0


if __name__ == "__main__":
    sys.exit(main())
