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


def special(on: Machine) -> set[int]:
    return {on.clone, on.clone3, on.socket, on.socketpair, on.ioctl, on.fcntl, on.prctl}


# What is judged by its arguments although it stands in the table of the harmless.
ARGUED = {"sendto", "sendmsg"}


@on_both
@pytest.mark.parametrize("programs", [False, True])
def test_harmless_calls_are_allowed(on: Machine, programs: bool) -> None:
    for name, number in numbers(on, syscalls.HARMLESS).items():
        if name not in ARGUED:
            assert verdict(on, number, programs=programs) == ALLOW, name


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


@on_both
@given(kind=st.integers(0, 0xFFFFFFFF), family=st.integers(0, 50))
def test_a_pair_of_sockets_is_a_local_stream(on: Machine, kind: int, family: int) -> None:
    """One half of a datagram pair can be told another address, and other families load modules."""
    number = on.socketpair
    plain = kind & ~0x80800 in (1, 5)  # a stream or packets in sequence; close on exec, not blocking
    if family != 1 or not plain:
        assert verdict(on, number, family, kind) == EPERM


@on_both
@pytest.mark.parametrize("kind", [1, 0x80001, 0x801, 0x80801])
def test_streams_are_allowed(on: Machine, kind: int) -> None:
    assert verdict(on, on.socketpair, 1, kind) == ALLOW


@on_both
@given(request=st.integers(0, 0xFFFFFFFFFFFFFFFF))
def test_few_ioctls(on: Machine, request: int) -> None:
    assert verdict(on, on.ioctl, 0, request) == (ALLOW if request in seccomp._IOCTLS else EPERM)


@on_both
def test_these_ioctls_are_allowed(on: Machine) -> None:
    assert all(verdict(on, on.ioctl, 0, request) == ALLOW for request in seccomp._IOCTLS)
    for hostile in (0x5412, 0x541C, 0x40049409, 0x1 << 32 | 0x5401):  # typing for others, their console, cloning
        assert verdict(on, on.ioctl, 0, hostile) == EPERM


@on_both
@given(option=st.integers(0, 0xFFFFFFFFFFFFFFFF))
def test_prctl_names_threads_and_nothing_else(on: Machine, option: int) -> None:
    assert verdict(on, on.prctl, option) == (ALLOW if option in (15, 16) else EPERM)
    assert verdict(on, on.prctl, 15) == verdict(on, on.prctl, 16) == ALLOW


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
    assert len(listed) == len(set(listed))
    assert not special(on) & set(listed)


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
    for word, number in (("clone", on.clone), ("clone3", on.clone3), ("socket", on.socket), ("ioctl", on.ioctl)):
        assert real[word] == number
