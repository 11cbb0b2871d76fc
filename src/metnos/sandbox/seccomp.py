"""Builds the seccomp filter: a small BPF program that judges every kernel call of an executor.

Rules: calls in `syscalls.HARMLESS` are allowed; hostile ones kill the process; everything else is "not permitted". Some
are judged by their arguments: those in `syscalls.JUDGED` work with what is listed there, and only if the upper half of
the argument is empty; a new process or namespace (`clone`) and a socket (refused; of a rare family, killed) have rules
of their own. Another architecture, or the 32-bit ways into the kernel, kill. There are two filters, since the kernel
takes a third of a millisecond over the large one: `base` is installed once in the zygote, `seal` with each call, and of
two verdicts the kernel takes the harsher. Pure.

The program is a binary tree over the call's number, because the kernel walks it for every number when it is installed.
"""

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from metnos.core.errors import SandboxError
from metnos.sandbox import syscalls
from metnos.sandbox.syscalls import ArgumentLimit, JudgedCall

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS = 0x00050000 | 1, 0x00050000 | 38
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_LOWER, _UPPER = 0, 4  # of an argument's eight bytes
_WORD = 0xFFFFFFFF
_X32_BIT = 0x40000000
# Local, internet and routing sockets: libraries try for one, and "no" is an answer. Others are attacks.
_ASKED_FOR = ArgumentLimit(0, (1, 2, 10, 16))
_NAMESPACES = 0x7E020080  # CLONE_NEW*
_THREAD = 0x00010000

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Machine:
    """What differs between architectures."""

    audit_number: int
    column: int
    clone: int
    clone3: int
    socket: int


_MACHINES = {
    "x86_64": Machine(0xC000003E, 0, 56, 435, 41),
    "aarch64": Machine(0xC00000B7, 1, 220, 435, 198),
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
    verdicts |= dict.fromkeys(_judged(on, syscalls.SEALED, frozenset()), ALLOW)  # `seal` judges them
    special = {
        on.clone: _return(ALLOW),  # the zygote makes its children by it; `seal` judges it
        on.socket: _return(ALLOW) if "socket" in allowing else _judge((_ASKED_FOR,), _EPERM, otherwise=KILL),
    }
    special |= _judged(on, syscalls.JUDGED, allowing)
    return _program(on, verdicts, special, otherwise=_EPERM)


@cache
def seal(*, programs: bool, allowing: frozenset[str] = frozenset(), on: Machine | None = None) -> bytes:
    """The small filter that is installed last: closes what building the walls needed, and forking."""
    on = on or machine()
    verdicts = _numbers(on, syscalls.BUILDING, KILL, allowing)
    verdicts |= _numbers(on, syscalls.PROGRAMS, ALLOW if programs else _EPERM, allowing)
    special = _judged(on, syscalls.SEALED, allowing)
    if "unshare" not in allowing:
        special[on.clone] = _clone(may_fork=programs or "fork" in allowing)
    return _program(on, verdicts, special, otherwise=ALLOW)


def _numbers(on: Machine, table: syscalls.Numbers, verdict: int, allowing: frozenset[str]) -> dict[int, int]:
    named = ((name, numbers[on.column]) for name, numbers in table.items())
    return {number: ALLOW if name in allowing else verdict for name, number in named if number is not None}


def _judged(on: Machine, table: Mapping[str, JudgedCall], allowing: frozenset[str]) -> dict[int, list[Instruction]]:
    found = {}
    for name, call in table.items():
        number = call.numbers[on.column]
        if number is not None:
            found[number] = _return(ALLOW) if name in allowing else _judge(call.limits, ALLOW, otherwise=_EPERM)
    return found


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


def _judge(limits: tuple[ArgumentLimit, ...], verdict: int, *, otherwise: int) -> list[Instruction]:
    """``verdict`` if every limit holds. A list says what is let through and never what is not, in both halves."""
    if otherwise == ALLOW:
        raise ValueError("what a list does not name is never allowed")
    code = _return(verdict)
    for limit in reversed(limits):
        code = [*_check(limit), (_RETURN, 0, 0, otherwise), *code]
    return code


def _check(limit: ArgumentLimit) -> list[Instruction]:
    """Go on behind the next instruction if the limit holds, else with it."""
    at = _ARGUMENTS + 8 * limit.place
    count = len(limit.values) or 1
    code: list[Instruction] = [
        (_LOAD, 0, 0, at + _UPPER),
        (_JUMP_EQUAL, 0, count + 1, 0),
        (_LOAD, 0, 0, at + _LOWER),
    ]
    if not limit.values:
        return [*code, (_JUMP_ANY_BIT, 0, 1, ~limit.bits & _WORD)]
    return [*code, *((_JUMP_EQUAL, count - index, 0, value) for index, value in enumerate(limit.values))]


def _clone(*, may_fork: bool) -> list[Instruction]:
    """Threads are allowed, namespaces never, processes only where programs are."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + _LOWER),
        (_JUMP_ANY_BIT, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _ARGUMENTS + _UPPER),
        (_JUMP_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _EPERM),
        (_LOAD, 0, 0, _ARGUMENTS + _LOWER),
        (_JUMP_ANY_BIT, 0, 1, _THREAD),
        (_RETURN, 0, 0, ALLOW),
        (_RETURN, 0, 0, ALLOW if may_fork else _EPERM),
    ]
