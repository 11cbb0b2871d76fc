import os
import stat
from functools import partial
from pathlib import Path

import pytest

from metnos.core import files
from metnos.core.errors import UsageError
from support import at_once


def test_replace_leaves_no_trace_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "note"
    files.replace(path, b"one")
    files.replace(path, b"two", mode=files.PRIVATE_FILE)
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"note", "home"}


def test_replace_that_cannot_happen_leaves_the_old_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError):
        files.replace(folder, b"content")
    assert folder.is_dir()
    assert not list(tmp_path.glob("*.tmp")) + list(tmp_path.glob(".*.tmp"))


def test_create_never_replaces(tmp_path: Path) -> None:
    path = tmp_path / "note"
    assert files.create(path, b"first")
    assert not files.create(path, b"second")
    assert path.read_bytes() == b"first"


def test_create_does_not_follow_a_dangling_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    assert not files.create(link, b"content")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
def test_of_many_creators_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "note"
    won = at_once([partial(files.create, path, b"%d" % number * 10_000) for number in range(8)])
    assert sorted(won) == [False] * 7 + [True]
    assert len(path.read_bytes()) == 10_000


class TestFromOutside:
    def test_what_fits_is_read_whole(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"12345")
        (tmp_path / "link").symlink_to("x")
        assert files.read_outside(tmp_path / "x", 5, "letter", UsageError) == b"12345"
        assert files.read_outside(tmp_path / "link", 5, "letter", UsageError) == b"12345"

    def test_the_rest_is_refused_in_the_words_of_who_asks(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"123456")
        os.mkfifo(tmp_path / "pipe")
        cases = {
            tmp_path / "x": "larger than a letter can be",
            tmp_path / "pipe": "not an ordinary file, and so no letter",
            Path("/dev/zero"): "not an ordinary file, and so no letter",
            tmp_path: "not an ordinary file, and so no letter",
            tmp_path / "none": "cannot be read",
        }
        for path, says in cases.items():
            with pytest.raises(UsageError, match=says) as told:
                files.read_outside(path, 5, "letter", UsageError)
            assert told.value.fix == "Name a letter."

    def test_what_took_its_place_meanwhile_is_refused_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "x").write_bytes(b"1")
        really = os.open
        monkeypatch.setattr(os, "open", lambda _path, flags: really("/dev/zero", flags))
        with pytest.raises(UsageError, match="not an ordinary file"):
            files.read_outside(tmp_path / "x", 5, "letter", UsageError)


def test_exchange_swaps_two_folders(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "who").write_text(name)
    assert files.exchange(tmp_path / "one", tmp_path / "other")
    assert (tmp_path / "one" / "who").read_text() == "other"
    assert (tmp_path / "other" / "who").read_text() == "one"
    assert not files.exchange(tmp_path / "one", tmp_path / "missing")


def test_private_folder_is_closed_and_keeps_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    files.private_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "file").touch()
    folder.chmod(0o755)
    files.private_folder(folder)
    assert (folder / "file").exists()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_lock_is_held_by_one_and_never_waited_for(tmp_path: Path) -> None:
    with files.held(tmp_path / "lock") as first, files.held(tmp_path / "lock") as second:
        assert (first, second) == (True, False)
    with files.held(tmp_path / "lock") as again:
        assert again
