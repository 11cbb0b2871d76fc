"""The steps of a death: each is taken once, what fails is noted, and whoever comes back goes on."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.app import App
from metnos.core import files
from metnos.core.canon import Json
from metnos.core.clock import MovableClock
from metnos.core.errors import ModelError, StoreBusy, StoreSchema, TestamentError
from metnos.life import schema
from metnos.life.cause import Cause
from metnos.life.thanatopsis import Death, Phase, Step, Thanatopsis, Wishes
from metnos.store.db import Database
from support import START


@pytest.fixture
def dying(opened: App) -> Thanatopsis:
    return Thanatopsis(opened.life_db, opened.audit, opened.clock, opened.workspace.memory / "dying.lock")


WISHES = Wishes("/srv/x.testament", ("E1",))


def step(name: str, act: Callable[[Death], Json] = lambda _death: {}, *, vital: bool = False) -> Step:
    return Step(name, Phase.SETTLE, name, act, vital)


def failing(error: Exception) -> Callable[[Death], Json]:
    def act(_death: Death) -> Json:
        raise error

    return act


class TestAccepting:
    def test_what_was_accepted_first_holds(self, dying: Thanatopsis, clock: MovableClock) -> None:
        first = dying.accept(Cause.OWNER, WISHES)
        clock.move(timedelta(days=1))
        assert dying.accept(Cause.STOCHASTIC, Wishes("/elsewhere")) == first
        assert first.died == START
        assert first.wishes == WISHES

    def test_it_is_in_the_audit(self, dying: Thanatopsis, opened: App) -> None:
        dying.accept(Cause.OWNER, WISHES)
        assert next(iter(opened.audit.newest())).kind == "death accepted"

    def test_nobody_dies_who_did_not_accept(self, dying: Thanatopsis) -> None:
        assert dying.death() is None
        with pytest.raises(TestamentError, match="accepted"):
            dying.go_on([step("one")])

    def test_only_the_place_can_be_changed_later(self, dying: Thanatopsis) -> None:
        dying.accept(Cause.OWNER, WISHES)
        dying.move("/srv/y.testament")
        found = dying.death()
        assert found is not None
        assert found.wishes == Wishes("/srv/y.testament", ("E1",))


class TestSteps:
    def test_each_sees_what_those_before_it_came_to(self, dying: Thanatopsis) -> None:
        dying.accept(Cause.OWNER, WISHES)
        steps = [step("one", lambda _d: {"n": 1}), step("two", lambda d: {"n": d.done["one"]["n"] + 1})]
        death = dying.go_on(steps)
        assert death.done == {"one": {"n": 1}, "two": {"n": 2}}
        assert death.ended == START

    def test_what_is_done_is_not_done_again(self, dying: Thanatopsis) -> None:
        dying.accept(Cause.OWNER, WISHES)
        dying.go_on([step("one", lambda _d: {"n": 1})])
        assert dying.go_on([step("one", failing(AssertionError("again")))]).done["one"] == {"n": 1}

    def test_what_fails_is_noted_and_the_death_goes_on(self, dying: Thanatopsis) -> None:
        dying.accept(Cause.OWNER, WISHES)
        death = dying.go_on([step("one", failing(ModelError("no money", kind="budget"))), step("two")])
        assert death.failed == {"one": "no money"}
        assert death.done["two"] == {}
        assert death.ended is not None

    def test_a_vital_one_stops_it_and_it_can_be_resumed(self, dying: Thanatopsis) -> None:
        dying.accept(Cause.OWNER, WISHES)
        with pytest.raises(TestamentError, match="disk"):
            dying.go_on([step("one"), step("two", failing(TestamentError("the disk")), vital=True)])
        found = dying.death()
        assert found is not None
        assert list(found.done) == ["one"]
        assert dying.go_on([step("one"), step("two", vital=True)]).ended is not None

    def test_a_busy_store_stops_it_too(self, dying: Thanatopsis) -> None:
        dying.accept(Cause.OWNER, WISHES)
        with pytest.raises(StoreBusy):
            dying.go_on([step("one", failing(StoreBusy("busy")))])
        found = dying.death()
        assert found is not None
        assert found.done == {}

    def test_one_process_at_a_time(self, dying: Thanatopsis, opened: App) -> None:
        dying.accept(Cause.OWNER, WISHES)
        with files.held(opened.workspace.memory / "dying.lock"), pytest.raises(TestamentError, match="another process"):
            dying.go_on([step("one")])

    def test_each_is_in_the_audit_before_and_after(self, dying: Thanatopsis, opened: App) -> None:
        dying.accept(Cause.OWNER, WISHES)
        dying.go_on([step("one")])
        told = [(line.kind, line.entry.names.get("phase")) for line in opened.audit.newest()][:3]
        assert told == [("death ended", None), ("death step", "done"), ("death step", "intent")]


@given(breaks=st.lists(st.integers(0, 5), max_size=6))
def test_however_often_it_is_interrupted_it_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, breaks: list[int]
) -> None:
    """A state machine: a process may die in any step, any number of times."""
    folder = tmp_path_factory.mktemp("death")
    db, clock, taken = Database(folder / "life.db", schema.MIGRATIONS), MovableClock(START), list[str]()
    dying = Thanatopsis(db, _Audit(), clock, folder / "lock")  # type: ignore[arg-type]  # only told, never asked

    def act(name: str, dies: bool) -> Callable[[Death], Json]:
        def acting(death: Death) -> Json:
            if dies:
                raise KeyboardInterrupt
            taken.append(name)
            return {"after": sorted(death.done)}

        return acting

    dying.accept(Cause.OWNER, WISHES)
    for place in breaks:
        clock.move(timedelta(hours=1))
        try:
            dying.go_on([step(f"s{n}", act(f"s{n}", n == place)) for n in range(5)])
        except KeyboardInterrupt:
            continue
    death = dying.go_on([step(f"s{n}", act(f"s{n}", dies=False)) for n in range(5)])
    assert taken == [f"s{n}" for n in range(5)]
    assert death.done == {f"s{n}": {"after": [f"s{m}" for m in range(n)]} for n in range(5)}
    assert death.died == START
    db.close()


class _Audit:
    """Says yes to everything."""

    def append(self, _entry: object) -> None: ...

    def act(self, _entry: object) -> "_Audit":
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_error: object) -> None: ...


def test_a_step_is_never_written_over(dying: Thanatopsis, opened: App) -> None:
    dying.accept(Cause.OWNER, WISHES)
    dying.go_on([step("one")])
    with pytest.raises(StoreSchema, match="taken once"), opened.life_db.write() as tx:
        tx.execute("UPDATE death_steps SET result = ?", ("{}",))
