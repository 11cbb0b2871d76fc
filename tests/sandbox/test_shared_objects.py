"""What the loader would look for, read from real programs and from damaged ones."""

import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.interpreter import this_python
from metnos.sandbox.shared_objects import needed_beside, needed_by


def library(*needed: str) -> bytes:
    """A small ELF file that asks for these libraries: one segment that is loaded, one with the dynamic section."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in needed)
    places = [strings.index(b"\0" + name.encode() + b"\0") + 1 for name in needed]
    base, at = 0x1000, 64 + 2 * 56
    entries = [(1, place) for place in places] + [(5, base + at), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    size = at + len(strings) + len(dynamic)
    loaded = struct.pack("<IIQQQQQQ", 1, 4, 0, base, base, size, size, 4096)
    second = struct.pack("<IIQQQQQQ", 2, 4, at + len(strings), 0, 0, len(dynamic), len(dynamic), 8)
    return head + loaded + second + strings + dynamic


def test_a_real_program_names_its_c_library() -> None:
    named = needed_by(this_python().program)
    assert any(name.startswith(("libc.", "libpython")) for name in named)
    assert not any("/" in name for name in named)


def test_what_is_no_program_needs_nothing(tmp_path: Path) -> None:
    assert needed_by(Path(__file__)) == frozenset()
    assert needed_by(tmp_path) == needed_by(tmp_path / "none") == frozenset()


def test_needs_are_followed_within_one_folder(tmp_path: Path) -> None:
    parts = {"program": ("liba.so.1", "$ORIGIN/../lib/libb.so", "libc.so.6"), "liba.so.1": ("libd.so",),
             "libb.so": ("libb.so", "liba.so.1"), "libd.so": (), "libother.so": ("liba.so.1",)}  # fmt: skip
    for name, needed in parts.items():
        (tmp_path / name).write_bytes(library(*needed))
    (tmp_path / "keyring.db").write_text("not a library")
    found = needed_beside([tmp_path / "program"], tmp_path)
    assert found == tuple(tmp_path / name for name in ("liba.so.1", "libb.so", "libd.so"))
    assert needed_beside([tmp_path / "program"], tmp_path / "none") == ()


@given(data=st.data())
def test_a_damaged_file_is_no_error(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = library("liba.so", "libb.so")
    at = data.draw(st.integers(0, len(whole) - 1))
    damage = data.draw(st.binary(max_size=16))
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path_factory.getbasetemp() / "damaged.so"
    path.write_bytes((whole[:at] + damage + whole[at + len(damage) :])[:cut])
    assert isinstance(needed_by(path), frozenset)


def test_our_own_interpreter_starts_with_what_was_found() -> None:
    """Whatever is mapped from beside it, besides extensions, is among the parts."""
    python = this_python()
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
    beside = {Path(path) for path in mapped if Path(path).parent == python.prefix / "lib"}
    system = python.prefix == Path("/usr")
    assert system or beside <= {path.resolve() for path in python.libraries} | set(python.libraries)
    assert sys.prefix != str(python.prefix) or sys.prefix == sys.base_prefix
