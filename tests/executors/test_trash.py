"""The desktop's trash."""

import os
import shutil
import stat
import tempfile
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.boxes import FAST, Box
from metnos.core.errors import ExecutorFailed
from metnos.executors import trash as trashing
from metnos.executors.trash import Can, Trash
from metnos.law.principal import at_terminal

NAMES = st.binary(min_size=1, max_size=255).filter(lambda raw: not set(raw) & {0, 47} and raw not in (b".", b".."))


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def info_of(box: Box, name: str) -> list[bytes]:
    return (box.trash.home / "info" / f"{name}.trashinfo").read_bytes().splitlines()


def test_what_a_file_manager_finds(box: Box) -> None:
    odd = box.home / os.fsdecode(b"a b%\n\xff")
    odd.write_text("x")
    with box.begin() as acting:
        acting.trash(odd)
    header, path, date = info_of(box, odd.name)
    assert header == b"[Trash Info]"
    assert path.startswith(b"Path=/")
    assert unquote_to_bytes(path.removeprefix(b"Path=")) == os.fsencode(odd)
    assert datetime.fromisoformat(date.removeprefix(b"DeletionDate=").decode()).tzinfo is None
    assert (box.trash.home / "files" / odd.name).read_text() == "x"
    assert stat.S_IMODE((box.trash.home / "files").stat().st_mode) == 0o700
    box.undo.undo(by=at_terminal())
    assert odd.read_text() == "x"
    assert list((box.trash.home / "info").iterdir()) == []


def test_two_of_one_name_do_not_meet(box: Box) -> None:
    for number in range(3):
        (box.home / "same").write_text(str(number))
        with box.begin() as acting:
            acting.trash(box.home / "same")
    held = {path.read_text() for path in (box.trash.home / "files").iterdir()}
    assert held == {"0", "1", "2"}
    assert len(list((box.trash.home / "info").iterdir())) == 3
    box.undo.undo(by=at_terminal())
    assert (box.home / "same").read_text() == "2"


@given(raw=NAMES)
def test_every_name_fits_and_comes_back_from_the_info(raw: bytes) -> None:
    name, path = os.fsdecode(raw), Path("/x") / os.fsdecode(raw)
    for each in trashing.candidates(name, "0" * 26):
        assert len(os.fsencode(each)) + len(".trashinfo") <= 255
    for can in (Can(Path("/home/Trash")), Can(Path("/x/.Trash-7"), Path("/x"))):
        info = trashing._info(can, path, datetime.now().astimezone())
        assert trashing.path_in(info, can) == path
        assert info.count(b"\n") == 3


def test_the_trash_itself_is_not_trashed(box: Box) -> None:
    (box.home / "a").touch()
    with box.begin() as acting:
        acting.trash(box.home / "a")
    for path in (box.trash.home, box.trash.home / "files" / "a", box.trash.home.parent):
        with pytest.raises(ExecutorFailed) as caught:
            box.begin().trash(path)
        assert caught.value.kind == "not_permitted"


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on another disk, which is taken for the top of it."""
    folder = Path(tempfile.mkdtemp(dir=FAST))
    monkeypatch.setattr(Path, "is_mount", lambda self: self == folder or self == Path("/"))
    yield folder  # type: ignore[misc]
    shutil.rmtree(folder)


def test_another_disk_has_a_trash_of_its_own(box: Box, disk: Path) -> None:
    (disk / "d").mkdir()
    (disk / "d" / "a").write_text("x")
    with box.begin() as acting:
        acting.trash(disk / "d" / "a")
    can = disk / f".Trash-{os.getuid()}"
    assert stat.S_IMODE(can.stat().st_mode) == 0o700
    assert b"Path=d/a" in (can / "info" / "a.trashinfo").read_bytes()
    with pytest.raises(ExecutorFailed) as caught:
        box.begin().trash(can / "files" / "a")
    assert caught.value.kind == "not_permitted"
    box.undo.undo(by=at_terminal())
    assert (disk / "d" / "a").read_text() == "x"
    assert trashing.can_of(can / "files" / "a") == Can(can, disk)


def test_the_administrator_s_trash_is_used_only_if_it_is_sound(box: Box, disk: Path) -> None:
    device = disk.stat().st_dev
    (disk / ".Trash").mkdir()
    own = Can(disk / f".Trash-{os.getuid()}", disk)
    assert box.trash.can_for(disk / "a", device) == own, "it is not sticky"
    (disk / ".Trash").chmod(0o1777)
    shared = Can(disk / ".Trash" / str(os.getuid()), disk)
    assert box.trash.can_for(disk / "a", device) == shared
    assert trashing.can_of(shared.files / "a") == shared
    (disk / ".Trash").rename(disk / "elsewhere")
    (disk / ".Trash").symlink_to("elsewhere")
    assert box.trash.can_for(disk / "a", device) == own, "it is a link"


def test_a_trash_that_is_a_link_or_another_s_is_not_used(box: Box, disk: Path) -> None:
    (disk / "a").touch()
    (disk / "trap").mkdir()
    (disk / f".Trash-{os.getuid()}").symlink_to("trap")
    with pytest.raises(ExecutorFailed) as caught:
        box.begin().trash(disk / "a")
    assert caught.value.kind == "unavailable"
    (disk / f".Trash-{os.getuid()}").unlink()
    (disk / f".Trash-{os.getuid()}").mkdir()
    (disk / f".Trash-{os.getuid()}" / "files").symlink_to(disk / "trap")
    with pytest.raises(ExecutorFailed) as caught:
        box.begin().trash(disk / "a")
    assert caught.value.kind == "unavailable"
    assert list((disk / "trap").iterdir()) == []
    with pytest.raises(ExecutorFailed) as caught:
        Trash(box.trash.home).can_for(disk / "a", 12345)
    assert caught.value.kind == "unavailable"
