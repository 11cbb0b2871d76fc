"""Snapshots: the mnestome's file as it was, month by month, kept for ever.

Rules: one for each month of UTC, made on the first occasion in it, while others go on writing; it is there whole or not
at all, and closed to others. What is older than a year is compressed: the original goes only after the compressed one
was read back and found to hold the same. Nothing here deletes a month. A snapshot is opened for reading only; one that
an older Metnos made is read from a copy that was brought up to date, and itself stays as it is.

Does not guarantee that what was forgotten since is missing from them too: whoever puts one back must forget it again.
"""

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from metnos.core import files
from metnos.core.canon import sha256_file
from metnos.core.errors import StoreCorrupt, UsageError
from metnos.sandbox import process
from metnos.store.db import Database
from metnos.store.file import copy_database
from metnos.store.migrations import Migration
from metnos.store.schema import compare

PLAIN, PACKED = ".sqlite", ".sqlite.zst"
KEEP_PLAIN_MONTHS = 12
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_NAME = re.compile(rf"({_MONTH.pattern})({re.escape(PACKED)}|{re.escape(PLAIN)})")
_STAGED = re.compile(r"\..+\.(\d+)\.tmp(-journal)?")
_CHUNK = 1 << 20
_LEVEL = 10  # a file that is read once in years: small counts for more than quick


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One month."""

    month: str
    path: Path
    size: int

    @property
    def packed(self) -> bool:
        return self.path.name.endswith(PACKED)


class Snapshots:
    """The snapshots of one mnestome. ``migrations`` are those of its file, all of them."""

    def __init__(self, folder: Path, live: Path, migrations: Sequence[Migration], without: Sequence[str] = ()) -> None:
        """``without`` names tables of the file that no snapshot keeps, in an order in which they can be emptied."""
        self.folder = folder
        self._live = live
        self._migrations = tuple(migrations)
        self._without = tuple(without)

    # -- making

    def due(self, now: datetime) -> str | None:
        """The month that has none yet, if it is this one."""
        month = month_of(now)
        return None if any(self._path(month, suffix).exists() for suffix in (PLAIN, PACKED)) else month

    def make(self, now: datetime) -> Snapshot | None:
        """Copy the mnestome as it is, unless this month has its snapshot."""
        month = self.due(now)
        if month is None:
            return None
        files.private_folder(self.folder)
        self._sweep()
        copy_database(self._live, self._path(month, PLAIN), without=self._without)
        return self.find(month)

    def pack(self, now: datetime) -> tuple[str, ...]:
        """Compress what is older than a year; returns the months."""
        old = [each for each in self.all() if not each.packed and _age(each.month, now) > KEEP_PLAIN_MONTHS]
        for each in old:
            self._pack(each)
        return tuple(each.month for each in old)

    def keep_aside(self, now: datetime) -> Path:
        """Copy the mnestome as it is under the name of this very moment, before something else takes its place."""
        files.private_folder(self.folder)
        target = self.folder / f"before-{now.astimezone(UTC):%Y-%m-%dT%H%M%S.%fZ}{PLAIN}"
        copy_database(self._live, target, without=self._without)
        return target

    # -- reading

    def all(self) -> list[Snapshot]:
        """Every month that there is, the oldest first."""
        found: dict[str, Snapshot] = {}
        for path in sorted(self.folder.glob("*")):
            match = _NAME.fullmatch(path.name)
            # Of both, which a compression that was cut short leaves, the plain one: it comes first.
            if match:
                found.setdefault(match[1], Snapshot(match[1], path, path.stat().st_size))
        return list(found.values())

    def find(self, month: str) -> Snapshot:
        """The snapshot of a month like ``2026-03``."""
        if not _MONTH.fullmatch(month):
            raise UsageError(f"{month!r} is not a month", fix="Write it like 2026-03.")
        found = {each.month: each for each in self.all()}
        if month not in found:
            there = (
                f"There are: {', '.join(found)}"
                if found
                else "There is none yet: the first night of each month makes one, and so does: metnos ager run"
            )
            raise UsageError(f"there is no snapshot of {month}", fix=there)
        return found[month]

    @contextlib.contextmanager
    def open(self, month: str) -> Iterator[Database]:
        """A month for reading, as long as this goes on."""
        snapshot = self.find(month)
        with contextlib.ExitStack() as stack:
            path = snapshot.path
            if snapshot.packed or not self._current(path):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="metnos-snapshot-"))
                path = Path(folder) / f"{month}{PLAIN}"
                self._unpack(snapshot, path)
                compare(path, self._migrations)  # it may have come with a stranger's backup
                Database(path, self._migrations).close()
            else:
                compare(path, self._migrations)
            db = Database(path, read_only=True)
            stack.callback(db.close)
            yield db

    # -- inside

    def _path(self, month: str, suffix: str) -> Path:
        return self.folder / f"{month}{suffix}"

    def _current(self, path: Path) -> bool:
        """Whether a file needs no migration to be read."""
        db = Database(path, read_only=True)
        try:
            done = db.query("SELECT name FROM migrations ORDER BY position")
        finally:
            db.close()
        return len(done) == len(self._migrations)

    def _pack(self, snapshot: Snapshot) -> None:
        import zstandard

        target = self._path(snapshot.month, PACKED)
        staged = self.folder / f".{target.name}.{os.getpid()}.tmp"
        try:
            with snapshot.path.open("rb") as source, _create(staged) as out:
                zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).copy_stream(source, out, size=snapshot.size)
                out.flush()
                os.fsync(out.fileno())
            if _digest_inside(staged) != sha256_file(snapshot.path):
                raise StoreCorrupt(
                    f"{snapshot.path} could not be compressed: what came out is something else",
                    fix="It was left as it is. Check the disk.",
                )
            staged.replace(target)
            files.sync_folder(self.folder)
        finally:
            staged.unlink(missing_ok=True)
        snapshot.path.unlink()

    def _unpack(self, snapshot: Snapshot, target: Path) -> None:
        if not snapshot.packed:
            copy_database(snapshot.path, target)
            return
        import zstandard

        try:
            with snapshot.path.open("rb") as source, _create(target) as out:
                zstandard.ZstdDecompressor().copy_stream(source, out, write_size=_CHUNK)
        except zstandard.ZstdError as error:
            raise StoreCorrupt(f"{snapshot.path} is damaged ({error})", fix="Use another month.") from error

    def _sweep(self) -> None:
        """Remove what a killed process left half made."""
        for path in self.folder.glob(".*.tmp*"):
            match = _STAGED.fullmatch(path.name)
            if match and process.start_time(int(match[1])) == "gone":
                path.unlink(missing_ok=True)


def month_of(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m}"


def _age(month: str, now: datetime) -> int:
    """Months from one to now."""
    year, number = map(int, month.split("-"))
    today = now.astimezone(UTC)
    return (today.year - year) * 12 + today.month - number


def _create(path: Path) -> IO[bytes]:
    """A new file that is closed to others from the first byte."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, files.PRIVATE_FILE), "wb")


def _digest_inside(packed: Path) -> str:
    """The digest of what a compressed file holds."""
    import zstandard

    digest = hashlib.sha256()
    with packed.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as inside:
        while chunk := inside.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
