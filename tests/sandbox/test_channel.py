"""The outside's end of a channel against a peer that sends whatever it likes."""

import array
import contextlib
import json
import marshal
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metnos.core.errors import SandboxError
from metnos.sandbox.channel import Channel, Closed, Overdue, TooMuch, take_child

MOST = 10_000


@dataclass
class Ends:
    channel: Channel
    peer: socket.socket
    status: int

    def receive(self, timeout_s: float = 60.0) -> tuple[dict[str, Any], int | None]:
        return self.channel.receive(time.monotonic() + timeout_s, MOST)


@contextlib.contextmanager
def pair() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    status_reader, status_writer = os.pipe()
    channel = Channel(ours.detach(), status_reader, 1)
    try:
        yield Ends(channel, theirs, status_writer)
    finally:
        channel.close()
        theirs.close()
        os.close(status_writer)


@pytest.fixture
def ends() -> Iterator[Ends]:
    with pair() as ends:
        yield ends


def frame(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!I", len(body)) + body


def rights(*descriptors: int) -> list[Any]:
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]


def opened() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_message_comes_as_it_was_sent(ends: Ends) -> None:
    ends.peer.sendall(frame({"op": "x", "n": [1, 2.5, None, "é"]}) + frame({"op": "y"}))
    assert ends.receive() == ({"op": "x", "n": [1, 2.5, None, "é"]}, None)
    assert ends.receive() == ({"op": "y"}, None)


def test_an_answer_goes_out_marshalled(ends: Ends) -> None:
    ends.channel.send({"value": b"\0\xff"}, time.monotonic() + 60)
    (length,) = struct.unpack("!I", ends.peer.recv(4))
    assert marshal.loads(ends.peer.recv(length)) == {"value": b"\0\xff"}


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
       lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10), max_size=5),
       st.lists(st.integers(1, 50), min_size=1, max_size=5))  # fmt: skip
def test_however_a_frame_is_cut(fields: dict[str, Any], cuts: list[int]) -> None:
    message = {**fields, "op": "x"}
    raw = frame(message)
    with pair() as ends:
        thread = threading.Thread(target=_in_pieces, args=(ends.peer, raw, cuts))
        thread.start()
        assert ends.channel.receive(time.monotonic() + 60, 1 << 20) == (message, None)
        thread.join()


def _in_pieces(peer: socket.socket, raw: bytes, cuts: list[int]) -> None:
    at = 0
    while at < len(raw):
        step = cuts[at % len(cuts)]
        peer.sendall(raw[at : at + step])
        at += step


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_bytes_are_a_message_or_an_error_and_nothing_else(raw: bytes) -> None:
    with pair() as ends:
        ends.peer.sendall(raw)
        ends.peer.shutdown(socket.SHUT_WR)
        with contextlib.suppress(Closed, TooMuch):
            message, descriptor = ends.receive()
            assert isinstance(message["op"], str)
            assert descriptor is None


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"1", b"null", b'"op"', b"{}", b'{"op": 1}', b'{"op": null}', b"\xff", b"{" * 5000,
        b"[" * 9000, b'{"op": "x", "n": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_message_is_too_much(ends: Ends, body: bytes) -> None:
    ends.peer.sendall(frame(body))
    with pytest.raises(TooMuch):
        ends.receive()


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_numbers_that_are_none_are_too_much(ends: Ends, number: bytes) -> None:
    ends.peer.sendall(frame(b'{"op": "x", "n": ' + number + b"}"))
    with pytest.raises(TooMuch):
        ends.receive()


@pytest.mark.parametrize("length", [MOST + 1, 1 << 31, 0xFFFFFFFF])
def test_a_length_beyond_the_limit_is_not_waited_for(ends: Ends, length: int) -> None:
    ends.peer.sendall(struct.pack("!I", length))
    started = time.monotonic()
    with pytest.raises(TooMuch):
        ends.receive(120)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("part", [b"", b"\0\0", b"\0\0\0\x09", b"\0\0\0\x09{"])
def test_silence_ends_at_the_deadline(ends: Ends, part: bytes) -> None:
    ends.peer.sendall(part)
    started = time.monotonic()
    with pytest.raises(Overdue):
        ends.receive(0.1)
    assert time.monotonic() - started < 60


def test_a_deadline_in_the_past_is_over(ends: Ends) -> None:
    ends.peer.sendall(frame({"op": "x"}))
    with pytest.raises(Overdue):
        ends.receive(-1)


def test_dripping_does_not_move_the_deadline(ends: Ends) -> None:
    def drip() -> None:
        ends.peer.sendall(struct.pack("!I", 8000))
        with contextlib.suppress(OSError):
            while True:
                ends.peer.sendall(b" ")
                time.sleep(0.01)

    thread = threading.Thread(target=drip)
    thread.start()
    started = time.monotonic()
    with pytest.raises(Overdue):
        ends.receive(0.15)
    assert time.monotonic() - started < 60  # of the eighty that all of it takes
    ends.peer.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("part", [b"", b"\0\0", b"\0\0\0\x09{"])
def test_an_end_in_the_middle_is_closed(ends: Ends, part: bytes) -> None:
    ends.peer.sendall(part)
    ends.peer.close()
    with pytest.raises(Closed):
        ends.receive()
    with pytest.raises(Closed):
        for _ in range(3):
            ends.channel.send("x" * 1000, time.monotonic() + 60)


# -- descriptors


def test_one_descriptor_comes_along(ends: Ends) -> None:
    with open(os.devnull) as file:
        ends.peer.sendmsg([frame({"op": "x"})], rights(file.fileno()))
        _, descriptor = ends.receive()
        assert descriptor is not None
        assert os.fstat(descriptor).st_rdev == os.fstat(file.fileno()).st_rdev
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (2, 2, 2), (50, 50, 50), (0, 3, 1)])
@pytest.mark.parametrize("body", [b'{"op": "x"}', b"nonsense!!!"])
def test_whatever_comes_along_at_most_one_stays_open(ends: Ends, counts: tuple[int, ...], body: bytes) -> None:
    raw = frame(body)
    before = opened()
    for part, count in zip((raw[:4], raw[4:7], raw[7:]), counts, strict=True):
        ends.peer.sendmsg([part], rights(*[0] * count))
    with contextlib.suppress(TooMuch):
        _, descriptor = ends.receive()
        assert (descriptor is not None) == any(counts)
        if descriptor is not None:
            os.close(descriptor)
    assert opened() == before


def test_descriptors_of_what_never_becomes_a_message_are_closed(ends: Ends) -> None:
    before = opened()
    ends.peer.sendmsg([b"\0\0"], rights(0, 0))
    with pytest.raises(Overdue):
        ends.receive(0.05)
    assert opened() == before
    ends.peer.sendmsg([b"\xff\xff"], rights(0))
    with pytest.raises((TooMuch, Overdue)):
        ends.receive(0.05)
    assert opened() == before


# -- the end, and the beginning


def test_how_a_child_ended_is_read(ends: Ends) -> None:
    assert ends.channel.ending(0.01) is None
    os.write(ends.status, struct.pack("!iqq", 31, 1500, 4096))
    assert ends.channel.ending(1) == (31, 1500, 4096)


def test_half_an_ending_is_none(ends: Ends) -> None:
    os.write(ends.status, b"\0\0")
    assert ends.channel.ending(1) is None


def test_a_child_is_taken_with_its_two_descriptors() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one, other = socket.socketpair()
    reader, writer = os.pipe()
    with ours, theirs, one, other:
        theirs.sendmsg([b"7"], rights(one.fileno(), reader))
        os.close(reader)
        channel = take_child(ours)
        assert channel.number == 7
        other.sendall(frame({"op": "x"}))
        assert channel.receive(time.monotonic() + 60, MOST) == ({"op": "x"}, None)
        channel.close()
        theirs.send(b"strange")
        with pytest.raises(SandboxError, match="strange"):
            take_child(ours)
        theirs.close()
        with pytest.raises(Closed):
            take_child(ours)
    os.close(writer)
