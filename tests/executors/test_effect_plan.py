"""A plan accepts and refuses what the real run does, and names the same effects."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given

from executors.boxes import Box, fast_box, make_signer
from executors.sequences import SEQUENCES, Operation, furnish, perform_all
from metnos.core.errors import ExecutorFailed
from metnos.core.sign import Signer


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return make_signer(tmp_path_factory.mktemp("keys"))


@pytest.mark.parametrize("two_disks", [False, True])
@given(operations=SEQUENCES)
def test_planning_and_acting_agree(signer: Signer, two_disks: bool, operations: list[Operation]) -> None:
    with fast_box(signer, two_disks=two_disks) as box:
        furnish(box)
        before = box.everything()
        planning = box.planning(max_writes=6, max_bytes=5000)
        planned = perform_all(planning, box, operations)
        assert box.everything() == before, "a plan changed something"
        with box.begin(max_writes=6, max_bytes=5000) as acting:
            done = perform_all(acting, box, operations)
        assert planned == done
        assert planning.effects == acting.effects
        assert (planning.writes, planning.write_bytes) == (acting.writes, acting.write_bytes)
        assert box.rubbish() == []


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = Box(tmp_path)
    (box.home / "d").mkdir()
    (box.home / "a").write_text("one\ntwo\nthree\n")
    return box


def test_the_preview_shows_what_would_differ(box: Box) -> None:
    a = box.home / "a"
    planning = box.planning()
    planning.write(a, b"one\n2\nthree\n", overwrite=True)
    planning.write(a, b"four\n", append=True)
    planning.write(box.home / "data", b"\0\1\2")
    planning.write(box.home / "data", b"\0" * 9, overwrite=True)
    planning.make_folder(box.home / "x" / "y")
    planning.move(a, box.home / "x" / "a")
    planning.copy(box.home / "x", box.home / "z")
    planning.copy(box.home / "data", box.home / "z" / "a", overwrite=True)
    planning.trash(box.home / "z")
    assert planning.preview == (
        f"overwrite {a} (14 → 12 bytes)",
        f"  --- {a}", f"  +++ {a}", "  @@ -1,3 +1,3 @@", "   one", "  -two", "  +2", "   three",
        f"add to {a} (12 → 17 bytes)",
        f"  --- {a}", f"  +++ {a}", "  @@ -1,3 +1,4 @@", "   one", "   2", "   three", "  +four",
        f"write {box.home / 'data'} (3 bytes)",
        f"overwrite {box.home / 'data'} (3 → 9 bytes)",
        f"make the folder {box.home / 'x'}",
        f"make the folder {box.home / 'x' / 'y'}",
        f"move {a} to {box.home / 'x' / 'a'}",
        f"copy {box.home / 'x'} to {box.home / 'z'} (17 bytes)",
        f"copy {box.home / 'data'} to {box.home / 'z' / 'a'} (9 bytes), replacing the file that is there",
        f"move {box.home / 'z'} to the trash",
    )  # fmt: skip
    assert len(planning.effects) == planning.writes == 10
    assert (box.home / "a").read_text() == "one\ntwo\nthree\n"


def test_a_long_difference_is_cut(box: Box) -> None:
    planning = box.planning()
    planning.write(box.home / "long", b"line\n" * 1000)
    planning.write(box.home / "huge", b"line\n" * 100_000)
    assert len(planning.preview) == 1 + 40 + 1
    assert planning.preview[40] == "  … and 964 more lines"
    assert planning.preview[41] == f"write {box.home / 'huge'} (500,000 bytes)"


def test_planned_operations_count_for_later_ones(box: Box) -> None:
    planning = box.planning()
    planning.write(box.home / "x", b"1")
    for call, kind in (
        (lambda: planning.write(box.home / "x", b"2"), "exists"),
        (lambda: planning.write(box.home / "x" / "y", b"2"), "conflict"),
        (lambda: planning.move(box.home / "d", box.home / "d" / "e"), "conflict"),
        (lambda: planning.copy(box.home / "d", box.home / "x", overwrite=True), "exists"),
    ):
        with pytest.raises(ExecutorFailed) as caught:
            call()
        assert caught.value.kind == kind
    planning.move(box.home / "x", box.home / "y")
    with pytest.raises(ExecutorFailed) as caught:
        planning.trash(box.home / "x")
    assert caught.value.kind == "not_found"
    planning.write(box.home / "x", b"2")
    assert sorted(path.name for path in box.home.iterdir()) == ["a", "d"]


def test_no_content_and_no_number_of_operations_makes_a_preview_slow_or_large(box: Box) -> None:
    chance = random.Random(3)
    texts = ["\n".join(chance.choice("ab") for _ in range(128 * 1024)).encode() for _ in range(2)]
    planning = box.planning()
    before = time.process_time()
    for number in range(40):
        planning.write(box.home / f"{number}", texts[0])
        planning.write(box.home / f"{number}", texts[1], overwrite=True)
    for number in range(250):
        planning.write(box.home / "log", b"x" * 4000 + b"\n", append=number > 0)
    assert time.process_time() - before < 1
    assert len(planning.preview) < 2 * 330 + 400
    assert sum(map(len, planning.preview)) < 300_000
    assert len(planning.effects) == 330
