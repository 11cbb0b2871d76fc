"""Whose connection it is, by the kernel's word, and who comes in."""

import contextlib
import os
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.accounts import NOBODY, foreign_socket
from metnos.api.http import peer
from metnos.api.http.peer import Holder, PeerRules, Peers, ask_kernel, listener, read_table
from metnos.core.errors import DaemonError, SettingsError

US = os.geteuid()
LOOKS = pytest.mark.parametrize("look", [ask_kernel, read_table])


def silent(_: str) -> None:
    pass


@contextlib.contextmanager
def taken(client: socket.socket, at: str = "127.0.0.1") -> Iterator[socket.socket]:
    """The server's end of a connection that ``client`` makes."""
    with socket.create_server((at, 0), family=socket.AF_INET6 if ":" in at else socket.AF_INET) as door:
        client.connect((f"::ffff:{at}" if client.family != door.family else at, door.getsockname()[1]))
        line, _ = door.accept()
        with line:
            yield line


class TestTheKernel:
    @LOOKS
    @pytest.mark.parametrize(
        ("family", "at"),
        [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "127.9.8.7"), (socket.AF_INET6, "::1"),
         (socket.AF_INET6, "127.0.0.1")],
    )  # fmt: skip
    def test_knows_our_own(self, look: peer.Look, family: socket.AddressFamily, at: str) -> None:
        with socket.socket(family, socket.SOCK_STREAM) as client, taken(client, at) as line:
            holder = look(line.getpeername()[:2], line.getsockname()[:2])
            assert holder is not None
            assert (holder.uid, holder.state) == (US, 1)
            assert holder.inode == os.fstat(client.fileno()).st_ino
            assert Peers((), silent, look).knows(line.getpeername(), line.getsockname())

    @LOOKS
    @pytest.mark.parametrize(
        ("family", "at"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "127.0.0.1")]
    )
    def test_tells_others_apart(self, look: peer.Look, family: socket.AddressFamily, at: str) -> None:
        told: list[str] = []
        with foreign_socket(family) as client, taken(client, at) as line:
            ends = line.getpeername(), line.getsockname()
            peers = Peers((), told.append, look)
            assert [peers.knows(*ends) for _ in range(5)] == [False] * 5
            assert len(told) == 1
            assert Peers((str(NOBODY),), silent, look).knows(*ends), "the owner named it"

    @LOOKS
    @pytest.mark.parametrize("half", [True, False])
    def test_who_hangs_up_at_once_is_nobody(self, look: peer.Look, half: bool) -> None:
        """The kernel calls the socket of a connection that its process has closed root's."""
        with foreign_socket() as client, taken(client) as line:
            client.sendall(b"POST / HTTP/1.1\r\n\r\n")
            client.shutdown(socket.SHUT_WR) if half else client.close()
            assert not Peers(("0",), silent, look).knows(line.getpeername(), line.getsockname())

    @LOOKS
    def test_a_connection_that_is_not_there_is_nobodys(self, look: peer.Look) -> None:
        with socket.create_server(("127.0.0.1", 0)) as door:
            own = door.getsockname()
            assert not Peers((), silent, look).knows(("127.0.0.1", own[1]), own), "a socket that listens is no peer"
        assert not Peers((), silent, look).knows(own, ("127.0.0.1", 1))

    def test_says_whose_a_port_is(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as door:
            there = door.getsockname()
            assert listener(*there) == US
        assert listener(*there) is None
        with foreign_socket() as theirs:
            theirs.bind(("127.0.0.1", 0))
            theirs.listen()
            assert listener(*theirs.getsockname()) == NOBODY


class TestRules:
    @given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 2**32 - 1), st.frozensets(st.integers(0, 9)))
    def test_only_an_open_socket_of_a_named_account_comes_in(
        self, uid: int, state: int, inode: int, accounts: frozenset[int]
    ) -> None:
        come = PeerRules(accounts).lets_in(("127.0.0.1", 1), ("127.0.0.1", 2), Holder(uid, state, inode))
        assert come == (uid in accounts and inode != 0 and state != 10)

    @pytest.mark.parametrize(
        ("there", "here", "come"),
        [("127.0.0.1", "127.0.0.1", False), ("127.3.2.1", "127.0.0.1", False), ("::1", "::1", False),
         ("192.168.1.2", "192.168.1.2", False), ("192.168.1.3", "192.168.1.2", True), ("fd00::3", "fd00::2", True)],
    )  # fmt: skip
    def test_whom_nobody_knows_comes_in_from_elsewhere_only(self, there: str, here: str, come: bool) -> None:
        """Whoever comes from another machine has no account on this one; the way is encrypted then."""
        assert PeerRules(frozenset({US})).lets_in((there, 1), (here, 2), None) is come

    def test_root_does_not_come_in_unless_we_are(self) -> None:
        rules = PeerRules(frozenset({1000}))
        assert not rules.lets_in(("127.0.0.1", 1), ("127.0.0.1", 2), Holder(0, 1, 7))


@pytest.mark.parametrize("ends", [(None, None), ((), ()), (("x", 1), ("127.0.0.1", 2)), (b"", ""), (("127.0.0.1",), 3)])
def test_ends_that_are_none_are_a_no(ends: tuple[object, object]) -> None:
    assert not Peers((), silent).knows(*ends)


def test_whatever_goes_wrong_on_the_way_is_a_no() -> None:
    def look(_there: peer.End, _here: peer.End) -> Holder | None:
        raise OSError("no descriptor is free")

    assert not Peers((), silent, look).knows(("10.0.0.9", 1), ("10.0.0.8", 2))


def test_a_system_that_does_not_say_lets_nobody_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "ask_kernel", lambda *_: None)
    assert Peers((), silent)._look is read_table
    monkeypatch.setattr(peer, "read_table", lambda *_: Holder(US + 1, 1, 7))
    with pytest.raises(DaemonError):
        Peers((), silent)


def test_an_account_that_is_not_there_is_said() -> None:
    with pytest.raises(SettingsError, match="no such account"):
        Peers(("no-such-account",), silent)
