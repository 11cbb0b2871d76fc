"""Changing one entry of one folder."""

import errno
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from metnos.core.errors import ExecutorFailed
from metnos.executors import effect_files as files


@pytest.mark.parametrize("opening", [files.open_folder, files.open_folder_stepwise])
def test_no_link_is_followed(tmp_path: Path, opening: Callable[[Path], int]) -> None:
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    os.close(opening(tmp_path / "real" / "below"))
    for path in (tmp_path / "link", tmp_path / "link" / "below"):
        with pytest.raises(OSError) as caught:
            opening(path)
        assert files.failure(caught.value, path).kind == "conflict"
    with pytest.raises(FileNotFoundError):
        opening(tmp_path / "nowhere")


def test_an_old_kernel_is_walked_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_SYS_OPENAT2", 100_000)  # a call that no kernel has
    os.close(files.open_folder(tmp_path))
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OSError):
        files.open_folder(tmp_path / "link")


@pytest.mark.parametrize("renaming", [files._rename_without_replacing, files.rename_by_link])
def test_a_rename_that_must_not_replace(tmp_path: Path, renaming: Callable[[int, str, int, str], None]) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "taken").write_text("y")
    (tmp_path / "dangling").symlink_to("nowhere")
    with files.folder(tmp_path) as at:
        for name in ("file", "folder"):
            for target in ("taken", "dangling", "folder" if name == "file" else "new file"):
                with pytest.raises(FileExistsError):
                    renaming(at, name, at, target)
            renaming(at, name, at, f"new {name}")
    assert (tmp_path / "new file").read_text() == "x"
    assert (tmp_path / "new file").stat().st_nlink == 1
    assert (tmp_path / "new folder" / "inner").is_dir()
    assert (tmp_path / "taken").read_text() == "y"


def rename_to_b_and_c(folder: Path) -> None:
    """The name ``b`` is taken, so that ``a`` cannot have it; ``c`` is free."""
    (folder / "a").write_text("x")
    (folder / "b").write_text("y")
    with files.folder(folder) as at:
        with pytest.raises(FileExistsError):
            files.rename(at, "a", at, "b", replace=False)
        files.rename(at, "a", at, "c", replace=False)


def test_a_file_system_without_the_call_still_does_not_replace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_RENAME_NOREPLACE", 1 << 20)  # a flag that the kernel refuses
    rename_to_b_and_c(tmp_path)
    assert (tmp_path / "c").read_text() == "x"


def test_a_copy_of_a_folder_is_whole_and_can_be_removed_whatever_its_modes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "closed").mkdir(parents=True)
    (source / "closed" / "file").write_bytes(b"x" * 3_000_000)
    (source / "link").symlink_to("/nowhere")
    os.utime(source / "closed" / "file", ns=(5, 7_000_000_007))
    os.setxattr(source / "closed" / "file", "user.note", b"kept") if _has_attributes(source) else None
    (source / "closed").chmod(0o500)
    with files.folder(tmp_path) as at:
        files.copy(at, "source", at, "copy", own=True)
        first, second = files.mark(at, "source"), files.mark(at, "copy")
        assert first is not None
        assert second is not None
        assert first.sha256 == second.sha256
        files.remove(at, "copy")
        files.remove(at, "copy")
    assert not (tmp_path / "copy").exists()
    (source / "closed").chmod(0o700)


def test_special_files_are_not_copied(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with files.folder(tmp_path) as at, pytest.raises(ExecutorFailed):
        files.copy(at, "pipe", at, "copy", own=False)


def test_what_is_kept_is_a_link_or_else_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "store").mkdir()
    with files.folder(tmp_path) as at, files.folder(tmp_path / "store") as store:
        files.keep(at, "a", store, "one")
        files.keep(at, "a", store, "one")  # what an interrupted one left is no hindrance
        assert (tmp_path / "store" / "one").samefile(tmp_path / "a")

        def no_links(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", no_links)
        files.keep(at, "a", store, "two")
    two = (tmp_path / "store" / "two").stat()
    assert (two.st_nlink, two.st_mtime_ns) == (1, (tmp_path / "a").stat().st_mtime_ns)


def test_failures_have_a_class_and_a_sentence() -> None:
    full = files.failure(OSError(errno.ENOSPC, "x"), Path("/a\nb"))
    assert (full.kind, full.what) == ("unavailable", "/a\\nb could not be written: the disk is full")
    assert "Free some space" in full.fix
    assert files.failure(OSError(errno.EXDEV, "odd"), Path("/a")).kind == "failed"
    assert files.shown(os.fsdecode(b"\xff\x1b")) == "\\xff\\x1b"


def test_modes_of_special_rights_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(0o6755)
    with files.folder(tmp_path) as at:
        files.copy(at, "a", at, "b", own=True)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o755


def _has_attributes(folder: Path) -> bool:
    try:
        os.setxattr(folder, "user.test", b"")
    except OSError:
        return False
    return True


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's rule for whoever is not root: a folder that is closed to its owner cannot change its parent."""
    really = files._rename

    def rename(at: int, name: str, to: int, target: str, replace: bool) -> None:
        if not os.stat(name, dir_fd=at).st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        really(at, name, to, target, replace)

    monkeypatch.setattr(files, "_rename", rename)


@pytest.mark.usefixtures("closed")
def test_a_folder_that_its_owner_closed_is_moved_and_stays_closed(tmp_path: Path) -> None:
    for name in ("one", "two", "to/two"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name).chmod(0o500)
    with files.folder(tmp_path) as at, files.folder(tmp_path / "to") as to:
        files.rename(at, "one", to, "one", replace=False)
        with pytest.raises(FileExistsError):
            files.rename(at, "two", to, "two", replace=False)
    assert not (tmp_path / "one").exists()
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("to/one", "two", "to/two")] == [0o500] * 3


@pytest.mark.usefixtures("closed")
def test_a_file_that_may_not_be_moved_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o400)
    with files.folder(tmp_path) as at, pytest.raises(PermissionError):
        files.rename(at, "file", at, "other", replace=False)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o400
    assert not (tmp_path / "other").exists()


def test_a_library_without_the_call_still_does_not_replace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LIBC", SimpleNamespace(syscall=files._LIBC.syscall))
    rename_to_b_and_c(tmp_path)
    with files.folder(tmp_path) as at:
        with pytest.raises(ExecutorFailed) as caught:
            files.swap_in(at, "c", at, "b", ino=1)
        files.swap_in(at, "c", at, "b", ino=(tmp_path / "b").stat().st_ino)
    assert caught.value.kind == "conflict"
    assert [(tmp_path / name).exists() for name in "abc"] == [False, True, False]
    assert (tmp_path / "b").read_text() == "x"


@pytest.mark.parametrize("number", [errno.EPERM, errno.EIO])
def test_where_there_are_no_links_a_file_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "a").write_text("x")

    def no_links(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", no_links)
    with files.folder(tmp_path) as at:
        if number == errno.EPERM:
            files.rename_by_link(at, "a", at, "b")
        else:
            with pytest.raises(OSError, match=os.strerror(number)):
                files.rename_by_link(at, "a", at, "b")
    assert [(tmp_path / name).exists() for name in "ab"] == [number != errno.EPERM, number == errno.EPERM]


def test_what_is_not_there_is_not_kept(tmp_path: Path) -> None:
    with files.folder(tmp_path) as at, pytest.raises(FileNotFoundError):
        files.keep(at, "nothing", at, "key")
    assert not (tmp_path / "key").exists()


def test_what_becomes_a_folder_before_it_is_opened_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("x")
    really = os.open

    def swap_first(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "a":
            (tmp_path / "a").unlink()
            (tmp_path / "a").mkdir()
        return really(path, flags, mode, dir_fd=dir_fd)

    with files.folder(tmp_path) as at:
        monkeypatch.setattr(os, "open", swap_first)
        with pytest.raises(ExecutorFailed) as caught:
            files.copy(at, "a", at, "b", own=False)
    assert caught.value.kind == "conflict"
    assert not (tmp_path / "b").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize(("own", "owner"), [(True, 65534), (False, 0)])
def test_a_copy_has_the_owner_of_the_original_if_asked(tmp_path: Path, own: bool, owner: int) -> None:
    (tmp_path / "a").touch()
    os.chown(tmp_path / "a", 65534, 65534)
    with files.folder(tmp_path) as at:
        files.copy(at, "a", at, "b", own=own)
    assert ((tmp_path / "b").stat().st_uid, (tmp_path / "b").stat().st_gid) == (owner, owner)


@pytest.mark.parametrize("own", [True, False])
def test_no_copy_of_a_program_may_more_than_its_account(tmp_path: Path, own: bool) -> None:
    program = tmp_path / "program"
    program.write_text("x")
    may_listen = struct.pack("<IIIII", 0x02000001, 1 << 7, 0, 0, 0)
    try:
        os.setxattr(program, "security.capability", may_listen)
        os.setxattr(program, "user.note", b"kept")
    except OSError:
        pytest.skip("only root may give rights, and not on every disk")
    with files.folder(tmp_path) as at:
        files.copy(at, "program", at, "copied", own=own)
    assert "security.capability" not in os.listxattr(tmp_path / "copied")
    assert os.getxattr(tmp_path / "copied", "user.note") == b"kept"
