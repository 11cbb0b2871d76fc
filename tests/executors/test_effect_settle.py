"""SIGKILL at every step of every kind of effect: what was interrupted is settled, and undone, and nothing is lost."""

import itertools
import os
import signal
from collections.abc import Callable, Iterator

import pytest

import forking
from executors.boxes import Box, fast_box, make_signer
from executors.sequences import furnish
from metnos.core.sign import Signer
from metnos.executors import effect_files
from metnos.executors.effects import Doing
from metnos.executors.undo_rules import State
from metnos.law.principal import at_terminal
from suite import Repeat

Scenario = Callable[[Doing, Box], object]

NEAR: dict[str, Scenario] = {
    "write": lambda hand, box: hand.write(box.home / "new", b"new"),
    "overwrite": lambda hand, box: hand.write(box.home / "a", b"new", overwrite=True),
    "append": lambda hand, box: hand.write(box.home / "a", b"more", append=True),
    "make folders": lambda hand, box: hand.make_folder(box.home / "x" / "y"),
    "move": lambda hand, box: hand.move(box.home / "d", box.home / "x"),
    "move over": lambda hand, box: hand.move(box.home / "a", box.home / "d" / "a", overwrite=True),
    "copy": lambda hand, box: hand.copy(box.home / "d", box.home / "x"),
    "copy over": lambda hand, box: hand.copy(box.home / "a", box.home / "d" / "a", overwrite=True),
    "trash": lambda hand, box: hand.trash(box.home / "d"),
}
FAR: dict[str, Scenario] = {
    "overwrite": NEAR["overwrite"],
    "copy": NEAR["copy"],
    "move a folder": lambda hand, box: hand.move(box.home / "d", box.far / "x"),
    "move over": lambda hand, box: hand.move(box.home / "a", box.far / "there", overwrite=True),
    "move here": lambda hand, box: hand.move(box.far / "there", box.home / "a", overwrite=True),
}
CASES = [(name, each, False) for name, each in NEAR.items()] + [(name, each, True) for name, each in FAR.items()]


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return make_signer(tmp_path_factory.mktemp("keys"))


def killed_at(box: Box, step: int, work: Callable[[], object]) -> bool:
    """Run in a process of its own that is killed at this step; whether it came so far."""

    def act() -> None:
        left = step

        def checkpoint(_: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                forking.die()

        box.checkpoint = checkpoint
        work()

    ended = forking.run(act)
    assert ended in (0, forking.KILLED), "it failed instead of being killed"
    return ended == forking.KILLED


def act(box: Box, scenario: Scenario) -> None:
    with box.begin() as acting:
        scenario(acting, box)


def settled(box: Box) -> Box:
    box = box.again()
    box.undo.settle()
    assert box.rubbish() == []
    assert box.undo.settle() == []
    return box


def ready(box: Box) -> None:
    furnish(box)
    (box.far / "there").write_text("was there")


def steps_of(name: str, repeat: Repeat) -> Iterator[int]:
    """Every third step, which ones depends on the case, and with `--soak` all of them; the end is for the caller."""
    thirds = [
        (part + len(name)) % 3 for part in repeat("thirds of the steps at which an effect is killed", suite=1, soak=3)
    ]
    return (step for step in itertools.count() if step % 3 in thirds)


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.parametrize(("name", "scenario", "two_disks"), CASES)
def test_killed_at_any_step_of_an_act(
    signer: Signer, name: str, scenario: Scenario, two_disks: bool, repeat: Repeat
) -> None:
    happened = set()
    for steps in steps_of(name, repeat):
        with fast_box(signer, two_disks=two_disks) as box:
            ready(box)
            before = box.everything()
            alive = not killed_at(box, steps, lambda box=box: act(box, scenario))
            again = settled(box)
            after = again.everything()
            for action in again.undo.actions():
                assert action.state is (State.DONE if alive else State.INTERRUPTED)
                again.undo.undo(action.id, by=at_terminal())
            assert again.everything() == before
            for action in again.undo.actions():
                again.undo.redo(action.id, by=at_terminal())
            assert again.everything() == after
            happened.add(after == before)
            again.close()
        if alive:
            break
    assert steps >= 3
    assert happened == {True, False}, "it was killed only before, or only after, it happened"


@pytest.mark.parametrize("saved_meanwhile", [False, True])
def test_killed_between_the_exchange_and_the_removal_of_the_old(signer: Signer, saved_meanwhile: bool) -> None:
    with fast_box(signer) as box:
        ready(box)

        def killed() -> None:
            def save(step: str) -> None:
                if step == "acting" and saved_meanwhile:
                    (box.root / "saved").write_text("of an editor")
                    (box.root / "saved").rename(box.home / "a")

            look = effect_files.look

            def watch(at: int, name: str) -> os.stat_result | None:
                if name.startswith(".metnos-") and (box.home / "a").read_bytes() == b"new":
                    os.kill(os.getpid(), signal.SIGKILL)
                return look(at, name)

            box.checkpoint = save
            effect_files.look = watch
            act(box, NEAR["overwrite"])

        assert killed_at(box, 1000, killed)
        again = settled(box)
        assert (again.home / "a").read_bytes() == b"new"
        again.undo.undo(by=at_terminal())
        assert (again.home / "a").read_bytes() == (b"of an editor" if saved_meanwhile else b"first\nsecond\n")
        again.close()


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.parametrize(("name", "scenario", "two_disks"), CASES)
def test_killed_at_any_step_of_an_undo(
    signer: Signer, name: str, scenario: Scenario, two_disks: bool, repeat: Repeat
) -> None:
    for steps in steps_of(name, repeat):
        with fast_box(signer, two_disks=two_disks) as box:
            ready(box)
            before = box.everything()
            act(box, scenario)
            after = box.everything()
            alive = not killed_at(box, steps, lambda: box.undo.undo(by=at_terminal()))
            again = settled(box)
            (action,) = again.undo.actions()
            if steps % 2 and action.state is not State.UNDONE:
                again.undo.undo(by=at_terminal())
            if again.undo.actions()[0].state is State.UNDONE:
                assert again.everything() == before
                again.undo.redo(by=at_terminal())
            elif again.undo.actions()[0].state is State.INTERRUPTED:
                again.undo.redo(by=at_terminal())
            assert again.everything() == after
            again.undo.undo(by=at_terminal())
            assert again.everything() == before
            again.close()
        if alive:
            break
    assert steps >= 2
