"""The halt file: one block on the disk that says whether anything may act.

Rules: its bytes are allocated when it is made and later only overwritten, so that stopping needs no free space and no
database; if even that fails, the file is removed. Only a whole file that says "may act" lets anything act: one that is
missing, damaged or unreadable halts. Does not say whether a file was ever made: `metnos.law.halt` knows that.
"""

import contextlib
import json
import os
import stat
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from metnos.core import files
from metnos.core.canon import canonical_json
from metnos.core.errors import WorkspaceError

SIZE = 4096
_LONGEST_REASON = 400  # characters
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class HaltNote:
    """What the file says. ``announced``: the audit knows that there is such a file."""

    halted: bool
    id: str = ""
    ts: str = ""
    reason: str = ""
    for_good: bool = False
    announced: bool = False

    def encode(self) -> bytes:
        reason = "".join(char for char in self.reason[:_LONGEST_REASON] if char.isprintable())
        line = canonical_json(asdict(replace(self, reason=reason)))
        return line + b" " * (SIZE - 1 - len(line)) + b"\n"


MAY_ACT = HaltNote(halted=False)


class HaltFile:
    """The halt file of one workspace."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        return os.path.lexists(self._path)

    def create(self, note: HaltNote) -> bool:
        """Make it, with every byte of it on the disk, unless it is there; says whether this call made it."""
        return files.create(self._path, note.encode(), mode=files.PRIVATE_FILE)

    def read(self) -> HaltNote:
        """What it says. Never raises: what cannot be read is a halt."""
        try:
            raw = self._read()
        except FileNotFoundError:
            return HaltNote(halted=True, reason=f"{self._path} is missing", announced=True)
        except OSError as error:
            return HaltNote(halted=True, reason=f"{self._path} cannot be read: {error.strerror}", announced=True)
        note = parse(raw)
        return note or HaltNote(halted=True, reason=f"{self._path} is damaged", announced=True)

    def write(self, note: HaltNote) -> None:
        """Overwrite it where it lies."""
        descriptor = os.open(self._path, os.O_WRONLY | _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(0, "it is not an ordinary file")
            content = note.encode()
            if os.pwrite(descriptor, content, 0) != len(content):
                raise OSError(0, "it could not be written whole")
            os.ftruncate(descriptor, SIZE)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def halt(self, note: HaltNote) -> None:
        """Halt, at any cost: a file that cannot be overwritten is removed, and a missing one halts as well."""
        known = self.read()
        if known.for_good and not note.for_good:
            return  # it says more already
        try:
            self.write(replace(note, announced=known.announced))
        except FileNotFoundError:
            return
        except OSError as error:
            with contextlib.suppress(OSError):
                self._path.unlink()
            if self.exists():
                what = f"{self._path} can neither be written nor removed: {error.strerror or error}"
                raise WorkspaceError(what, fix="End every process of Metnos, then look at the disk.") from error

    def _read(self) -> bytes:
        descriptor = os.open(self._path, os.O_RDONLY | _FLAGS)
        try:
            return os.pread(descriptor, SIZE + 1, 0)
        finally:
            os.close(descriptor)


def parse(raw: bytes) -> HaltNote | None:
    """The note that these bytes are; nothing if one byte of them is not as it was written."""
    try:
        note = HaltNote(**json.loads(raw))
        kinds = [type(value) for value in asdict(note).values()]
        fits = kinds == [bool, str, str, str, bool, bool] and note.encode() == raw
    except (ValueError, TypeError, RecursionError):
        return None
    return note if fits else None
