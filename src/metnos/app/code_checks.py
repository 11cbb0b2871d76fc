"""Doctor checks of the code that runs: of Metnos always, and of what it stands on if asked to go deep."""

import hashlib
import site
import stat
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from metnos.core.errors import MetnosError
from metnos.core.records import Check
from metnos.law import own_bytecode, own_code, own_pin, own_record
from metnos.law.own_pin import OwnPin
from metnos.sandbox import profile

_PIN = "metnos doctor --pin"
_INSTALL = "Install it again, or make the environment anew"
_NAMED = 3  # differences that a line of the doctor names
_DPKG = Path("/var/lib/dpkg/info")


def check_own(own: OwnPin) -> Check:
    """Compare the code as it lies there now with its pin, and with its RECORD if it came as a wheel."""
    name, found = "code", own.look()
    wrong = [*own_pin.describe(found)]
    if wrong:
        return Check.red(name, "; ".join(wrong), f"If you changed it yourself: {_PIN}. If not: install Metnos again")
    stop = own.halt()
    if stop is not None:
        return Check.red(name, stop.why, stop.fix)
    assert found.pin is not None  # noqa: S101 -- else it was wrong
    count = len(found.code.files)
    return Check.green(name, f"{count:,} files, as pinned {found.pin.ts[:10]} ({found.code.digest[:12]})")


def check_deep(bwrap: str) -> Iterator[Check]:
    """Compare everything that Metnos stands on with what was installed. Takes some seconds."""
    yield check_bytecode(own_code.PACKAGE)
    yield check_packages([Path(folder) for folder in _folders()])
    yield check_library(Path(sysconfig.get_path("stdlib")), _DPKG)
    yield check_bubblewrap(bwrap)


def check_bytecode(package: Path) -> Check:
    """Compile the package anew, and compare every compiled file of it."""
    name, judged = "bytecode", own_bytecode.judge(package, own_code.measure(package))
    if judged.wrong:
        found = f"compiled files that do not match their source: {own_code.name_first(judged.wrong, _NAMED)}"
        return Check.red(name, found, own_bytecode.removal(package))
    return Check.green(name, f"{len(judged.known)} compiled files, each compiled from its source")


def check_packages(folders: list[Path]) -> Check:
    """Compare every installed package with its RECORD, and look for what no package brought."""
    name, wrong, unlisted, count = "packages", [], [], 0
    for folder in folders:
        records = {info.name: own_record.read_distribution(info) for info in sorted(folder.glob("*.dist-info"))}
        count += len(records)
        wrong += [f"{info} has no RECORD" for info, record in records.items() if record is None]
        read = [record for record in records.values() if record is not None]
        wrong += own_record.check_distributions(read, folder)
        listed = frozenset().union(*(record.files for record in read))
        unlisted += [str(folder / each) for each in own_record.find_unlisted(folder, listed)]
    if wrong:
        return Check.red(name, f"not as installed: {own_code.name_first(tuple(wrong), _NAMED)}", _INSTALL)
    if unlisted:
        found = f"{count} as installed, and files of no package: {own_code.name_first(tuple(unlisted), _NAMED)}"
        return Check.yellow(name, found, "See whose they are, and remove them if they are nobody's")
    return Check.green(name, f"{count} packages, each file as installed")


def check_library(library: Path, info: Path) -> Check:
    """Compare Python's own library with what the system's package manager noted, if it came from there."""
    name, noted = "library", dict(_noted(library, info))
    if not noted:
        found = f"{library} came without a record, so it cannot be compared"
        return Check.yellow(name, found, "Use your system's own Python if that matters to you")
    wrong = tuple(str(path) for path, digest in noted.items() if _md5(path) != digest)
    if wrong:
        found = f"not as installed: {own_code.name_first(wrong, _NAMED)}"
        return Check.red(name, found, "sudo apt-get install --reinstall python3")
    return Check.green(name, f"{len(noted):,} files of {library}, each as installed")


def check_bubblewrap(chosen: str) -> Check:
    """Check that nobody but root can change bubblewrap, in any folder above it either."""
    name = "bubblewrap"
    try:
        program = Path(profile.find_bwrap(chosen)).resolve()
    except MetnosError as error:
        return Check.red(name, error.what, error.fix)
    for path in (program, *program.parents):
        status = path.stat()
        if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return Check.red(name, f"{path} can be changed by others than root", "Install your system's own bubblewrap")
    return Check.green(name, f"{program}, which only root can change")


def _folders() -> list[str]:
    """Where packages lie that this Python loads."""
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if site.ENABLE_USER_SITE:
        paths.add(site.getusersitepackages())
    return sorted(path for path in paths if Path(path).is_dir())


def _noted(library: Path, info: Path) -> Iterator[tuple[Path, str]]:
    """Each file of the library with the md5 that dpkg noted."""
    for listing in sorted(info.glob("*python3*.md5sums")):
        for line in listing.read_text(encoding="utf-8", errors="replace").splitlines():
            digest, _, name = line.partition("  ")
            path = Path("/") / name
            if path.is_relative_to(library) and not {"site-packages", "dist-packages"} & set(path.parts):
                yield path, digest


def _md5(path: Path) -> str:
    content = own_code.read_plain(str(path))
    return "" if content is None else hashlib.md5(content, usedforsecurity=False).hexdigest()
