"""What recording costs: `metnos.law.audit.Audit` against a plain file that is synced after every line.

An append is measured against ``write`` and ``fsync`` of the very bytes that the audit wrote, checkpoints included, so
what is left between them is the lock, the hash chain, the signatures and the head in the store. Verifying is measured
against what no verifier can do without: one sha256 and one JSON parse of every line. Does not measure several writers
at once, nor the pair of lines that an act writes (it is twice an append).
"""

import hashlib
import json
import os
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from bench import scratch
from bench.runner import BenchError, Measure, compare, timed
from metnos.app import App, found, verify_audit
from metnos.core.canon import sha256_hex
from metnos.core.workspace import Workspace
from metnos.law import audit_log
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry

PURPOSE = "recording and proving the audit against a plain synced file"

_APPENDS = 63  # in one round: with the one checkpoint among them 64 lines, at the default of `checkpoint_every`
_LINES = 6000  # what is verified; a slow disk may have written fewer when the time is up
_FILLING_S = 15.0


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    with scratch.folder() as folder:
        workspace = Workspace(folder / "workspace")
        found(workspace)
        app = App.open(workspace)
        with closing(app.seat.db), closing(app.audit):
            appended = _append(app.audit, folder / "plain.jsonl")
            _fill(app.audit)
            return [appended, _verify(workspace)]


def _entry(number: int) -> Entry:
    """A line of the usual size: what was done, to what, and how often."""
    digest = sha256_hex(str(number).encode())
    return Entry("executor run", {"executor": "fs_read", "phase": "intent"}, {"arguments": digest}, {"bytes": number})


def _append(audit: Audit, plain: Path) -> Measure:
    chunks = _recorded(audit)
    entries = [_entry(number) for number in range(_APPENDS)]

    def recorded() -> None:
        for entry in entries:
            audit.append(entry)

    descriptor = os.open(plain, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def synced() -> None:
        for chunk in chunks:
            os.write(descriptor, chunk)
            os.fsync(descriptor)

    try:
        return compare(
            "append",
            "us/line",
            subject=timed(recorded, _APPENDS),
            baseline=timed(synced, _APPENDS),
            rounds=100,
            budget_s=15,
            note="Audit.append; baseline: write and fsync of the same bytes to an open file",
        )
    finally:
        os.close(descriptor)


def _recorded(audit: Audit) -> list[bytes]:
    """The bytes that each append of a round puts into the log: one line, or two where a checkpoint is due."""
    ends = [_size(audit)]
    for number in range(_APPENDS):
        audit.append(_entry(number))
        ends.append(_size(audit))
    content = _content(audit.folder)
    return [content[start:end] for start, end in pairwise(ends)]


def _size(audit: Audit) -> int:
    return len(_content(audit.folder))


def _content(folder: Path) -> bytes:
    """The whole log: a run at midnight on the last day of a month has two files."""
    return b"".join(audit_log.path_of(folder, month).read_bytes() for month in audit_log.months(folder))


def _fill(audit: Audit) -> None:
    """Make the log long enough for a rate that means something."""
    head = audit.head()
    deadline = time.monotonic() + _FILLING_S
    for number in range(head.seq if head else 0, _LINES):
        if time.monotonic() > deadline:
            break
        audit.append(_entry(number))


def _verify(workspace: Workspace) -> Measure:
    lines = list(audit_log.raw_lines(_content(workspace.audit)))
    report = verify_audit(workspace)
    if not report.sound or report.lines != len(lines):
        raise BenchError(f"the audit that was just written does not verify: {report.faults[:1]}")

    def read_and_hashed() -> None:
        for raw in audit_log.raw_lines(_content(workspace.audit)):
            hashlib.sha256(raw).hexdigest()
            json.loads(raw)

    return compare(
        "verify",
        "us/line",
        subject=timed(lambda: verify_audit(workspace), len(lines)),
        baseline=timed(read_and_hashed, len(lines)),
        rounds=15,
        budget_s=15,
        note=f"{len(lines)} lines, {report.checkpoints} signatures; baseline: sha256 and json.loads of every line",
    )
