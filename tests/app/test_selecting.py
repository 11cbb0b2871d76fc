"""Selection in a workspace, from the first failure to extinction."""

from datetime import timedelta
from pathlib import Path

import pytest

from app.headings import NAME, count, counting, write
from executors.samples import write_sample
from grimoire.traces import trace
from metnos.app import App, learning, selecting
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, InboxError
from metnos.executors import index
from metnos.executors.fitness_rules import Why
from metnos.executors.run import Call
from metnos.executors.state import State
from metnos.law.inbox import Item
from metnos.night.jobs import Done
from signing import approve, sign
from support import kinds
from turn.turning import OWNER

DAY = timedelta(days=1)


def night(app: App) -> Done:
    learning.catch_up(app)
    return selecting.job(app)


def there(app: App, clock: MovableClock, days: int, first: int = 0) -> None:
    """Days on which the owner asks for something else."""
    for number in range(days):
        clock.move(DAY)
        now = clock.now()
        app.medium.close(
            trace(f"T{first + number:06}", asked=now, closed=now, passings=(), desired=(), steps=(), plan={})
        )


def questions(app: App, kind: str) -> list[Item]:
    return [each for each in app.inbox.waiting() if each.kind == kind]


def chosen(app: App, *, broken: bool = False) -> list[str]:
    made = count(app, broken=broken).trace
    assert made is not None
    return [each.executor for each in made.steps]


@pytest.mark.slow
def test_what_keeps_failing_goes_down_is_hidden_is_explored_and_recovers(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped, selection__explore="0.0")
    for _ in range(5):
        assert chosen(app, broken=True) == [NAME]
        clock.move(DAY)
    done = night(app)
    assert done.counts["hidden"] == 1
    assert [each.text for each in done.news] == [
        f"{NAME} is not offered to planners any more: {selecting.WORDS[Why.UNFIT]}. See: metnos executor show {NAME}"
    ]
    assert "selection hides" in kinds(app.workspace)
    assert night(app).counts == {}

    assert NAME not in chosen(app)  # not for a planner
    (Path.home() / "b.md").write_text("# one\n")
    by_name = app.runner.run(Call(NAME, {"path": str(Path.home() / "b.md")}, OWNER, Path.home()))
    assert by_name.ok, "it is still in the library"

    app = counting(app, selection__explore="1.0")
    explored = count(app).trace
    assert explored is not None
    assert explored.plan["explored"] == NAME
    assert [each.executor for each in explored.steps] == [NAME]
    for _ in range(5):
        count(app)
    assert night(app).counts["shown"] == 1
    app = counting(app, selection__explore="0.0")
    assert chosen(app) == [NAME]
    assert "explored" not in (count(app).trace or trace()).plan
    assert "selection shows" in kinds(app.workspace)


@pytest.mark.slow
def test_dormancy_counts_the_days_on_which_the_owner_was_there(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped)
    count(app)
    clock.move(200 * DAY)  # a long journey
    there(app, clock, 89)
    assert "hidden" not in night(app).counts
    there(app, clock, 1, 89)
    done = night(app)
    assert (done.counts["hidden"], done.counts["questions"]) == (1, 1)
    (item,) = questions(app, selecting.DORMANCY)
    assert item.title == f"Archive {NAME}: not used since 2026-11-15"
    assert app.catalog.get(NAME)  # until the owner says so
    approved = approve(app.inbox, item.id, OWNER)
    assert selecting.answered(app, approved) == f"{NAME} is archived. To bring it back: metnos executor enable {NAME}"
    assert app.catalog.look(NAME).state is State.ARCHIVED
    assert app.catalog.look(NAME).reason == "the owner let it go"
    with pytest.raises(InboxError):
        selecting.answered(app, approved)
    assert night(app).counts == {}
    assert app.selection.hidden() == {}  # what is archived is not hidden: it is not there at all


@pytest.mark.slow
def test_the_owner_is_asked_once_and_what_was_used_again_stays(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped, selection__dormant_days="5")
    there(app, clock, 5)
    night(app)
    (item,) = questions(app, selecting.DORMANCY)
    app.inbox.refuse(item.id, OWNER, "I may need it")
    there(app, clock, 5, 5)
    assert night(app).counts == {}
    assert questions(app, selecting.DORMANCY) == []
    app = counting(app, selection__explore="1.0")
    assert chosen(app) == [NAME]
    there(app, clock, 5, 10)
    assert night(app).counts["questions"] == 1  # it was used and left alone once more
    (item,) = questions(app, selecting.DORMANCY)
    clock.move(timedelta(hours=1))
    assert chosen(app) == [NAME]
    said = selecting.answered(app, approve(app.inbox, item.id, OWNER))
    assert said == f"{NAME} was used or changed since you were asked, so it stays."
    assert app.catalog.get(NAME)


def test_a_month_in_quarantine_archives_it_and_only_two_yeses_revoke_it(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped)
    app.catalog.change(NAME, State.QUARANTINE, "3 faults of its own within a day")
    clock.move(100 * DAY)
    assert night(app).counts == {}
    there(app, clock, 30)
    done = night(app)
    assert done.counts == {"died out": 1}
    assert app.catalog.look(NAME).state is State.ARCHIVED
    assert night(app).counts == {}
    (item,) = questions(app, selecting.EXTINCTION)
    assert item.needs_yes == 2
    once = approve(app.inbox, item.id, OWNER)
    with pytest.raises(InboxError):
        selecting.answered(app, once)
    assert app.catalog.look(NAME).state is State.ARCHIVED
    selecting.answered(app, approve(app.inbox, item.id, OWNER))
    assert app.catalog.look(NAME).state is State.REVOKED
    assert "def run(args, ctx)" in (app.workspace.executors / NAME / "executor.py").read_text()
    with pytest.raises(ExecutorError):
        app.catalog.change(NAME, State.ACTIVE, "back")


def test_what_was_switched_on_again_is_not_revoked(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped)
    app.catalog.change(NAME, State.QUARANTINE, "a reason")
    there(app, clock, 30)
    night(app)
    (item,) = questions(app, selecting.EXTINCTION)
    app.catalog.change(NAME, State.ACTIVE, "it was not its fault")
    approve(app.inbox, item.id, OWNER)
    assert selecting.answered(app, approve(app.inbox, item.id, OWNER)) == f"{NAME} is active again, so it stays."
    assert app.catalog.get(NAME)


def test_what_was_made_anew_meanwhile_stays(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped, selection__dormant_days="5")
    there(app, clock, 5)
    night(app)
    (item,) = questions(app, selecting.DORMANCY)
    write(app, "1.0.1")
    assert "another version" in selecting.answered(app, approve(app.inbox, item.id, OWNER))
    assert app.catalog.get(NAME)


def test_where_there_is_no_room_the_longest_unused_is_offered(equipped: App, clock: MovableClock) -> None:
    app = counting(equipped, executors__active="2")
    clock.move(DAY)
    write_sample(app.workspace.executors, "sample_lines")
    sign(app, "sample_lines", "a test")
    write_sample(app.workspace.executors, "sample_words")
    with pytest.raises(ExecutorError) as caught:
        sign(app, "sample_words", "a test")
    assert f"metnos executor archive NAME. Not used for longest: {NAME}, sample_lines" in caught.value.fix
    assert [each.body["name"] for each in selecting.make_room(app)] == [NAME, "sample_lines"]
    assert selecting.make_room(app) == []  # asked once
    (first, _) = questions(app, selecting.DORMANCY)
    assert first.title == f"Archive {NAME} to make room for new executors: not used since 2026-11-15"
    selecting.answered(app, approve(app.inbox, first.id, OWNER))
    assert sign(app, "sample_words", "a test").name == "sample_words"


def test_a_full_house_asks_by_itself_at_night(equipped: App) -> None:
    app = counting(equipped, executors__active="1")
    assert night(app).counts == {"questions": 1}
    assert night(app).counts == {}
    assert [entry.name for entry in index.longest_unused(app.catalog.db)] == [NAME]
