"""What somebody chose, liked or said yes to teaches: with real turns and what came after them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.remembered import PROGRAM, known, quiet
from app.turned import close
from grimoire.traces import step
from metnos.app import App, learning, remembering
from metnos.core.clock import MovableClock
from metnos.grimoire.fact import Kind
from metnos.grimoire.trace import Trace
from metnos.law.principal import Principal
from metnos.turn.events import Answer
from signing import approve
from turn.fasting import empty
from turn.scripted import steps
from turn.turning import OWNER, follow, take

FOLDER = {"path": "~/docs"}


class TestChoosing:
    """What nobody said: the folder that a language model thought of."""

    PAPERS = "find the files that I am to read"

    def asked(self, app: App, clock: MovableClock) -> list[str]:
        """Three times, of a model that thinks of the folder by itself."""
        call = steps({"find_files": {**FOLDER, "pattern": "*.pdf"}})
        opened, _ = quiet(app, call, call, call)
        turns = []
        for _ in range(3):
            trace = take(opened, self.PAPERS, (Answer.YES,)).trace  # asked, because the words name no folder
            assert trace is not None
            assert (trace.state, trace.path) == ("done", "model")
            turns.append(trace.id)
            clock.move(timedelta(days=1))
        opened.close()
        return turns

    def closed(self, app: App, clock: MovableClock, path: str) -> list[str]:
        turns = []
        for number in range(3):
            taken = step(executor="find_files", args=FOLDER)
            turns.append(close(app, number, self.PAPERS, [("find_files", FOLDER)], path=path, steps=(taken,)))
            clock.move(timedelta(days=1))
        learning.catch_up(app)
        return turns

    def learnt(self, app: App) -> bool:
        remembering.curate(app, now=True)
        return FOLDER in [fact.data["prefer"]["args"] for fact in known(app, Kind.PROCEDURAL)]

    def test_what_a_model_chose_and_the_owner_asked_for_again_is_a_preference(
        self, app: App, clock: MovableClock
    ) -> None:
        self.asked(app, clock)
        assert self.learnt(app)

    def test_what_the_owner_said_to_be_good_is_one_whoever_chose_it(self, app: App, clock: MovableClock) -> None:
        turns = self.closed(app, clock, "router")
        app.medium.feedback(turns[1], good=True)
        assert self.learnt(app)

    def test_what_fixed_rules_chose_is_none_by_itself(self, app: App, clock: MovableClock) -> None:
        self.closed(app, clock, "router")
        assert not self.learnt(app)


class TestAfterAYes:
    """What waited in the inbox and was done later is the request that was asked."""

    ASKED = "copy the PDFs in ~/docs to ~/archive"

    def approved(self, app: App, principal: Principal = OWNER) -> Trace:
        assert take(app, self.ASKED, principal=principal).ended.state == "waiting"
        (item,) = app.inbox.waiting()
        turn = app.turns.go_on(approve(app.inbox, item.id, OWNER), OWNER)
        assert turn is not None
        trace = follow(app, turn).trace
        assert trace is not None
        return trace

    @pytest.fixture
    def careful(self, app: App, tmp_path: Path) -> Iterator[App]:
        (tmp_path / "home" / "archive").mkdir()
        opened, _ = quiet(app, policy__autonomy="supervised")
        yield opened
        opened.close()

    def test_it_has_the_form_and_the_particulars_that_it_was_asked_with_and_teaches(
        self, careful: App, clock: MovableClock
    ) -> None:
        for _ in range(3):
            trace = self.approved(careful)
            assert trace.continues
            first = careful.medium.load(trace.continues)
            assert trace.canonical == first.canonical == "cop <files> in <path> to <path>"
            assert (trace.slots, trace.tags) == (first.slots, first.tags)
            empty(Path.home() / "archive")
            clock.move(timedelta(days=1))
        careful.medium.feedback(trace.id, good=True)
        remembering.curate(careful, now=True)
        taught = [fact.data["prefer"] for fact in known(careful, Kind.PROCEDURAL)]
        assert {"executor": "copy_files", "args": {"to": "~/archive"}} in taught
        assert not [each for each in taught if "paths" in each["args"]], "which were found, and not chosen"

    def test_to_wait_and_to_go_on_is_to_ask_once(self, careful: App) -> None:
        trace = self.approved(careful)
        assert careful.grimoire.outcome(trace.continues).repeated == 0
        assert careful.grimoire.outcome(trace.id).repeated == 0

    def test_what_somebody_else_asked_teaches_nothing_by_the_owners_yes(
        self, careful: App, clock: MovableClock
    ) -> None:
        for _ in range(3):
            assert self.approved(careful, PROGRAM).canonical == ""
            empty(Path.home() / "archive")
            clock.move(timedelta(days=1))
        remembering.curate(careful, now=True)
        assert known(careful, Kind.PROCEDURAL) == []
