"""An executor's folder on the disk: reading it without being led astray, and putting files into it whole.

Rules: no symbolic link is followed, the executors' folder itself included; only ordinary files of this account with one
name and of a sane size are read; whatever else is found is named, never opened. Everything that is written is staged in
``.staging`` beside the executors and renamed into place, so that a folder never holds half a file nor one too many.
Does not guarantee that the folder is the same a moment later: whoever decides on what was read uses what was read.
"""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from metnos.core import files
from metnos.core.errors import ExecutorError
from metnos.executors import vocabulary

MANIFEST = "manifest.toml"
SOURCE = "executor.py"
TESTS = "tests.toml"
SIGNATURE = "signature"
JOURNAL = "journal.jsonl"
STAGING = ".staging"
SIGNED = (MANIFEST, SOURCE, TESTS)

_REPLACED = "replaced"
MOST = {MANIFEST: 64 << 10, SOURCE: 256 << 10, TESTS: 1 << 20, SIGNATURE: 16 << 10}
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not blocking: opening a pipe that somebody put there would otherwise wait for ever.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with an executor: one word for the audit, one sentence for the owner."""

    wrong: str
    said: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a folder holds: its known files, and what should not be there."""

    name: str
    files: Mapping[str, bytes]
    strange: tuple[Problem, ...]

    @property
    def signed(self) -> bool:
        """Whether a signature is there, whatever it is worth."""
        return SIGNATURE in self.files


def read(executors: Path, name: str) -> Content | None:
    """The content of one executor's folder; nothing if there is none of that name."""
    opened: list[int] = []
    try:
        opened.append(os.open(executors, _FOLDER_FLAGS))
        opened.append(os.open(name, _FOLDER_FLAGS, dir_fd=opened[0]))
        return _read_open(opened[1], name)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Content(name, {}, (_unreadable(name if opened else executors.name, error),))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def names(executors: Path) -> list[str]:
    """The names of all folders that could be executors."""
    try:
        return sorted(entry.name for entry in executors.iterdir() if vocabulary.is_name(entry.name))
    except FileNotFoundError:
        return []


def put(executors: Path, name: str, file: str, content: bytes) -> None:
    """Give one file of an executor a new content: readers see the old one or the new one, nothing between."""
    with _explained(executors / name):
        staged = _write_new(_staging(executors), f"{name}.{file}.", content)
        try:
            staged.replace(executors / name / file)
        except OSError:
            _discard(staged)
            raise
        files.sync_folder(executors / name)


def place(executors: Path, name: str, contents: Mapping[str, bytes]) -> None:
    """Put a whole folder in the place of what is there, at one stroke. The journal that was there comes along."""
    with _explained(executors / name):
        fresh = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=_staging(executors)))  # closed to others from the start
        try:
            for file, content in contents.items():
                _write_new(fresh, "new.", content).rename(fresh / file)
            _keep_journal(executors, name, fresh)
            files.sync_folder(fresh)
            _swap(fresh, executors / name)
            files.sync_folder(executors)
        finally:
            _discard(fresh)


def sweep(executors: Path) -> None:
    """Remove what killed processes left in the staging place. Only for whoever holds the lock."""
    _discard(executors / STAGING)


def _read_open(folder: int, name: str) -> Content:
    found: dict[str, bytes] = {}
    strange: list[Problem] = []
    status = os.fstat(folder)
    if status.st_uid != os.geteuid():
        strange.append(Problem("owner", f"the folder {name} belongs to another account"))
    for entry in sorted(os.listdir(folder)):
        if entry == JOURNAL:
            problem = _refuse(os.stat(entry, dir_fd=folder, follow_symlinks=False), entry)
        elif entry in MOST:
            content, problem = _read_file(folder, entry)
            if problem is not None and problem.wrong == _REPLACED:
                content, problem = _read_file(folder, entry)  # the new one has its name by now
            if problem is None:
                found[entry] = content
        else:
            problem = Problem("added", f"{entry!r} does not belong there")
        if problem is not None:
            strange.append(problem)
    return Content(name, found, tuple(strange))


def _read_file(folder: int, entry: str) -> tuple[bytes, Problem | None]:
    try:
        descriptor = os.open(entry, _FILE_FLAGS, dir_fd=folder)
    except OSError as error:
        return b"", _unreadable(entry, error)
    try:
        status = os.fstat(descriptor)
        problem = _refuse(status, entry)
        if problem is not None:
            return b"", problem
        most = MOST[entry]
        content = os.read(descriptor, min(status.st_size, most) + 1)  # one more byte shows a file that grew
        if len(content) > most or len(content) != status.st_size:
            return b"", Problem(f"size:{entry}", f"{entry} is too large, or changed while it was read")
        return content, None
    except OSError as error:
        return b"", _unreadable(entry, error)
    finally:
        os.close(descriptor)


def _refuse(status: os.stat_result, entry: str) -> Problem | None:
    if stat.S_ISLNK(status.st_mode):
        return Problem(f"link:{entry}", f"{entry} is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        return Problem(f"kind:{entry}", f"{entry} is not an ordinary file")
    if status.st_nlink == 0:
        return Problem(_REPLACED, f"{entry} was replaced while it was read")
    if status.st_nlink != 1:
        return Problem(f"link:{entry}", f"{entry} has a second name elsewhere (a hard link)")
    if status.st_uid != os.geteuid():
        return Problem(f"owner:{entry}", f"{entry} belongs to another account")
    return None


def _unreadable(entry: str, error: OSError) -> Problem:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return Problem(f"link:{entry}", f"{entry} is a symbolic link, or not what it should be")
    return Problem(f"unreadable:{entry}", f"{entry} cannot be read: {error.strerror}")


@contextlib.contextmanager
def _explained(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExecutorError(
            f"{place} cannot be written: {error.strerror}", fix="Free some space, or check who owns the folder."
        ) from error


def _staging(executors: Path) -> Path:
    staging = executors / STAGING
    files.private_folder(staging)
    return staging


def _write_new(folder: Path, prefix: str, content: bytes) -> Path:
    """A synced file of that content under a name of its own."""
    descriptor, name = tempfile.mkstemp(prefix=prefix, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        _discard(Path(name))
        raise
    return Path(name)


def _keep_journal(executors: Path, name: str, fresh: Path) -> None:
    journal = executors / name / JOURNAL
    if journal.is_file() and not journal.is_symlink() and not (executors / name).is_symlink():
        with contextlib.suppress(OSError):  # a lost journal must not stop an upgrade
            shutil.copyfile(journal, fresh / JOURNAL, follow_symlinks=False)


def _swap(fresh: Path, target: Path) -> None:
    """Afterwards ``target`` is the fresh folder, and what was there is where the fresh one was."""
    if not target.is_symlink() and not target.exists():
        fresh.rename(target)
    elif not files.exchange(fresh, target):
        aside = fresh.with_name(f"{fresh.name}.old")
        target.rename(aside)
        fresh.rename(target)
        _discard(aside)


def _discard(path: Path) -> None:
    """Remove a file or a folder with what is in it. What cannot be removed is left for `sweep`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
