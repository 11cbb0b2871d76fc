"""A small file that is overwritten where it lies: it is on the disk when made, and its lock is that of its name."""

import os
import threading
from functools import partial
from pathlib import Path

import pytest

from metnos.core.fixed_file import FixedFile
from support import at_once


@pytest.fixture
def file(tmp_path: Path) -> FixedFile:
    return FixedFile(tmp_path / "small")


def test_it_is_made_once_closed_to_others_and_on_the_disk_with_its_name(
    file: FixedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    really = os.fsync

    def noted(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}")
        synced.append(b"folder" if path.is_dir() else path.read_bytes())
        really(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    assert file.create(b"whole")
    assert synced == [b"whole", b"folder"]
    assert not file.create(b"other")
    assert file.read(99) == b"whole"
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_it_is_overwritten_where_it_lies_and_cut(file: FixedFile) -> None:
    file.create(b"0123456789")
    inode = file.path.stat().st_ino
    file.overwrite(b"abc", sync=True)
    assert (file.read(99), file.read(2), file.path.stat().st_ino) == (b"abc", b"ab", inode)
    with file.held() as held:
        held.put(b"XY", 1)
        assert (held.read(99), held.size()) == (b"aXY", 3)


@pytest.mark.parametrize("odd", ["folder", "pipe", "link"])
def test_only_an_ordinary_file_counts_and_nothing_waits(file: FixedFile, tmp_path: Path, odd: str) -> None:
    if odd == "folder":
        file.path.mkdir()
    elif odd == "pipe":
        os.mkfifo(file.path)
    else:
        (tmp_path / "elsewhere").write_bytes(b"yes")
        file.path.symlink_to(tmp_path / "elsewhere")
    assert file.exists()
    assert not file.create(b"x")
    with pytest.raises(OSError):
        file.read(9)
    with pytest.raises(OSError):
        file.overwrite(b"x")
    with pytest.raises(OSError), file.held():
        pass


def test_processes_take_turns(file: FixedFile) -> None:
    file.create(b"0".rjust(8))
    at_once([partial(_count, file)] * 4)
    assert int(file.read(8)) == 80


def _count(file: FixedFile) -> None:
    for _ in range(20):
        with file.held() as held:
            held.overwrite(str(int(held.read(8)) + 1).encode().rjust(8))


def test_whoever_has_no_patience_is_told(file: FixedFile) -> None:
    file.create(b"x")
    with file.held(), pytest.raises(TimeoutError), file.held(0.01):
        pass


def test_whoever_waited_holds_the_file_that_has_the_name_by_then(file: FixedFile, tmp_path: Path) -> None:
    file.create(b"old")
    seen: list[bytes] = []

    def wait() -> None:
        with file.held() as held:
            seen.append(held.read(9))

    other = threading.Thread(target=wait)
    with file.held():
        other.start()
        (tmp_path / "new").write_bytes(b"new")
        (tmp_path / "new").replace(file.path)
    other.join(60)
    assert seen == [b"new"]
