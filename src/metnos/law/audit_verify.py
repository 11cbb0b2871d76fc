"""Proving the audit: every line as it was written, in its place, signed where it should be, and none missing.

Pure but for reading the files: `verify` takes a folder as someone looked at it and names each fault and where it
stands. A tail that a killed process left is no fault: whole lines that follow are counted, half a line is mentioned as
a note.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from metnos.core import sign
from metnos.law import audit_log
from metnos.law.audit import PURPOSE
from metnos.law.audit_line import (
    CHECKPOINT,
    DAMAGED,
    GENESIS,
    HEAD_REBUILT,
    KEY_INSTALLED,
    AuditLine,
    checkpoint_message,
)
from metnos.law.audit_line import parse as parse_line
from metnos.law.audit_log import Head, Look, Place
from metnos.law.witness import HEAD_PURPOSE


class Wrong(StrEnum):
    """What can be wrong with a line."""

    CHANGED = "changed"
    REMOVED = "removed"
    REORDERED = "reordered"
    TRUNCATED = "truncated"
    FOREIGN = "foreign"
    UNSIGNED = "unsigned"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong, and the lines it concerns."""

    wrong: Wrong
    place: str
    seq: int
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """What verifying found. ``notes`` are worth knowing and not wrong."""

    lines: int
    files: int
    checkpoints: int
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True)
class _Found:
    """A line as it lies in a file: what it says, or nothing if it is not as it was written."""

    place: Place
    line: AuditLine | None
    seq: int  # its own number, or for a broken line the number that its place suggests


def verify(folder: Path, look: Look, public_key: str) -> Report:
    """Check the whole log in ``folder``, as far as ``look`` saw it, against the store and the agent's public key."""
    limit = look.head
    tail_notes: list[str] = []
    if look.tail and look.tail.torn:
        tail_notes.append(
            f"half a line of {look.tail.torn} bytes stands at the end: a writer was killed; it is cut off"
        )
    if look.tail and look.tail.lines:
        last = look.tail.lines[-1]
        tail_notes.append(f"the store does not know of the last {len(look.tail.lines)} yet: a writer was killed")
        limit = Head(last.seq, last.hash, last.month, look.tail.size)
    found = list(_read(folder, look.sizes))
    good = [each for each in found if each.line is not None]
    faults = [
        *_broken(found),
        *_order(good),
        *_chain(good),
        *_missing(found, limit),
        *_against_head(good, limit),
        *_signatures(good, public_key),
        *_head_signature(look.remembered, public_key),
    ]
    return Report(
        lines=len(found),
        files=len(look.sizes),
        checkpoints=sum(each.line.kind == CHECKPOINT for each in good if each.line),
        faults=tuple(sorted(faults, key=lambda fault: (fault.seq, fault.wrong))),
        notes=(*tail_notes, *_notes(good)),
    )


def _read(folder: Path, sizes: Mapping[str, int]) -> Iterator[_Found]:
    expected = 1
    for month in sorted(sizes):
        path = audit_log.path_of(folder, month)
        with path.open("rb") as file:
            content = file.read(sizes[month])
        for number, raw in enumerate(audit_log.raw_lines(content), start=1):
            line = parse_line(raw, month)
            seq = line.seq if line else expected
            yield _Found(Place(path.name, number), line, seq)
            expected = seq + 1


def _broken(found: Iterable[_Found]) -> Iterator[Fault]:
    for each in found:
        if each.line is None:
            yield Fault(Wrong.CHANGED, str(each.place), each.seq, "this line is not as it was written")


def _order(good: Sequence[_Found]) -> Iterator[Fault]:
    seen: set[int] = set()
    highest = 0
    for each in good:
        if each.seq in seen:
            yield Fault(Wrong.FOREIGN, str(each.place), each.seq, f"line {each.seq} stands here a second time")
        elif each.seq < highest:
            yield Fault(Wrong.REORDERED, str(each.place), each.seq, f"line {each.seq} stands behind line {highest}")
        seen.add(each.seq)
        highest = max(highest, each.seq)


def _chain(good: Sequence[_Found]) -> Iterator[Fault]:
    """Each line names the hash of the one before: a line rewritten with a hash of its own shows here."""
    hashes = {0: GENESIS} | {each.seq: each.line.hash for each in good if each.line}
    for each in good:
        before = hashes.get(each.seq - 1)
        if each.line and before is not None and each.line.prev != before:
            detail = f"line {each.seq} does not follow from line {each.seq - 1}: one of the two was rewritten"
            yield Fault(Wrong.CHANGED, str(each.place), each.seq, detail)


def _missing(found: Sequence[_Found], head: Head | None) -> Iterator[Fault]:
    before = 0
    for each in sorted(found, key=lambda each: each.seq):
        if each.seq > before + 1:
            yield Fault(
                Wrong.REMOVED, f"before {each.place}", before + 1, f"{_lines(before + 1, each.seq - 1)} missing"
            )
        before = each.seq
    if head is not None and before < head.seq:
        file = audit_log.path_of(Path(), head.month).name
        detail = f"{_lines(before + 1, head.seq)} missing from the end; the store remembers {head.seq} lines"
        yield Fault(Wrong.TRUNCATED, f"end of {file}", before + 1, detail)
    elif head is None and not found:
        yield Fault(
            Wrong.TRUNCATED, "the whole log", 1, "there is no line at all, and founding a workspace writes some"
        )


def _against_head(good: Sequence[_Found], head: Head | None) -> Iterator[Fault]:
    if head is None:
        if good:
            yield Fault(
                Wrong.FOREIGN, str(good[0].place), good[0].seq, "the store remembers no line, yet here are some"
            )
        return
    for each in good:
        if each.seq == head.seq and each.line and each.line.hash != head.hash:
            yield Fault(Wrong.CHANGED, str(each.place), each.seq, "this is not the line that the store remembers")
        elif each.seq > head.seq:
            yield Fault(Wrong.FOREIGN, str(each.place), each.seq, "nobody who keeps the chain wrote this line")


def _signatures(good: Sequence[_Found], public_key: str) -> Iterator[Fault]:
    """A checkpoint is signed by the key that was the agent's at the time, and the last such key is today's."""
    key = ""
    for each in good:
        line = each.line
        if line is None:
            continue
        if line.kind == KEY_INSTALLED:
            key = line.entry.names.get("public_key", "")
        if line.kind == CHECKPOINT and not sign.verify(
            key, PURPOSE, checkpoint_message(line.seq, line.prev), line.signature
        ):
            yield Fault(Wrong.UNSIGNED, str(each.place), each.seq, "the checkpoint's signature is not the agent's")
    if good and key != public_key:
        last = good[-1]
        yield Fault(Wrong.UNSIGNED, str(last.place), last.seq, "the agent's key is not the one that the audit knows")


def _head_signature(head: Head | None, public_key: str) -> Iterator[Fault]:
    """The store's memory of the log is signed too: whoever rewrites both still needs the agent's key."""
    if head is not None and not sign.verify(public_key, HEAD_PURPOSE, head.message(), head.signature):
        yield Fault(Wrong.UNSIGNED, ".law/audit.db", head.seq, "what the store remembers of the log is not signed")


def _notes(good: Sequence[_Found]) -> Iterator[str]:
    for each in good:
        if each.line and each.line.kind == HEAD_REBUILT:
            yield f"line {each.seq}: the store's memory of the log was lost and made again; a lost tail would not show"
        if each.line and each.line.kind == DAMAGED:
            yield f"line {each.seq}: damage before this line was noticed at {each.line.ts}"


def _lines(first: int, last: int) -> str:
    return f"line {first} is" if first == last else f"lines {first} to {last} are"
