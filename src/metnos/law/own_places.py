"""Find where the code lies that enforces the Laws, and what runs it: nothing that Metnos bounds may write there.

Rules: everything is computed from the running process, and no setting, grant or approval changes it. A place counts
with everything below it, under the name that the process uses and under the one that it leads to. A prefix that holds
more than a Python (the root of the file system, a home, a home's ``.local``) counts with its folders of programs and
libraries alone. Every folder that Python looks for libraries in is one, also that of a script of yours; a home is not,
in which nothing could be done then: the program `metnos` does not look there (`metnos.__main__`), your script would.
"""

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from metnos.core.errors import SettingsError
from metnos.core.settings import home_folder

SYSTEM_PROGRAMS = ("/usr/bin", "/usr/local/bin", "/bin", "/sbin", "/usr/sbin", "/run/current-system/sw/bin")
_PREFIX_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "pyvenv.cfg", "share/python-wheels")
_PACKAGES = frozenset({"site-packages", "dist-packages"})
_SIGNS_OF_A_CHECKOUT = ("pyproject.toml", ".git")


@cache
def own_places() -> tuple[Path, ...]:
    """Everything that this process runs from, as spelled and as it really lies; the outermost of each, sorted."""
    home = _home()
    found = [_package(), *_checkout(_package(), home), *_bubblewraps()]
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        found += _of_prefix(Path(prefix), home)
    for program in (sys.executable, getattr(sys, "_base_executable", "")):
        if program:
            found += _of_program(Path(program), home)
    found += [Path(path) for name, path in sysconfig.get_paths().items() if name != "data"]
    found += _searched()
    return outermost((*found, *(path.resolve() for path in found)), home)


def outermost(paths: Iterable[Path], home: Path) -> tuple[Path, ...]:
    """Each place once and none below another; none that holds the home itself, in which nothing could be done."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda each: (len(each.parts), str(each))):
        broad = home.is_relative_to(path) or home.resolve().is_relative_to(path)
        if path.is_absolute() and not broad and not any(path.is_relative_to(above) for above in kept):
            kept.append(path)
    return tuple(sorted(kept))


def _home() -> Path:
    try:
        return home_folder()
    except SettingsError:
        return Path("/")  # an account without a home: then only the root itself is too much


def _package() -> Path:
    return Path(__file__).parents[1]


def _checkout(package: Path, home: Path) -> Iterator[Path]:
    """The source tree that the package is imported from; an installed package lies in none, whatever is around it."""
    if _PACKAGES & set(package.parts):
        return
    for folder in package.parents:
        if folder in (home, *home.parents):
            return
        if any(os.path.lexists(folder / sign) for sign in _SIGNS_OF_A_CHECKOUT):
            yield folder
            return


def _of_prefix(prefix: Path, home: Path) -> Iterator[Path]:
    if home.is_relative_to(prefix) or prefix.name == ".local":
        yield from (prefix / part for part in _PREFIX_PARTS)
    else:
        yield prefix


def _of_program(program: Path, home: Path) -> Iterator[Path]:
    """An interpreter, every link on the way to it, and the folders they lie in."""
    for _ in range(40):  # as many links as the kernel follows
        yield program
        if program.parent not in (home, *home.parents):
            yield program.parent
        if not program.is_symlink():
            return
        program = Path(os.path.normpath(program.parent / program.readlink()))


def _searched() -> Iterator[Path]:
    """Every folder that Python looks for libraries in; an empty entry is the folder that one stands in."""
    for entry in sys.path:
        with contextlib.suppress(FileNotFoundError):  # the folder that one stands in was removed
            yield Path(entry).absolute()


def _bubblewraps() -> Iterator[Path]:
    """Every place where the sandbox looks for bubblewrap, also before it is there."""
    return (Path(folder) / "bwrap" for folder in SYSTEM_PROGRAMS)
