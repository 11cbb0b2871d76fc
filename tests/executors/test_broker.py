"""The broker and files: a change happens only where, how and as the permit says."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from executors.boxes import Box
from executors.calls import WRITE, WRITES, broker, mutating, ready
from executors.desk import OPERATIONS, PATTERNS, Desk
from metnos.executors import broker as brokering
from metnos.executors.broker import Breached
from metnos.executors.effect_plan import Planning
from metnos.executors.trash import Trash
from metnos.law import aliases
from metnos.law.forbidden import refuse_forbidden


@pytest.fixture(scope="module")
def box(ordinary: Path) -> Iterator[Box]:
    made = Box(ordinary)
    yield made
    made.close()


@pytest.fixture
def desk(box: Box) -> Desk:
    return Desk(box)


class TestPlaces:
    @pytest.mark.parametrize(
        "path",
        ["in/new", "in/sub/new", "in//new", "in/./new", "in/sub/../new", "in/new/", "door/new", "in/sub/../../in/new"],
    )
    def test_at_or_below_what_the_call_named(self, desk: Desk, path: str) -> None:
        answer = desk.ask({"op": "write", "path": path, "text": "x"})
        assert answer == {"value": {"done": "write", "bytes": 1, "replaced": False}}
        assert [new.read_text() for new in (desk.home / "in").rglob("new")] == ["x"]

    def test_two_slashes_at_the_root_lead_to_the_same_place(self, desk: Desk) -> None:
        assert "value" in desk.ask({"op": "write", "path": f"/{desk.home}/in/new", "text": "x"})
        assert (desk.home / "in/new").exists()

    @pytest.mark.parametrize(
        "path",
        ["new", "other/new", "inside.txt", "in2", "in/../new", "in/link/new", "in/out/new", "other/../in/../new"],
    )
    def test_what_is_declared_but_was_not_named_is_refused(self, desk: Desk, path: str) -> None:
        before = desk.picture()
        answer = desk.ask({"op": "write", "path": path, "text": "x", "overwrite": True})
        assert (answer["failed"], answer["kind"]) == (True, "not_permitted")
        assert desk.picture() == before

    @pytest.mark.parametrize("path", ["../far/new", "in/../../far/new", "/etc/passwd", "/root/x", "//etc/passwd"])
    def test_what_is_not_declared_is_a_breach(self, desk: Desk, path: str) -> None:
        before = desk.picture()
        for operation in ("write", "make_folder", "trash"):
            with pytest.raises(Breached, match="does not declare"):
                desk.ask({"op": operation, "path": path, "text": "x"})
        with pytest.raises(Breached, match="does not declare"):
            desk.ask({"op": "copy", "source": path, "target": "in/new"})
        with pytest.raises(Breached, match="does not declare"):
            desk.ask({"op": "look", "path": path})
        assert desk.picture() == before

    @pytest.mark.parametrize(
        "path", ["", "in/new", "~/in/new", "/", "/..", "/in/..", "/in\0", "\0", None, 5, [], {}, True]
    )
    def test_what_is_no_path(self, desk: Desk, path: Any) -> None:
        for operation in ("write", "trash", "look", "make_folder"):
            answer = desk.ask({"op": operation, "path": path, "text": "x"}, spelled=True)
            assert answer["kind"] == "invalid", operation

    def test_a_path_through_a_loop_of_links(self, desk: Desk) -> None:
        assert desk.ask({"op": "write", "path": "in/loop/x", "text": "x"})["kind"] == "invalid"
        assert desk.ask({"op": "write", "path": "in/loop", "text": "x", "overwrite": True})["kind"] == "conflict"

    def test_an_operation_on_a_link_is_about_the_link_and_never_follows_it(self, desk: Desk) -> None:
        before = desk.picture()
        assert desk.ask({"op": "write", "path": "in/alias", "text": "x", "overwrite": True})["kind"] == "conflict"
        assert desk.ask({"op": "trash", "path": "in/alias"})["kind"] == "conflict"
        assert desk.ask({"op": "copy", "source": "in/alias", "target": "in/new"})["kind"] == "conflict"
        assert desk.ask({"op": "move", "source": "in/alias", "target": "in/new"})["kind"] == "conflict"
        assert desk.ask({"op": "make_folder", "path": "in/link"})["kind"] == "conflict"
        assert desk.picture() == before
        assert desk.ask({"op": "look", "path": "in/alias"})["value"]["kind"] == "link"

    def test_folders_that_lead_to_a_named_one_may_be_made(self, desk: Desk) -> None:
        deep = ("made/deep/er",)
        assert "value" in desk.ask({"op": "make_folder", "path": "made"}, targets=deep)
        assert "value" in desk.ask({"op": "make_folder", "path": "made/deep/er/still"}, targets=deep)
        assert desk.ask({"op": "make_folder", "path": "made/else"}, targets=deep)["kind"] == "not_permitted"
        assert desk.ask({"op": "write", "path": "made/x", "text": "x"}, targets=deep)["kind"] == "not_permitted"

    def test_a_named_one_may_get_another_name_where_it_is(self, desk: Desk) -> None:
        assert "value" in desk.ask({"op": "move", "source": "in", "target": "renamed"})
        assert (desk.home / "renamed/a.txt").exists()
        desk.ask({"op": "move", "source": "renamed", "target": "in"}, targets=("renamed",))
        for target in ("a.txt", "other/a.txt", "in/link/a.txt"):
            answer = desk.ask({"op": "move", "source": "in/a.txt", "target": target})
            assert answer["kind"] == "not_permitted", target

    def test_another_name_never_costs_the_file_that_has_it(self, desk: Desk) -> None:
        message = {"op": "move", "source": "inside.txt", "target": "beside.txt", "overwrite": True}
        assert desk.ask(message, targets=("inside.txt",)).get("kind") == "not_permitted"
        assert (desk.home / "beside.txt").read_text() == "content of beside.txt"


class TestReading:
    def test_a_copy_comes_from_what_the_call_reads_or_changes(self, desk: Desk) -> None:
        message = {"op": "copy", "source": "other/c.txt", "target": "in/new"}
        assert desk.ask(message)["kind"] == "not_permitted"
        assert desk.ask({**message, "source": "in/link/c.txt"})["kind"] == "not_permitted"
        assert "value" in desk.ask(message, sources=("other",))
        assert "value" in desk.ask({**message, "source": "in/link/c.txt", "target": "in/again"}, sources=("other",))

    def test_what_is_read_only_is_not_changed(self, desk: Desk) -> None:
        for message in (
            {"op": "trash", "path": "other/c.txt"},
            {"op": "move", "source": "other/c.txt", "target": "in/x"},
        ):
            assert desk.ask(message, sources=("other",))["kind"] == "not_permitted"

    def test_a_look_at_what_is_named_and_beside_it(self, desk: Desk) -> None:
        kinds = {"in/a.txt": "file", "in": "folder", "in/none": "missing", "beside.txt": "file", "in/link": "link"}
        for path, kind in kinds.items():
            assert desk.ask({"op": "look", "path": path})["value"]["kind"] == kind, path
        assert desk.ask({"op": "look", "path": "in/a.txt"})["value"]["size"] == len("content of a.txt")
        assert desk.ask({"op": "look", "path": "other/c.txt"})["kind"] == "not_permitted"

    def test_what_is_out_of_bounds_is_not_even_looked_at(self, desk: Desk) -> None:
        assert desk.ask({"op": "look", "path": "in/.ssh"})["kind"] == "not_permitted"
        assert desk.ask({"op": "write", "path": "in/forbidden", "text": "x"})["kind"] == "not_permitted"


@pytest.mark.parametrize("reversal", PATTERNS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_only_what_the_reversal_can_take_back(desk: Desk, reversal: str, operation: str) -> None:
    before = desk.picture()
    with (desk.home / "beside.txt").open("rb") as file:
        descriptor = file.fileno() if OPERATIONS[operation]["op"] == "put" else None
        if operation in PATTERNS[reversal]:
            assert "value" in desk.ask(OPERATIONS[operation], descriptor, reversal=reversal)
            assert desk.picture() != before
        else:
            with pytest.raises(Breached, match="cannot take back"):
                desk.ask(OPERATIONS[operation], descriptor, reversal=reversal)
            assert desk.picture() == before


class TestWhatTheOwnerWasShown:
    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_what_was_not_shown_is_not_done(self, desk: Desk, operation: str) -> None:
        before = desk.picture()
        shown = desk.rehearse(OPERATIONS["write"] | {"path": "in/else"})
        with (desk.home / "beside.txt").open("rb") as file:
            answer = desk.ask(OPERATIONS[operation], file.fileno(), shown=shown)
        assert answer["kind"] == "not_permitted"
        assert "approved" in answer["message"]
        assert desk.picture() == before

    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_what_the_preview_names_is_done(self, desk: Desk, operation: str) -> None:
        with (desk.home / "beside.txt").open("rb") as file:
            shown = desk.rehearse(OPERATIONS[operation], file.fileno())
            assert "value" in desk.ask(OPERATIONS[operation], file.fileno(), shown=shown)

    @pytest.mark.parametrize(
        ("operation", "change"),
        [
            ("move", {"target": "in/newer"}),
            ("copy", {"source": "in/sub/b.txt"}),
            ("write", {"text": "y"}),
            ("append", {"text": "xx"}),
            ("write", {"path": "in/newer"}),
        ],
    )
    def test_what_is_only_like_it_is_not(self, desk: Desk, operation: str, change: dict[str, str]) -> None:
        before = desk.picture()
        shown = desk.rehearse(OPERATIONS[operation])
        assert desk.ask(OPERATIONS[operation] | change, shown=shown)["kind"] == "not_permitted"
        assert desk.picture() == before

    def test_a_file_that_changes_between_the_look_and_the_act(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A thread of the executor may write to it at any moment; here it does just after the broker looked."""
        made = desk.home / "beside.txt"
        kept = brokering._kept

        @contextlib.contextmanager
        def kept_while_it_changes(descriptor: int) -> Iterator[tuple[int, str]]:
            with kept(descriptor) as found:
                made.write_text("never shown to anybody")
                yield found

        with made.open("rb") as file:
            shown = desk.rehearse(OPERATIONS["put"], file.fileno())
            monkeypatch.setattr(brokering, "_kept", kept_while_it_changes)
            assert "value" in desk.ask(OPERATIONS["put"], file.fileno(), shown=shown)
        assert (desk.home / "in/new").read_text() == "content of beside.txt"

    def test_a_folder_that_is_there_already_is_no_change(self, desk: Desk) -> None:
        assert "value" in desk.ask({"op": "make_folder", "path": "in/sub"}, shown=())

    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_a_dry_run_answers_the_same_and_changes_nothing(self, desk: Desk, operation: str) -> None:
        before = desk.picture()
        with (desk.home / "beside.txt").open("rb") as file:
            would = desk.ask(OPERATIONS[operation], file.fileno(), dry=True)
            assert desk.picture() == before
            assert desk.ask(OPERATIONS[operation], file.fileno()) == would


def _calls_of_an_answer(folder: Path, named: int) -> int:
    """How many functions are called to answer a move, where the call named so many files."""
    for number in range(named):
        (folder / f"{number}.txt").touch()
    read = mutating("irreversible", {"targets": WRITES}, {"fs": {"write": [f"{folder}/**"]}})
    prepared = ready(read, folder, targets=[*(str(folder / f"{number}.txt") for number in range(named)), str(folder)])
    ask = broker(read, prepared, Planning(refuse_forbidden, Trash(folder / "Trash")))

    def move(number: int) -> None:
        paths = {"source": str(folder / f"{number}.txt"), "target": str(folder / f"new {number}.txt")}
        assert "value" in ask({"op": "move", **paths}, None)

    move(0)  # what is worked out once for the whole call
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        move(1)
    finally:
        sys.setprofile(before)
    return calls


def test_an_answer_takes_no_longer_where_many_files_are_named(tmp_path: Path) -> None:
    home = Path.home().resolve()
    (home / ".config").mkdir(parents=True, exist_ok=True)
    for number in range(30):
        (home / f".config/link{number}").symlink_to(tmp_path)
    few, many = (tmp_path / name for name in ("few", "many"))
    few.mkdir()
    many.mkdir()
    assert _calls_of_an_answer(many, 400) < 1.1 * _calls_of_an_answer(few, 4)


def test_other_names_are_looked_up_once_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[list[str]] = []
    homes = aliases._homes

    def look() -> list[str]:
        looks.append(homes())
        return looks[-1]

    monkeypatch.setattr(aliases, "_homes", look)
    (tmp_path / "a.txt").touch()
    read = mutating("irreversible", {"target": WRITE}, {"fs": {"write": [f"{tmp_path}/**"]}})
    ask = broker(read, ready(read, tmp_path, target=str(tmp_path)), Planning(refuse_forbidden, Trash(tmp_path / "T")))
    looks.clear()
    assert "value" in ask({"op": "move", "source": str(tmp_path / "a.txt"), "target": str(tmp_path / "b.txt")}, None)
    assert len(looks) == 1
