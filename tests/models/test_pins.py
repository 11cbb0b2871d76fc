import re
from pathlib import Path

import pytest

from metnos.core.errors import ModelError
from metnos.models import pins


def test_every_pin_is_whole() -> None:
    assert list(pins.pins()) == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"]
    for pin in pins.pins().values():
        assert re.fullmatch(r"[0-9a-f]{64}", pin.sha256)
        assert pin.hub.startswith("https://")
        assert re.fullmatch(r"[a-z0-9._-]+\.gguf", pin.file)
        assert pin.license == "Apache-2.0"
        assert pin.parts is not None
        assert (pin.parts.count - 1) * pin.parts.size < pin.size <= pin.parts.count * pin.parts.size
        assert pin.parts.package.format(n=1)
        assert pin.parts.member.format(n=1)


def test_the_cache_is_the_persons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pins.folder() == Path.home() / ".cache/metnos/models"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert pins.folder() == tmp_path / "cache/metnos/models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert pins.folder() == Path.home() / ".cache/metnos/models"


def test_a_file_by_its_name_or_its_path(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not fetched yet"):
        pins.find_file("smollm2-135m")
    pin = pins.require_pin("smollm2-135m")
    pins.folder().mkdir(parents=True)
    place = pins.folder() / pin.file
    place.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="not fetched yet"):  # too short to be it
        pins.find_file("smollm2-135m")
    with place.open("ab") as file:
        file.truncate(pin.size)
    assert pins.find_file("smollm2-135m") == place
    mine = Path.home() / "my.gguf"
    mine.write_bytes(b"GGUF")
    assert pins.find_file("~/my.gguf") == pins.find_file(str(mine)) == mine


@pytest.mark.parametrize("name", ["unheard-of", "relative/my.gguf", "/nowhere/my.gguf", "../x", ""])
def test_what_is_not_there_is_said(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        pins.find_file(name)
    assert caught.value.kind == "missing"
    assert caught.value.fix
    with pytest.raises(ModelError, match="no model"):
        pins.require_pin(name)
