"""Something private that comes into a folder while a call reads it is noticed, whichever way it comes, and nothing else
is."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.executors import exposure as exposures
from metnos.executors.exposure import Enter, Exposed, Exposure
from metnos.law.forbidden import Access, TooMany, forbidden_below


def private_below(folder: Path, enter: Enter) -> Iterator[Path]:
    return forbidden_below(folder, Access.READ, 1000, enter=enter)


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A folder as an owner has it: files, folders in folders, and some private things, all of them of long ago."""
    box = tmp_path / "box"
    for name in (".netrc", ".ssh/id", "a.txt", "sub/b.txt", "sub/deep/.env", "sub/deep/c.txt"):
        (box / name).parent.mkdir(parents=True, exist_ok=True)
        (box / name).write_text(name)
    return box


@contextlib.contextmanager
def looked_at(*roots: Path, settled: bool = True) -> Iterator[Exposure]:
    """An exposure after its first look; if ``settled``, when the next change will bear a time of its own."""
    with pytest.MonkeyPatch.context() as patch, contextlib.closing(Exposure()) as exposure:
        if settled:
            patch.setattr(exposures, "_YOUNG_NS", -(10**18))
        for path in list(exposure.cover(roots, private_below)):
            assert path.name in (".netrc", ".ssh", ".env")
        while settled and not _has_ticked(roots[0].parent, exposure):
            pass
        yield exposure


def _has_ticked(folder: Path, exposure: Exposure) -> bool:
    """The file system's clock has gone on since the newest change that was seen."""
    (folder / "tick").write_text("")
    times = [mark[2] for mark in (*exposure._folders.values(), *exposure._covered.values())]
    return (folder / "tick").stat().st_ctime_ns > max(times, default=0)


def is_exposed(exposure: Exposure) -> bool:
    try:
        exposure.check()
    except Exposed:
        return True
    return False


def put(path: Path, text: str = "new") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def replace(path: Path) -> None:
    """As programs save: a new file takes the name of the old one."""
    put(path.with_name("fresh"))
    path.with_name("fresh").rename(path)


def make_anew(path: Path) -> None:
    """The new one may get the very number of the old one."""
    path.unlink()
    put(path)


def bring(box: Path) -> None:
    """A whole folder is moved in, with something private in it."""
    (box.parent / "coming" / "keys").mkdir(parents=True)
    put(box.parent / "coming" / "keys" / "id_rsa")
    (box.parent / "coming").rename(box / "sub" / "came")


def renew(box: Path) -> None:
    """A folder is replaced by another one of the same name."""
    (box / "sub/deep").rename(box.parent / "old")
    put(box / "sub/deep/.env")


def swap(box: Path) -> None:
    box.rename(box.parent / "elsewhere")
    put(box.parent / "elsewhere" / ".pgpass")


PRIVATE: dict[str, Callable[[Path], object]] = {
    "a masked file is replaced": lambda box: replace(box / ".netrc"),
    "a masked file is made anew": lambda box: make_anew(box / ".netrc"),
    "a masked file further below is replaced": lambda box: replace(box / "sub/deep/.env"),
    "a masked folder is replaced": lambda box: ((box / ".ssh").rename(box / "ssh"), put(box / ".ssh/id")),
    "a private file is made": lambda box: put(box / ".pgpass"),
    "a private file is made further below": lambda box: put(box / "sub/deep/server.key"),
    "a private file gets a second name": lambda box: os.link(box / "a.txt", box / "sub/id_rsa"),
    "a public file becomes private": lambda box: (box / "a.txt").rename(box / ".netrc"),
    "a private folder is made": lambda box: put(box / "sub/.aws/credentials"),
    "a folder with something private is moved in": bring,
    "a folder is replaced": renew,
    "a new folder holds something private": lambda box: (
        (box / "new/er").mkdir(parents=True),
        put(box / "new/er/.env"),
    ),
    "a private link is made": lambda box: (box / ".netrc.old").symlink_to("a.txt") or replace(box / ".netrc"),
    "the folder itself is moved, and gets something private": swap,
}
PUBLIC: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "files are made": lambda box: [put(box / "sub" / name) for name in "xyz"],
    "a file is replaced": lambda box: replace(box / "a.txt"),
    "a file is moved": lambda box: (box / "a.txt").rename(box / "sub/deep/z.txt"),
    "a folder is made and filled": lambda box: [put(box / "new" / name) for name in "xyz"],
    "a folder goes": lambda box: ((box / "sub/b.txt").unlink(), (box / "sub").rename(box.parent / "gone")),
    "a private file is written to in its folder": lambda box: put(box / ".ssh/known"),
    "a private file goes": lambda box: (box / ".netrc").unlink(),
    "the folder itself is moved": lambda box: box.rename(box.parent / "elsewhere"),
}


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("how", PRIVATE)
def test_something_private_in_sight_is_noticed(how: str, settled: bool, box: Path) -> None:
    with looked_at(box, settled=settled) as exposure:
        exposure.check()
        PRIVATE[how](box)
        assert is_exposed(exposure)
        assert is_exposed(exposure)


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("how", PUBLIC)
def test_what_is_public_is_no_matter(how: str, settled: bool, box: Path) -> None:
    with looked_at(box, settled=settled) as exposure:
        PUBLIC[how](box)
        exposure.check()
        exposure.check()
        if (box / "sub").exists():
            put(box / "sub" / ".pgpass")
            assert is_exposed(exposure)


def test_a_private_file_may_be_written_to(box: Path) -> None:
    with looked_at(box) as exposure:
        (box / ".netrc").write_text("more")
        exposure.check()


def test_a_folder_that_changed_just_now_is_read_again_even_if_its_time_says_nothing(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two changes within one tick of the file system's clock bear the same time."""
    really = exposures._mark_folder
    with looked_at(box, settled=False) as exposure:
        known = {folder: really(folder) for folder in exposure._folders}
        monkeypatch.setattr(exposures, "_mark_folder", lambda path: known.get(path) or really(path))
        put(box / "sub" / ".pgpass")
        assert is_exposed(exposure)


def test_only_folders_that_changed_are_read_again(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def private(folder: Path, enter: Enter) -> Iterator[Path]:
        return private_below(folder, lambda each: enter(each) and (read.append(each) or True))

    monkeypatch.setattr(exposures, "_YOUNG_NS", -(10**18))
    with contextlib.closing(Exposure()) as exposure:
        list(exposure.cover([box], private))
        while not _has_ticked(box.parent, exposure):
            pass
        assert set(read) == {str(box), str(box / "sub"), str(box / "sub/deep")}
        read.clear()
        exposure.check()
        assert read == []
        put(box / "sub" / "x")
        exposure.check()
        assert read == [str(box / "sub")]


def test_more_than_can_be_looked_at_counts_as_seen(box: Path) -> None:
    def private(folder: Path, enter: Enter) -> Iterator[Path]:
        if (folder / "many").exists():
            raise TooMany
        return private_below(folder, enter)

    with contextlib.closing(Exposure()) as exposure:
        list(exposure.cover([box], private))
        put(box / "many")
        assert is_exposed(exposure)


def test_nothing_is_kept_open(box: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with looked_at(box, box / "a.txt"):
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@given(steps=st.lists(st.tuples(st.sampled_from(["put", "move", "remove"]), st.integers(0, 5), st.integers(0, 5))))
def test_after_any_changes_it_knows_what_is_in_sight(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Against a look at everything: whatever is private now was covered then, or is noticed."""
    places = ("a.txt", ".env", "sub/b.txt", "sub/.env", "sub/deep/id_rsa", "sub/deep/c")
    box = tmp_path_factory.mktemp("any")
    put(box / ".env")
    (box / "sub/deep").mkdir(parents=True)
    with looked_at(box) as exposure:
        covered = {path: path.stat().st_ino for path in forbidden_below(box, Access.READ, 100)}
        for what, one, other in steps:
            source, target = box / places[one], box / places[other]
            if what == "put" and not source.exists():
                put(source)
            elif what == "move" and source.is_file():
                source.rename(target)
            elif what == "remove" and source.is_file():
                source.unlink()
        bare = [path for path in forbidden_below(box, Access.READ, 100) if covered.get(path) != path.stat().st_ino]
        assert is_exposed(exposure) or not bare


def test_a_folder_that_is_named_twice_leaves_nothing_open(box: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    with looked_at(box, box, box / "sub", box):
        assert len(set(Path("/proc/self/fd").iterdir()) - before) >= 2
    assert set(Path("/proc/self/fd").iterdir()) <= before


def test_a_file_that_is_shown_is_looked_at_once_and_noticed_if_it_became_a_folder(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with looked_at(box / "a.txt", box / "sub") as exposure:
        marked: list[str] = []
        mark = exposures._mark_folder

        def note(path: str) -> tuple[int, int, int]:
            marked.append(path)
            return mark(path)

        monkeypatch.setattr(exposures, "_mark_folder", note)
        assert not is_exposed(exposure)
        assert not is_exposed(exposure)
        assert str(box / "a.txt") not in marked
    with looked_at(box / "a.txt", box / "sub") as exposure:
        (box / "a.txt").unlink()
        put(box / "a.txt/.netrc")
        assert is_exposed(exposure)
