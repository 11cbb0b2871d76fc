import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.app import App
from metnos.core.errors import StoreError
from metnos.executors.run import Call
from metnos.law.principal import at_terminal
from metnos.night.notices import LONGEST
from metnos.night.reminders import File, Reminder, ago, news, parse
from tables import try_each

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROME = ZoneInfo("Europe/Rome")


def line(**fields: Any) -> bytes:
    return json.dumps({"id": 1, "text": "tea", "due": "2026-11-15T12:00:00+00:00", "done": False} | fields).encode()


def test_what_the_executor_writes_is_understood(equipped: App) -> None:
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    opened = App.open(equipped.workspace, equipped.clock)
    for text, when in (("tè", "in 2 hours"), ("coffee", "in 30 minutes")):
        call = Call("set_reminders", {"text": text, "when": when}, at_terminal(), Path("/"), "")
        assert opened.runner.run(call).ok
    found = File(opened.workspace.notes).reminders()
    opened.close()
    assert [(each.number, each.text) for each in found] == [(2, "coffee"), (1, "tè")]
    assert found[0].due - NOW == timedelta(minutes=30)


def test_times_are_compared_whatever_their_zone() -> None:
    found = parse(b"\n".join([line(id=1, due="2026-11-15T14:00:00+01:00"), line(id=2, due="2026-11-15T12:30:00Z"),
                              line(id=3, due="2026-11-15T13:15:00")]), ROME)  # fmt: skip
    assert [(each.number, each.due.hour, each.due.minute) for each in found] == [(3, 12, 15), (2, 12, 30), (1, 13, 0)]


@try_each(
    "wrong",
    [b"", b"nonsense", b"[1]", b'{"id": 1}', line(id=0), line(id="1"), line(id=1 << 60), line(id=True), line(text=1),
     line(text=" "), line(text="\ud800"), line(due="soon"), line(due=5), line(due="0001-01-01T00:00:00+14:00"),
     line(done=True), line(done="no"), b"[" * 100_000, b'{"id": 1' + b"0" * 5000 + b"}"],
)  # fmt: skip
def test_what_is_no_reminder_is_passed_over(wrong: bytes) -> None:
    assert parse(wrong + b"\n" + line(id=7)) == (Reminder(7, "tea", NOW),)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(content: bytes) -> None:
    assert all(isinstance(each, Reminder) for each in parse(content))


def test_the_file_is_read_again_when_it_changed(tmp_path: Path) -> None:
    file, path = File(tmp_path), tmp_path / "reminders.jsonl"
    assert file.reminders() == ()
    path.write_bytes(line())
    assert len(file.reminders()) == 1
    assert file.reminders() is file.reminders()
    path.write_bytes(line() + b"\n" + line(id=2))
    assert len(file.reminders()) == 2
    path.unlink()
    assert file.reminders() == ()


def test_what_is_no_plain_file_neither_holds_it_up_nor_leads_it_away(tmp_path: Path) -> None:
    path = tmp_path / "reminders.jsonl"
    os.mkfifo(path)
    with pytest.raises(StoreError, match="no plain file"):
        File(tmp_path).reminders()
    path.unlink()
    (tmp_path / "elsewhere").write_bytes(line())
    path.symlink_to("elsewhere")
    with pytest.raises(StoreError, match="cannot be read"):
        File(tmp_path).reminders()
    path.unlink()
    path.write_bytes(b"\n" * 4_000_001)
    with pytest.raises(StoreError, match="too large"):
        File(tmp_path).reminders()


@pytest.mark.parametrize(
    ("late", "said"),
    [(timedelta(0), ""), (timedelta(minutes=2), ""), (timedelta(minutes=3), " (was due 3 minutes ago)"),
     (timedelta(hours=1, minutes=59), " (was due 1 hour ago)"), (timedelta(days=40), " (was due 40 days ago)")],
)  # fmt: skip
def test_a_late_one_says_so(late: timedelta, said: str) -> None:
    (told,) = news([Reminder(1, "tea", NOW)], NOW + late)
    assert (told.kind, told.text) == ("reminder", f"tea{said}")


def test_a_long_text_is_cut_and_still_says_that_it_is_late() -> None:
    (told,) = news([Reminder(1, "a" * 5000, NOW)], NOW + timedelta(hours=3))
    assert told.text.endswith("a… (was due 3 hours ago)")
    assert len(told.text) == LONGEST


def test_it_is_known_by_number_time_and_words() -> None:
    one = Reminder(1, "tea", NOW)
    others = [Reminder(2, "tea", NOW), Reminder(1, "coffee", NOW), Reminder(1, "tea", NOW + timedelta(seconds=1))]
    assert one.once == Reminder(1, "tea", NOW.astimezone(ROME)).once
    assert len({one.once, *(each.once for each in others)}) == 4


def test_spans_in_words() -> None:
    assert ago(timedelta(seconds=5)) == "a moment"
    assert ago(timedelta(minutes=1)) == "1 minute"
