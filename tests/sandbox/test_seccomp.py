"""The filters, interpreted: every call of every table, on both machines, with the arguments that matter."""

import re
import struct
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import SandboxError
from metnos.sandbox import seccomp, syscalls
from metnos.sandbox.seccomp import ALLOW, KILL, Machine
from metnos.sandbox.syscalls import ArgumentLimit

EPERM, ENOSYS = 0x00050001, 0x00050026
MACHINES = {name: seccomp.machine(name) for name in ("x86_64", "aarch64")}
on_both = pytest.mark.parametrize("on", MACHINES.values(), ids=MACHINES)
I386 = 0x40000003


@cache
def instructions(program: bytes) -> list[tuple[int, int, int, int]]:
    code = list(struct.iter_unpack("HBBI", program))
    assert 0 < len(code) <= 4096
    return code


def run(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0) -> int:
    """What the kernel would answer: the part of BPF that seccomp filters are made of."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    code = instructions(program)
    at = word = 0
    for _ in range(len(code) + 1):
        operation, if_true, if_false, value = code[at]
        at += 1
        if operation == 0x20:
            assert value % 4 == 0
            (word,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return value
        elif operation == 0x05:
            at += value
        else:
            true = {0x15: word == value, 0x35: word >= value, 0x45: bool(word & value)}[operation]
            at += if_true if true else if_false
    raise AssertionError("the program does not end")


def harsher(*verdicts: int) -> int:
    """Of several filters the kernel takes the strictest verdict: kill, then an error, then allow."""
    return max(verdicts, key=lambda verdict: {KILL: 2, ALLOW: 0}.get(verdict, 1))


def verdict(on: Machine, number: int, *arguments: int, programs: bool = False, architecture: int = 0) -> int:
    both = (seccomp.base(on=on), seccomp.seal(programs=programs, on=on))
    return harsher(*(run(program, number, arguments, architecture or on.audit_number) for program in both))


def numbers(on: Machine, table: syscalls.Numbers) -> dict[str, int]:
    found = {name: each[on.column] for name, each in table.items()}
    return {name: number for name, number in found.items() if number is not None}


def judged(on: Machine) -> dict[str, tuple[int, tuple[ArgumentLimit, ...]]]:
    """Calls that work with some arguments only, by name: the number, and what holds for the arguments."""
    table = syscalls.JUDGED | syscalls.SEALED
    found = {name: (call.numbers[on.column], call.limits) for name, call in table.items()}
    return {name: (number, limits) for name, (number, limits) in found.items() if number is not None}


def special(on: Machine) -> set[int]:
    return {on.clone, on.clone3, on.socket, *(number for number, _ in judged(on).values())}


@on_both
@pytest.mark.parametrize("programs", [False, True])
def test_harmless_calls_are_allowed(on: Machine, programs: bool) -> None:
    for name, number in numbers(on, syscalls.HARMLESS).items():
        assert verdict(on, number, programs=programs) == ALLOW, name
        full = (2**64 - 1,) * 6
        assert verdict(on, number, *full, programs=programs) == ALLOW, name


@on_both
@pytest.mark.parametrize("programs", [False, True])
def test_hostile_calls_kill(on: Machine, programs: bool) -> None:
    for name, number in (numbers(on, syscalls.HOSTILE) | numbers(on, syscalls.BUILDING)).items():
        assert verdict(on, number, programs=programs) == KILL, name


@on_both
def test_programs_only_where_they_are_named(on: Machine) -> None:
    for name, number in numbers(on, syscalls.PROGRAMS).items():
        assert verdict(on, number) == EPERM, name
        assert verdict(on, number, programs=True) == ALLOW, name


@on_both
def test_building_the_walls_is_possible_before_they_are_sealed(on: Machine) -> None:
    for name, number in numbers(on, syscalls.BUILDING).items():
        assert run(seccomp.base(on=on), number, (), on.audit_number) == ALLOW, name


@on_both
def test_every_other_number_is_not_permitted(on: Machine) -> None:
    tables = (syscalls.HARMLESS, syscalls.HOSTILE, syscalls.PROGRAMS, syscalls.BUILDING)
    known = {number for table in tables for number in numbers(on, table).values()} | special(on)
    for number in {*range(1200), 0x3FFFFFFF} - known:
        assert verdict(on, number) == EPERM, number


@on_both
@given(number=st.integers(0x40000000, 0xFFFFFFFF))
def test_numbers_of_another_convention_kill(on: Machine, number: int) -> None:
    """On x86_64 this bit means x32: other numbers for the same calls."""
    assert verdict(on, number) == KILL


@on_both
@given(number=st.integers(0, 500), architecture=st.integers(0, 0xFFFFFFFF))
def test_another_architecture_kills(on: Machine, number: int, architecture: int) -> None:
    if architecture != on.audit_number:
        assert verdict(on, number, architecture=architecture or 1) == KILL


@on_both
def test_the_32_bit_door_is_closed(on: Machine) -> None:
    assert all(verdict(on, number, architecture=I386) == KILL for number in range(450))


THREAD = 0x3D0F00  # what the C library's thread is made with
NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)


@on_both
def test_clone_makes_threads_and_no_processes(on: Machine) -> None:
    assert verdict(on, on.clone, THREAD) == ALLOW
    assert verdict(on, on.clone, 17) == EPERM
    assert verdict(on, on.clone, 0x4111) == EPERM  # vfork
    assert verdict(on, on.clone, 17, programs=True) == ALLOW
    assert verdict(on, on.clone3) == verdict(on, on.clone3, programs=True) == ENOSYS


@on_both
@pytest.mark.parametrize("programs", [False, True])
@given(flags=st.integers(0, 0xFFFFFFFF), space=st.sampled_from(NAMESPACES), high=st.integers(0, 0xFFFFFFFF))
def test_clone_makes_no_namespace_whatever_else_it_asks_for(
    on: Machine, programs: bool, flags: int, space: int, high: int
) -> None:
    assert verdict(on, on.clone, high << 32 | flags | space, programs=programs) == KILL


@on_both
@given(family=st.integers(0, 0xFFFFFFFFFFFFFFFF))
def test_no_socket_of_any_family(on: Machine, family: int) -> None:
    assert verdict(on, on.socket, family) in (EPERM, KILL)


@on_both
@pytest.mark.parametrize("family", [17, 40, 38, 30, 15, 9, 1 << 32 | 1, 1 << 32 | 2])
def test_a_socket_of_a_rare_family_kills(on: Machine, family: int) -> None:
    assert verdict(on, on.socket, family) == KILL


def fits(limit: ArgumentLimit, value: int) -> bool:
    """The kernel reads the lower half; a bit in the upper one is a lie in any case."""
    return not value >> 32 and (value in limit.values if limit.values else not value & ~limit.bits)


def interesting(limit: ArgumentLimit) -> set[int]:
    """What is allowed, its neighbours, each single bit, and all of that with something in the upper half."""
    allowed = limit.values or [limit.bits, *(1 << bit for bit in range(32) if limit.bits >> bit & 1)]
    near = {each + step for each in allowed for step in (-1, 0, 1)} | {1 << bit for bit in range(32)} | {0, 0xFFFFFFFF}
    low = {each & 0xFFFFFFFF for each in near}
    return low | {high << 32 | each for each in low for high in (1, 0x80000000, 0xFFFFFFFF)}


@on_both
@pytest.mark.parametrize("programs", [False, True])
def test_a_judged_call_works_while_each_argument_is_on_its_list_and_no_longer(on: Machine, programs: bool) -> None:
    for name, (number, limits) in judged(on).items():
        right = [0xFFFFFFFFFFFFFFFF] * 6  # what is not judged may be anything
        for limit in limits:
            right[limit.place] = limit.values[0] if limit.values else 0
        assert verdict(on, number, *right, programs=programs) == ALLOW, name
        for limit in limits:
            for value in interesting(limit):
                tried = [*right[: limit.place], value, *right[limit.place + 1 :]]
                wanted = ALLOW if fits(limit, value) else EPERM
                assert verdict(on, number, *tried, programs=programs) == wanted, (name, hex(value))


@on_both
@given(data=st.data())
def test_no_judged_call_works_with_any_argument_off_its_list(on: Machine, data: st.DataObject) -> None:
    number, limits = data.draw(st.sampled_from(sorted(judged(on).values(), key=lambda each: each[0])))
    words = data.draw(st.tuples(*[st.integers(0, 2**64 - 1)] * 6))
    if not all(fits(limit, words[limit.place]) for limit in limits):
        assert verdict(on, number, *words) == EPERM


HARMFUL = {
    "fcntl": [(0, command) for command in (8, 10, 1024, 1025, 1026, 1031, 1033, 36, 37, 38, 15, 17)],
    "setsockopt": [(0, 1, option) for option in (26, 27, 50, 51, 52, 16, 34, 32, 33, 7, 8, 77, 83)]
    + [(0, level, 20) for level in (0, 6, 17, 41, 255, 263)],
    "getsockopt": [(0, 1, option) for option in (17, 26, 31, 34, 59, 77)] + [(0, 6, 3)],
    "madvise": [(0, 0, advice) for advice in (9, 12, 13, 20, 21, 25, 100, 101)],
    "mmap": [(0, 0, 0, flags) for flags in (0x22 | 0x40000, 0x22 | 0x2000, 0x22 | 21 << 26 | 0x40000, 0x80000)],
    "sendto": [(0, 0, 0, 1), (0, 0, 0, 0x4000000), (0, 0, 0, 0x20000000)],
    "sendmsg": [(0, 0, 1), (0, 0, 0x41)],
    "recvfrom": [(0, 0, 0, 1)],
    "recvmsg": [(0, 0, 0x2000), (0, 0, 1)],
    "socketpair": [(1, 2, 0), (16, 3, 0), (1, 3, 0), (2, 1, 6), (40, 1, 0), (1, 0, 0)],
    "ioctl": [(0, request) for request in (0x5412, 0x541C, 0x40049409, 0x4B61, 0x541D, 0x5423)],
    "prctl": [(option,) for option in (1, 4, 8, 22, 23, 24, 28, 38, 47, 53, 55, 0x53564D41, 0x59616D61)],
    "renameat2": [(0, 0, 0, 0, 4), (0, 0, 0, 0, 5)],
    "prlimit64": [(1, 9), (2, 9)],
    "arch_prctl": [(0x1011,), (0x1012,), (0x1023,), (0x5001,), (0x2001,)],
}
"""Filters put on a socket, leases, credentials, merged and evicted pages, uncounted memory, urgent bytes, typing for
others, and the like."""


@on_both
def test_what_harms_is_on_no_list(on: Machine) -> None:
    known = judged(on)
    assert set(HARMFUL) == set(syscalls.JUDGED) | set(syscalls.SEALED)
    for name, calls in HARMFUL.items():
        for words in calls if name in known else []:
            assert verdict(on, known[name][0], *words) == EPERM, (name, words)


USELESS = """splice tee vmsplice mincore memfd_create memfd_secret shmget personality mbind mlock connect bind sendmmsg
recvmmsg pidfd_open pidfd_send_signal name_to_handle_at rt_sigqueueinfo sched_setaffinity sched_setscheduler setpriority
process_mrelease"""


def test_calls_without_a_use_inside_are_in_no_table() -> None:
    tables = (syscalls.HARMLESS, syscalls.HOSTILE, syscalls.PROGRAMS, syscalls.BUILDING, syscalls.JUDGED)
    assert not {name for table in tables for name in table} & set(USELESS.split())


def test_a_list_that_would_let_the_rest_through_cannot_be_built() -> None:
    with pytest.raises(ValueError):
        seccomp._judge((ArgumentLimit(0, (1,)),), EPERM, otherwise=ALLOW)


@on_both
@given(flags=st.integers(0, 2**64 - 1))
def test_a_clone_with_an_upper_half_is_refused(on: Machine, flags: int) -> None:
    if flags >> 32:
        assert verdict(on, on.clone, flags, programs=True) in (EPERM, KILL)


@on_both
def test_the_kernel_takes_programs_of_this_size(on: Machine) -> None:
    for program in (seccomp.base(on=on), seccomp.seal(programs=True, on=on), seccomp.seal(programs=False, on=on)):
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096


@on_both
def test_a_named_call_can_be_let_through(on: Machine) -> None:
    number = numbers(on, syscalls.HOSTILE)["ptrace"]
    weak = frozenset({"ptrace"})
    assert run(seccomp.base(weak, on), number, (), on.audit_number) == ALLOW
    assert run(seccomp.base(on=on), number, (), on.audit_number) == KILL


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(SandboxError, match="riscv64"):
        seccomp.machine("riscv64")


@on_both
def test_no_number_is_listed_twice(on: Machine) -> None:
    tables = (syscalls.HARMLESS, syscalls.HOSTILE, syscalls.PROGRAMS, syscalls.BUILDING)
    listed = [number for table in tables for number in numbers(on, table).values()]
    listed += [number for number, _ in judged(on).values()]
    assert len(listed) == len(set(listed))
    assert not {on.clone, on.clone3, on.socket} & set(listed)


HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), r"#define __NR_(\w+)\s+(\d+)"),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"), r"#define __NR(?:3264)?_(\w+)\s+(\d+)"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_the_numbers_are_the_kernels_own(name: str) -> None:
    path, pattern = HEADERS[name]
    if not path.exists():
        pytest.skip(f"no {path}: the kernel's headers are not installed")
    real = {word.removeprefix("3264_"): int(number) for word, number in re.findall(pattern, path.read_text())}
    real.pop("fstatat", None)  # the generic list has newfstatat under this name
    on = MACHINES[name]
    for table in (syscalls.HARMLESS, syscalls.HOSTILE, syscalls.PROGRAMS, syscalls.BUILDING):
        for word, columns in table.items():
            if word in real:
                assert columns[on.column] == real[word], word
    others = {"clone": on.clone, "clone3": on.clone3, "socket": on.socket}
    others |= {name: number for name, (number, _) in judged(on).items()}
    for word, number in others.items():
        assert real[word] == number, word
