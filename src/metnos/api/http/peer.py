"""Which account of this machine is at the other end of a connection, by the kernel's word.

A cookie is for a host and not for a port: whatever listens at another port of this machine is sent ours by a browser
that visits it. So a secret alone lets nobody in from this machine; the account that opened the connection counts, too.

Rules: our own account comes in, and those that the owner named; root does not, because programs that run as root pass
on what others send. A connection from this machine whose account cannot be found is refused. A socket that its process
has closed is nobody's: the kernel may call it root's, or not say whose it was. What comes from another machine, or from
a network of its own (a container), has no account here: there the way is encrypted, and the secret decides. Does not
guarantee anything against a program of an account that may come in and passes on what others send, nor where Metnos
runs in a user namespace as the account that stands for all unknown ones there.
"""

import ipaddress
import os
import pwd
import socket
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from metnos.core.errors import DaemonError, SettingsError

End = tuple[str, int]  # of a connection: address and port

_MOST_TOLD = 16  # accounts that are named in the log, once each
_TRIES = 3  # the table in /proc is read in pieces, and a row may be missed while others come and go
_LISTENS = 10
_DIAGNOSIS = 4  # the netlink family of sockets' own data
_BY_FAMILY = 20
_REQUEST, _OVERDUE_S = 1, 1.0
_HEAD = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBBBI")
_ENDS = struct.Struct("!HH16s16s")
_REST = struct.Struct("=I8s")
_ANSWER = struct.Struct("=BBBB48sIIIII")


@dataclass(frozen=True, slots=True)
class Holder:
    """A socket of this machine: whose it is, in which state, and the file that it is; no file where it was closed."""

    uid: int
    state: int
    inode: int


Look = Callable[[End, End], Holder | None]  # the socket at the first end, connected with the second


@dataclass(frozen=True, slots=True)
class PeerRules:
    """Who comes in. ``accounts`` are numbers."""

    accounts: frozenset[int]

    def lets_in(self, peer: End, own: End, holder: Holder | None) -> bool:
        here = ipaddress.ip_address(peer[0]).is_loopback or peer[0] == own[0]
        if holder is None:
            return not here
        return holder.inode != 0 and holder.state != _LISTENS and holder.uid in self.accounts


class Peers:
    """Knows who connects."""

    def __init__(self, accounts: Iterable[str], log: Callable[[str], None], look: Look | None = None) -> None:
        self._rules = PeerRules(frozenset({os.geteuid(), *map(_number, accounts)}))
        self._log = log
        self._look = look or _way()
        self._told: set[int | None] = set()

    def knows(self, peer: object, own: object) -> bool:
        """Whether a connection may come in; ``peer`` and ``own`` are its ends as `getpeername` gives them."""
        try:
            there, here = _end(peer), _end(own)
            holder = self._look(there, here)
            known = self._rules.lets_in(there, here, holder)
        except (OSError, ValueError, TypeError, IndexError, struct.error):
            known, holder = False, None
        if not known:
            self._tell(holder)
        return known

    def _tell(self, holder: Holder | None) -> None:
        uid = None if holder is None or not holder.inode else holder.uid
        if uid in self._told or len(self._told) >= _MOST_TOLD:
            return
        self._told.add(uid)
        who = "somebody on this machine who was gone at once" if uid is None else account_name(uid)
        fix = "To let this account in: metnos config set web.accounts NAME"
        self._log(f"{who} tried to reach the page and was refused. {fix}")


def account_name(uid: int) -> str:
    """An account in words."""
    try:
        return f"the account {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the account {uid}"


def listener(address: str, port: int) -> int | None:
    """Whose socket listens there, if that can be seen."""
    nowhere = ("::" if ":" in address else "0.0.0.0", 0)  # noqa: S104 -- nothing is bound
    try:
        holder = ask_kernel((address, port), nowhere)
    except (OSError, ValueError, struct.error):
        return None
    return holder.uid if holder is not None and holder.state == _LISTENS else None


def ask_kernel(peer: End, own: End) -> Holder | None:
    """One socket by its ends, from the kernel's own index."""
    family, ends = _packed(peer, own)
    body = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFF_FFFF) + ends + _REST.pack(0, b"\xff" * 8)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _DIAGNOSIS) as line:
        line.settimeout(_OVERDUE_S)
        line.sendto(_HEAD.pack(_HEAD.size + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body, (0, 0))
        said, sender = line.recvfrom(1 << 14)
    if sender[0] != 0:
        raise OSError("another process answered in the place of the kernel")
    if _HEAD.unpack_from(said)[1] != _BY_FAMILY:
        return None
    _, state, _, _, found, _, _, _, uid, inode = _ANSWER.unpack_from(said, _HEAD.size)
    same = found[: _ENDS.size] in (ends, _packed(_mapped(peer), _mapped(own))[1])
    return Holder(uid, state, inode) if same or state == _LISTENS else None


def read_table(peer: End, own: End) -> Holder | None:
    """The same from the tables in /proc: slow where there are many sockets, and there where the index is not."""
    plain, mapped = ([_written(each[0]) for each in ends] for ends in ((peer, own), (_mapped(peer), _mapped(own))))
    for _ in range(_TRIES):
        for name, (there, here) in (("tcp", plain), ("tcp6", mapped)):
            try:
                rows = Path(f"/proc/self/net/{name}").read_text(encoding="ascii").splitlines()[1:]
            except FileNotFoundError:
                continue  # a kernel without IPv6
            start = f"{there}:{peer[1]:04X} {here}:{own[1]:04X} "
            for row in rows:
                rest = row.partition(": ")[2]
                if rest.startswith(start):
                    fields = rest.split()
                    return Holder(int(fields[6]), int(fields[2], 16), int(fields[8]))
    return None


def _way() -> Look:
    """The way to ask that tells the truth about a connection of our own, the fast one first."""
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection(door.getsockname()) as line:
        taken, _ = door.accept()
        with taken:
            for look in (ask_kernel, read_table):
                try:
                    holder = look(line.getsockname(), line.getpeername())
                except (OSError, ValueError, struct.error):
                    continue
                if holder is not None and holder.inode and holder.uid == os.geteuid():
                    return look
    raise DaemonError(
        "this system does not say which account opens a connection, so nobody can be let in on the page",
        fix="Metnos needs netlink (sock_diag) or /proc/net/tcp. In a container, allow one of them.",
    )


def _number(account: str) -> int:
    if account.isdecimal():
        return int(account)
    try:
        return pwd.getpwnam(account).pw_uid
    except KeyError as error:
        raise SettingsError(
            f"web.accounts names {account!r}, and there is no such account", fix="metnos config set web.accounts '[]'"
        ) from error


def _end(name: object) -> End:
    """One end of a connection; IPv4 inside IPv6 is IPv4."""
    if not isinstance(name, tuple):
        raise TypeError("no address")
    address = ipaddress.ip_address(str(name[0]).partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address), int(name[1])


def _packed(peer: End, own: End) -> tuple[int, bytes]:
    family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
    there, here = (socket.inet_pton(family, each[0]).ljust(16, b"\0") for each in (peer, own))
    return family, _ENDS.pack(peer[1], own[1], there, here)


def _mapped(end: End) -> End:
    """The same end for a socket of IPv6 that speaks IPv4."""
    return end if ":" in end[0] else (f"::ffff:{end[0]}", end[1])


def _written(address: str) -> str:
    """An address as the tables have it: words of the machine's own byte order."""
    raw = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(raw) // 4}I", raw))
