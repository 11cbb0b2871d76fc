"""An executor of ours that strikes out comes back as a new version, with nothing of the old one's trust; and back."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.test_growing import CASES, PURPOSE, SIGNATURE, titled
from app.wishing import questions, say_yes
from grimoire.traces import Passing, step, trace
from metnos.app import App, introspecting, learning, worth
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, NotTrusted
from metnos.executors import index
from metnos.executors.run import Call
from metnos.executors.state import State
from metnos.law.capability import Capability
from metnos.law.inbox import ACTIVATION, Item
from metnos.law.principal import at_terminal
from metnos.mnestome import graph
from metnos.night.jobs import Watcher
from metnos.synt.need import Need, Way
from metnos.synt.proposals import State as Stand
from signing import approve
from support import kinds
from turn.scripted import Said, reopened

pytestmark = pytest.mark.slow

NAME = "format_text"
NEED = Need("Put texts into title case", Way.OWNER, name=NAME)
MINUTE = timedelta(minutes=1)
FRAGILE = (
    "```python\ndef format_text(text):\n    if not text.strip():\n        raise ValueError('there is no word')\n"
    "    return {'title': text.title() if '#' not in text else text.split('#')[2]}\n```"
)
MENDED = FRAGILE.replace(" if '#' not in text else text.split('#')[2]", "")
SAME: Said = FRAGILE
BREAKS = {"texts": ["a # b"]}


@pytest.fixture
def app(equipped: App) -> Iterator[App]:
    replies = (SIGNATURE, CASES, PURPOSE, FRAGILE, FRAGILE, MENDED, MENDED)
    opened, _ = reopened(equipped, *replies, policy__autonomy="full")
    yield opened
    opened.close()


def live(app: App) -> str:
    """The first version, made, approved and used; returns its digest."""
    made = app.growing.make(app.growing.propose(NEED, "you asked for it"))
    assert made.state is Stand.DRAFTED, made.reason
    app.growing.answered(approve(app.inbox, made.activation, at_terminal()))
    return made.digest


def strike(app: App, clock: MovableClock, number: int) -> Any:
    """A real call that breaks, in a turn."""
    clock.move(MINUTE)
    outcome = app.runner.run(Call(NAME, BREAKS, at_terminal(), Path.cwd()))
    assert (outcome.ok, outcome.fault) == (False, True)
    broke = step(
        executor=NAME, digest=outcome.digest, args=BREAKS, ok=False, kind=outcome.kind, message=outcome.message,
        reply={}, audit=outcome.audit, gap_after=2,
    )  # fmt: skip
    plan = {"kind": "steps", "steps": [{"executor": NAME, "args": BREAKS}], "ms": 100.0}
    now = clock.now()
    app.medium.close(
        trace(f"01T{number:05}", asked=now, closed=now, steps=(broke,), passings=(), desired=(), plan=plan)
    )
    return outcome


def strike_out(app: App, clock: MovableClock) -> None:
    for number in range(3):
        strike(app, clock, number)
    learning.catch_up(app)
    assert app.catalog.look(NAME).state is State.QUARANTINE


def passing(app: App, version: str) -> list[str]:
    """The states of the mnests from ``find_files`` to it, in one version."""
    rows = app.catalog.db.query(
        "SELECT state FROM mnests WHERE src_executor = 'find_files' AND dst_executor = ? AND dst_version = ?",
        (NAME, version),
    )
    return [state for (state,) in rows]


def used_together(app: App) -> None:
    found = index.current(app.catalog.db, "find_files")
    assert found is not None
    feeds = Passing("find_files", found.version, NAME, "1.0.0", "reference", 1, 2)
    now = app.clock.now()
    app.medium.close(trace("01PASSED", asked=now, closed=now, steps=(), passings=(feeds,), desired=(), plan={}))
    learning.catch_up(app)


def agreed_to(app: App) -> None:
    """The night proposes, with what broke, and the owner agrees to the direction: nothing else follows from that."""
    introspecting.job(app)
    (direction,) = questions(app)
    assert direction.title.startswith("Shall I learn to mend format_text")
    assert direction.body["evidence"] == "In the last 30 days I failed 3 times to use format_text."
    assert any("IndexError" in each for each in direction.body["failures"])
    (proposal,) = [each for each in app.growing.proposals.all() if each.need.way is Way.REPAIR]
    (example,) = proposal.need.examples
    assert (dict(example.args), example.broke, example.observed) == (BREAKS, True, True)
    say_yes(app, direction)
    assert app.catalog.look(NAME).state is State.QUARANTINE
    assert "asked" not in introspecting.job(app).counts, "it is under way"


def shown(app: App) -> Item:
    """It is made: the function alone, with the broken call as a test; the question shows what changes."""
    introspecting.make(app, Watcher())
    (question,) = questions(app, ACTIVATION)
    body = question.body
    assert (body["version"], body["version before"]) == ("1.1.0", "1.0.0")
    assert body["state before"].startswith("in quarantine: 3 faults")
    assert body["changes"] == ["no change: it may do what it might do before, and nothing else"]
    assert "-    return {" in body["difference"]
    assert "+    return {" in body["difference"]
    (handled,) = [each for each in body["tests"] if "a # b" in each["given"]]
    assert (handled["expected"], handled["passed"]) == ('[{"text": "a # b", "title": "A # B"}]', True)
    assert body["cost"].startswith("2 calls")
    assert app.catalog.look(NAME).state is State.QUARANTINE, "only the yes lifts it"
    return question


def trusts_nothing(app: App, clock: MovableClock) -> None:
    """Everything that was the old version's is not the new one's."""
    app.runner.run(Call(NAME, BREAKS, at_terminal(), Path.cwd()))
    assert titled(app) == [{"text": "to be or not", "title": "To Be Or Not"}]
    assert [grant.executor for grant in app.grants.active()] == ["*"]
    entry = index.current(app.catalog.db, NAME)
    assert entry is not None
    assert index.strikes_since(app.catalog.db, NAME, entry.ts) == 0
    assert worth.told(app, NAME)["fitness"] == []
    assert (passing(app, "1.0.0"), passing(app, "1.1.0")) == (["superseded"], ["active"])
    assert [each.dst_version for each in graph.top_k_outgoing(app.catalog.db, "find_files", 99, clock.now())
            if each.dst == NAME] == ["1.1.0"]  # fmt: skip


def test_it_strikes_out_is_mended_as_a_new_version_without_the_old_trust_and_can_be_put_back(
    app: App, clock: MovableClock
) -> None:
    old = live(app)
    used_together(app)
    for target in ("/home/owner", "/tmp/owner"):
        app.grants.grant(NAME, Capability.FS_READ, target, days=7, by=at_terminal())
    app.grants.grant("*", Capability.FS_READ, "/home/owner", days=7, by=at_terminal())
    strike_out(app, clock)
    with pytest.raises(NotTrusted, match="3 faults of its own"):
        titled(app)
    assert [each["fitness"] < 0 for each in worth.told(app, NAME)["fitness"]] == [True]

    agreed_to(app)
    question = shown(app)
    clock.move(MINUTE)
    said = say_yes(app, question)
    assert said.startswith("format_text 1.1.0 is signed and active. It took the place of 1.0.0;")
    assert "was for 1.0.0, and ended" in said
    trusts_nothing(app, clock)

    # One command puts the old one back: as it was, in quarantine.
    app.grants.grant(NAME, Capability.FS_READ, "/home/owner", days=7, by=at_terminal())
    back = app.growing.roll_back(NAME)
    assert (back.executor.digest, back.executor.version, back.before) == (old, "1.0.0", "1.1.0")
    assert (back.executor.state, back.executor.reason) == (State.QUARANTINE, "3 faults of its own within a day")
    assert [grant.executor for grant in app.grants.active()] == ["*"]
    with pytest.raises(NotTrusted, match="quarantine"):
        titled(app)
    assert (passing(app, "1.0.0")[-1], passing(app, "1.1.0")) == ("active", ["superseded"])
    with pytest.raises(ExecutorError, match="no other version"):
        app.growing.roll_back(NAME)
    forward = app.growing.roll_back(NAME, "1.1.0")
    assert (forward.executor.version, forward.executor.state) == ("1.1.0", State.ACTIVE)
    assert titled(app)
    assert kinds(app.workspace).count("executor signed") >= 4


@pytest.mark.usefixtures("no_mutants")
def test_a_repair_that_comes_out_the_same_is_given_up(equipped: App, clock: MovableClock) -> None:
    app, _ = reopened(equipped, SIGNATURE, CASES, PURPOSE, *[SAME] * 20, policy__autonomy="full")
    digest = live(app)
    for _ in range(9):
        index.record_use(app.catalog.db, index.Use(NAME, digest, clock.now(), ok=True))
    app.catalog.change(NAME, State.QUARANTINE, "it was seen to lie")
    clock.move(timedelta(days=1))
    introspecting.job(app)
    (direction,) = questions(app)
    assert direction.body["failures"] == ["it was seen to lie"]
    say_yes(app, direction)
    introspecting.make(app, Watcher())
    assert questions(app, ACTIVATION) == []
    (given_up,) = [each for each in app.growing.proposals.all() if each.need.way is Way.REPAIR]
    assert given_up.state is Stand.ABANDONED
    assert "that is the same function as before; before that: it said: it was seen to lie" in given_up.reason
    assert app.catalog.look(NAME).state is State.QUARANTINE


@pytest.mark.usefixtures("no_mutants")
def test_forgetting_a_turn_takes_its_words_out_of_the_repair(app: App, clock: MovableClock) -> None:
    live(app)
    strike_out(app, clock)
    introspecting.job(app)
    (direction,) = questions(app)
    learning.forget_turn(app, "01T00000", at_terminal())
    assert "a # b" not in str(app.growing.proposals.all())
    assert app.inbox.find(direction.id).title == "(forgotten)"
