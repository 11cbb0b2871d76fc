import operator
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import AuditError
from metnos.law.audit_line import GENESIS, AuditLine, Entry, parse
from tables import try_each

SMALL, LETTERS = string.ascii_lowercase, string.ascii_letters + string.digits


def words(first: str, rest: str, most: int) -> st.SearchStrategy[str]:
    """A letter of the first kind and some of the second; a regular expression takes ten times as long to try."""
    return st.builds(operator.add, st.sampled_from(first), st.text(rest, max_size=most))


fields = words(SMALL, SMALL + string.digits + "_", 8)
names = st.dictionaries(fields, words(LETTERS, LETTERS + "_.:@+-", 20))
counts = st.dictionaries(fields, st.integers(-(2**53), 2**53))
lines = st.builds(
    AuditLine,
    st.integers(1, 10**9),
    st.just("2026-11-15T12:00:00.000Z"),
    st.builds(Entry, st.just("some act"), names, st.just({"thing": GENESIS}), counts),
    st.just(GENESIS),
    st.just("2026-11"),
    st.sampled_from(["", "ab" * 64]),
)


@given(lines)
def test_what_was_written_is_what_is_read(line: AuditLine) -> None:
    assert parse(line.encode(), "2026-11") == line


@given(lines, st.integers(0, 10_000), st.integers(1, 255))
def test_no_byte_can_change(line: AuditLine, at: int, flip: int) -> None:
    raw = bytearray(line.encode())
    raw[at % len(raw)] ^= flip
    assert parse(bytes(raw), "2026-11") is None


@given(lines)
def test_a_line_belongs_to_its_month(line: AuditLine) -> None:
    assert parse(line.encode(), "2026-12") is None


@given(st.binary(max_size=200))
def test_nonsense_is_no_line_and_raises_nothing(raw: bytes) -> None:
    assert parse(raw, "2026-11") is None


@pytest.mark.parametrize(
    "raw",
    [b"[]\n", b"null\n", b"{}\n", b'{"seq":1}\n', b"[" * 100_000 + b"\n", b'{"kind":"a","names":[],"digests":{}}\n'],
)
def test_other_json_is_no_line(raw: bytes) -> None:
    assert parse(raw, "2026-11") is None


@try_each(
    "entry",
    [
        {"kind": "Dear diary"},
        {"kind": "one two three four five"},
        {"kind": ""},
        {"kind": "act", "names": {"file": "/home/owner/letter to my doctor.txt"}},
        {"kind": "act", "names": {"text": "two words"}},
        {"kind": "act", "names": {"text": "line\nbreak"}},
        {"kind": "act", "names": {"text": "x" * 200}},
        {"kind": "act", "names": {"text": ""}},
        {"kind": "act", "names": {"Some Field": "x"}},
        {"kind": "act", "names": {"text": 3}},
        {"kind": "act", "digests": {"value": "hunter2"}},
        {"kind": "act", "digests": {"value": "AB" * 32}},
        {"kind": "act", "counts": {"n": 1.5}},
        {"kind": "act", "counts": {"n": True}},
        {"kind": "act", "counts": {"n": 2**60}},
    ],
)
def test_content_is_refused_by_its_shape(entry: dict[str, object]) -> None:
    with pytest.raises(AuditError):
        Entry(**entry)  # type: ignore[arg-type]
