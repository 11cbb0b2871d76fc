# ruff: noqa: PTH101, PTH102, PTH115, PTH116, PTH211
"""Copies of a workspace for tests of their own: two thousand tests have one, and a Path for each file takes long."""

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that was read whole: below it everything with its mode and its times."""

    status: os.stat_result
    files: list[tuple[str, os.stat_result, bytes]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    folders: list[tuple[str, "Folder"]] = field(default_factory=list)

    def write(self, target: str) -> None:
        os.mkdir(target)
        for name, status, content in self.files:
            _write_file(f"{target}/{name}", status, content)
        for name, leads in self.links:
            os.symlink(leads, f"{target}/{name}")
        for name, below in self.folders:
            below.write(f"{target}/{name}")
        os.chmod(target, self.status.st_mode & 0o7777)
        os.utime(target, ns=(self.status.st_atime_ns, self.status.st_mtime_ns))


_KEPT: dict[str, Folder] = {}


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder, as it is now or as it was when it was kept, to where nothing may be yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    (_KEPT.get(str(source)) or _read(str(source))).write(str(target))


def keep_folder(path: Path) -> None:
    """Have a folder read once that many copies are made of. Later changes of it are in no copy."""
    _KEPT[str(path)] = _read(str(path))


def _read(path: str) -> Folder:
    found = Folder(os.stat(path))
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_symlink():
                found.links.append((entry.name, os.readlink(entry.path)))
            elif entry.is_dir():
                found.folders.append((entry.name, _read(entry.path)))
            else:
                found.files.append((entry.name, entry.stat(), Path(entry.path).read_bytes()))
    return found


def _write_file(path: str, status: os.stat_result, content: bytes) -> None:
    mode = status.st_mode & 0o7777
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    left = content
    while left:
        left = left[os.write(file, left) :]
    if mode & _UMASK:
        os.chmod(file, mode)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.close(file)


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


_UMASK = _umask()
