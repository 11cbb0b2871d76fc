"""Tampering: whatever is done to the log, `verify` finds it and names it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos import app
from metnos.core import sign
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import MovableClock
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import audit_log, founding
from metnos.law.audit import MIGRATIONS, PURPOSE
from metnos.law.audit_line import CHECKPOINT, GENESIS, AuditLine, Entry, checkpoint_message, parse
from metnos.law.audit_log import look
from metnos.law.audit_verify import Report, Wrong, verify
from metnos.store.db import Database
from suite import Repeat

STRIDE = 11


@pytest.fixture
def log(workspace: Workspace, clock: MovableClock) -> Workspace:
    """Two months, nineteen lines, signed checkpoints among them."""
    audit = founding.take_seat(workspace, Settings(audit={"checkpoint_every": 6}), clock).audit
    for number in range(6):
        audit.append(Entry("some act", {"name": f"act-{number}"}, {"thing": "ab" * 32}, {"n": number}))
    clock.move(timedelta(days=30))
    for number in range(6):
        audit.append(Entry("other act", {"name": f"act-{number}"}))
    audit.close()
    assert app.verify_audit(workspace).sound
    return workspace


def check(workspace: Workspace) -> Report:
    return app.verify_audit(workspace)


def november(workspace: Workspace) -> Path:
    return audit_log.path_of(workspace.audit, "2026-11")


def december(workspace: Workspace) -> Path:
    return audit_log.path_of(workspace.audit, "2026-12")


def split(path: Path) -> list[bytes]:
    return list(audit_log.raw_lines(path.read_bytes()))


def join(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(lines))


def faults(workspace: Workspace) -> list[tuple[Wrong, str]]:
    return [(fault.wrong, fault.place) for fault in check(workspace).faults]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "change"),
    [
        pytest.param(0, lambda raw, at: raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :], id="lowest bit"),
        pytest.param(1, lambda raw, at: raw[:at] + bytes([raw[at] ^ 0x20]) + raw[at + 1 :], id="letter case"),
        pytest.param(2, lambda raw, at: raw[:at] + raw[at + 1 :], id="removed"),
        pytest.param(3, lambda raw, at: raw[:at] + raw[at : at + 1] + raw[at:], id="doubled"),
        pytest.param(4, lambda raw, at: raw[:at] + b" " + raw[at:], id="space put in"),
        pytest.param(5, lambda raw, at: raw[:at] + b"\n" + raw[at:], id="line break put in"),
    ],
)
@pytest.mark.repeated
def test_every_byte_of_every_line_counts(
    workspace: Workspace, clock: MovableClock, first: int, change: Callable[[bytes, int], bytes], repeat: Repeat
) -> None:
    """Each change at every eleventh byte, each beginning at another one, and with `--soak` at all of them."""
    opened = app.App.open(workspace, clock)
    clock.move(timedelta(days=30))
    opened.audit.append(Entry("some act", {"name": "act"}, {"thing": "ab" * 32}, {"n": 1}))
    head, key = opened.audit.head(), opened.seat.signer.public
    assert [line.kind for line in opened.audit.newest()][:2] == [CHECKPOINT, "some act"]
    offsets = [first + turn for turn in repeat("elevenths of a log, changed byte by byte", suite=1, soak=STRIDE)]
    for path in (november(workspace), december(workspace)):
        whole = path.read_bytes()
        for at in (at for offset in offsets for at in range(offset % STRIDE, len(whole), STRIDE)):
            path.write_bytes(change(whole, at))
            assert not verify(workspace.audit, look(workspace.audit, head), key).sound, f"byte {at} of {path.name}"
        path.write_bytes(whole)
    assert verify(workspace.audit, look(workspace.audit, head), key).sound


def test_a_changed_line_is_named(log: Workspace) -> None:
    lines = split(november(log))
    assert b"act-0" in lines[4]
    lines[4] = lines[4].replace(b"act-0", b"act-9")
    join(november(log), lines)
    assert faults(log) == [(Wrong.CHANGED, "2026-11.jsonl:5")]


def test_a_removed_line_is_named(log: Workspace) -> None:
    lines = split(november(log))
    del lines[4]
    join(november(log), lines)
    report = check(log)
    assert [(fault.wrong, fault.seq) for fault in report.faults] == [(Wrong.REMOVED, 5)]
    assert report.faults[0].place == "before 2026-11.jsonl:5"
    assert "line 5 is missing" in report.faults[0].detail


def test_several_removed_lines_are_one_fault(log: Workspace) -> None:
    lines = split(november(log))
    del lines[2:5]
    join(november(log), lines)
    (fault,) = check(log).faults
    assert (fault.wrong, fault.detail) == (Wrong.REMOVED, "lines 3 to 5 are missing")


def test_lines_in_another_order_are_named(log: Workspace) -> None:
    lines = split(november(log))
    lines[3], lines[4] = lines[4], lines[3]
    join(november(log), lines)
    assert faults(log) == [(Wrong.REORDERED, "2026-11.jsonl:5")]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_lost_tail_is_named(log: Workspace, count: int) -> None:
    lines = split(december(log))
    join(december(log), lines[:-count])
    (fault,) = check(log).faults
    assert fault.wrong is Wrong.TRUNCATED
    assert "missing from the end" in fault.detail


def test_a_lost_file_is_named(log: Workspace) -> None:
    december(log).unlink()
    assert faults(log)[0][0] is Wrong.TRUNCATED


def test_a_lost_older_file_is_named(log: Workspace) -> None:
    november(log).unlink()
    assert (Wrong.REMOVED, "before 2026-12.jsonl:1") in faults(log)


def test_a_doubled_line_is_named(log: Workspace) -> None:
    lines = split(november(log))
    join(november(log), [*lines[:5], lines[4], *lines[5:]])
    assert (Wrong.FOREIGN, "2026-11.jsonl:6") in faults(log)


def test_a_line_moved_to_another_month_is_named(log: Workspace) -> None:
    first, second = split(november(log)), split(december(log))
    join(november(log), first[:-1])
    join(december(log), [first[-1], *second])
    assert not check(log).sound


def rewritten(line: AuditLine, prev: str, kind: str | None = None) -> AuditLine:
    entry = Entry(kind or line.kind, line.entry.names, line.entry.digests, line.entry.counts)
    return AuditLine(line.seq, line.ts, entry, prev, line.month, line.signature)


def test_a_line_rewritten_with_a_hash_of_its_own_is_found(log: Workspace) -> None:
    lines = split(november(log))
    original = parse(lines[4], "2026-11")
    assert original is not None
    lines[4] = rewritten(original, original.prev, "forged act").encode()
    join(november(log), lines)
    assert (Wrong.CHANGED, "2026-11.jsonl:6") in faults(log)


def test_a_log_rewritten_from_one_line_on_is_found_without_the_key(log: Workspace) -> None:
    """The forger recomputes every hash but cannot sign the checkpoints, nor reach the head in the store."""
    prev = GENESIS
    for path in (november(log), december(log)):
        forged: list[AuditLine] = []
        for line in (parse(raw, path.stem) for raw in split(path)):
            assert line is not None
            forged.append(rewritten(line, prev, "forged act" if line.seq == 5 else None))
            prev = forged[-1].hash
        join(path, [line.encode() for line in forged])
    found = faults(log)
    assert (Wrong.UNSIGNED, "2026-11.jsonl:6") in found
    assert any(wrong is Wrong.CHANGED for wrong, _ in found), "the head in the store is another"


def test_a_checkpoint_signed_with_another_key_is_found(log: Workspace, tmp_path: Path) -> None:
    sign.make_keys(tmp_path / "other.key", tmp_path / "other.pub")
    stranger = sign.load_signer(tmp_path / "other.key")
    lines = split(november(log))
    checkpoint = parse(lines[5], "2026-11")
    assert checkpoint is not None
    assert checkpoint.kind == CHECKPOINT
    signature = stranger.sign(PURPOSE, checkpoint_message(checkpoint.seq, checkpoint.prev))
    forged = AuditLine(checkpoint.seq, checkpoint.ts, checkpoint.entry, checkpoint.prev, "2026-11", signature)
    join(november(log), [*lines[:5], forged.encode(), *lines[6:]])
    assert (Wrong.UNSIGNED, "2026-11.jsonl:6") in faults(log)


def test_another_key_than_the_recorded_one_is_found(log: Workspace) -> None:
    log.public_key.write_text("00" * 32)
    details = [fault.detail for fault in check(log).faults]
    assert details == [
        "the agent's key is not the one that the audit knows",
        "what the store remembers of the log is not signed",
    ]


def test_lines_without_any_memory_of_them_are_found(log: Workspace) -> None:
    report = verify(log.audit, look(log.audit, None), log.public_key.read_text().strip())
    assert [fault.wrong for fault in report.faults] == [Wrong.FOREIGN]


def test_a_log_that_is_gone_with_the_memory_of_it_is_found(log: Workspace) -> None:
    for path in [*log.audit.iterdir(), *log.law.glob("audit.db*")]:
        path.unlink()
    (fault,) = check(log).faults
    assert (fault.wrong, fault.place) == (Wrong.TRUNCATED, "the whole log")


def test_a_log_rewritten_together_with_the_memory_of_it_is_found(log: Workspace) -> None:
    """Without the agent's key a forger cannot sign the head: dropping acts and checkpoints alike does not help."""
    lines = [parse(raw, path.stem) for path in (november(log), december(log)) for raw in split(path)]
    kept = [line for line in lines if line and line.kind not in (CHECKPOINT, "some act", "other act")]
    prev, forged = GENESIS, []
    for seq, line in enumerate(kept, start=1):
        forged.append(AuditLine(seq, line.ts, line.entry, prev, "2026-11"))
        prev = forged[-1].hash
    join(november(log), [line.encode() for line in forged])
    december(log).unlink()
    database = Database(log.audit_db, MIGRATIONS)
    with database.write() as tx:
        size = november(log).stat().st_size
        tx.execute("UPDATE audit_head SET seq = ?, hash = ?, month = '2026-11', size = ?", (len(forged), prev, size))
    database.close()
    assert faults(log) == [(Wrong.UNSIGNED, ".law/audit.db")]


def resigned(workspace: Workspace, **changes: object) -> bytes:
    """A line of November with some fields of the wrong kind, chained by a hash of its own."""
    original = parse(split(november(workspace))[4], "2026-11")
    assert original is not None
    data = {**original.as_dict(), **changes}
    data.pop("hash")
    data["hash"] = sha256_hex(b"2026-11\n" + canonical_json(data))
    return canonical_json(data) + b"\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"seq": "abc"}, {"seq": [1]}, {"seq": True}, {"seq": 0}, {"seq": 10**30}, {"seq": 5.0}, {"ts": "\x1b[31mnever"},
        {"ts": 3}, {"prev": "x"}, {"prev": None}, {"signature": 5}, {"signature": "zz"}, {"kind": 3}, {"names": []},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_the_wrong_shape_is_found_and_breaks_nothing(log: Workspace, changes: dict[str, object]) -> None:
    lines = split(november(log))
    lines[4] = resigned(log, **changes)
    join(november(log), lines)
    assert (Wrong.CHANGED, "2026-11.jsonl:5") in faults(log)


def test_a_number_far_away_takes_no_time(log: Workspace) -> None:
    lines = split(november(log))
    lines[4] = resigned(log, seq=10**15)
    join(november(log), lines)
    assert Wrong.REMOVED in {wrong for wrong, _ in faults(log)}


@given(data=st.data())
def test_no_random_edit_goes_unnoticed(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, content, head, key = _sample(tmp_path_factory)
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 400)))
    edited = content[:start] + data.draw(st.binary(max_size=50)) + content[end:]
    audit_log.path_of(folder, "2026-11").write_bytes(edited)
    report = verify(folder, look(folder, head), key)
    # Half a line behind the head is what a killed writer leaves, and no edit of what was acknowledged.
    untouched = edited.startswith(content) and b"\n" not in edited[len(content) :]
    assert report.sound == untouched


_SAMPLES: list[tuple[Path, bytes, audit_log.Head, str]] = []


def _sample(factory: pytest.TempPathFactory) -> tuple[Path, bytes, audit_log.Head, str]:
    """One log for all examples of the property above: making one costs more than checking it."""
    if not _SAMPLES:
        workspace = Workspace(factory.mktemp("sample") / "workspace")
        founding.found(workspace, Settings(), clock := MovableClock(datetime(2026, 11, 15, tzinfo=UTC)))
        opened = app.App.open(workspace, clock)
        for _ in range(6):
            opened.audit.append(Entry("some act"))
        head = opened.audit.head()
        assert head is not None
        content = audit_log.path_of(workspace.audit, "2026-11").read_bytes()
        _SAMPLES.append((workspace.audit, content, head, opened.seat.signer.public))
    return _SAMPLES[0]
