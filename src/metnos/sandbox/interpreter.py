"""The Python that runs inside, in the pieces that it needs: its program, the standard library, shared libraries.

Rules: nothing else of the folder that it is installed in is shown, because that may be a home's ``.local``, with keys
in it; the packages installed into it are hidden, those that an executor declares come one by one (`packages`). A Python
that lies where nothing may be read is refused.
"""

import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from metnos.core.errors import SandboxError
from metnos.law.forbidden_rules import Access, why_named
from metnos.sandbox.shared_objects import needed_beside


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter by the real paths of its parts."""

    program: Path
    prefix: Path
    folders: tuple[Path, ...]  # the standard library
    libraries: tuple[Path, ...]  # shared libraries that the loader takes from beside it

    @property
    def searched(self) -> tuple[Path, ...]:
        """Where it looks for its standard library: there may be an archive instead of the folder."""
        archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
        return (*self.folders, *(folder.parent / archive for folder in self.folders))

    @property
    def shown(self) -> tuple[Path, ...]:
        return (*self.folders, *self.libraries)


@cache
def this_python() -> Python:
    """The interpreter below any virtual environment, or an error if it lies where nothing may be read."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    return find_parts(program, Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve())


def find_parts(program: Path, prefix: Path, exec_prefix: Path) -> Python:
    """The parts of a Python of our own version that is installed in these folders."""
    # Without the first two names the answer for an environment would be the environment.
    places = {"installed_base": prefix, "installed_platbase": exec_prefix, "base": prefix, "platbase": exec_prefix}
    at = {name: str(place) for name, place in places.items()}
    named = (Path(sysconfig.get_path(name, vars=at)).resolve() for name in ("stdlib", "platstdlib"))
    folders = tuple(dict.fromkeys(folder for folder in named if folder.is_dir()))
    extensions = [path for folder in folders for path in sorted(folder.glob("lib-dynload/*.so"))]
    beside = dict.fromkeys(((prefix / "lib").resolve(), (prefix / sys.platlibdir).resolve()))
    libraries = [library for folder in beside for library in needed_beside([program, *extensions], folder)]
    found = Python(program, prefix, folders, tuple(libraries))
    for part in (program, *found.shown):
        refuse_private(part, "the Python that Metnos runs with")
    return found


def refuse_private(path: Path, what: str) -> None:
    """Raise if a part that every sandbox would show lies where nothing may be read."""
    why = why_named(str(path.resolve()), Access.READ)
    if why is not None:
        raise SandboxError(
            f"{what} lies at {path}, among {why}, which no sandbox may show",
            fix="Install Metnos with a Python that lies elsewhere: make run PYTHON=/usr/bin/python3",
        )
