"""Tables and prose at any width: ids and numbers stay whole, and what has no room is named."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.terminal import Desk, plain
from metnos.cli import output

HEAD = ("id", "from", "to", "weight", "uses", "why")
ROWS = [("8S4MDMRA", "extract_text_pdf", "summarise_text", "0.29", "7", "passed in a turn of last week"),
        ("0M01WB3M", "find_files", "extract_text_pdf", "0.45", "12", "passed")]  # fmt: skip
DROP = ("uses", "why", "weight")


def shown(monkeypatch: pytest.MonkeyPatch, columns: int, *, drop: tuple[str, ...] = DROP) -> list[str]:
    desk = Desk(monkeypatch, columns=columns)
    output.print_table(HEAD, ROWS, drop=drop)
    sys.stdout.flush()
    return [line.rstrip() for line in plain(desk.leave()).splitlines()]


def test_a_wide_terminal_has_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, 140)
    assert lines[0].split() == list(HEAD)
    assert "passed in a turn of last week" in lines[1]
    assert len(lines) == 3


@pytest.mark.parametrize("columns", [44, 50, 60, 70, 80])
def test_a_narrow_one_loses_columns_and_says_which_and_breaks_no_id(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    lines = shown(monkeypatch, columns)
    text = "\n".join(lines)
    for whole in ("8S4MDMRA", "extract_text_pdf", "summarise_text", "find_files"):
        assert whole in text
    assert max(map(len, lines)) <= columns
    missing = [name for name in HEAD if name not in lines[0].split()]
    said = re.search(r"\(no room for: (.*?);", " ".join(lines))
    assert (said.group(1).split(", ") if said else []) == missing
    assert missing == [name for name in HEAD if name in DROP[: len(missing)]], "the least important first"


def test_what_may_not_be_dropped_is_folded_rather_than_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, 30, drop=())
    assert max(map(len, lines)) <= 30
    letters = re.sub(r"\s", "", "".join(lines))
    assert all(letter in letters for letter in "8S4MDMRA")


def test_a_pipe_gets_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(HEAD, ROWS, drop=DROP)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == list(HEAD)
    assert lines[1].endswith("passed in a turn of last week")


@given(
    rows=st.lists(st.lists(st.text("abc ", max_size=40), min_size=4, max_size=4), min_size=1, max_size=5),
    drop=st.lists(st.integers(0, 3), unique=True, max_size=3),
    width=st.integers(1, 200),
)
def test_no_more_is_dropped_than_must_be(rows: list[list[str]], drop: list[int], width: int) -> None:
    kept = output.fitting(rows, drop, width)
    gone = [place for place in range(4) if place not in kept]
    assert sorted(gone) == sorted(drop[: len(gone)])
    if gone:
        before = sorted({*kept, drop[len(gone) - 1]})
        assert output._least(rows, before) > width


def test_prose_is_broken_between_words_and_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch, columns=40)
    output.say("one two three four five six seven eight nine ten eleven", 2, further=3)
    output.note("one two three four five six seven eight nine ten")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    lines = plain(desk.leave()).splitlines()
    assert max(map(len, lines)) <= 40
    assert (lines[0][:2], lines[1][:5]) == ("  ", "     ")
    assert " ".join(" ".join(lines).split()).startswith("one two three four five six seven eight nine ten eleven note:")


def test_ids_are_short_on_a_terminal_and_whole_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "01KZ600KM0Y8NDATC38S4MDMRA"
    assert output.short(key) == key
    desk = Desk(monkeypatch)
    found = output.short(key)
    desk.leave()
    assert found == "8S4MDMRA"
