"""Installing from a lock, with an index that has newer versions of everything: `tools/setup.sh` resolves nothing."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path

import pytest

from support import ROOT

PYTHONS = ("3.11", "3.12", "3.13")

BACKEND = """
import zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "metnos-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("metnos-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: metnos\\nVersion: 1.0\\n")
        about = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("metnos-1.0.dist-info/WHEEL", about)
        wheel.writestr("metnos-1.0.dist-info/RECORD", "")
    return name
"""

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "metnos"
version = "1.0"
dependencies = ["alpha>=1"]
"""


def build_wheel(name: str, version: str, *headers: str) -> bytes:
    """A package with nothing in it but its metadata."""
    info = f"{name}-{version}.dist-info"
    lines = ("Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *headers)
    return _pack(
        {
            f"{info}/METADATA": "\n".join(lines) + "\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
            f"{name}.py": "",
        }
    )


def repack(name: str) -> bytes:
    """An installed package as the wheel that it came from."""
    files = metadata.distribution(name).files or []
    kept = [each for each in files if "__pycache__" not in each.parts and each.name not in ("INSTALLER", "REQUESTED")]
    return _pack({str(each): each.read_text() for each in kept})


def _pack(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return packed.getvalue()


@dataclass
class Index:
    """A package index on the loopback address, which remembers what it was asked for."""

    wheels: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def add(self, name: str, version: str, wheel: bytes) -> str:
        """Offer a wheel; returns its line for a lock."""
        self.wheels[f"{name}-{version}-py3-none-any.whl"] = wheel
        return f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(wheel).hexdigest()}\n"

    def answer(self, path: str) -> tuple[bytes, str] | None:
        self.asked.append(path)
        kind, _, name = path.strip("/").partition("/")
        if kind == "files":
            return self.wheels[name], "application/octet-stream"
        files = [each for each in self.wheels if each.startswith(f"{name}-")]
        if kind != "simple" or not files:
            return None
        return "".join(f'<a href="/files/{each}">{each}</a>\n' for each in files).encode(), "text/html"


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = made.answer(self.path)
            body, kind = found or (b"", "text/plain")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made.address = f"http://127.0.0.1:{server.server_port}/simple"
        yield made
        server.shutdown()


@dataclass
class Checkout:
    root: Path
    index: Index
    lock: dict[str, str]

    def write_lock(self) -> None:
        (self.root / "lock" / "run.txt").write_text("".join(self.lock.values()))

    def set_up(self, python: str, *, uv: bool = False) -> subprocess.CompletedProcess[str]:
        """Run the set-up of a checkout with this Python, and with uv or without it."""
        programs = self.root.parent / "programs"
        programs.mkdir(exist_ok=True)
        wanted = {name: shutil.which(name) or name for name in ("sh", "flock", "cat", "rm", "id", "bwrap", "dirname")}
        if uv:
            wanted["uv"] = str(Path(sys.executable).with_name("uv"))
        for name, path in wanted.items():
            if not (programs / name).exists():
                (programs / name).symlink_to(path)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PYTHON"))}
        return subprocess.run(
            ["sh", "tools/setup.sh", "run"],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                **kept,
                "PATH": str(programs),
                "PYTHON": python,
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_INDEX_URL": self.index.address,
                "PIP_NO_CACHE_DIR": "1",
                "UV_NO_CONFIG": "1",
                "UV_DEFAULT_INDEX": self.index.address,
                "UV_NO_CACHE": "1",
                "UV_PYTHON_DOWNLOADS": "never",
            },
        )

    def installed(self) -> dict[str, str]:
        folders = (self.root / ".venv" / "lib").glob("python3*/site-packages")
        found = {each.name: each.version for folder in folders for each in metadata.distributions(path=[str(folder)])}
        return {name: version for name, version in found.items() if name not in ("pip", "setuptools")}


@pytest.fixture
def checkout(tmp_path: Path, index: Index) -> Checkout:
    """A project that asks for a package that asks for another with an extra; each has a newer version in the index."""
    root = tmp_path / "checkout"
    for folder in ("tools", "lock"):
        (root / folder).mkdir(parents=True)
    for name in ("setup.sh", "environment.py"):
        shutil.copy(ROOT / "tools" / name, root / "tools" / name)
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "backend.py").write_text(BACKEND)
    lock = {}
    for version in ("2.0", "1.0"):
        lock |= {
            "alpha": index.add("alpha", version, build_wheel("alpha", version, "Requires-Dist: beta[toml]>=1.0")),
            "beta": index.add(
                "beta",
                version,
                build_wheel("beta", version, "Provides-Extra: toml", 'Requires-Dist: gamma>=1; extra == "toml"'),
            ),
            "gamma": index.add("gamma", version, build_wheel("gamma", version)),
        }
    lock["packaging"] = index.add("packaging", metadata.version("packaging"), repack("packaging"))
    made = Checkout(root, index, lock)
    made.write_lock()
    return made


def find_python(version: str) -> str:
    """An interpreter of this version: this one, one installed beside it as pyenv and uv do, or one on the PATH."""
    beside = sorted(Path(sys.base_prefix).parent.glob(f"*{version}.*/bin/python3"))
    for candidate in (sys.executable, *map(str, beside), shutil.which(f"python{version}")):
        if candidate and _runs(candidate, version):
            return candidate
    pytest.skip(f"Python {version} is not on this machine")


def _runs(python: str, version: str) -> bool:
    code = "import ensurepip, sys, venv; print(*sys.version_info[:2], sep='.')"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


LOCKED = {"alpha": "1.0", "beta": "1.0", "gamma": "1.0", "metnos": "1.0", "packaging": metadata.version("packaging")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "uv"),
    [("3.11", False), ("3.11", True), *(pytest.param(each, False, marks=pytest.mark.soak) for each in PYTHONS[1:])],
)
def test_the_lock_is_installed_and_nothing_newer(checkout: Checkout, version: str, uv: bool) -> None:
    python = find_python(version)
    checkout.lock["delta"] = checkout.index.add("delta", "1.0", build_wheel("delta", "1.0"))
    checkout.write_lock()
    done = checkout.set_up(python, uv=uv)
    assert done.returncode == 0, done.stderr
    assert ("with uv" in done.stderr) == uv
    assert checkout.installed() == LOCKED | {"delta": "1.0"}
    fetched = {path for path in checkout.index.asked if path.startswith("/files/") and "-2.0-" in path}
    assert not fetched, "something newer was looked at"
    if uv or version == PYTHONS[1]:  # what follows is the script's own work, the same with each pip
        follow_the_lock(checkout, python, uv)


def follow_the_lock(checkout: Checkout, python: str, uv: bool) -> None:
    """Set up again, with the same lock and with others."""
    asked = len(checkout.index.asked)
    assert checkout.set_up(python, uv=uv).returncode == 0
    assert len(checkout.index.asked) == asked, "an environment that matches asks nothing"

    del checkout.lock["delta"]
    checkout.write_lock()
    assert checkout.set_up(python, uv=uv).returncode == 0
    assert checkout.installed() == LOCKED, "what left the lock leaves the environment"

    del checkout.lock["gamma"]
    checkout.write_lock()
    done = checkout.set_up(python, uv=uv)
    assert done.returncode == 1, "a lock that forgets a package is refused"
    assert "beta requires gamma>=1" in done.stderr
    assert not list((checkout.root / ".venv").glob("stamp-*")), "it would be taken for finished"
