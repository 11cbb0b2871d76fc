import os
import stat
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import folders
from sandbox.kit.kit_context import context

ODD = os.fsdecode(b"odd\xff")


@given(st.binary(min_size=1).filter(lambda data: b"\0" not in data))
def test_every_name_can_be_told(data: bytes) -> None:
    name = os.fsdecode(data)
    assert folders.shown(name).encode("utf-8")
    assert folders.is_text(name) == (folders.shown(name) == name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "file").write_text("abc")
    (folder / "link").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    return folder


def test_what_is_in_a_folder_and_links_are_not_followed(folder: Path) -> None:
    failures: list[Any] = []
    kinds = {
        child.name: folders.kind_of(status.st_mode) for child, status in folders.children(folder, failures, context())
    }
    assert kinds == {"file": "file", "inner": "folder", "link": "link", "pipe": "other"}
    assert failures == []


def test_an_odd_name_is_told_and_left_out_unless_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ODD).write_text("")
    failures: list[Any] = []
    assert list(folders.children(str(folder), failures, context())) == []
    assert failures[0]["item"] == f"{folder}/odd\\xff"
    assert len(list(folders.children(str(folder), failures, context(), odd=True))) == 1
    assert len(failures) == 1


def test_a_folder_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    failures: list[Any] = []
    assert list(folders.children(tmp_path / "gone", failures, context())) == []
    assert failures[0]["kind"] == "unreadable"


def test_a_file_that_goes_meanwhile_costs_only_itself(folder: Path) -> None:
    failures: list[Any] = []
    with os.scandir(folder) as found:
        children = {child.name: child for child in found}
    (folder / "file").unlink()
    assert folders.described(children["file"], failures, context()) is None
    assert failures == [{"item": str(folder / "file"), "kind": "unreadable", "message": "No such file or directory"}]
    assert folders.described(children["inner"], failures, context()) is not None


def test_an_entry(folder: Path) -> None:
    with os.scandir(folder) as found:
        child = next(each for each in found if each.name == "file")
    entry = folders.described(child, [], context())
    modified = (folder / "file").stat().st_mtime
    assert entry == {"path": str(folder / "file"), "name": "file", "kind": "file", "size": 3, "modified": modified}


@given(st.floats(allow_nan=False))
def test_every_time_can_be_told(seconds: float) -> None:
    assert folders.moment(seconds, UTC).endswith("+00:00")


def test_kinds() -> None:
    assert [folders.kind_of(mode) for mode in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFSOCK)] == [
        "file", "folder", "link", "other",
    ]  # fmt: skip


@given(st.integers(0, 300))
def test_of_many_failures_a_few_are_told_and_none_is_forgotten(count: int) -> None:
    failures = [context().failure(number, "unreadable", "x") for number in range(count)]
    told = folders.shortened(failures, "/p", "that were lost", context(), kind="too_large")
    if count <= folders.MOST_FAILURES:
        assert told == failures
    else:
        assert told[:-1] == failures[: folders.MOST_FAILURES]
        more = count - folders.MOST_FAILURES
        assert told[-1] == {"item": "/p", "kind": "too_large", "message": f"and {more} more that were lost"}
