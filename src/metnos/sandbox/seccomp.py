"""Builds the seccomp filter: a small BPF program that judges every kernel call of an executor.

Rules: calls in `syscalls.HARMLESS` are allowed; hostile ones kill the process; everything else is "not permitted". Some
are judged by their arguments: a new process or namespace (`clone`), a socket (refused; of a rare family, killed), a
pair of sockets, `ioctl`, `fcntl` and `prctl`. Another architecture, or the 32-bit ways into the kernel, kill. There are
two filters, since the kernel takes a third of a millisecond over the large one: `base` is installed once in the zygote,
`seal` with each call, and of two verdicts the kernel takes the harsher. Pure.

The program is a binary tree over the call's number, because the kernel walks it for every number when it is installed.
"""

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from metnos.core.errors import SandboxError
from metnos.sandbox import syscalls

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS = 0x00050000 | 1, 0x00050000 | 38
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data
_X32_BIT = 0x40000000
# Local, internet and routing sockets: libraries try whether there are any, and "no" is an answer. Others are attacks.
_ASKED_FOR = (1, 2, 10, 16)
_LOCAL = 1  # AF_UNIX
# A pair of sockets that can only speak to one another; one for datagrams could be sent anywhere. With and without the
# flags for closing and for not blocking.
_PAIRS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))
_FCNTLS = (8, 10, 1024, 1026)  # signals to owners, leases and notices: they would hold up whoever uses the file outside
_NAMESPACES = 0x7E020080  # CLONE_NEW*
_THREAD = 0x00010000
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # terminal?, size, bytes waiting, blocking, close on exec
_PRCTLS = (15, 16)  # a thread's name

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Machine:
    """What differs between architectures."""

    audit_number: int
    column: int
    clone: int
    clone3: int
    socket: int
    socketpair: int
    ioctl: int
    fcntl: int
    prctl: int


_MACHINES = {
    "x86_64": Machine(0xC000003E, 0, 56, 435, 41, 53, 16, 72, 157),
    "aarch64": Machine(0xC00000B7, 1, 220, 435, 198, 199, 29, 25, 167),
}


def machine(name: str = "") -> Machine:
    name = name or os.uname().machine
    if name not in _MACHINES:
        raise SandboxError(
            f"there is no list of kernel calls for {name}, so nothing can be run safely",
            fix="Use an x86_64 or aarch64 machine.",
        )
    return _MACHINES[name]


@cache
def base(allowing: frozenset[str] = frozenset(), on: Machine | None = None) -> bytes:
    """The filter of the zygote, which its children inherit: everything but what building the walls needs.

    ``allowing`` lets named calls through that it would stop: only the escape suite uses it.
    """
    on = on or machine()
    verdicts = {on.clone3: _ENOSYS}  # its flags are out of a filter's sight; the C library falls back to clone
    verdicts |= _numbers(on, syscalls.HOSTILE, KILL, allowing)
    for table in (syscalls.BUILDING, syscalls.PROGRAMS, syscalls.HARMLESS):
        verdicts |= _numbers(on, table, ALLOW, allowing)
    connected = _judge(_SECOND, _PAIRS, ALLOW, _EPERM)
    special = {
        on.clone: _return(ALLOW),  # the zygote makes its children by it; `seal` judges it
        on.socket: _return(ALLOW) if "socket" in allowing else _judge(_FIRST, _ASKED_FOR, _EPERM, KILL),
        on.socketpair: _return(ALLOW) if "socketpair" in allowing else _judge(_FIRST, (_LOCAL,), connected, _EPERM),
        on.fcntl: _return(ALLOW) if "fcntl" in allowing else _judge(_SECOND, _FCNTLS, _EPERM, ALLOW),
        on.ioctl: _return(ALLOW) if "ioctl" in allowing else _judge(_SECOND, _IOCTLS, ALLOW, _EPERM),
        on.prctl: _return(ALLOW),
    }
    return _program(on, verdicts, special, otherwise=_EPERM)


@cache
def seal(*, programs: bool, allowing: frozenset[str] = frozenset(), on: Machine | None = None) -> bytes:
    """The small filter that is installed last: closes what building the walls needed, and forking."""
    on = on or machine()
    verdicts = _numbers(on, syscalls.BUILDING, KILL, allowing)
    verdicts |= _numbers(on, syscalls.PROGRAMS, ALLOW if programs else _EPERM, allowing)
    special = {on.prctl: _return(ALLOW) if "prctl" in allowing else _judge(_FIRST, _PRCTLS, ALLOW, _EPERM)}
    if "unshare" not in allowing:
        special[on.clone] = _clone(may_fork=programs or "fork" in allowing)
    return _program(on, verdicts, special, otherwise=ALLOW)


def _numbers(on: Machine, table: syscalls.Numbers, verdict: int, allowing: frozenset[str]) -> dict[int, int]:
    named = ((name, numbers[on.column]) for name, numbers in table.items())
    return {number: ALLOW if name in allowing else verdict for name, number in named if number is not None}


def _program(
    on: Machine, verdicts: Mapping[int, int], special: Mapping[int, list[Instruction]], *, otherwise: int
) -> bytes:
    head = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, on.audit_number),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    tree = _tree(_ranges(verdicts, special, otherwise))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in [*head, *tree])


def _ranges(
    verdicts: Mapping[int, int], special: Mapping[int, list[Instruction]], otherwise: int
) -> list[tuple[int, list[Instruction]]]:
    """Consecutive numbers with one verdict, each by its first number, in order."""
    ranges: list[tuple[int, list[Instruction]]] = []
    for number in range(max(*verdicts, *special) + 2):
        code = special.get(number) or _return(verdicts.get(number, otherwise))
        if not ranges or ranges[-1][1] != code:
            ranges.append((number, code))
    return [*ranges, (_X32_BIT, _return(KILL))]


def _tree(ranges: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    left, right = _tree(ranges[:middle]), _tree(ranges[middle:])
    border = ranges[middle][0]
    if len(left) <= 255:
        return [(_JUMP_AT_LEAST, len(left), 0, border), *left, *right]
    always = 0x05
    return [(_JUMP_AT_LEAST, 0, 1, border), (always, 0, 0, len(left)), *left, *right]


def _return(verdict: int) -> list[Instruction]:
    return [(_RETURN, 0, 0, verdict)]


def _judge(offset: int, values: tuple[int, ...], if_one: int | list[Instruction], otherwise: int) -> list[Instruction]:
    """By whether the argument at ``offset`` is one of ``values``. Both halves of it are looked at."""
    code: list[Instruction] = [(_LOAD, 0, 0, offset + 4), (_JUMP_EQUAL, 0, len(values) + 1, 0), (_LOAD, 0, 0, offset)]
    code += [(_JUMP_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*code, (_RETURN, 0, 0, otherwise), *(if_one if isinstance(if_one, list) else _return(if_one))]


def _clone(*, may_fork: bool) -> list[Instruction]:
    """Threads are allowed, namespaces never, processes only where programs are."""
    return [
        (_LOAD, 0, 0, _FIRST),
        (_JUMP_ANY_BIT, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, KILL),
        (_JUMP_ANY_BIT, 0, 1, _THREAD),
        (_RETURN, 0, 0, ALLOW),
        (_RETURN, 0, 0, ALLOW if may_fork else _EPERM),
    ]
