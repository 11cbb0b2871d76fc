"""The witness: the head of a workspace's audit, kept outside the workspace.

A log that was cut together with everything in the workspace that remembers it, and a whole workspace that was rolled
back, look sound from inside. The witness is what neither reaches: the last signed head, in the account's state folder,
under a name made of the agent's key and the workspace's path.

Rules: it is written inside the audit's lock, after the line that it speaks of is on the disk, so it is never ahead of a
log that only lost power; it may be behind. It is one small file, whole on the disk when it is made, and from then on
overwritten in place and never synced, because being late harms nothing. A missing one is made by the next line. Does
not guarantee anything against an account that can write to its own state folder, or where there is no such folder.
"""

import re
from collections.abc import Callable
from pathlib import Path

from metnos.core import files, sign
from metnos.core.canon import sha256_hex
from metnos.core.errors import SettingsError
from metnos.core.fixed_file import FixedFile
from metnos.core.settings import state_home
from metnos.law.audit_log import Head

HEAD_PURPOSE = "audit head"
_SIZE = 512
_RECORD = re.compile(rb"(\d{1,16}):([0-9a-f]{64}):(\d{4}-\d\d):(\d{1,16}):([0-9a-f]{128})\n *")

DAMAGED_RECORD = Head(0, "", "", 0)  # what a witness says that cannot be read: no log agrees with it


class Witness:
    """The witness of one workspace; ``path`` is none where an account has no place for it."""

    def __init__(self, path: Path | None, public_key: str) -> None:
        self.path = path
        self._public_key = public_key

    @classmethod
    def of(cls, root: Path, public_key: str) -> "Witness":
        """The witness of the workspace at ``root``. A copy or a moved workspace has one of its own."""
        return cls(place_outside(root, public_key), public_key)

    @property
    def store_count(self) -> Path | None:
        """Where the count of the store of the Laws is kept (see `law_store`)."""
        return None if self.path is None else self.path.with_name(f"{self.path.name}.store")

    def forget(self) -> None:
        """Forget a place that was only passed through."""
        for path in (self.path, self.store_count):
            if path is not None:
                path.unlink(missing_ok=True)

    def read(self) -> Head | None:
        """What it says; nothing if there is none, and `DAMAGED_RECORD` if it cannot be read."""
        if self.path is None:
            return None
        try:
            found = _RECORD.fullmatch(FixedFile(self.path).read(_SIZE + 1))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return DAMAGED_RECORD
        if found is None:
            return DAMAGED_RECORD
        seq, digest, month, size, signature = (part.decode() for part in found.groups())
        return Head(int(seq), digest, month, int(size), signature)

    def write(self, head: Head) -> bool:
        """Keep ``head``; says whether it could. To be called inside the audit's lock."""
        if self.path is None:
            return False
        record = (head.message() + b":" + head.signature.encode() + b"\n").ljust(_SIZE)
        try:
            self._put(FixedFile(self.path), record)
        except OSError:
            return False
        return True

    @staticmethod
    def _put(file: FixedFile, record: bytes) -> None:
        try:
            file.overwrite(record)
        except FileNotFoundError:
            files.private_folder(file.path.parent)
            file.create(record)

    def is_signed(self, record: Head) -> bool:
        """Whether the agent itself wrote this record."""
        return sign.verify(self._public_key, HEAD_PURPOSE, record.message(), record.signature)


def place_outside(root: Path, public_key: str) -> Path | None:
    """Where an account keeps what it knows of a workspace; nothing if it has no such place."""
    name = sha256_hex(f"{public_key}\n{root}".encode("utf-8", "surrogateescape"))[:32]
    try:
        return state_home() / "metnos" / ".law" / name  # `.law`: no executor reaches it
    except SettingsError:
        return None


def judge(record: Head, head: Head | None, hash_of: Callable[[int], str | None]) -> str | None:
    """Why the log that ends with ``head`` is not the one that ``record`` speaks of; nothing if it is.

    ``hash_of`` gives the hash of a line in the log's own files.
    """
    if record == DAMAGED_RECORD:
        return "the witness outside the workspace is damaged"
    if head is None or head.seq < record.seq:
        end = f"ends at line {head.seq}" if head else "is empty"
        return f"the log {end}, but line {record.seq} was written before: it was cut, or an older copy was put back"
    found = head.hash if head.seq == record.seq else hash_of(record.seq)
    if found != record.hash:
        return f"line {record.seq} of the log is not the one that was written: another log was put in its place"
    return None
