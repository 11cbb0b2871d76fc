"""Whatever is done to a signed folder, the catalog notices: no hand-out, quarantine, a line in the audit."""

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.samples import Shop, open_shop, sample_files, write_sample
from metnos.core.errors import NotTrusted
from metnos.executors import index
from metnos.executors.state import State

NAME = "find_files"
OTHER = "read_files"
FILES = (*sample_files(), "signature")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One workspace for all tampering: what is broken is put right again after each time."""
    shop = open_shop(tmp_path_factory.mktemp("tamper"))
    for name in (NAME, OTHER):
        write_sample(shop.folder, name)
        shop.catalog.sign(name, "mine")
    yield shop
    shop.catalog.db.close()


def expect_quarantine(shop: Shop, tamper: Callable[[Path], None], wrong: str = "") -> None:
    """Control first; then tamper, see it noticed, and put everything back."""
    assert shop.catalog.get(NAME).usable
    home = shop.folder / NAME
    kept = shop.workspace.root / "kept"
    shutil.copytree(home, kept)
    before = shop.audit.head()
    assert before is not None
    try:
        tamper(home)
        with pytest.raises(NotTrusted):
            shop.catalog.get(NAME)
        entry = index.current(shop.catalog.db, NAME)
        assert entry is not None
        assert entry.state is State.QUARANTINE
        fresh = itertools.takewhile(lambda line: line.seq > before.seq, shop.audit.newest())
        (line,) = [line for line in fresh if line.kind != "checkpoint"]
        assert (line.kind, line.entry.names["name"]) == ("executor quarantined", NAME)
        assert line.entry.names["wrong"].startswith(wrong)
    finally:
        if home.is_symlink():
            home.unlink()
        shutil.rmtree(home, ignore_errors=True)
        kept.rename(home)
        shop.catalog.change(NAME, State.ACTIVE, "put right")


@given(data=st.data())
def test_any_byte_of_any_file(shop: Shop, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(FILES))
    content = (shop.folder / NAME / file).read_bytes()
    at = data.draw(st.integers(0, 1 << 16)) % len(content)  # the signature's length differs from time to time
    how = data.draw(st.sampled_from(["flip", "insert", "remove", "truncate", "append"]))
    extra = data.draw(st.binary(min_size=1, max_size=4))
    changed = {
        "flip": content[:at] + bytes([content[at] ^ (extra[0] or 1)]) + content[at + 1 :],
        "insert": content[:at] + extra + content[at:],
        "remove": content[:at] + content[at + 1 :],
        "truncate": content[:at],
        "append": content + extra,
    }[how]
    assert changed != content
    expect_quarantine(shop, lambda home: (home / file).write_bytes(changed) and None)


@settings(max_examples=settings().max_examples // 3)
@given(name=st.text("abc._-~ é\n\"'", min_size=1, max_size=12).filter(lambda name: name not in (".", "..")))
def test_any_file_added(shop: Shop, name: str) -> None:
    expect_quarantine(shop, lambda home: (home / name).touch(), "added")


@pytest.mark.parametrize("file", FILES)
class TestEachFile:
    def test_missing(self, shop: Shop, file: str) -> None:
        expect_quarantine(shop, lambda home: (home / file).unlink(), f"missing:{file}")

    def test_a_symbolic_link_to_the_very_same_content(self, shop: Shop, file: str, tmp_path: Path) -> None:
        def swap(home: Path) -> None:
            shutil.move(home / file, tmp_path / file)
            (home / file).symlink_to(tmp_path / file)

        expect_quarantine(shop, swap, f"link:{file}")

    def test_a_hard_link_to_the_very_same_content(self, shop: Shop, file: str) -> None:
        expect_quarantine(shop, lambda home: os.link(home / file, shop.folder.parent / "second"), f"link:{file}")
        (shop.folder.parent / "second").unlink()

    def test_the_same_file_of_another(self, shop: Shop, file: str) -> None:
        if (shop.folder / OTHER / file).read_bytes() == (shop.folder / NAME / file).read_bytes():
            return  # the sample code and tests are the same for both
        expect_quarantine(shop, lambda home: shutil.copy(shop.folder / OTHER / file, home / file) and None)

    def test_a_folder_or_a_pipe_in_its_place(self, shop: Shop, file: str) -> None:
        def folder(home: Path) -> None:
            (home / file).unlink()
            (home / file).mkdir()

        def pipe(home: Path) -> None:
            (home / file).unlink()
            os.mkfifo(home / file)

        expect_quarantine(shop, folder, f"kind:{file}")
        expect_quarantine(shop, pipe, f"kind:{file}")


def test_the_whole_folder_of_another(shop: Shop) -> None:
    def swap(home: Path) -> None:
        shutil.rmtree(home)
        shutil.copytree(shop.folder / OTHER, home)

    expect_quarantine(shop, swap, "name")


def test_a_link_to_the_folder(shop: Shop, tmp_path: Path) -> None:
    def swap(home: Path) -> None:
        shutil.move(home, tmp_path / "moved")
        home.symlink_to(tmp_path / "moved")

    expect_quarantine(shop, swap, f"link:{NAME}")


def test_the_folder_gone(shop: Shop) -> None:
    expect_quarantine(shop, shutil.rmtree, "missing")


def test_an_older_version_with_its_own_signature(shop: Shop) -> None:
    old = {path.name: path.read_bytes() for path in (shop.folder / NAME).iterdir()}
    shop.catalog.change(NAME, State.DISABLED, "off")
    shop.catalog.change(NAME, State.ACTIVE, "on")

    def put_back(home: Path) -> None:
        for name, content in old.items():
            (home / name).write_bytes(content)

    expect_quarantine(shop, put_back, "old-signature")


def test_the_journal_is_no_tampering_but_a_link_in_its_place_is(shop: Shop, tmp_path: Path) -> None:
    journal = shop.folder / NAME / "journal.jsonl"
    journal.write_text("anything\n")
    assert shop.catalog.get(NAME).usable
    journal.unlink()
    expect_quarantine(shop, lambda home: (home / "journal.jsonl").symlink_to(tmp_path), "link:journal.jsonl")
