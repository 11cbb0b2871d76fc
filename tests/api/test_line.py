import os
import socket
import threading
from collections.abc import Iterator

import pytest

from metnos.api import wire
from metnos.api.line import Bell, Gone, Line, Overdue, Rung, TooLong, peer_uid
from metnos.core.errors import DaemonError

Pair = tuple[Line, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    yield Line.of_client(ours), theirs
    ours.close()
    theirs.close()


def test_messages_come_one_by_one_however_they_are_cut(pair: Pair) -> None:
    line, theirs = pair
    whole = b'{"a":1}\n{"b":2}\n\n{"c":3}\n'
    threading.Thread(target=lambda: [theirs.sendall(whole[at : at + 1]) for at in range(len(whole))]).start()
    assert [line.receive(20), line.receive(20)] == [{"a": 1}, {"b": 2}]
    with pytest.raises(DaemonError, match="no JSON"):
        line.receive(20)
    assert line.receive(20) == {"c": 3}
    theirs.sendall(whole)
    assert [line.receive(20), line.receive(20)] == [{"a": 1}, {"b": 2}]


def test_what_is_sent_is_one_line(pair: Pair) -> None:
    line, theirs = pair
    line.send({"text": "two\nlines"})
    assert theirs.recv(100) == b'{"text":"two\\nlines"}\n'


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_refused_with_and_without_its_end(end: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = Line(ours, longest=100)
        theirs.sendall(b"a" * 101 + end)
        with pytest.raises(TooLong):
            line.receive(20)
        assert wire.from_error(TooLong(100))["error"]["what"] == "that line is longer than 100 bytes"


def test_a_line_at_the_limit_is_not(pair: Pair) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b'{"a":"' + b"b" * 92 + b'"}\n')
        assert Line(ours, longest=100).receive(20) == {"a": "b" * 92}


def test_nothing_in_time_a_bell_and_an_end(pair: Pair) -> None:
    line, theirs = pair
    bell = Bell()
    with pytest.raises(Overdue):
        line.receive(0.01, bell)
    bell.ring()
    for _ in range(2):  # it goes on ringing for everybody
        with pytest.raises(Rung):
            line.receive(20, bell)
    theirs.sendall(b'{"a":1}\n')
    assert line.receive(20, bell) == {"a": 1}  # what is there is read first
    theirs.sendall(b'{"half')
    theirs.close()
    with pytest.raises(Gone):
        line.receive(20)
    with pytest.raises(Gone):
        line.send({"a": 1})


def test_hanging_up_shows_even_behind_what_is_unread(pair: Pair) -> None:
    line, theirs = pair
    theirs.sendall(b'{"a":1}\n')
    assert not line.hung_up()
    theirs.shutdown(socket.SHUT_WR)
    assert line.hung_up()
    assert line.receive(20) == {"a": 1}


def test_leaving_gives_the_other_side_a_moment() -> None:
    ours, theirs = socket.socketpair()
    line, seen = Line.of_daemon(ours), []

    def other() -> None:
        seen.append(theirs.recv(100))
        theirs.sendall(b"something\n" * 3)
        theirs.close()

    thread = threading.Thread(target=other)
    thread.start()
    line.leave(20)
    thread.join()
    assert seen == [b""]
    line.leave(0.01)
    line.close()


def test_one_that_does_not_read_counts_as_gone(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    line, _ = pair
    line._socket.settimeout(0.05)
    with pytest.raises(Gone):
        for _ in range(100):
            line.send({"text": "a" * 100_000})


def test_the_kernel_says_who_it_is(pair: Pair) -> None:
    assert peer_uid(pair[1]) == os.getuid()
