"""The halt file: one block on the disk that says whether anything may act.

Rules: its bytes are allocated when it is made and later only overwritten, so that stopping needs no free space and no
database; if even that fails, the file is removed. Only a whole file that says "may act" lets anything act: one that is
missing, damaged or unreadable halts. Who changes it holds its lock, and only what still says what was read before is
changed to "may act"; stopping waits for the lock a moment and then goes on without it. Does not say whether a file was
ever made: `metnos.law.halt` knows that.
"""

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from metnos.core.canon import canonical_json
from metnos.core.errors import WorkspaceError
from metnos.core.fixed_file import FixedFile

SIZE = 4096
_LONGEST_REASON = 400  # characters
_PATIENCE_S = 10.0
_PATIENCE_TO_STOP_S = 1.0  # whoever holds the lock for longer hangs, and stopping waits for nobody


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
        self._file = FixedFile(path)

    def exists(self) -> bool:
        return self._file.exists()

    def create(self, note: HaltNote) -> bool:
        """Make it, with every byte of it on the disk, unless it is there; says whether this call made it."""
        return self._file.create(note.encode())

    def read(self) -> HaltNote:
        """What it says. Never raises: what cannot be read is a halt."""
        path = self._file.path
        try:
            raw = self._file.read(SIZE + 1)
        except FileNotFoundError:
            return HaltNote(halted=True, reason=f"{path} is missing", announced=True)
        except OSError as error:
            return HaltNote(halted=True, reason=f"{path} cannot be read: {error.strerror}", announced=True)
        return parse(raw) or HaltNote(halted=True, reason=f"{path} is damaged", announced=True)

    def wait_and_read(self) -> HaltNote:
        """The same, after whoever is about to change it has done so."""
        with contextlib.suppress(OSError), self._file.held(_PATIENCE_S):
            pass
        return self.read()

    def announce(self) -> None:
        """Note that the audit knows of it, whatever else it says by now."""
        self._change(lambda note: replace(note, announced=True))

    def refuse_unchangeable(self) -> None:
        """Refuse, with what to do about it, if what lies there is no file that could be changed."""
        if self.exists():
            self._change(lambda _: None)

    def lift(self, seen: HaltNote) -> bool:
        """Let things happen again if it still says what was ``seen``; says whether it did."""
        may_act = replace(MAY_ACT, announced=True)
        if self.exists():
            return self._change(lambda note: may_act if _is_same(note, seen) else None)
        try:
            return _is_same(self.read(), seen) and self.create(may_act)
        except OSError as error:
            raise self._unchangeable(error) from error

    def halt(self, note: HaltNote) -> None:
        """Halt, at any cost: a file that cannot be overwritten is removed, and a missing one halts as well."""
        failed: OSError | None = None
        try:
            while not self._try_to_halt(note):
                if self.create(replace(note, announced=False)):
                    return
        except OSError as error:
            failed = error
            with contextlib.suppress(OSError):
                self._file.path.unlink()
        if failed is not None and not self.read().halted:
            what = f"{self._file.path} can neither be written nor removed: {failed.strerror or failed}"
            raise WorkspaceError(what, fix="End every process of Metnos, then look at the disk.") from failed

    def _try_to_halt(self, note: HaltNote) -> bool:
        """Overwrite it; says whether it was there."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._file.held(_PATIENCE_TO_STOP_S))
            except FileNotFoundError:
                return False
            except OSError:
                pass  # stopping does not need the lock
            known = self.read()
            if known.for_good and not note.for_good:
                return True  # it says more already
            self._file.overwrite(replace(note, announced=known.announced).encode(), sync=True)
        return True

    def _change(self, to: Callable[[HaltNote], HaltNote | None]) -> bool:
        """Overwrite it with what ``to`` makes of what it says, unless that is nothing; says whether it did."""
        try:
            with self._file.held(_PATIENCE_S) as held:
                note = to(self.read())
                if note is None:
                    return False
                held.overwrite(note.encode(), sync=True)
        except FileNotFoundError:
            return False  # it was removed meanwhile, and that halts
        except OSError as error:
            raise self._unchangeable(error) from error
        return True

    def _unchangeable(self, error: OSError) -> WorkspaceError:
        what = f"{self._file.path} cannot be changed: {error.strerror or error}"
        fix = "If it is no ordinary file, remove it; if a process of Metnos hangs, end that. Then type the same again."
        return WorkspaceError(what, fix=fix)


def _is_same(one: HaltNote, other: HaltNote) -> bool:
    return replace(one, announced=True) == replace(other, announced=True)


def parse(raw: bytes) -> HaltNote | None:
    """The note that these bytes are; nothing if one byte of them is not as it was written."""
    try:
        note = HaltNote(**json.loads(raw))
        kinds = [type(value) for value in asdict(note).values()]
        fits = kinds == [bool, str, str, str, bool, bool] and note.encode() == raw
    except (ValueError, TypeError, RecursionError):
        return None
    return note if fits else None
