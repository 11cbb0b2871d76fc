from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from metnos.law import audit_log


@given(st.binary(max_size=300))
def test_lines_together_are_the_file(content: bytes) -> None:
    lines = list(audit_log.raw_lines(content))
    assert b"".join(lines) == content
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines[:-1])


def test_only_months_are_files_of_the_audit(tmp_path: Path) -> None:
    for name in ("2026-11.jsonl", "2026-01.jsonl", "2026-13.jsonl", "notes.txt", "2026-11.jsonl.bak"):
        (tmp_path / name).touch()
    assert audit_log.months(tmp_path) == ["2026-01", "2026-11"]
    assert audit_log.months(tmp_path / "missing") == []
