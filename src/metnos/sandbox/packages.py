"""The packages that an executor may import, each with all that it needs, where they are installed.

Rules: the list is code. A call sees what its manifest names, and nothing else that is installed beside it. A package's
parts are those that its own record names: folders, single modules, its metadata, which some packages read.
"""

import os
import sysconfig
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from metnos.sandbox.interpreter import refuse_private

# A library by the name that it is imported by, and the packages that it is made of, as their metadata spells them.
PACKAGES: dict[str, tuple[str, ...]] = {
    "pypdf": ("pypdf", "cryptography", "cffi", "pycparser"),  # without these three it crashes over encrypted files
    "openpyxl": ("openpyxl", "et_xmlfile", "lxml"),
    "PIL": ("pillow",),
    "docx": ("python_docx", "lxml", "typing_extensions"),
    "lxml": ("lxml",),
    "trafilatura": (
        "trafilatura", "certifi", "charset_normalizer", "courlan", "htmldate", "justext", "lxml", "lxml_html_clean",
        "urllib3", "babel", "tld", "dateparser", "python_dateutil", "six", "pytz", "regex", "tzlocal", "tzdata",
    ),
    "metnos_kit": (),
}  # fmt: skip
_METADATA = ".dist-info"

Part = tuple[str, str]  # where it lies, and the name that it is imported by


def find_packages(libraries: Iterable[str]) -> list[Part]:
    """What a call that declares these libraries gets to see; what is not installed is left out."""
    wanted = sorted({package for library in libraries for package in PACKAGES[library]})
    if not wanted:
        return []
    found: dict[str, str] = {}
    for site in _sites():
        installed = _installed(site, _changed(site))
        for package in wanted:
            for source, name in installed.get(package, ()):
                found.setdefault(name, source)
    return [(source, name) for name, source in sorted(found.items())]


@cache
def _sites() -> tuple[str, ...]:
    """Where this environment keeps its packages."""
    return tuple(dict.fromkeys(os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")))


def _changed(site: str) -> int:
    try:
        return os.stat(site).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


@lru_cache(maxsize=4)
def _installed(site: str, _stamp: int) -> dict[str, tuple[Part, ...]]:
    """The parts of each listed package in this folder, read once until the folder changes."""
    listed = {package for packages in PACKAGES.values() for package in packages}
    found = {}
    for path in sorted(Path(site).glob(f"*{_METADATA}")):
        package = path.name.partition("-")[0].lower().replace("-", "_").replace(".", "_")
        if package in listed:
            found[package] = tuple(_parts(Path(site), path))
    return found


def _parts(site: Path, metadata: Path) -> Iterable[Part]:
    try:
        record = (metadata / "RECORD").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    # A line is a path, a digest and a size. Programs lie outside, and are none of an executor's business.
    first = {line.partition(",")[0].partition("/")[0] for line in record.splitlines()}
    for name in sorted(first - {"", ".", "..", "__pycache__", "metnos"}):
        source = (site / name).resolve()
        if source.exists():
            refuse_private(source, f"the package {metadata.name.removesuffix(_METADATA)}")
            yield str(source), name
