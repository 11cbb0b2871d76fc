"""A turn becomes an episode, episodes teach, and what they taught steers the next plan: with real turns, no model."""

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import forking
from app.remembered import (
    ANSWERED,
    ASKED,
    FRIEND,
    LINE,
    PROGRAM,
    answer,
    copied,
    done,
    known,
    quiet,
    taught,
    the_folder,
)
from app.turned import close, pdfs
from grimoire.facts_made import fact
from metnos.app import App, learning, paths, remembering
from metnos.app.living import Living
from metnos.app.remembering import AGAIN, Grimoire
from metnos.core.clock import MovableClock
from metnos.core.errors import StoreBusy
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Scope, Where
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.life.vitality_rules import Effects
from support import at_once
from turn.turning import OWNER, take

KEY = "the spare key is under the blue flower pot"


@pytest.fixture(scope="module")
def _taught(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return taught(_template, tmp_path_factory.mktemp("taught"))


@pytest.fixture
def wise(_taught: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[App]:
    """It has been told three times where PDFs are."""
    yield from copied(_taught, blank, clock, tmp_path / "home")


def ids(app: App) -> list[str]:
    return [each.id for each in app.grimoire.episodes.select(Where(), count=1000)]


class TestTakingIn:
    def test_a_turn_becomes_exactly_one_episode(self, app: App) -> None:
        trace = done(app, "find the PDFs in ~/docs")
        learning.catch_up(app)
        (episode,) = app.grimoire.episodes.get([trace.id])
        assert ids(app) == [trace.id]
        assert "find the PDFs in ~/docs" in episode.text
        assert (episode.sender, episode.scope, episode.domain) == ("owner", Scope.OWNER, "files")
        assert episode.payload["steps"][0]["args"]["path"] == "~/docs"
        assert 0 < episode.curiosity <= 1

    def test_a_rehearsal_is_not_remembered(self, app: App) -> None:
        take(app, "find the PDFs in ~/docs", dry_run=True)
        assert ids(app) == []

    def test_a_turn_whose_process_was_killed_before_it_was_taken_in_is_taken_in_at_the_next_start(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _ = app.turns
        monkeypatch.setattr(Grimoire, "catch_up", forking.die)
        assert forking.run(lambda: take(app, "find the PDFs in ~/docs")) == forking.KILLED
        monkeypatch.undo()
        (glance,) = app.medium.newest(2)
        assert ids(app) == []
        for _ in range(2):
            again = App.open(app.workspace, app.clock)
            _ = again.turns
            assert ids(again) == [glance.id]
            again.close()

    def test_two_processes_take_each_turn_in_once_and_count_it_once(self, app: App) -> None:
        made = [close(app, number, *pdfs(f"f{number}")) for number in range(8)]
        new = at_once([lambda: _catch_up(app.workspace, app.clock) for _ in range(3)])
        assert sorted(ids(app)) == made
        assert sum(new) == len(made)
        assert app.grimoire.curator(1.0)._state.place().ticks == len(made)

    def test_a_memory_that_was_lost_is_made_anew_from_all_turns(self, app: App) -> None:
        made = [close(app, number, *pdfs(f"f{number}")) for number in range(AGAIN + 3)]
        learning.catch_up(app)
        app.close()
        shutil.rmtree(app.workspace.episodes)
        for path in app.workspace.memory.glob("grimoire.db*"):
            path.unlink()
        again = App.open(app.workspace, app.clock)
        learning.catch_up(again)
        assert sorted(ids(again)) == made
        again.close()

    def test_what_was_forgotten_is_not_taken_in_again(self, app: App) -> None:
        trace = done(app, "find the PDFs in ~/docs")
        learning.forget_turn(app, trace.id, at_terminal())
        app.medium.offer_again(remembering.PROJECTION)
        with app.grimoire.db.write() as tx:
            tx.execute("DELETE FROM applied_turns")
        learning.catch_up(app)
        assert ids(app) == []

    def test_an_answer_is_one_request_with_the_question_it_answers(self, app: App, clock: MovableClock) -> None:
        (taken,) = answer(app, clock, times=1)
        assert taken.trace is not None
        (episode,) = app.grimoire.episodes.get([taken.trace.id])
        assert episode.text.splitlines()[:2] == [ASKED, ANSWERED]
        assert episode.payload["canonical"] == "find <files>"


def _catch_up(workspace: Workspace, clock: MovableClock) -> int:
    opened = App.open(workspace, clock)
    return opened.grimoire.catch_up()


class TestSteering:
    def test_what_was_answered_three_times_is_not_asked_again_and_is_explained(self, wise: App) -> None:
        trace = done(wise, ASKED)
        assert (trace.state, trace.steps[0].args["path"]) == ("done", ANSWERED)
        assert trace.plan["notes"] == [f"as before: path {ANSWERED}"]
        (memory,) = trace.memories
        assert (memory["id"], memory["text"], memory["steered"]) == (the_folder(wise).id, LINE, True)

    def test_twice_is_not_enough(self, app: App, clock: MovableClock) -> None:
        answer(app, clock, times=2)
        remembering.curate(app, now=True)
        assert done(app, ASKED).state == "question"

    def test_different_answers_teach_nothing(self, app: App, clock: MovableClock) -> None:
        for folder in ("~/papers", "~/docs", "~/work"):
            answer(app, clock, 1, folder)
        remembering.curate(app, now=True)
        assert done(app, ASKED).state == "question"

    def test_what_is_said_in_the_request_wins(self, wise: App) -> None:
        trace = done(wise, "find the PDFs in ~/docs")
        assert trace.steps[0].args["path"] == "~/docs"
        assert trace.memories == ()

    def test_off_it_steers_nothing_shows_nothing_and_still_takes_in(self, wise: App) -> None:
        wise.grimoire.add(KEY)
        opened, _ = quiet(wise, memory__use="off")
        before = len(ids(opened))
        assert done(opened, ASKED).state == "question"
        nothing = done(opened, "where is the spare key")
        assert (nothing.state, nothing.memories) == ("nothing", ())
        assert "flower" not in nothing.answer
        assert len(ids(opened)) == before + 2
        opened.close()

    def test_a_memory_that_cannot_be_read_costs_its_advice_and_nothing_else(
        self, wise: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _ = wise.turns

        def busy(*_args: object, **_named: object) -> list[Fact]:
            raise StoreBusy("the memory is busy")

        monkeypatch.setattr(Facts, "find", busy)
        trace = done(wise, ASKED)
        assert trace.state == "question"
        assert trace.answer.endswith("the memory is busy")


class TestFeedback:
    def test_a_steered_turn_that_the_owner_dislikes_weakens_the_fact_and_in_the_end_stops_it(
        self, wise: App, clock: MovableClock
    ) -> None:
        before, asked = the_folder(wise).confidence, 0
        while (trace := done(wise, ASKED)).state == "done":
            wise.medium.feedback(trace.id, good=False)
            clock.move(timedelta(minutes=1))
            asked += 1
            assert asked < 6
        assert trace.state == "question"
        after = the_folder(wise)
        assert after.confidence < before
        assert 1 <= after.harmed <= asked

    def test_a_steered_turn_that_is_let_stand_for_a_day_strengthens_it_once(
        self, wise: App, clock: MovableClock
    ) -> None:
        before = the_folder(wise)
        done(wise, ASKED)
        learning.catch_up(wise)
        assert the_folder(wise).helped == 0, "nobody can know yet"
        clock.move(timedelta(days=1))
        for _ in range(2):
            learning.catch_up(wise)
        after = the_folder(wise)
        assert (after.helped, after.harmed) == (1, 0)
        assert after.confidence > before.confidence

    def test_being_shown_strengthens_nothing(self, app: App, clock: MovableClock) -> None:
        key = app.grimoire.add(KEY)
        assert "flower" in done(app, "where is the spare key").answer
        clock.move(timedelta(days=2))
        learning.catch_up(app)
        assert app.grimoire.episodes.get([key.id])[0].used == 0

    def test_what_the_owner_praises_was_useful(self, app: App) -> None:
        key = app.grimoire.add(KEY)
        app.medium.feedback(done(app, "where is the spare key").id, good=True)
        learning.catch_up(app)
        assert app.grimoire.episodes.get([key.id])[0].used == 1


class TestThePlaybook:
    @pytest.fixture
    def booked(self, wise: App, clock: MovableClock) -> App:
        """What was learnt has proved itself long enough to stand in PLAYBOOK.md."""
        for number in range(11):
            trace = done(wise, ASKED)
            if number < 5:
                wise.medium.feedback(trace.id, good=True)
            clock.move(timedelta(hours=3))
        remembering.curate(wise, now=True)
        assert LINE in self.book(wise).read_text()
        return wise

    @staticmethod
    def book(app: App) -> Path:
        return app.workspace.root / "PLAYBOOK.md"

    def test_a_line_that_the_owner_takes_out_steers_no_more_and_does_not_come_back(self, booked: App) -> None:
        path = self.book(booked)
        path.write_text("".join(line for line in path.read_text().splitlines(True) if LINE not in line))
        remembering.curate(booked, now=True)
        assert done(booked, ASKED).state == "question"
        assert LINE not in path.read_text()

    def test_a_line_that_the_owner_changes_changes_the_next_plan(self, booked: App) -> None:
        path = self.book(booked)
        path.write_text(path.read_text().replace(LINE, LINE.replace("~/papers", "~/docs")))
        trace = done(booked, ASKED)
        assert (trace.state, trace.steps[0].args["path"]) == ("done", "~/docs")
        assert trace.memories[0]["text"] == LINE.replace("~/papers", "~/docs")

    def test_a_line_of_metnoss_own_is_not_believed_when_its_memory_is_lost_and_one_of_the_owners_is(
        self, booked: App, clock: MovableClock
    ) -> None:
        path = self.book(booked)
        booked.close()
        for each in booked.workspace.memory.glob("grimoire.db*"):
            each.unlink()
        again, _ = quiet(booked)
        trace = done(again, ASKED)
        assert (trace.state, trace.memories) == ("question", ()), "nobody knows any more how far it is to be believed"
        again.grimoire.playbook.consider((), 1)
        assert LINE not in path.read_text()
        path.write_text(path.read_text().replace("## By hand\n", f"## By hand\n\n- {LINE}\n"))
        assert done(again, ASKED).state == "done"
        again.close()


class TestOthers:
    def test_what_others_say_is_theirs_and_what_the_owner_says_the_owners(self, app: App) -> None:
        app.grimoire.add(KEY)
        question = "where is the spare key"
        for principal, place in ((PROGRAM, "behind the green barrel"), (FRIEND, "in the red barn")):
            theirs = done(app, f"the spare key of mine is {place}", principal=principal)
            (episode,) = app.grimoire.episodes.get([theirs.id])
            assert (episode.scope, episode.sender) == (Scope.SENDER, str(principal))
        mine, programs, friends = (done(app, question, principal=each).answer for each in (OWNER, PROGRAM, FRIEND))
        assert ("flower" in mine, "barrel" in mine, "barn" in mine) == (True, False, False)
        assert ("flower" in programs, "barrel" in programs, "barn" in programs) == (False, True, False)
        assert ("flower" in friends, "barrel" in friends, "barn" in friends) == (False, False, True)

    def test_whoever_calls_themselves_owner_elsewhere_is_somebody_else(self, app: App) -> None:
        app.grimoire.add(KEY)
        liar = Principal(Channel.API, "owner", Autonomy.FULL)
        namesake = Principal(Channel.API, "friend", Autonomy.FULL)
        done(app, "the spare key of mine is in the red barn", principal=liar)
        done(app, "the spare key of mine is in the grey shed", principal=FRIEND)
        answers = [done(app, "where is the spare key", principal=each).answer for each in (OWNER, liar, namesake)]
        assert ["flower" in each for each in answers] == [True, False, False]
        assert ["barn" in each for each in answers] == [False, True, False]
        assert ["shed" in each for each in answers] == [False, False, False]

    @pytest.mark.parametrize("principal", [PROGRAM, FRIEND])
    def test_what_others_repeat_steers_nobody(self, app: App, clock: MovableClock, principal: Principal) -> None:
        answer(app, clock, principal=principal)
        remembering.curate(app, now=True)
        assert done(app, ASKED).state == "question"
        assert done(app, ASKED, principal=principal).state == "question"
        assert not [fact for fact in known(app, Kind.PROCEDURAL) if fact.standing is Standing.ACTIVE]

    def test_others_are_not_steered_by_what_the_owner_does(self, wise: App) -> None:
        trace = done(wise, ASKED, principal=PROGRAM)
        assert (trace.state, trace.memories) == ("question", ())


def test_what_faded_away_is_gone_for_good_after_three_months(app: App, clock: MovableClock) -> None:
    facts = app.grimoire.facts
    facts.put(fact("weak", confidence=0.05))
    while not facts.decay().pruned:
        clock.move(timedelta(days=400))
    clock.move(timedelta(days=89))
    remembering.curate(app)
    assert [each.id for each in facts.find(standings=())] == ["weak"]
    clock.move(timedelta(days=2))
    remembering.curate(app)
    assert facts.find(standings=()) == []


def breaks(*_: object, **__: object) -> None:
    raise ValueError("what nobody foresaw")


def test_what_nobody_foresaw_in_a_turn_stops_no_other(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(remembering.capture, "episode_of", breaks)
        assert take(app, "how full are the disks?").ended.state == "done"
    before = app.grimoire.episodes.count()
    take(app, "how full are the disks?")
    assert app.grimoire.episodes.count() == before + 1
    assert any(line.kind == paths.NOT_LEARNT for line in app.audit.newest())


def test_a_mistake_in_learning_does_not_reach_the_turn(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Grimoire, "learn", breaks)
    monkeypatch.setattr(Living, "effects", lambda _: Effects(1.0, 1, 0.6))
    assert take(app, "how full are the disks?").ended.state == "done"
