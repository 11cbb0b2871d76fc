"""Undo and redo."""

import contextlib
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from executors.boxes import Box, fast_box, make_signer
from executors.sequences import ACTIONS, Operation, furnish, perform_all
from executors.test_effect_settle import NEAR
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorFailed, Refused, UndoError
from metnos.core.sign import Signer
from metnos.executors.effects import Doing
from metnos.executors.undo import PRUNED
from metnos.executors.undo_rules import State
from metnos.law.forbidden import refuse_forbidden
from metnos.law.halt import Halt
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal, of_account


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return make_signer(tmp_path_factory.mktemp("keys"))


@pytest.mark.parametrize("two_disks", [False, True])
@hypothesis_settings(max_examples=hypothesis_settings().max_examples // 2)
@given(actions=ACTIONS)
def test_undoing_all_restores_the_tree_and_redoing_all_restores_what_was_done(
    signer: Signer, two_disks: bool, actions: list[list[Operation]]
) -> None:
    with fast_box(signer, two_disks=two_disks) as box:
        furnish(box)
        before = box.everything()
        for operations in actions:
            with box.begin() as acting:
                perform_all(acting, box, operations)
        after = box.everything()
        count = len(box.undo.actions())
        for _ in range(2):
            for _ in range(count):
                box.undo.undo(by=at_terminal())
            assert box.everything() == before
            for _ in range(count):
                box.undo.redo(by=at_terminal())
            assert box.everything() == after
        assert box.rubbish() == []


@pytest.fixture
def box(tmp_path: Path, clock: MovableClock) -> Box:
    box = Box(tmp_path, clock)
    (box.home / "d").mkdir()
    (box.home / "a").write_text("first")
    (box.home / "d" / "a").write_text("other")
    return box


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(UndoError) as caught:
        call()
    return caught.value.what


def test_the_list_tells_how_actions_stand(box: Box) -> None:
    assert box.undo.actions() == []
    with box.begin("write one", max_writes=1) as acting:
        acting.write(box.home / "x", b"1")
    with pytest.raises(ZeroDivisionError), box.begin("stopped") as stopped:
        stopped.write(box.home / "y", b"2")
        raise ZeroDivisionError
    with box.begin("nothing") as nothing:
        pass
    newest, oldest = box.undo.actions()
    assert (newest.title, newest.state) == ("stopped", State.INTERRUPTED)
    assert (oldest.id, oldest.state, oldest.effects) == (acting.id, State.DONE, acting.effects)
    assert refused(lambda: box.undo.find(nothing.id)) == f"there is no action {nothing.id!r}"
    assert "several actions begin" in refused(lambda: box.undo.show(acting.id[:5]))
    assert box.undo.undo(by=at_terminal()).id == stopped.id
    assert box.undo.undo(acting.id.lower(), by=at_terminal()).state is State.UNDONE
    assert "is undone already" in refused(lambda: box.undo.undo(acting.id, by=at_terminal()))
    assert refused(lambda: box.undo.undo(by=at_terminal())) == "there is nothing to undo"
    assert box.undo.redo(by=at_terminal()).id == acting.id
    assert "was not undone" in refused(lambda: box.undo.redo(acting.id, by=at_terminal()))
    assert box.undo.redo(by=at_terminal()).id == stopped.id
    assert refused(lambda: box.undo.redo(by=at_terminal())) == "nothing was undone that could be done again"
    assert [each.state for each in box.undo.actions()] == [State.REDONE, State.REDONE]


def test_undo_and_redo_are_in_the_audit(box: Box) -> None:
    with box.begin() as acting:
        acting.write(box.home / "x", b"1")
        acting.write(box.home / "x", b"2", overwrite=True)
    box.undo.undo(by=at_terminal())
    box.undo.redo(by=at_terminal())
    entries = [line.entry for line in box.audit.newest()][::-1]
    assert [(e.kind, e.names["phase"], e.counts["effects"]) for e in entries] == [
        ("action undone", "intent", 2), ("action undone", "done", 2),
        ("action redone", "intent", 2), ("action redone", "done", 2),
    ]  # fmt: skip
    assert {e.names["action"] for e in entries} == {acting.id}


CONFLICTS: dict[str, tuple[Callable[[Doing, Path], object], Callable[[Path], object], str]] = {
    "changed": (
        lambda hand, home: hand.write(home / "x", b"1"), lambda home: (home / "x").write_bytes(b"2"), "changed since"
    ),
    "overwritten, changed": (
        lambda hand, home: hand.write(home / "a", b"1", overwrite=True),
        lambda home: (home / "a").write_bytes(b"longer"), "changed since",
    ),
    "removed": (lambda hand, home: hand.write(home / "x", b"1"), lambda home: (home / "x").unlink(), "is gone"),
    "name taken": (
        lambda hand, home: hand.move(home / "a", home / "x"), lambda home: (home / "a").write_text("new"),
        "something else is at",
    ),
    "moved on": (
        lambda hand, home: hand.move(home / "a", home / "x"), lambda home: (home / "x").rename(home / "y"), "is gone"
    ),
    "folder gone": (
        lambda hand, home: hand.move(home / "d" / "a", home / "x"), lambda home: (home / "d").rmdir(), "is gone"
    ),
    "copy used": (
        lambda hand, home: hand.copy(home / "d", home / "x"), lambda home: (home / "x" / "mine").touch(),
        "changed since",
    ),
    "became a folder": (
        lambda hand, home: hand.write(home / "a", b"1", overwrite=True),
        lambda home: ((home / "a").unlink(), (home / "a").mkdir()), "changed since",
    ),
    "became a link": (
        lambda hand, home: hand.write(home / "d" / "x", b"1"),
        lambda home: ((home / "d").rename(home / "e"), (home / "d").symlink_to("e")), "symbolic link",
    ),
    "trash emptied": (
        lambda hand, home: hand.trash(home / "a"),
        lambda home: shutil.rmtree(home.parent / "share" / "Trash"), "no longer in the trash",
    ),
    "restored by hand": (
        lambda hand, home: hand.trash(home / "a"), lambda home: (home / "a").write_text("back"), "something else is at"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("act", "meanwhile", "why"), CONFLICTS.values(), ids=CONFLICTS)
def test_a_conflict_refuses_the_whole(
    box: Box, act: Callable[[Doing, Path], object], meanwhile: Callable[[Path], object], why: str
) -> None:
    with box.begin() as acting:
        act(acting, box.home)
        acting.write(box.home / "bystander", b"")
    meanwhile(box.home)
    before = box.everything()
    assert why in box.undo.show(acting.id)[-1]
    what = refused(lambda: box.undo.undo(acting.id, by=at_terminal()))
    assert why in what
    assert "nothing was changed" in what
    assert box.everything() == before
    assert list(box.audit.newest()) == []


def test_what_is_gone_is_said_and_passed_over(box: Box) -> None:
    with box.begin("older") as acting:
        acting.write(box.home / "x", b"")
    with box.begin("newer") as acting:
        acting.trash(box.home / "a")
    shutil.rmtree(box.trash.home)
    assert [each.state for each in box.undo.actions()] == [State.GONE, State.DONE]
    assert box.undo.undo(by=at_terminal()).title == "older"


def test_a_moved_file_keeps_what_was_changed_in_it(box: Box) -> None:
    with box.begin() as acting:
        acting.move(box.home / "d", box.home / "x")
        acting.move(box.home / "a", box.home / "b")
    (box.home / "x" / "a").write_text("worked on")
    (box.home / "x" / "more").touch()
    with (box.home / "b").open("a") as file:
        file.write(" and more")
    box.undo.undo(by=at_terminal())
    assert (box.home / "d" / "a").read_text() == "worked on"
    assert (box.home / "a").read_text() == "first and more"


def test_a_folder_that_others_use_stays(box: Box) -> None:
    with box.begin() as acting:
        acting.make_folder(box.home / "x" / "y")
        acting.write(box.home / "x" / "z", b"")
        acting.make_folder(box.home / "x")  # is there: no effect
    assert len(acting.effects) == 3
    (box.home / "x" / "mine").touch()
    assert f"leave the folder {box.home / 'x'}: it is not empty" in box.undo.show(acting.id)
    box.undo.undo(by=at_terminal())
    assert [each.name for each in (box.home / "x").iterdir()] == ["mine"]
    box.undo.redo(by=at_terminal())
    assert sorted(each.name for each in (box.home / "x").iterdir()) == ["mine", "y", "z"]


def test_forbidden_since_then(box: Box) -> None:
    with box.begin() as acting:
        acting.write(box.home / "x", b"")
    box.undo._refuse = refuse_forbidden
    (box.home / "y").mkdir()
    with box.begin() as acting:
        acting.write(box.home / "y" / ".ssh", b"")
    assert "out of bounds" in refused(lambda: box.undo.undo(by=at_terminal()))


@pytest.mark.slow
@pytest.mark.parametrize("redo", [False, True])
def test_a_failure_on_the_way_puts_everything_back(signer: Signer, redo: bool) -> None:
    step = 0
    while True:
        with fast_box(signer) as box:
            furnish(box)
            before = box.everything()
            with box.begin() as acting:
                for scenario in ("overwrite", "move over", "trash", "make folders", "copy over"):
                    with contextlib.suppress(ExecutorFailed):
                        NEAR[scenario](acting, box)
            after = box.everything()
            if redo:
                box.undo.undo(by=at_terminal())
            left = step

            def fail(_: str) -> None:
                nonlocal left
                left -= 1
                if left == -1:
                    raise ExecutorFailed("the disk is full", kind="unavailable")

            box.checkpoint = fail
            turn = box.undo.redo if redo else box.undo.undo
            said = ""
            try:
                turn(by=at_terminal())
            except UndoError as error:
                said = error.what
            if not said:
                break  # it was over before that step
            assert "Everything is as it was before" in said
            box.checkpoint = lambda _: None
            assert box.rubbish() == []
            assert box.everything() == (before if redo else after)
            turn(by=at_terminal())
            assert box.everything() == (after if redo else before)
        step += 1
    assert step > 10


def test_prune_forgets_what_is_old_and_nothing_else(box: Box, clock: MovableClock) -> None:
    for name in ("old", "old but undone today", "new"):
        if name == "new":
            clock.move(timedelta(days=40))
        with box.begin(name) as acting:
            acting.write(box.home / "a", name.encode(), overwrite=True)
            acting.write(box.home / name, b"")
            acting.trash(box.home / name)
        if name == "old but undone today":
            middle = acting.id
    box.undo.undo(by=at_terminal())
    box.undo.undo(middle, by=at_terminal())
    assert box.undo.prune(clock.now() - timedelta(days=30)) == 1
    assert [each.title for each in box.undo.actions()] == ["new", "old but undone today"]
    assert box.undo.prune(clock.now() + timedelta(days=1)) == 2
    assert box.undo.actions() == []
    assert [line.entry.counts["actions"] for line in box.audit.newest() if line.kind == PRUNED] == [2, 2, 1, 1]
    assert [each.name for each in box.store.iterdir() if not each.name.startswith(".")] == []
    assert (box.home / "a").read_text() == "old"


def test_settle_leaves_alone_what_is_still_going_on(box: Box) -> None:
    with box.begin() as acting:
        acting.write(box.home / "x", b"")
        assert box.undo.settle() == []
        assert box.undo.actions() == []
        assert "still going on" in refused(lambda: box.undo.undo(acting.id, by=at_terminal()))
    assert box.undo.undo(by=at_terminal()).state is State.UNDONE


@pytest.mark.parametrize("channel", [each for each in Channel if not of_account(each).may_answer])
def test_only_a_person_does_anything_again(box: Box, channel: Channel) -> None:
    with box.begin() as acting:
        acting.write(box.home / "a", b"second", overwrite=True)
    box.undo.undo(by=at_terminal())
    count = len(list(box.audit.newest()))
    for by in (of_account(channel), Principal(Channel.WEB, "phone", Autonomy.READ_ONLY)):
        with pytest.raises(Refused):
            box.undo.redo(by=by)
    assert (box.home / "a").read_text() == "first"
    assert len(list(box.audit.newest())) == count


@pytest.mark.parametrize("channel", [Channel.API, Channel.MCP, Channel.EXECUTOR, Channel.NIGHT])
def test_programs_take_nothing_back_and_scripts_of_the_owner_do(box: Box, channel: Channel) -> None:
    with box.begin() as acting:
        acting.write(box.home / "a", b"second", overwrite=True)
    with pytest.raises(Refused):
        box.undo.undo(by=of_account(channel))
    assert (box.home / "a").read_text() == "second"
    box.undo.undo(by=of_account(Channel.SCRIPT))
    assert (box.home / "a").read_text() == "first"


def test_the_audit_says_who_took_back_and_who_did_again(box: Box) -> None:
    with box.begin() as acting:
        acting.write(box.home / "a", b"second", overwrite=True)
    script, person = of_account(Channel.SCRIPT), at_terminal()
    box.undo.undo(by=script)
    box.undo.redo(by=person)
    for line, by in zip(list(box.audit.newest())[:4], (person, person, script, script), strict=True):
        assert (line.entry.names["channel"], line.entry.names["sender"]) == (by.channel, by.sender)


@pytest.mark.parametrize("redo", [False, True])
def test_while_everything_is_halted_nothing_is_taken_back_or_done_again(box: Box, redo: bool) -> None:
    with box.begin() as acting:
        acting.write(box.home / "a", b"second", overwrite=True)
    if redo:
        box.undo.undo(by=at_terminal())
    before = box.everything()
    box.halt = Halt("a test", "wait")
    with pytest.raises(Refused):
        (box.undo.redo if redo else box.undo.undo)(by=at_terminal())
    assert box.everything() == before
    box.halt = None
    (box.undo.redo if redo else box.undo.undo)(by=at_terminal())
    assert box.everything() != before
