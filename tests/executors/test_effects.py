"""Each operation for real: what it does, that undo and redo restore everything, and what it refuses."""

import contextlib
import errno
import fcntl
import itertools
import os
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from executors.boxes import Box, fast_box, make_signer, refuse, snapshot
from executors.test_effect_settle import FAR, NEAR, Scenario
from metnos.core.errors import ExecutorFailed, StoreFull, UndoError
from metnos.executors import effect_files, effect_hands, effect_rules, effect_tree
from metnos.executors.effect_names import LOCK
from metnos.executors.effect_tree import Node
from metnos.executors.effects import Effects
from metnos.executors.trash import Trash
from metnos.executors.undo_rules import State
from metnos.law.principal import at_terminal
from support import ROOT, at_once, on_a_full_disk


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = Box(tmp_path)
    (box.home / "d" / "e").mkdir(parents=True)
    (box.home / "a").write_bytes(b"first\n")
    (box.home / "a").chmod(0o640)
    os.utime(box.home / "a", ns=(1, 2_000_000_001))
    (box.home / "d" / "a").write_bytes(b"other\n")
    (box.far / "there").write_text("was there")
    return box


def kind_of(call: object) -> str:
    with pytest.raises(ExecutorFailed) as caught:
        call()  # type: ignore[operator]
    return caught.value.kind


@pytest.mark.parametrize("scenario", [*NEAR.values(), *FAR.values()], ids=[*NEAR, *(f"far {name}" for name in FAR)])
def test_undo_and_redo_restore_bytes_modes_and_times(box: Box, scenario: Scenario) -> None:
    before = box.everything()
    with box.begin() as acting:
        scenario(acting, box)
    after = box.everything()
    assert after != before
    for _ in range(2):
        assert box.undo.undo(by=at_terminal()).state is State.UNDONE
        assert box.everything() == before
        assert box.undo.redo(by=at_terminal()).state is State.REDONE
        assert box.everything() == after
    assert box.rubbish() == []


def test_what_is_written_has_the_mode_of_what_was_there_or_the_umask_s(box: Box) -> None:
    old = os.umask(0o027)
    try:
        with box.begin() as acting:
            done = acting.write(box.home / "new", b"12345")
            acting.write(box.home / "a", b"!", append=True)
            acting.make_folder(box.home / "f")
    finally:
        os.umask(old)
    assert (done.op, done.path, done.bytes, done.replaced) == ("write", box.home / "new", 5, False)
    assert stat.S_IMODE((box.home / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((box.home / "f").stat().st_mode) == 0o750
    assert stat.S_IMODE((box.home / "a").stat().st_mode) == 0o640
    assert (box.home / "a").read_bytes() == b"first\n!"
    assert acting.effects == (
        ("write", str(box.home / "new")), ("write", str(box.home / "a")), ("make_folder", str(box.home / "f"))
    )  # fmt: skip
    assert (acting.writes, acting.write_bytes) == (3, 6)


def test_a_copy_keeps_mode_and_time_but_no_foreign_rights(box: Box) -> None:
    (box.home / "a").chmod(0o4755)
    os.utime(box.home / "a", ns=(1, 3_000_000_003))
    with box.begin() as acting:
        acting.copy(box.home / "a", box.home / "b")
    status = (box.home / "b").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o755, 3_000_000_003)


def test_names_that_are_no_text(box: Box) -> None:
    odd = box.home / os.fsdecode(b"\xff\n%\xc3\xa9")
    before = box.everything()
    with box.begin(title=f"about {odd}") as acting:
        acting.write(odd, b"x")
        acting.move(odd, box.home / "d" / odd.name)
        acting.trash(box.home / "d" / odd.name)
    action = box.undo.actions()[0]
    assert "\\xff\\n" in "\n".join(box.undo.show(action.id))
    box.undo.undo(by=at_terminal())
    assert box.everything() == before
    assert kind_of(lambda: box.begin().write(odd / "below", b"")) == "not_found"


def test_sources_that_are_refused(box: Box) -> None:
    os.mkfifo(box.home / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(box.home / "socket"))
    (box.home / "twin").hardlink_to(box.home / "a")
    (box.home / "d" / "pipe").symlink_to("a")
    acting = box.begin()
    for name in ("pipe", "socket", "twin", "a"):
        assert kind_of(lambda name=name: acting.copy(box.home / name, box.home / "x")) == "not_permitted"
        assert kind_of(lambda name=name: acting.move(box.home / name, box.home / "x")) == "not_permitted"
        assert kind_of(lambda name=name: acting.trash(box.home / name)) == "not_permitted"
    assert kind_of(lambda: acting.move(Path("/dev/null"), box.home / "x")) == "not_permitted"
    assert kind_of(lambda: acting.trash(Path("/"))) == "not_found"
    (box.home / "d" / "deep forbidden").write_text("secret")
    for call in (acting.copy, acting.move):
        assert kind_of(lambda call=call: call(box.home / "d", box.home / "x")) == "not_permitted"
    assert kind_of(lambda: acting.trash(box.home / "d")) == "not_permitted"
    assert acting.effects == ()
    assert box.undo.actions() == []


def test_untrusted_descriptors(box: Box) -> None:
    acting = box.begin()
    reading, writing = os.pipe()
    assert kind_of(lambda: acting.put(box.home / "x", reading)) == "not_permitted"
    os.close(reading)
    os.close(writing)
    assert kind_of(lambda: acting.put(box.home / "x", reading)) == "unreadable"
    path = box.root / "output"
    with path.open("wb") as file:  # can only be written
        assert kind_of(lambda: acting.put(box.home / "x", file.fileno())) == "unreadable"
        file.truncate(1 << 40)
    with path.open("rb") as file:
        assert kind_of(lambda: acting.put(box.home / "x", file.fileno())) == "too_large"
    path.write_bytes(b"content")
    with path.open("rb") as file:
        file.seek(5)
        assert acting.put(box.home / "x", file.fileno()).bytes == 7
    assert (box.home / "x").read_bytes() == b"content"

    def shrink(step: str) -> None:
        if step == "begun":
            path.write_bytes(b"")

    box.checkpoint = shrink
    with path.open("rb+") as file:
        file.write(b"z" * 3000)
        file.flush()
        assert kind_of(lambda: acting.put(box.home / "y", file.fileno())) == "conflict"
    assert not (box.home / "y").exists()
    assert box.rubbish() == [f".live-{acting.id}"]


def test_quotas(box: Box) -> None:
    with box.begin(max_writes=3, max_bytes=10) as acting:
        acting.write(box.home / "x", b"12345")
        assert kind_of(lambda: acting.write(box.home / "y", b"123456")) == "not_permitted"
        assert kind_of(lambda: acting.make_folder(box.home / "1" / "2" / "3")) == "not_permitted"
        assert not (box.home / "1").exists()
        acting.make_folder(box.home / "1" / "2")
        assert kind_of(lambda: acting.trash(box.home / "x")) == "not_permitted"
        assert (acting.writes, acting.write_bytes) == (3, 5)
    assert kind_of(lambda: box.begin().write(box.home / "big", b"x" * (2 << 20))) == "too_large"


@pytest.mark.parametrize("swapped", ["parent", "last", "source"])
def test_a_link_that_is_swapped_in_is_refused(box: Box, swapped: str) -> None:
    outside = box.root / "outside"
    outside.mkdir()
    (outside / "a").write_text("not yours")
    before = snapshot(outside)

    def swap(step: str) -> None:
        if step == "begun" and swapped != "parent":
            name = {"last": "new", "source": "d"}[swapped]
            if (box.home / name).exists():
                (box.home / name).rename(box.root / "away")
            (box.home / name).symlink_to(outside)

    box.checkpoint = swap
    with box.begin() as acting:
        if swapped == "parent":  # between canonicalisation and act
            (box.home / "d").rename(box.root / "away")
            (box.home / "d").symlink_to(outside)
            for call in (
                lambda: acting.write(box.home / "d" / "a", b"x", overwrite=True),
                lambda: acting.move(box.home / "a", box.home / "d" / "b"),
                lambda: acting.trash(box.home / "d" / "a"),
                lambda: acting.make_folder(box.home / "d" / "f"),
            ):
                assert kind_of(call) == "conflict"
        elif swapped == "last":
            assert kind_of(lambda: acting.write(box.home / "new", b"x")) == "conflict"
        else:
            assert kind_of(lambda: acting.copy(box.home / "d", box.home / "x")) == "conflict"
            assert not (box.home / "x").exists()
    assert snapshot(outside) == before
    assert box.undo.actions() == []


def test_a_parent_that_is_swapped_at_the_last_moment_is_not_followed(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """After every check: the descriptor that is opened then must not lead through the link."""
    outside = box.root / "outside"
    outside.mkdir()
    acting = box.begin()
    begin = acting._begin

    def swap() -> None:
        begin()
        (box.home / "d").rename(box.root / "away")
        (box.home / "d").symlink_to(outside)

    monkeypatch.setattr(acting, "_begin", swap)
    assert kind_of(lambda: acting.write(box.home / "d" / "x", b"x")) == "conflict"
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("exchanges", [True, False])
def test_what_another_program_puts_there_at_the_last_moment_is_not_lost(
    box: Box, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    """After the old content was kept and just before it is replaced, an editor saves the file."""
    if not exchanges:
        monkeypatch.setattr(effect_files, "_RENAME_EXCHANGE", 1 << 20)  # a flag that the kernel refuses

    def save(step: str) -> None:
        if step == "acting":
            (box.root / "saved").write_text("of the editor")
            (box.root / "saved").rename(box.home / "a")

    box.checkpoint = save
    with box.begin() as acting:
        assert kind_of(lambda: acting.write(box.home / "a", b"ours", overwrite=True)) == "conflict"
    assert (box.home / "a").read_text() == "of the editor"
    assert box.rubbish() == []
    box.checkpoint = lambda _: None
    with box.begin() as acting:
        acting.write(box.home / "a", b"ours", overwrite=True)
    box.undo.undo(by=at_terminal())
    assert (box.home / "a").read_text() == "of the editor"


def write_many(box: Box, name: str) -> int:
    done = 0
    with box.begin() as acting:
        for number in range(10):
            acting.write(box.home / "a", f"{name}{number}".encode(), overwrite=True)
            acting.write(box.home / "log", f"{name}{number}\n".encode(), append=True)
            with contextlib.suppress(ExecutorFailed):
                acting.write(box.home / f"once {number}", name.encode())
                done += 1
    return done


@pytest.mark.slow
def test_processes_that_change_one_file_lose_nothing_of_each_other(box: Box) -> None:
    (box.home / "log").write_bytes(b"")
    before = box.everything()
    done = at_once([partial(write_many, box, name) for name in "xyz"])
    assert sum(done) == 10
    kept = [path.read_bytes() for path in box.store.iterdir() if not path.name.startswith(".")]
    versions = {f"{name}{number}".encode() for name in "xyz" for number in range(10)} | {b"first\n"}
    assert versions - set(kept) == {(box.home / "a").read_bytes()}, "a version was lost"
    assert sorted((box.home / "log").read_text().split()) == sorted(v.decode() for v in versions - {b"first\n"})
    assert before != box.everything()
    assert box.rubbish() == []


FULL = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from executors.boxes import Box
from executors.sequences import furnish
from metnos.core.errors import ExecutorFailed, MetnosError
from metnos.law.principal import Channel, of_account
box = Box(Path("/mnt/box"))
furnish(box)
before = box.everything()
ballast, kinds = Path("/mnt/ballast"), set()
for left in range(0, 200_000, 12_288):
    room = os.statvfs("/mnt")
    with ballast.open("wb") as file:
        file.write(b"x" * max(0, room.f_bavail * room.f_frsize - left))
    acting = box.begin()
    for call in (
        lambda: acting.write(box.home / "a", b"n" * 30_000, overwrite=True),
        lambda: acting.copy(box.home / "d", box.home / "x"),
        lambda: acting.trash(box.home / "d"),
        lambda: acting.move(box.home / "a", box.home / "y"),
    ):
        try:
            call()
        except ExecutorFailed as error:
            kinds.add((error.kind, "full" in error.what))
    try:
        acting.__exit__(None, None, None)
    except ExecutorFailed as error:
        kinds.add((error.kind, "full" in error.what))
    ballast.unlink()
    box = box.again()
    box.undo.settle()
    for action in box.undo.actions():
        if action.state in ("done", "interrupted"):
            box.undo.undo(action.id, by=of_account(Channel.TERMINAL))
    assert box.everything() == before, left
    assert box.rubbish() == [], box.rubbish()
print(sorted(kinds))
"""


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_says_so() -> None:
    assert on_a_full_disk(FULL, str(ROOT / "tests"), size=3 << 20).strip() == "[('unavailable', True)]"


def test_what_cannot_be_recorded_does_not_happen(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    before = box.everything()

    def full(*_: object) -> None:
        raise StoreFull("the disk is full: nothing was written")

    acting = box.begin()
    monkeypatch.setattr(acting._journal, "begin_action", full)
    assert kind_of(lambda: acting.trash(box.home / "a")) == "unavailable"
    monkeypatch.undo()
    monkeypatch.setattr(acting._journal, "write", full)
    for call in (
        lambda: acting.trash(box.home / "a"), lambda: acting.write(box.home / "x", b""),
        lambda: acting.make_folder(box.home / "x"), lambda: acting.move(box.home / "a", box.home / "x"),
    ):  # fmt: skip
        assert kind_of(call) == "unavailable"
    acting.__exit__(None, None, None)
    assert box.everything() == before
    assert box.rubbish() == []


def without_rights(box: Box) -> tuple[list[str], bool]:
    """What somebody who is not root meets; and whether a read-only folder comes back from everything."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    home = box.home
    for name, mode in (("closed", 0o500), ("hidden", 0o300)):
        (home / name).mkdir()
        (home / name / "x").write_text("x")
        (home / name).chmod(mode)
    (home / "secret").touch(mode=0)
    kinds = []
    for acting in (box.planning(), box.begin()):
        for call in (
            lambda hand=acting: hand.write(home / "closed" / "y", b""),
            lambda hand=acting: hand.write(home / "hidden" / "y", b""),
            lambda hand=acting: hand.write(home / "secret", b"", append=True),
            lambda hand=acting: hand.copy(home / "secret", home / "y"),
            lambda hand=acting: hand.copy(home / "hidden", home / "y"),
            lambda hand=acting: hand.trash(home / "closed" / "x"),
        ):
            try:
                call()
            except ExecutorFailed as error:
                kinds.append(error.kind)
    (home / "secret").unlink()
    before = snapshot(home)
    with box.begin() as acting:
        acting.copy(home / "closed", home / "copy")
        acting.trash(home / "closed")
        acting.make_folder(home / "f")
        acting.move(home / "copy", home / "f" / "copy")
    after = snapshot(home)
    whole = stat.S_IMODE((home / "f" / "copy").stat().st_mode) == 0o500
    box.undo.undo(by=at_terminal())
    whole = whole and snapshot(home) == before
    box.undo.redo(by=at_terminal())
    whole = whole and snapshot(home) == after
    (home / "f" / "copy").chmod(0o700)
    return kinds, whole


def test_without_root_s_rights() -> None:
    with fast_box() as box:
        for path in (box.root, *box.root.rglob("*")):
            os.chown(path, 65534, 65534) if os.geteuid() == 0 else None
        with pytest.raises(ExecutorFailed):  # loads what must be loaded while everything may still be read
            box.planning().trash(box.home / "\n")
        box.db.close()
        box.audit.close()
        ((kinds, whole),) = at_once([partial(without_rights, box)])
        for folder, _, _ in os.walk(box.root):  # so that everything can be removed again: each is opened, then read
            for each in Path(folder).iterdir():
                each.chmod(0o700) if each.is_dir() else None
    expected = ["not_permitted", "not_permitted", "unreadable", "unreadable", "unreadable", "not_permitted"]
    assert kinds == expected * 2
    assert whole


Call = Callable[[], object]


def at(box: Box, step: str, do: Call) -> None:
    """Do this once, between two steps of the next effect."""
    waiting = [do]

    def point(reached: str) -> None:
        if reached == step and waiting:
            waiting.pop()()

    box.checkpoint = point


def test_what_comes_or_goes_at_the_last_moment_is_a_failure_of_its_own_kind(box: Box) -> None:
    home = box.home
    acting = box.begin()
    for step, meanwhile, call, kind in (
        ("begun", lambda: (home / "f").mkdir(), lambda: acting.make_folder(home / "f"), "exists"),
        ("begun", lambda: (home / "n").touch(), lambda: acting.write(home / "n", b"x"), "exists"),
        ("begun", lambda: (home / "n").unlink(), lambda: acting.move(home / "n", home / "m"), "not_found"),
        ("begun", lambda: (home / "d" / "a").unlink(), lambda: acting.trash(home / "d" / "a"), "not_found"),
        ("staged", lambda: (home / "a").write_bytes(b"!"), lambda: acting.write(home / "a", b"x", append=True),
         "conflict"),
    ):  # fmt: skip
        at(box, step, meanwhile)
        assert kind_of(call) == kind
    assert acting.effects == ()
    assert sorted(path.name for path in home.iterdir()) == ["a", "d", "f"]
    assert (home / "a").read_bytes() == b"!"
    acting.__exit__(None, None, None)
    assert box.rubbish() == []


def test_what_changes_while_it_goes_to_another_disk_stays_where_it_is() -> None:
    with fast_box(two_disks=True) as box:
        (box.home / "a").write_text("first")
        at(box, "staged", lambda: (box.home / "a").write_text("of the editor"))
        with box.begin() as acting:
            assert kind_of(lambda: acting.move(box.home / "a", box.far / "a")) == "conflict"
        assert (box.home / "a").read_text() == "of the editor"
        assert not (box.far / "a").exists()
        assert box.rubbish() == []


@pytest.mark.parametrize("step", ["begun", "staged", "acting"])
def test_a_disk_that_fails_between_two_steps_changes_nothing(box: Box, step: str) -> None:
    before = box.everything()

    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with box.begin() as acting:
        at(box, step, fail)
        assert kind_of(lambda: acting.copy(box.home / "d", box.home / "x")) == "unavailable"
    assert box.everything() == before
    assert box.rubbish() == []


def test_a_trash_without_a_free_name_takes_nothing(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    before = box.everything()
    monkeypatch.setattr(Trash, "reserve", lambda *_: False)
    with box.begin() as acting:
        assert kind_of(lambda: acting.trash(box.home / "a")) == "conflict"
    assert box.everything() == before


def test_a_store_that_cannot_be_opened_or_is_held_too_long_lets_nothing_happen(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = box.everything()
    monkeypatch.setattr(effect_hands, "_WAIT_S", -1.0)
    with (box.store / LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with box.begin() as acting:
            assert kind_of(lambda: acting.trash(box.home / "a")) == "unavailable"
    (box.store / LOCK).unlink()
    (box.store / LOCK).mkdir()
    with box.begin() as acting, pytest.raises(ExecutorFailed):
        acting.trash(box.home / "a")
    assert box.everything() == before


def test_what_nobody_but_root_may_do_is_not_planned(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the modes alone, as the system would say to their owner."""
    home = box.home
    for name in ("closed", "hidden"):
        (home / name / "inner").mkdir(parents=True)
        (home / name / "x").touch()
    (home / "secret").touch(mode=0)
    modes = {"closed": 0o500, "hidden": 0o300, "secret": 0o000, "outer": 0o700}
    (home / "outer").mkdir()
    (home / "outer" / "secret").touch()

    def may(node: Node, access: int) -> bool:
        mode = modes.get(node.origin.name, 0o700) if node.origin is not None else 0o700
        return (mode >> 6) & access == access

    monkeypatch.setattr(Node, "may", may)
    hand = box.planning()
    for call, kind in (
        (lambda: hand.write(home / "closed" / "y", b""), "not_permitted"),
        (lambda: hand.write(home / "hidden" / "y", b""), "not_permitted"),
        (lambda: hand.trash(home / "closed" / "x"), "not_permitted"),
        (lambda: hand.write(home / "secret", b"", append=True), "unreadable"),
        (lambda: hand.copy(home / "secret", home / "y"), "unreadable"),
        (lambda: hand.copy(home / "hidden", home / "y"), "unreadable"),
        (lambda: hand.copy(home / "hidden" / "x", home / "y"), "unreadable"),
        (lambda: hand.copy(home / "outer", home / "y"), "unreadable"),
    ):
        assert kind_of(call) == kind
    assert hand.effects == ()


def test_where_another_file_system_begins_nothing_is_taken(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    (box.home / "d" / "mounted").mkdir()
    read = effect_tree._read

    def reading(path: Path) -> Node | None:
        node = read(path)
        if node is not None and path.name == "mounted":
            node.device = node.disk = node.disk + 1
        return node

    monkeypatch.setattr(effect_tree, "_read", reading)
    hand = box.planning()
    for source in (box.home / "d", box.home / "d" / "mounted"):
        assert kind_of(lambda source=source: hand.copy(source, box.home / "x")) == "not_permitted"
        assert kind_of(lambda source=source: hand.trash(source)) == "not_permitted"
    assert hand.effects == ()
    hand.copy(box.home / "d" / "e", box.home / "x")


def test_a_folder_that_somebody_took_away_since_needs_no_undoing(box: Box) -> None:
    before = box.everything()
    with box.begin() as acting:
        acting.make_folder(box.home / "f")
        acting.write(box.home / "g", b"x")
    (box.home / "f").rmdir()
    assert box.undo.undo(by=at_terminal()).state is State.UNDONE
    assert box.everything() == before
    with pytest.raises(UndoError):  # it is not in the way of what was done before it
        box.undo.undo(by=at_terminal())
    assert box.rubbish() == []


@pytest.mark.parametrize("after", [5, 305, 450])
@pytest.mark.parametrize("far", [False, True])
def test_a_halt_ends_a_long_copy_before_anything_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: bool, after: int
) -> None:
    monkeypatch.setattr(effect_rules, "_LOOK_S", 0.0)
    looks = itertools.count()
    with fast_box(make_signer(tmp_path), two_disks=True) as box:
        (box.home / "large").mkdir()
        for number in range(300):
            (box.home / f"large/{number}").write_text("x")
        before = box.everything()
        db, store, trash, clock, ids = box.db, box.store, box.trash, box.clock, box.ids
        effects = Effects(db, store, trash, clock, ids, refuse, halted=lambda: next(looks) > after)
        with pytest.raises(ExecutorFailed) as failed, effects.begin(executor="test_files") as acting:
            if far:
                acting.move(box.home / "large", box.far / "there")
            else:
                acting.copy(box.home / "large", box.home / "there")
        assert failed.value.kind == "unavailable"
        assert box.everything() == before
        assert box.rubbish() == []


def test_what_takes_far_too_long_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(tmp_path)
    (box.home / "folder").mkdir()
    (box.home / "folder/file").touch()
    monkeypatch.setattr(effect_rules, "_LONGEST_S", -1.0)
    with pytest.raises(ExecutorFailed) as failed, box.begin() as acting:
        acting.move(box.home / "folder", box.home / "there")
    assert failed.value.kind == "too_large"
    assert not (box.home / "there").exists()
