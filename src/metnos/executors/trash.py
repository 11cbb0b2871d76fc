"""The desktop's trash, as freedesktop.org specifies it (version 1.0), so that every file manager shows what is in it.

Rules: a file goes to the trash of its own file system, so that trashing is one rename: to the home trash, else to
``$topdir/.Trash/$uid`` if an administrator made a sound ``.Trash`` there, else to ``$topdir/.Trash-$uid``. The
``.trashinfo`` is made first and exclusively, and so reserves the name. A trash folder that is a symbolic link or
belongs to someone else is not used. Does not guarantee that what is in the trash stays there: the owner may empty it.
"""

import os
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from metnos.core import files
from metnos.core.errors import ExecutorFailed
from metnos.executors import effect_files
from metnos.executors.effect_files import shown

_LONGEST = 255 - len(".trashinfo") - 27  # bytes of a name that still leave room for an id


@dataclass(frozen=True, slots=True)
class Can:
    """One trash folder. ``top`` is the folder that paths in it are relative to; none for the home trash."""

    folder: Path
    top: Path | None = None

    @property
    def files(self) -> Path:
        return self.folder / "files"

    def info(self, name: str) -> Path:
        return self.folder / "info" / f"{name}.trashinfo"


class Trash:
    """The trash of this user: ``home`` is ``$XDG_DATA_HOME/Trash``."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def can_for(self, path: Path, device: int) -> Can:
        """The trash that takes what lies at ``path`` on this device. Makes nothing."""
        if path == self.home or self.home in path.parents or path in self.home.parents:
            raise ExecutorFailed(f"{shown(path)} holds the trash or is in it already", kind="not_permitted")
        if _deepest(self.home).stat().st_dev == device:
            return Can(self.home)
        top = _top_of(path)
        if top.stat().st_dev != device:
            raise ExecutorFailed(f"{shown(path)} lies on a file system that has no trash", kind="unavailable")
        can = _shared(top) or Can(top / f".Trash-{os.getuid()}", top)
        if can.folder in (path, *path.parents):
            raise ExecutorFailed(f"{shown(path)} is in the trash already", kind="not_permitted")
        if not _usable(can.folder):
            what = f"{shown(path)} cannot be trashed: there is no sound trash folder at {shown(can.folder)}"
            raise ExecutorFailed(what, kind="unavailable", fix="Ask for it to be moved elsewhere instead.")
        return can

    def prepare(self, can: Can) -> None:
        """Make the folders of a trash, closed to others."""
        if can.top is None:
            can.folder.parent.mkdir(parents=True, exist_ok=True)
        for each in (can.folder, can.files, can.folder / "info"):
            try:
                each.mkdir(mode=files.PRIVATE_FOLDER)
            except FileExistsError:
                if not _mine(each):
                    what = f"{shown(each)} is no folder of yours, so nothing is trashed there"
                    raise ExecutorFailed(what, kind="unavailable") from None

    def reserve(self, can: Can, name: str, path: Path, now: datetime) -> bool:
        """Make the info file, and say whether the name was free."""
        with effect_files.folder(can.files) as held:
            if effect_files.look(held, name) is not None:
                return False
        try:
            descriptor = os.open(can.info(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            return False
        try:
            os.write(descriptor, _info(can, path, now))
            os.fsync(descriptor)
        except OSError:
            can.info(name).unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        files.sync_folder(can.folder / "info")
        return True


def candidates(name: str, unique: str) -> tuple[str, str]:
    """The names to try in the trash: its own, then one that nothing else has."""
    raw = os.fsencode(name)
    if len(raw) <= _LONGEST:
        return name, f"{name}.{unique}"
    short = os.fsdecode(raw[:_LONGEST])
    return f"{short}.{unique}", f"{short}.{unique}"


def can_of(trashed: Path) -> Can:
    """The trash folder that a trashed file lies in."""
    folder = trashed.parent.parent
    if folder.parent.name == ".Trash":
        return Can(folder, folder.parent.parent)
    return Can(folder, folder.parent if folder.name.startswith(".Trash-") else None)


def forget(trashed: Path) -> None:
    """Remove the info file of what is no longer in the trash."""
    can_of(trashed).info(trashed.name).unlink(missing_ok=True)


def path_in(info: bytes, can: Can) -> Path | None:
    """The path that an info file names."""
    for line in info.splitlines():
        if line.startswith(b"Path="):
            found = Path(os.fsdecode(unquote_to_bytes(line.removeprefix(b"Path="))))
            return found if can.top is None else can.top / found
    return None


def _info(can: Can, path: Path, now: datetime) -> bytes:
    named = path if can.top is None else path.relative_to(can.top)
    moment = now.astimezone().strftime("%Y-%m-%dT%H:%M:%S")  # the specification wants local time
    return f"[Trash Info]\nPath={quote(os.fsencode(named), safe='/')}\nDeletionDate={moment}\n".encode()


def _shared(top: Path) -> Can | None:
    """``$topdir/.Trash/$uid``, if the administrator's folder is a real one and sticky, as the specification demands."""
    folder = top / ".Trash"
    try:
        status = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode) or not status.st_mode & stat.S_ISVTX:
        return None
    can = Can(folder / str(os.getuid()), top)
    return can if _usable(can.folder) else None


def _usable(folder: Path) -> bool:
    """Whether it is a folder of ours that can be written, or can be made."""
    if folder.is_symlink() or folder.exists():
        return _mine(folder) and os.access(folder, os.W_OK | os.X_OK)
    return os.access(folder.parent, os.W_OK | os.X_OK)


def _mine(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _deepest(path: Path) -> Path:
    """The deepest folder on the way that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def _top_of(path: Path) -> Path:
    """The mount point that ``path`` lies below."""
    here = _deepest(path.parent)
    while not here.is_mount():
        here = here.parent
    return here
