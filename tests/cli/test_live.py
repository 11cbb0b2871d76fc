"""The line that changes while something goes on."""

import io
import sys
import threading
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.terminal import Desk
from metnos.cli.live import Live, can_erase, clip, columns, lasted


def cells(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@given(st.text(), st.integers(-2, 60))
def test_a_clipped_line_fits_and_says_that_it_is_cut(text: str, width: int) -> None:
    found = clip(text, width)
    assert cells(found) <= max(width, 0)
    assert found == text or not found or (found.endswith("…") and text.startswith(found[:-1]))


@given(st.text(max_size=40))
def test_what_fits_stays_as_it_is(text: str) -> None:
    assert clip(text, cells(text)) == text


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0, "0 ms"), (34.4, "34 ms"), (1000, "1.0 s"), (2550, "2.5 s"), (60_000, "1 min"), (200_000, "3 min 20 s")],
)
def test_how_long_something_lasted(milliseconds: float, words: str) -> None:
    assert lasted(milliseconds) == words


def test_nothing_moves_in_a_pipe() -> None:
    stream = io.StringIO()
    assert not can_erase(stream)


def test_on_a_terminal_it_is_drawn_within_the_width_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch, columns=40)
    live = Live()
    began = time.monotonic()
    live.start("x" * 200)
    while desk.shown.count("x…") < 2:
        assert time.monotonic() < began + 60
        time.sleep(0.01)
    least = (time.monotonic() - began) * 1000
    took = live.stop()
    seen = desk.leave()
    frames = [frame for frame in seen.split("\r\x1b[K") if frame]
    assert took >= least - 1
    assert len(frames) >= 2
    assert all("x…" in frame and cells(frame) < 40 for frame in frames)
    assert seen.endswith("\r\x1b[K")


def test_what_is_quick_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    live = Live()
    for _ in range(20):
        live.start("quick")
        live.stop()
    assert desk.leave() == ""


def test_an_interrupt_while_it_begins_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    live = Live()

    def interrupted(_: threading.Thread) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            live.start("never")
    live.stop()
    assert desk.leave() == ""


def test_the_width_is_the_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for width, found in ((33, 33), (0, 80)):
        desk = Desk(monkeypatch, columns=width)
        assert columns(sys.stderr) == found
        desk.leave()
