"""What a child says takes no more room than twice the greatest message, whatever it is made of."""

import json
import socket
import struct
import sys
import threading
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox import message_json
from metnos.sandbox.channel import Channel, TooMuch

MOST = 1 << 19


def filled(start: str, piece: str, end: str = "]}", size: int = MOST) -> bytes:
    """One message of that size, made of many of the same piece."""
    count = (size - len(start) - len(end) - 20) // len(piece)
    return (start + piece * count + end).encode()


LISTS = '{"op":"x","n":['
TEXT = '{"op":"x","n":"'
SHAPES = {
    "lists": filled(LISTS, "[],", "0]}"),
    "tables": filled(LISTS, "{},", "0]}"),
    "tables of one": filled(LISTS, '{"a":0},', "0]}"),
    "lists of one": filled(LISTS, "[[0]],", "0]}"),
    "strings": filled(LISTS, '"",', '""]}'),
    "letters": filled(LISTS, '"ab",', '""]}'),
    "numbers": filled(LISTS, "1000,", "0]}"),
    "fractions": filled(LISTS, ".1,".replace(".1", "0.1"), "0]}"),
    "names": ('{"op":"x"' + "".join(f',"{each:06}":0' for each in range(MOST // 12)) + "}").encode(),
    "one wide letter": filled(TEXT + "\\u2019", "a", '"}'),
    "one letter beyond": filled(TEXT + "\\ud83d\\ude00", "a", '"}'),
    "backslashes that escape nothing": filled(TEXT + "\\ud83d\\ude00", "\\\\u1234", '"}'),
    "raw letters": filled(TEXT + "\U0001f600", "é", '"}', MOST // 2),
    "a name of many escapes": filled('{"op":"x","', "\\n", '":0}'),
    "wide pieces": filled(TEXT + "\\ud83d\\ude00", "aaaaaaaaaaaa\\n", '"}'),
    "a string without end": filled(TEXT, "[", ""),
    "deep": filled('{"op":"x","n":', "[", ""),
    "no message": filled("", "{[,:", ""),
}
FINE = {
    "one long text": filled(TEXT, "a, b: [c] {d} ", '"}'),
    "a text of many escapes": filled(TEXT, "\\u4e2d", '"}'),
    "line ends": filled(TEXT, "\\n", '"}'),
    "half a megabyte of a page": filled(TEXT, '<a href=\\"/x\\">perch\\u00e9</a>\\n', '"}', MOST // 2),
    "small letters with accents": filled(TEXT, "\\u00e8 ", '"}'),
    "a thousand rows": json.dumps(
        {"op": "result", "entries": [{f"column {n}": f"value {n}" for n in range(20)} for _ in range(200)]}
    ).encode(),
    "many paths": json.dumps({"op": "call", "args": {"paths": [f"/home/a/b/c/{n}.txt" for n in range(2500)]}}).encode(),
}


def heard(body: bytes) -> tuple[dict[str, Any] | None, int]:
    """The message, or nothing if it was refused, and the most memory that was in use meanwhile."""
    ours, theirs = socket.socketpair()
    with theirs:
        channel = Channel(ours.detach(), theirs.fileno(), 1)
        saying = threading.Thread(target=theirs.sendall, args=(struct.pack("!I", len(body)) + body,))
        saying.start()
        tracemalloc.start()
        try:
            message: dict[str, Any] | None = channel.receive(time.monotonic() + 60, MOST)[0]
        except TooMuch:
            message = None
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            channel._socket.close()
        saying.join()
    return message, peak


@pytest.mark.parametrize("shape", [*SHAPES, *FINE])
def test_no_message_takes_more_than_twice_the_greatest(shape: str) -> None:
    body = {**SHAPES, **FINE}[shape]
    assert len(body) <= MOST
    message, peak = heard(body)
    assert peak <= 2 * MOST + 300_000
    assert (message is not None) == (shape in FINE)
    if message is not None:
        assert message == json.loads(body)


def size_of(value: Any) -> int:
    """What a decoded value takes, with the room that allocating it costs."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return sys.getsizeof(value) + sum(map(size_of, inner))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=40,
)


@given(VALUES, st.booleans())
def test_what_is_judged_is_never_less_than_what_it_takes(value: Any, spaced: bool) -> None:
    body = json.dumps({"op": value}, separators=None if spaced else (",", ":")).encode()
    taken = size_of(json.loads(body))
    assert message_json.judge(body, 1 << 30)[0] >= taken
    assert message_json._look(body, 1 << 30)[0] >= taken


@given(st.text(alphabet='\\u0"12d8é😀aA{[,:', max_size=60))
def test_a_string_of_anything_is_not_judged_too_small(text: str) -> None:
    body = json.dumps({"op": [text, text + "\u2019", "{" + text]}).encode()
    taken = size_of(json.loads(body))
    assert message_json.judge(body, 1 << 30)[0] >= taken
    assert message_json._look(body, 1 << 30)[0] >= taken


@given(VALUES, st.text(alphabet='\\u"/\nd8e0é😀\ud83d\ude00a', max_size=40))
def test_a_text_of_many_escapes_says_the_same_in_pieces(value: Any, text: str) -> None:
    message = {"op": value, "text": text * 300, "more": [text]}
    body = json.dumps(message)
    assert message_json._SPLICING.decode(body) == json.loads(body)


@given(st.text(alphabet='\\u"/d8e0xN \n', max_size=30))
def test_what_is_no_string_is_none_in_pieces_either(text: str) -> None:
    def read(decoder: json.JSONDecoder) -> Any:
        try:
            return decoder.decode(f'"{text}"')
        except ValueError:
            return ValueError

    assert read(message_json._SPLICING) == read(message_json._FAST)
