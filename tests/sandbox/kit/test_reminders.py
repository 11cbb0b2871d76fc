import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import reminders
from sandbox.kit.kit_context import Failure, context


def test_there_may_be_none(tmp_path: Path) -> None:
    assert reminders.read(context(tmp_path)) == b""
    assert reminders.last_deleted(context(tmp_path)) == 0


def test_what_cannot_be_read_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ctx = context(tmp_path)
    reminders.file_of(ctx).mkdir(parents=True)
    with pytest.raises(Failure, match="cannot be opened"):
        reminders.read(ctx)
    reminders.file_of(ctx).rmdir()
    reminders.file_of(ctx).write_text("{}\n")
    monkeypatch.setattr(reminders, "MOST_BYTES", 2)
    with pytest.raises(Failure, match="delete some"):
        reminders.read(ctx, "delete some")


@pytest.mark.parametrize(
    ("content", "number"),
    [(b"7\n", 7), (b"", 0), (b"x", 0), (b"-3", 0), (b"9" * 30, 0), (b"9007199254740993", 0), ("٣".encode(), 0)],
)
def test_the_greatest_number_that_was_deleted(tmp_path: Path, content: bytes, number: int) -> None:
    ctx = context(tmp_path)
    reminders.last_file_of(ctx).parent.mkdir()
    reminders.last_file_of(ctx).write_bytes(content)
    assert reminders.last_deleted(ctx) == number


LINES = st.one_of(
    st.integers(-3, 1 << 60).map(lambda number: json.dumps({"id": number}).encode()),
    st.sampled_from([b"broken", b"[1]", b'{"id": "x"}', b'{"id": true}', b"", b"\xff", b"[" * 5000]),
)


@given(st.lists(LINES))
def test_the_greatest_number_counts_only_reminders(lines: list[bytes]) -> None:
    greatest = reminders.greatest(b"\n".join(lines))
    numbers = [found["id"] for line in lines if (found := reminders.understood(line))]
    possible = [number for number in numbers if 0 < number < reminders.MOST_NUMBER]
    assert greatest == max(possible, default=0)


def test_half_a_character_is_no_text() -> None:
    assert reminders.is_text("è")
    assert not reminders.is_text("\ud800")
    assert not reminders.is_text(3)
