"""Dying when things are broken: a damaged memory, values that cannot be, two who retire one agent at once. There is
always a testament, it never tells more than was scanned, and it lies where the agent says."""

import errno
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from life.lived import PLACE, SECRET, WORDS, left
from metnos.app import App, beating, dying, estate, retired, retiring
from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.core.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, TestamentError
from metnos.grimoire.fact import Kind
from metnos.law.principal import at_terminal
from metnos.life import testament_file
from metnos.life.cause import Cause
from metnos.life.profile import SHIPPED
from metnos.life.thanatopsis import Death, Phase, Step, Thanatopsis, Wishes

STORES = (
    "memory/grimoire.db",
    "memory/medium.db",
    ".mnestome/mnest.sqlite",
    "memory/episodes/episodes.db",
    "memory/night.db",
    "memory/synt.db",
)
PAGE = 4096


def damaged(app: App, *stores: str) -> App:
    """The same agent with all but the first page of these files overwritten."""
    _ = app.synt_db, app.night_db, app.medium, app.grimoire, app.catalog  # closed whole, and with nothing beside them
    app.close()
    for store in stores:
        path = app.workspace.root / store
        for side in path.parent.glob(f"{path.name}-*"):
            side.unlink()
        path.write_bytes(path.read_bytes()[:PAGE].ljust(2 * PAGE, b"\x5a"))
    again = App.open(app.workspace, app.clock)
    again.__dict__["embedder"] = None
    return again


def refuse_what_was_said(path: Path) -> None:
    raw = path.read_text(encoding="utf-8")
    for private in (SECRET, PLACE, WORDS, "prefers tea", "notary", "Ravenna", "the north", "273.4"):
        assert private not in raw


class TestDamagedMemory:
    @pytest.mark.parametrize("store", STORES)
    def test_it_dies_all_the_same_and_tells_nothing_private(self, lived: App, target: Path, store: str) -> None:
        app = damaged(lived, store)
        done = retiring.retire(app, to=target)
        assert done.death.ended is not None
        assert left(target).digest == done.opened.digest
        assert set(done.death.failed) <= {"count", "finish", "learn", "gather", "reflect", "executors"}
        assert any(Path(store).name in why for why in done.death.failed.values())
        refuse_what_was_said(target)

    def test_with_all_of_it_damaged_there_is_still_a_testament(self, lived: App, target: Path) -> None:
        app = damaged(lived, *STORES)
        retiring.retire(app, to=target)
        assert left(target).testament.entries == ()
        assert left(target).testament.cause is Cause.OWNER
        assert app.inbox.waiting() == []
        assert app.grants.active() == []

    def test_what_is_not_damaged_crosses(self, lived: App, target: Path) -> None:
        """A notice that cannot be written costs nothing else."""
        done = retiring.retire(damaged(lived, "memory/night.db"), to=target)
        assert list(done.death.failed) == ["finish"]
        assert "Large tables are slow to sort." in [each.text for each in left(target).testament.entries]

    @pytest.mark.parametrize("store", ["memory/grimoire.db", "memory/medium.db", ".mnestome/mnest.sqlite"])
    def test_what_can_be_scanned_no_more_is_not_told(self, lived: App, target: Path, store: str) -> None:
        """Damaged after the lessons were chosen: what was chosen then was looked at, and the whole never was."""
        way = retired.thanatopsis(lived)
        way.accept(Cause.OWNER, Wishes(str(target)))
        steps = dying.steps(lived)
        names = [each.name for each in steps]
        with pytest.raises(StoreBusy):
            way.go_on([*steps[: names.index("compose")], Step("stop", Phase.LEGACY, "stop", _failing(StoreBusy("so")))])
        app = damaged(lived, store)
        done = retiring.retire(app)
        assert done.death.done["gather"]["entries"]
        made = left(target).testament
        assert (made.entries, made.links, made.episodes, made.habits) == ((), (), (), ())
        assert left(target).executors is None
        assert made.ticks == done.death.done["gather"]["ticks"]
        assert made.lived == done.death.done["gather"]["lived"]
        assert Path(store).name in done.death.done["compose"]["left_out"]

    def test_what_is_private_and_cannot_be_read_for_another_reason(
        self, lived: App, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_app: App, _let_go: frozenset[str]) -> Any:
            yield "Sorting took long."
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(estate, "private", broken)
        retiring.retire(lived, to=target)
        assert left(target).testament.entries == ()

    def test_the_owner_sees_before_that_nothing_of_it_can_be_read(self, lived: App) -> None:
        found = retiring.outlook(damaged(lived, *STORES))
        assert found.gathered.entries == ()
        assert "grimoire.db is damaged" in next(iter(found.gathered.dropped))
        assert found.grants == 1

    def test_what_the_owner_named_must_still_be_found_first(self, lived: App, target: Path) -> None:
        app = damaged(lived, "memory/grimoire.db")
        for door in (retiring.outlook, retiring.retire):
            with pytest.raises(StoreCorrupt):
                door(app, to=target, release=["P0001"])
        assert retired.thanatopsis(app).death() is None

    def test_a_golem_that_is_at_its_end_ends(self, lived: App, clock: MovableClock) -> None:
        folder = lived.workspace.root / "profiles"
        folder.mkdir()
        text = (SHIPPED / "golem.toml").read_text(encoding="utf-8").replace("ticks = 100000", "ticks = 1")
        (folder / "mayfly.toml").write_text(text.replace('pack = "defi"', 'pack = "home"'), encoding="utf-8")
        lived.set_setting("life.profile", "mayfly", at_terminal())
        app = App.open(lived.workspace, clock)
        app.living.beat("theta 1")
        heart = beating.require(damaged(app, *STORES[:3]))
        heart.beat()
        assert heart.is_dead()
        assert left(Path(heart.testament())).testament.cause is Cause.STOCHASTIC


def _failing(error: Exception) -> Callable[[Death], Any]:
    def act(_death: Death) -> Any:
        raise error

    return act


class TestGivenUp:
    @pytest.fixture
    def way(self, opened: App) -> Thanatopsis:
        made = retired.thanatopsis(opened)
        made.accept(Cause.OWNER, Wishes("/srv/x.testament"))
        return made

    @pytest.mark.parametrize(
        "error",
        [
            StoreCorrupt("it is damaged"),
            StoreError("the disk failed"),
            ValueError("what somebody wrote"),
            RecursionError("what somebody wrote"),
            KeyError("what somebody wrote"),
            sqlite3.OperationalError("Could not decode what somebody wrote"),
            PermissionError(errno.EACCES, "what somebody wrote"),
        ],
    )
    def test_what_stays_broken_is_noted_and_the_rest_goes_on(self, way: Thanatopsis, error: Exception) -> None:
        steps = [Step("one", Phase.SETTLE, "one", _failing(error)), Step("two", Phase.SETTLE, "two", lambda _d: {})]
        death = way.go_on(steps)
        assert death.done == {"one": {}, "two": {}}
        assert death.failed["one"]
        assert "somebody" not in death.failed["one"]

    @pytest.mark.parametrize(
        "error",
        [StoreBusy("busy"), StoreFull("full"), OSError(errno.ENOSPC, "full"), MemoryError(), KeyboardInterrupt()],
    )
    def test_what_passes_stops_it_and_is_done_again(self, way: Thanatopsis, error: Exception) -> None:
        with pytest.raises(type(error)):
            way.go_on([Step("one", Phase.SETTLE, "one", _failing(error))])
        found = way.death()
        assert found is not None
        assert found.done == {}

    @pytest.mark.parametrize("error", [StoreCorrupt("it is damaged"), ValueError("no value")])
    def test_a_vital_step_stops_it(self, way: Thanatopsis, error: Exception) -> None:
        with pytest.raises(type(error)):
            way.go_on([Step("one", Phase.LEGACY, "one", _failing(error), vital=True)])

    def test_a_result_that_cannot_be_written_is_given_up_too(self, way: Thanatopsis) -> None:
        death = way.go_on([Step("one", Phase.SETTLE, "one", lambda _d: {"much": float("nan")})])
        assert list(death.failed) == ["one"]


def test_a_value_that_cannot_be_does_not_keep_it_from_dying(
    lived: App, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored by one step, and refused by all that go by it."""
    really = dying._gather

    def odd(app: App, death: Death) -> Any:
        found: Any = really(app, death)
        return {**found, "entries": [{**found["entries"][0], "confidence": 7.0}, *found["entries"][1:]]}

    monkeypatch.setattr(dying, "_gather", odd)
    done = retiring.retire(lived, to=target)
    assert list(done.death.failed) == ["reflect"]
    assert done.death.done["compose"]["left_out"]
    made = left(target).testament
    assert made.entries == ()
    assert made.bones


class TestElsewhere:
    def test_who_is_refused_has_not_moved_it(self, lived: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second = tmp_path / "first.testament", tmp_path / "second.testament"
        at, gate, really = threading.Event(), threading.Event(), dying.leave
        done: list[retiring.Retired] = []

        def slow(death: Death, path: Path) -> None:
            at.set()
            assert gate.wait(60)
            really(death, path)

        monkeypatch.setattr(dying, "leave", slow)
        thread = threading.Thread(target=lambda: done.append(retiring.retire(lived, to=first)))
        thread.start()
        try:
            assert at.wait(60)
            with pytest.raises(TestamentError, match="another process"):
                retiring.retire(App.open(lived.workspace, lived.clock), to=second)
        finally:
            gate.set()
            thread.join(60)
        assert done[0].path == first
        assert first.is_file()
        with pytest.raises(TestamentError, match=r"first\.testament"):
            retired.refuse_dead(lived)

    def test_who_is_refused_leaves_no_second_one(self, lived: App, tmp_path: Path) -> None:
        """It was left already, and somebody else is still telling of it."""
        first, second = tmp_path / "first.testament", tmp_path / "second.testament"
        retiring.retire(lived, to=first)
        with files.held(lived.workspace.memory / retired.LOCK), pytest.raises(TestamentError, match="another process"):
            retiring.retire(lived, to=second)
        assert not second.exists()
        assert retiring.retire(lived, to=second).path == second
        assert second.read_bytes() == first.read_bytes()


def test_more_than_anybody_would_read_costs_the_least_of_it(
    lived: App, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not all of it: what warns stands first, and stays."""
    monkeypatch.setattr(testament_file, "MOST_READ", 9000)
    done = retiring.retire(lived, to=target)
    entries = left(target).testament.entries
    assert 0 < len(entries) < 7
    assert entries[0].kind in (Kind.ANTI, Kind.WARNING)
    assert "too much to read" in done.death.done["compose"]["left_out"]


def test_a_note_that_cannot_be_read_lets_nothing_out(lived: App, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what it says, so nobody knows what must not be told."""
    note = lived.workspace.notes / "locked.md"
    note.write_text(WORDS, encoding="utf-8")
    opens = Path.open

    def locked(path: Path, *args: Any, **named: Any) -> Any:
        if path == note:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opens(path, *args, **named)

    monkeypatch.setattr(Path, "open", locked)
    done = retiring.retire(lived, to=target)
    assert left(target).testament.entries == ()
    assert "locked.md cannot be read" in str(done.death.failed) + done.death.done["compose"]["left_out"]


def test_a_pipe_among_the_notes_is_not_waited_for(lived: App, target: Path) -> None:
    os.mkfifo(lived.workspace.notes / "pipe.md")
    retiring.retire(lived, to=target)
    assert left(target).testament.entries
