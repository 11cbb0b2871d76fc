"""No save and no kill loses a word of the playbook, or whose it is."""

import contextlib
import errno
import os
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from grimoire.desk import ONE, TWO, Desk, texts
from grimoire.taught import START, fact, open_memory, put
from killing import Say, at_work, wait_for_a_word
from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.core.errors import MetnosError, StoreBusy, StoreFull, WorkspaceError
from metnos.grimoire.playbook import Playbook
from metnos.grimoire.playbook_file import PlaybookFile, digest_of
from metnos.grimoire.playbook_history import History
from metnos.grimoire.playbook_writer import founded
from metnos.store.db import Database
from suite import Repeat
from support import at_once, on_a_full_disk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def between(monkeypatch: pytest.MonkeyPatch, *saves: Callable[[], object]) -> None:
    """Let somebody save the file in the last moment before it is written, again and again."""
    waiting = list(saves)
    really = files.exchange

    def exchange(one: Path, other: Path) -> bool:
        if waiting:
            waiting.pop(0)()
        return really(one, other)

    monkeypatch.setattr(files, "exchange", exchange)


def test_what_is_saved_in_the_last_moment_is_merged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(number: int) -> None:
        desk.text = founded().decode().replace("## By hand\n", f"## By hand\n\n- save {number}\n")

    between(monkeypatch, *(partial(save, number) for number in (1, 2, 3)))
    report = desk.learn(ONE, TWO)
    assert texts(report.entered) == [ONE.text, TWO.text]
    assert desk.text.count(ONE.text) == 1
    assert "- save 3" in desk.text
    assert report.barred == ()
    kept = [desk.book.history.content(each.id) for each in desk.book.versions()]
    assert all(any(f"- save {number}".encode() in each for each in kept) for number in (1, 2, 3))
    assert sorted(path.name for path in desk.path.parent.glob(".PLAYBOOK*")) == []


def test_whoever_edits_what_was_written_a_moment_ago_keeps_both(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def first() -> None:
        desk.text = "- saved first\n\n## Learned\n"

    def then() -> None:
        desk.text = desk.text.replace("- saved first", "- saved then")  # on top of what Metnos wrote

    between(monkeypatch, first, then)
    desk.learn(ONE)
    assert desk.text.count(ONE.text) == 1
    assert [line.fact for line in desk.book.lines()] == ["F1"]


def test_somebody_who_never_stops_saving_is_given_way(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(number: int) -> None:
        desk.text = f"{number}\n"

    between(monkeypatch, *(partial(save, number) for number in range(100)))
    with pytest.raises(StoreBusy, match="again and again"):
        desk.learn(ONE)


def test_where_names_cannot_be_swapped_it_is_compared_and_replaced(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    desk.learn(ONE)
    assert ONE.text in desk.text
    desk.book.consider([], 1)
    assert ONE.text not in desk.text


FULL = """
import sys
from pathlib import Path
sys.path.insert(0, "tests")
from grimoire.taught import fact, open_memory, put
from metnos.core.clock import SystemClock
from metnos.core.errors import StoreFull
from metnos.grimoire.playbook import Playbook
folder = Path(sys.argv[1])
path = Path("/mnt/PLAYBOOK.md")
path.write_bytes(b"# mine" + b"x" * 60_000 + b"\\n## Learned\\n")
before = path.read_bytes()
db = open_memory(folder)
one = fact("F1", "Search the newest folder first.")
put(db, one)
book = Playbook(path, db, SystemClock(), lambda text: "")
book.consider([one], 0)
try:
    book.consider([one], 10)
    print("written")
except StoreFull as error:
    print("full", path.read_bytes() == before, [each.name for each in Path("/mnt").iterdir()], book.lines())
"""


@pytest.mark.slow
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert on_a_full_disk(FULL, str(tmp_path), size=100_000) == "full True ['PLAYBOOK.md'] ()\n"
    assert on_a_full_disk(FULL, str(tmp_path), size=1_000_000) == "written\n"


class Died(BaseException):
    """The process ends here."""


def steps(path: Path) -> list[tuple[object, str]]:
    return [(files, "create"), (files, "exchange"), (PlaybookFile, "swap"), (PlaybookFile, "sweep")]


@pytest.mark.parametrize("save", [False, True], ids=["", "with a save between"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("place", range(4))
def test_ended_at_any_step_the_next_run_knows_what_is_whose(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, place: int, when: str, save: bool
) -> None:
    desk.learn(ONE)
    put(desk.db, TWO)
    desk.book.consider([ONE, TWO], 0)
    with monkeypatch.context() as patch:
        if save:
            between(patch, lambda: setattr(desk, "text", desk.text.replace("## By hand\n", "## By hand\n\n- mine\n")))
        owner, name = steps(desk.path)[place]
        really = getattr(owner, name)

        def die(*args: object, **kwargs: object) -> object:
            if when == "after":
                really(*args, **kwargs)
            raise Died

        patch.setattr(owner, name, die)
        with pytest.raises(Died):
            desk.book.consider([ONE, TWO], 10)
    report = desk.open().consider([ONE, TWO], 10)
    assert report.barred == ()
    assert (desk.text.count(ONE.text), desk.text.count(TWO.text)) == (1, 1)
    kept = b"".join(desk.book.history.content(each.id) for each in desk.book.versions())
    assert (b"- mine" in kept) == (save and (place, when) in [(1, "after"), (2, "after"), (3, "before"), (3, "after")])
    assert "- mine" in desk.text or b"- mine" not in kept
    assert [line.fact for line in desk.open().lines()] == ["F1", "F2"]
    assert texts(desk.open().consider([], 1).left) == [ONE.text, TWO.text], "they are still Metnos's own"
    assert ONE.text not in desk.text
    assert list(desk.path.parent.glob("*.tmp")) == []


def write_for_ever(folder: Path, name: str, acknowledge: Say) -> None:
    clock, chance = MovableClock(START), random.Random(name)
    book = Playbook(folder / "PLAYBOOK.md", open_memory(folder), clock, lambda _: "")
    facts = [fact(f"F{number}", f"Rule of thumb {number}.") for number in range(8)]
    while True:
        book.consider([each for each in facts if chance.random() < 0.6], 10)
        acknowledge("w")


def edit_for_ever(folder: Path, name: str, acknowledge: Say) -> None:
    """An editor that adds lines to what it reads, and replaces the file whole, as editors do."""
    path, number = folder / "PLAYBOOK.md", 0
    while True:
        number += 1
        with PlaybookFile(path, folder / "playbook.lock", 60).locked():  # an editor's save cannot be half of one
            content = path.read_bytes() if path.exists() else b""
            files.replace(path, content.replace(b"## By hand\n", f"## By hand\n- {name} {number}\n".encode()))
        acknowledge(f"- {name} {number}")
        time.sleep(0.001)


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_at_any_moment_no_line_of_the_owners_is_lost_and_none_is_orphaned(
    tmp_path: Path, repeat: Repeat
) -> None:
    chance, desk, saved = random.Random(7), Desk(tmp_path), list[str]()
    put(desk.db, *(fact(f"F{number}", f"Rule of thumb {number}.") for number in range(8)))
    desk.db.close()
    for round_ in repeat("kills of two writers and an editor of the playbook", suite=4, soak=60):
        works = [partial(write_for_ever, tmp_path, f"{round_}W{writer}") for writer in range(2)]
        with at_work(*works, partial(edit_for_ever, tmp_path, f"E{round_}")) as (*writers, editor):
            wait_for_a_word(*writers)
            for writer in writers:
                time.sleep(chance.random() * 0.03)
                writer.kill()
            saved += editor.kill()
        book = desk.open()
        book.look()
        told = desk.path.read_text().splitlines()
        assert set(saved) <= set(told)
        inside = [line.words for line in book.lines()]
        assert sorted(inside) == sorted(line[2:] for line in told if "Rule of thumb" in line)
        desk.db.close()


@pytest.mark.slow
def test_several_processes_take_turns(desk: Desk) -> None:
    facts = [fact(f"F{number}", f"Rule of thumb {number}.") for number in range(6)]
    put(desk.db, *facts)
    desk.book.consider(facts, 0)
    desk.db.close()

    def learn(count: int) -> int:
        for _ in range(5):
            desk.open().consider(facts[:count], 10)
        return count

    at_once([partial(learn, count) for count in (2, 4, 6)])
    desk.open().consider(facts, 10)
    assert all(desk.text.count(each.text) == 1 for each in facts)


def test_a_process_that_keeps_the_lock_is_not_waited_for_for_ever(desk: Desk, tmp_path: Path) -> None:
    impatient = PlaybookFile(desk.path, tmp_path / "playbook.lock", 0.0)
    with PlaybookFile(desk.path, tmp_path / "playbook.lock").locked(), pytest.raises(StoreBusy), impatient.locked():
        pass


def test_the_database_may_be_full_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.learn(ONE)
    before = desk.text

    def full(self: Database) -> None:
        raise StoreFull("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "write", full)
        with pytest.raises(StoreFull):
            desk.book.consider([], 1)
    assert desk.text == before
    assert [path.name for path in desk.path.parent.glob(".PLAYBOOK*")] == []


def left_over(desk: Desk) -> list[str]:
    return [path.name for path in desk.path.parent.iterdir() if path.name.endswith(".tmp")]


def kept(desk: Desk) -> bytes:
    """Every version that the history holds."""
    return b"".join(desk.book.history.content(each.id) for each in desk.book.versions())


def test_an_intent_that_cannot_be_kept_leaves_nothing_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    put(desk.db, ONE)
    desk.book.consider([ONE], 0)
    before = desk.text

    def full(*_: object) -> None:
        raise StoreFull("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(History, "keep", full)
        with pytest.raises(StoreFull):
            desk.book.consider([ONE], 10)
    assert desk.text == before
    assert left_over(desk) == []


@pytest.mark.parametrize(
    ("number", "expected"),
    [(errno.ENOSPC, StoreFull), (errno.EDQUOT, StoreFull), (errno.EIO, WorkspaceError), (errno.EROFS, WorkspaceError)],
)
def test_a_swap_that_fails_leaves_no_intent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int, expected: type[MetnosError]
) -> None:
    before = desk.text

    def fail(*_: object) -> bool:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(files, "exchange", fail)
        with pytest.raises(expected):
            desk.learn(ONE)
    assert desk.text == before
    assert left_over(desk) == []
    assert desk.book.history.state().intent is None
    assert texts(desk.open().consider([ONE], 10).entered) == [ONE.text]


def test_what_is_saved_before_the_swap_begins_is_merged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    really, waiting = files.create, [founded().decode().replace("## By hand\n", "## By hand\n\n- mine\n")]

    def create(path: Path, content: bytes, *, mode: int = files.PLAIN_FILE) -> bool:
        if waiting:
            desk.text = waiting.pop()
        return really(path, content, mode=mode)

    monkeypatch.setattr(files, "create", create)
    assert texts(desk.learn(ONE).entered) == [ONE.text]
    assert waiting == []
    assert "- mine" in desk.text
    assert desk.text.count(ONE.text) == 1
    assert left_over(desk) == []


@pytest.mark.parametrize("change", ["a line comes", "a line goes"])
def test_a_save_that_was_being_merged_when_the_process_ended_is_merged_then(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The first swap met it and the second never came: what Metnos wrote is in the file, the save in the history."""
    if change == "a line goes":
        desk.learn(ONE)
    else:
        put(desk.db, ONE)
        desk.book.consider([ONE], 0)
    really, calls = files.exchange, list[str]()

    def exchange(one: Path, other: Path) -> bool:
        calls.append("exchange")
        if len(calls) == 2:
            raise Died
        desk.text = desk.text.replace("## By hand\n", "## By hand\n\n- mine\n")
        return really(one, other)

    with monkeypatch.context() as patch:
        patch.setattr(files, "exchange", exchange)
        with pytest.raises(Died):
            desk.book.consider(*(([], 1) if change == "a line goes" else ([ONE], 10)))
    assert "- mine" not in desk.text
    assert b"- mine" in kept(desk)
    desk.open().look()
    assert "- mine" in desk.text
    assert left_over(desk) == []


def test_of_two_saves_around_the_end_of_a_process_the_newest_stands(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = files.exchange

    def exchange(one: Path, other: Path) -> bool:
        desk.text = desk.text.replace("## By hand\n", "## By hand\n\n- first\n")
        really(one, other)
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(files, "exchange", exchange)
        with pytest.raises(Died):
            desk.learn(ONE)
    desk.text = desk.text.replace("## By hand\n", "## By hand\n\n- then\n")
    desk.open().look()
    assert "- then" in desk.text
    assert "- first" not in desk.text
    assert b"- first" in kept(desk)
    assert [line.fact for line in desk.book.lines()] == ["F1"]


def test_a_file_that_is_not_there_can_be_put(desk: Desk) -> None:
    desk.path.unlink()
    assert not desk.book.put(b"# Mine\n", digest_of(founded()), "agreed")
    assert not desk.path.exists()
    assert desk.book.put(b"# Mine\n", digest_of(None), "agreed")
    assert desk.path.read_bytes() == b"# Mine\n"


def test_a_swap_wants_to_meet_what_it_expects(tmp_path: Path) -> None:
    file = PlaybookFile(tmp_path / "PLAYBOOK.md", tmp_path / "lock")
    staged = file.stage(b"new", "0" * 26)
    assert file.swap(staged, None)
    assert file.read() == b"new"
    assert not file.swap(file.stage(b"newer", "1" * 26), b"old")
    assert file.read() == b"new"
    assert sorted(path.name[14:15] for path in file.staged()) == ["0", "1"]
    file.sweep()
    assert file.staged() == []
    assert file.beside(staged) is None


def test_what_the_disk_refuses_is_told_as_a_fault_of_the_workspace(tmp_path: Path) -> None:
    nowhere = PlaybookFile(tmp_path / "nowhere" / "PLAYBOOK.md", tmp_path / "lock")
    (tmp_path / "folder").mkdir()
    folder = PlaybookFile(tmp_path / "folder", tmp_path / "lock")
    for call in (
        lambda: nowhere.stage(b"", "0" * 26), nowhere.staged, lambda: nowhere.swap(tmp_path / "gone", None),
        folder.read, lambda: folder.beside(tmp_path / "folder"),
    ):  # fmt: skip
        with pytest.raises(WorkspaceError):
            call()
    nowhere.sweep()
    assert nowhere.read() is None


def test_whoever_waits_has_the_lock_once_it_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (PlaybookFile(tmp_path / "PLAYBOOK.md", tmp_path / "lock") for _ in range(2))
    with contextlib.ExitStack() as held:
        held.enter_context(first.locked())
        waited = list[float]()

        def give_back(seconds: float) -> None:
            waited.append(seconds)
            held.close()

        monkeypatch.setattr(time, "sleep", give_back)
        with second.locked():
            assert len(waited) == 1
