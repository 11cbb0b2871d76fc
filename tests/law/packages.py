"""A small package in place of Metnos's own, for tests of what is pinned."""

import base64
import hashlib
import importlib.util
import py_compile
from collections.abc import Mapping
from pathlib import Path

SOURCES = {
    "__init__.py": "",
    "law/__init__.py": "",
    "law/levels.py": "LIMIT = 1\n\n\ndef may(x):\n    return x < LIMIT and x in {'a', 'b', 1.5, (0.0, None)}\n",
    "web/page.html": "<p>hello</p>\n",
}


def make_package(folder: Path, sources: Mapping[str, str] = SOURCES) -> Path:
    """A package `metnos` in this folder, compiled."""
    package = folder / "metnos"
    for name, text in sources.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.endswith(".py"):
            py_compile.compile(str(path), doraise=True)
    return package


def compiled_of(source: Path) -> Path:
    return Path(importlib.util.cache_from_source(str(source)))


def plant(source: Path, text: str) -> None:
    """Compile other code into the place of this source's compiled file, with a header that Python believes."""
    place = compiled_of(source)
    header = place.read_bytes()[:16]
    other = source.with_name("other.py")
    other.write_text(text)
    place.write_bytes(header + Path(py_compile.compile(str(other), doraise=True)).read_bytes()[16:])
    compiled_of(other).unlink()
    other.unlink()


def write_record(package: Path, version: str = "0.1.0") -> Path:
    """The RECORD that an installer would leave beside the package."""
    info = package.parent / f"metnos-{version}.dist-info"
    info.mkdir(exist_ok=True)
    lines = []
    for path in sorted(package.rglob("*")):
        if path.is_file():
            name = path.relative_to(package.parent).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
            lines.append(f"{name},," if path.suffix == ".pyc" else f"{name},sha256={digest},{path.stat().st_size}")
    (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/RECORD,,"]) + "\n")
    return info
