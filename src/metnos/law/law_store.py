"""The store of the Laws, which notices when an older copy of it was put back.

A grant that was revoked, a device that was removed and an older pin would all come back with an older `law.db`, and the
audit beside it would look sound. So each transaction that changes the store counts, and the count is kept outside the
workspace as well, beside the witness of the audit.

Rules: outside, the count is written after the commit, so it is never ahead of a store that only lost power or whose
process was killed; it may be behind, and the next start catches up. A store that counts less than that is a doubt, and
counts no further until the owner accepts it. One that was lost, and remembers nothing that could come back, takes over
the count. Does not notice that the last transaction was taken back if its process was killed between the commit and the
count, nor anything where an account has no place for the count, or where somebody writes to that place.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from metnos.core import files
from metnos.core.clock import Clock
from metnos.core.fixed_file import FixedFile
from metnos.store.db import Database, Transaction
from metnos.store.migrations import Migration

OLDER = "the store of the Laws is older than it was: an older copy of law.db was put back"
_SIZE = 32
_PATIENCE_S = 1.0  # then it is late, which harms nothing
_RECORD = re.compile(rb"(\d{1,16}) *\n")
_DAMAGED = 10**17  # more than any store counts

MIGRATIONS = (
    Migration(
        "0011_store_count",
        (
            """CREATE TABLE store_count (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                count INTEGER NOT NULL CHECK (count >= 0)
            ) STRICT""",
            "INSERT INTO store_count (id, count) VALUES (1, 0)",
        ),
    ),
)
_COUNT = "SELECT count FROM store_count"


class LawStore(Database):
    """`law.db` of one workspace. ``seen`` is where the count is kept outside; none where there is no place for it."""

    def __init__(
        self, path: Path, migrations: Sequence[Migration], seen: Path | None, *, busy_timeout_s: float, clock: Clock
    ) -> None:
        self.seen = seen
        self._counts = False  # there is no table to count in before the migrations have run
        super().__init__(path, migrations, busy_timeout_s=busy_timeout_s, clock=clock)
        self._counts = True

    @contextlib.contextmanager
    def write(self) -> Iterator[Transaction]:
        if not self._counts or self._depth():
            with super().write() as tx:
                yield tx
            return
        count = None
        with super().write() as tx:
            before = _changes(tx)
            yield tx
            if _changes(tx) != before:
                count = self._count_on(tx)
        if count is not None:
            self._keep(count)

    def is_older(self) -> bool:
        """Whether this store counts less than was seen before."""
        seen = self._read()  # first: another process may commit, and then write it, between the two
        return seen is not None and _value(self.first(_COUNT)) < seen

    def settle(self, *, lost: bool) -> None:
        """Make store and count agree, unless that is for the owner to say; ``lost``: it remembers nothing of before."""
        if lost and self.is_older():
            self.accept()
        elif (count := _value(self.first(_COUNT))) > (self._read() or 0):
            self._keep(count)

    def accept(self) -> None:
        """Count on from what was seen, so that every other copy is an older one."""
        with super().write() as tx:
            known = self._read() or 0
            count = max(_value(tx.first(_COUNT)), 0 if known == _DAMAGED else known) + 1
            tx.execute("UPDATE store_count SET count = ?", (count,))
        self._keep(count, anew=True)

    # -- inside

    def _count_on(self, tx: Transaction) -> int | None:
        count = _value(tx.first(_COUNT))
        if count < (self._read() or 0):  # nobody else has committed since this transaction began
            return None
        tx.execute("UPDATE store_count SET count = ?", (count + 1,))
        return count + 1

    def _read(self) -> int | None:
        """What was seen; nothing if that was never kept."""
        if self.seen is None:
            return None
        try:
            found = _RECORD.fullmatch(FixedFile(self.seen).read(_SIZE + 1))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return _DAMAGED
        return int(found[1]) if found else _DAMAGED

    def _keep(self, count: int, *, anew: bool = False) -> None:
        """Keep the count outside, unless a later one is there."""
        if self.seen is None:
            return
        file, record = FixedFile(self.seen), str(count).encode().ljust(_SIZE - 1) + b"\n"
        with contextlib.suppress(OSError):
            files.private_folder(self.seen.parent)
            if not file.create(record):
                with file.held(_PATIENCE_S) as held:
                    if anew or count > (self._read() or 0):
                        held.overwrite(record)


def _changes(tx: Transaction) -> int:
    return _value(tx.first("SELECT total_changes()"))


def _value(row: Sequence[int] | None) -> int:
    return 0 if row is None else row[0]
