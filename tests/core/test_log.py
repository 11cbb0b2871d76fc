"""Lines of a log: one each, bounded, and readable by programs."""

import json
import logging
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from metnos.core.clock import MovableClock
from metnos.core.log import Bounded, Log, as_json, as_text, hear_libraries

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
FIELDS = st.dictionaries(
    st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True),
    st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats()),
    max_size=4,
)


@given(st.text(), FIELDS)
def test_whatever_is_logged_is_one_line_and_json_is_json(event: str, fields: dict[str, object]) -> None:
    for form in ("text", "json"):
        lines: list[str] = []
        Log(lines.append, form, MovableClock(NOW))(event, **fields)  # type: ignore[arg-type]
        (line,) = lines
        assert len(line.splitlines()) == 1
        line.encode()
        if form == "json":
            read = json.loads(line)
            assert read["ts"] == "2026-11-15T12:00:00.000Z"
            assert isinstance(read["event"], str)


def test_a_line_says_what_happened_and_its_fields() -> None:
    said = as_text(NOW, "turn ended", {"turn": "01X", "ms": 12, "ok": True, "why": "two words", "usd": 0.25})
    assert said.endswith('turn ended turn=01X ms=12 ok=true why="two words" usd=0.25')
    assert json.loads(as_json(NOW, "turn ended", {"ms": 12, "ok": True, "ts": "forged", "event": "forged"})) == {
        "ts": "2026-11-15T12:00:00.000Z",
        "event": "turn ended",
        "ms": 12,
        "ok": True,
    }


def test_what_is_nothing_is_left_out_and_what_is_long_is_cut() -> None:
    lines: list[str] = []
    Log(lines.append, "json", MovableClock(NOW))("x" * 1000, a=None, b="y" * 1000, c=float("nan"))
    read = json.loads(lines[0])
    assert (len(read["event"]), len(read["b"]), "a" in read, "c" in read) == (500, 200, False, False)


def test_a_log_that_cannot_be_written_ends_nothing() -> None:
    def full(_: str) -> None:
        raise OSError("no space left")

    Log(full)("still here")


class TestWhatStrangersCause:
    def test_so_many_lines_a_minute_and_then_how_many_were_left_out(self) -> None:
        lines: list[str] = []
        now = [0.0]
        log = Bounded(lines.append, most=3, now=lambda: now[0])
        for number in range(10):
            log(f"line {number}")
        assert lines == ["line 0", "line 1", "line 2"]
        now[0] = 60.0
        log("line 10")
        assert lines[3:] == ["7 more lines of this kind were left out", "line 10"]
        now[0] = 600.0
        log("line 11")
        assert lines[5:] == ["line 11"]

    def test_what_a_library_says_is_one_line_without_its_traceback(self) -> None:
        lines: list[str] = []
        hear_libraries(["some.library"], Bounded(Log(lines.append)))
        said = logging.getLogger("some.library.part")
        said.warning("sent %s", "\x1b[2J\nsecond line " + "x" * 9000)
        said.warning("%d", "no number")
        said.info("nothing to see")
        try:
            raise ValueError("the content of somebody's file")
        except ValueError:
            said.exception("it failed")
        assert len(lines) == 3
        assert "\x1b" not in lines[0]
        assert max(map(len, lines)) < 600
        assert lines[2].endswith("some.library.part: it failed (ValueError)")
