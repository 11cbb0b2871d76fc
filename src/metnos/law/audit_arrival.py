"""The audit that a backup brings.

Rules: another agent's store of the audit is read and never used. It is made anew here, from the log: with the head that
the log ends with, if store, log and signatures all say the same, else with none, which is a doubt that the log tells of
for ever. An own one is used as it is; where it and the log differ, the audit says so itself. A head or a log that no
audit could write is refused. Happens in the staged workspace, before it takes any place.
"""

from dataclasses import replace

from metnos.core import sign
from metnos.core.clock import Clock
from metnos.core.errors import BackupError
from metnos.core.workspace import Workspace
from metnos.law import audit_log
from metnos.law.audit import MIGRATIONS, read_doubts, read_head, write_head
from metnos.law.audit_log import Head
from metnos.law.audit_verify import Fault, verify
from metnos.law.witness import HEAD_PURPOSE
from metnos.store.db import Database

_FIX = "Nothing was restored. Use another backup."


def take_over(staged: Workspace, public_key: str, clock: Clock, *, own: bool) -> tuple[Fault, ...]:
    """Make the staged audit one that can be gone on with; returns what is wrong with its log."""
    if not staged.audit_db.exists():
        raise BackupError("this backup holds no audit", fix="Use another backup.")
    _refuse_odd_log(staged)
    store = Database(staged.audit_db, read_only=True)
    try:
        remembered, doubted = read_head(store), bool(read_doubts(store))
    finally:
        store.close()
    faults = verify(staged.audit, audit_log.look(staged.audit, remembered), public_key).faults
    if not own:
        _make_anew(staged, None if faults or doubted else remembered, clock)
    return faults


def _refuse_odd_log(staged: Workspace) -> None:
    """Whatever has the name of a month has to be a file that lines can go behind."""
    for path in staged.audit.glob("*.jsonl"):
        if not path.is_file():
            raise BackupError(f"this backup holds a folder in place of the log {path.name}", fix=_FIX)
    newest = next(audit_log.backwards(staged.audit), None)
    if newest is not None and newest.seq > audit_log.MOST_LINES:
        raise BackupError(f"the log in this backup says that it has {newest.seq:,} lines", fix=_FIX)


def _make_anew(staged: Workspace, head: Head | None, clock: Clock) -> None:
    for path in staged.law.glob(f"{staged.audit_db.name}*"):
        path.unlink()
    store = Database(staged.audit_db, MIGRATIONS, clock=clock)
    try:
        if head is not None:
            signer = sign.load_signer(staged.secret_key)
            with store.write() as tx:
                write_head(tx, replace(head, signature=signer.sign(HEAD_PURPOSE, head.message())))
    finally:
        store.close()
