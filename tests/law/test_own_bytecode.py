import importlib.util
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from law.packages import compiled_of, make_package, plant
from metnos.law import own_bytecode
from metnos.law.own_bytecode import canonical, judge
from metnos.law.own_code import PACKAGE, measure

EVIL = "LIMIT = 9\n\n\ndef may(x):\n    return True\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


@pytest.fixture
def levels(package: Path) -> Path:
    return package / "law" / "levels.py"


def wrong(package: Path, known: frozenset[str] = frozenset()) -> tuple[str, ...]:
    return judge(package, measure(package), known).wrong


def _only(name: str) -> Callable[..., bool]:
    """Compiling, which must be asked for this source alone."""
    really = own_bytecode._is_compiled_from

    def compile_one(compiled: bytes, source: Path, digest: str) -> bool:
        assert source.name == name
        return really(compiled, source, digest)

    return compile_one


def loaded(source: Path) -> int:
    """What Python itself makes of it."""
    spec = importlib.util.spec_from_file_location("levels", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LIMIT


def test_what_is_compiled_from_its_source_becomes_known(package: Path) -> None:
    found = judge(package, measure(package))
    assert (found.wrong, len(found.known)) == ((), 3)
    assert judge(package, measure(package), found.known) == found


def test_a_planted_one_that_python_believes_is_found(package: Path, levels: Path) -> None:
    known = judge(package, measure(package)).known
    plant(levels, EVIL)
    assert loaded(levels) == 9  # the attack works
    assert wrong(package, known) == (str(compiled_of(levels)),)


def test_the_command_that_people_are_told_removes_it(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    package = make_package(tmp_path / "a folder")
    assert list(package.rglob("*.pyc"))
    subprocess.run(own_bytecode.removal(package), shell=True, check=True, timeout=60)
    assert not list(package.rglob("*.pyc"))
    assert (package / "law" / "levels.py").exists()


@pytest.mark.parametrize("flags", [0b01, 0b11])
def test_one_that_names_a_hash_is_found(package: Path, levels: Path, flags: int) -> None:
    plant(levels, EVIL)
    place = compiled_of(levels)
    header = place.read_bytes()[:4] + flags.to_bytes(4, "little") + importlib.util.source_hash(levels.read_bytes())
    place.write_bytes(header + place.read_bytes()[16:])
    assert loaded(levels) == 9
    assert wrong(package) == (str(place),)


def test_one_that_python_would_not_believe_is_harmless_and_never_known(
    package: Path, levels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels.write_text(EVIL + "# more\n")
    monkeypatch.setattr(own_bytecode, "_is_compiled_from", _only("__init__.py"))  # it costs nothing either
    found = judge(package, measure(package))
    assert (found.wrong, len(found.known)) == ((), 2)
    os.utime(levels, (1, 1))
    compiled_of(levels).write_bytes(b"another Python's" * 9)
    assert wrong(package) == ()


@pytest.mark.parametrize("body", [b"", b"\xff" * 40, b"i\x01\x00\x00\x00", b"("])
def test_one_that_makes_no_sense_is_found(package: Path, levels: Path, body: bytes) -> None:
    place = compiled_of(levels)
    place.write_bytes(place.read_bytes()[:16] + body)
    assert wrong(package) == (str(place),)


@pytest.mark.parametrize(
    ("one", "other"),
    [("x = 0.0", "x = -0.0"), ("x = 1", "x = True"), ("x = 1", "x = 1.0"), ("x = (1, 2)", "x = (1, 2.0)"),
     ("def f(a): pass", "def f(*, a): pass"), ("x = y in {1}", "x = y in {True}"), ("a = b", "b = a"),
     ("def f():\n x = 1\n", "def f():\n x = 2\n"), ("x = 'a'", "x = b'a'")],
)  # fmt: skip
def test_what_python_tells_apart_is_told_apart(one: str, other: str) -> None:
    assert canonical(compile(one, "", "exec")) != canonical(compile(other, "", "exec"))
    assert canonical(compile(one, "", "exec")) == canonical(compile(one, "elsewhere", "exec"))


def test_a_folder_of_its_own_for_compiled_files_is_judged_too(
    package: Path, levels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    py_compile.compile(str(levels), doraise=True)
    assert wrong(package) == ()
    plant(levels, EVIL)
    assert wrong(package) == (str(compiled_of(levels)),)


@pytest.mark.parametrize("name", ["__init__.py", "cli/__init__.py", "app/house.py", "turn/named.py"])
def test_compiled_files_are_judged_wherever_they_lie_in_the_package(package: Path, name: str) -> None:
    source = package / name
    source.parent.mkdir(exist_ok=True)
    source.write_text("LIMIT = 1\n")
    py_compile.compile(str(source), doraise=True)
    assert wrong(package) == ()
    plant(source, EVIL)
    assert wrong(package) == (str(compiled_of(source)),)


@pytest.mark.slow
def test_all_of_metnos_is_right_and_what_is_known_is_not_compiled_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = measure(PACKAGE)
    first = judge(PACKAGE, code)
    assert first.wrong == ()
    monkeypatch.setattr(own_bytecode, "_is_compiled_from", lambda *_: pytest.fail("it is known"))
    assert judge(PACKAGE, code, first.known) == first
