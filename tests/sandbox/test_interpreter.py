"""Which parts of a Python are shown; and, in a real sandbox, that nothing beside them is."""

import contextlib
import marshal
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

import pytest

from metnos.core.errors import SandboxError
from metnos.sandbox import pool as pools
from metnos.sandbox import zygote as zygotes
from metnos.sandbox.interpreter import Python, find_parts, this_python
from metnos.sandbox.pool import Job, Pool
from metnos.sandbox.profile import Walls

CONTEXT = {"dry_run": False, "limit": 10, "workspace": "", "utc_offset_s": 0, "now": 0.0}


def inside(pool: Pool, body: str, libraries: tuple[str, ...] = ()) -> Any:
    code = marshal.dumps(
        compile(f"import os, sys\ndef run(args, ctx):\n    return {{'entries': [{body}]}}", "x", "exec")
    )
    ended = pool.run(Job(code, {}, CONTEXT, Walls(wall_s=60.0), libraries), lambda *_: {"value": 0})
    assert ended.message is not None, ended
    assert "reply" in ended.message, ended.message
    return ended.message["reply"]["entries"][0]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with contextlib.closing(Pool(warm=1)) as pool:
        yield pool


def test_the_interpreter_is_the_one_below_the_environment() -> None:
    python = this_python()
    assert python.program.is_file()
    assert not python.program.is_symlink()
    assert python.folders
    assert all((folder / "os.py").exists() or (folder / "lib-dynload").is_dir() for folder in python.folders)
    assert not any(Path(sys.prefix) == folder or "site-packages" in folder.parts for folder in python.folders)


def test_a_python_among_what_is_private_is_refused(tmp_path: Path) -> None:
    prefix = tmp_path / ".ssh" / "python"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (prefix / "lib" / version).mkdir(parents=True)
    with pytest.raises(SandboxError) as caught:
        find_parts(prefix / "bin" / "python3", prefix, prefix)
    assert "PYTHON=" in caught.value.fix


@pytest.mark.slow
def test_of_the_machine_libraries_are_in_sight_and_nothing_beside_them(pool: Pool) -> None:
    python = this_python()
    roots = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "tmp", "metnos", ".empty"}
    roots |= {part.parts[1] for part in python.shown}
    assert set(inside(pool, "os.listdir('/')")) <= roots
    assert set(inside(pool, "os.listdir('/usr')")) <= {
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "share",
        *_below("/usr", python),
    }
    assert inside(pool, "os.listdir('/usr/share')") == ["zoneinfo"]
    assert inside(pool, "[name for name in ('/usr/local', '/opt', '/home') if os.path.exists(name)]") == [
        str(place) for place in map(Path, ("/usr/local", "/opt", "/home")) if _below(str(place), python)
    ]
    assert inside(pool, "os.listdir('/metnos')") == ["kit"]
    packages = "[os.listdir(os.path.join(at, name)) for at in sys.path if os.path.isdir(at)"
    assert not any(inside(pool, packages + " for name in os.listdir(at) if name.endswith('-packages')]"))


def _below(folder: str, python: Python) -> set[str]:
    return {path.relative_to(folder).parts[0] for path in python.shown if path.is_relative_to(folder)}


@pytest.mark.slow
def test_a_call_imports_what_it_declares_and_nothing_else(pool: Pool) -> None:
    here = "sorted(name for name in os.listdir('/metnos/site') if '.' not in name)"
    assert inside(pool, here, ("PIL",)) == ["PIL"]
    assert inside(pool, "__import__('PIL.Image').__name__", ("PIL",)) == "PIL"
    assert inside(pool, "bool(__import__('importlib.util').util.find_spec('lxml'))", ("PIL",)) is False
    assert inside(pool, "bool(__import__('importlib.util').util.find_spec('PIL'))") is False


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pypdf", "openpyxl", "docx", "lxml", "trafilatura"])
def test_each_library_can_be_imported_with_what_it_needs(pool: Pool, library: str) -> None:
    also = {"trafilatura": "trafilatura.xml", "pypdf": "pypdf._encryption", "lxml": "lxml.html"}.get(library, library)
    assert inside(pool, f"__import__({also!r}).__name__", (library,)) == library


@pytest.mark.slow
def test_a_prefix_in_a_home_shows_no_key_that_lies_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python installed to ~/.local, beside keyrings and an agent's own key, and a control that binds all of it."""
    system, version = Path("/usr/bin/python3"), f"python{sys.version_info[0]}.{sys.version_info[1]}"
    same = [str(system), "-c", "import importlib.util as u, sys; sys.stdout.buffer.write(u.MAGIC_NUMBER)"]
    stdlib = Path("/usr/lib") / version
    if not stdlib.is_dir() or subprocess.run(same, capture_output=True, check=False).stdout != MAGIC_NUMBER:
        pytest.skip("needs a Python of the system that reads what this one compiles")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # not /tmp, of which a call has its own
        prefix = Path(folder).resolve() / "home" / ".local"
        left_out = shutil.ignore_patterns(
            "test", "__pycache__", "*-packages", "config-*", "idlelib", "lib2to3", "pydoc*"
        )
        shutil.copytree(stdlib, prefix / "lib" / version, copy_function=_link, ignore=left_out)
        (prefix / "bin").mkdir()
        shutil.copy(system.resolve(), prefix / "bin" / "python3")
        secrets = [prefix / name for name in ("share/keyrings/login.keyring", "share/metnos/.keys/agent.key", "notes")]
        for secret in secrets:
            secret.parent.mkdir(parents=True, exist_ok=True)
            secret.write_text("private")
        Path(folder).chmod(0o755)
        parts = find_parts(prefix / "bin" / "python3", prefix, prefix)
        everything = Python(parts.program, parts.prefix, (prefix,), ())
        names = [str(secret) for secret in secrets]
        there = f"([path for path in {names} if os.path.exists(path)], sys.prefix)"
        assert _with_python(parts, there, monkeypatch) == [[], str(prefix)]
        assert _with_python(everything, there, monkeypatch) == [names, str(prefix)]


def _with_python(python: Python, body: str, patch: pytest.MonkeyPatch) -> Any:
    for module in (zygotes, pools):
        patch.setattr(module, "this_python", lambda: python)
    with contextlib.closing(Pool(warm=0)) as pool:
        return inside(pool, body)


def _link(source: str, target: str) -> None:
    """A second name is as good as a copy where nothing writes."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)
