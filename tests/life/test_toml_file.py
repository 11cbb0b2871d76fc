"""Files that the owner may write: found, read, refused."""

from pathlib import Path

import pytest

from metnos.core.errors import SettingsError
from metnos.life import toml_file


class Small(toml_file.Strict):
    count: int


def test_the_owners_file_comes_first(tmp_path: Path) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    for folder in (shipped, own):
        folder.mkdir()
        (folder / "one.toml").write_text("count = 1")
    assert toml_file.find("thing", "one", shipped, own) == own / "one.toml"
    assert toml_file.find("thing", "one", shipped, tmp_path / "none") == shipped / "one.toml"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"count = true", "`count`"),
        (b"count = 1\nmore = 2", "`more`"),
        (b"", "`count`"),
        (b"count = ", "not valid TOML"),
        (b"count = '\xff'", "not valid TOML"),
        (b"#" * (toml_file.LARGEST + 1), "larger than"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "one.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        toml_file.read(path, Small)
    assert says in caught.value.what


def test_a_file_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        toml_file.read(tmp_path / "gone.toml", Small)
