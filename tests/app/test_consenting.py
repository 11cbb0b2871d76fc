"""Facts about the owner and the household: nothing without a yes, and nothing again after a no."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.remembered import PROGRAM, Embedder, known, same_agent
from metnos.app import App, keeping, remembering
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Scope
from metnos.grimoire.fact import Standing
from metnos.law.principal import at_terminal
from signing import approve
from turn.turning import OWNER


class TestConsent:
    HER = "my wife is allergic to hazelnuts"

    @pytest.fixture
    def personal(self, app: App, clock: MovableClock) -> App:
        app.__dict__["embedder"] = Embedder()
        for _ in range(3):
            app.grimoire.add(self.HER)
            clock.move(timedelta(days=1))
        remembering.curate(app, now=True)
        return app

    def about_her(self, app: App) -> list[Standing]:
        return [fact.standing for fact in known(app) if "hazelnuts" in fact.text]

    def test_a_fact_about_the_household_waits_for_a_yes_and_then_counts(self, personal: App) -> None:
        assert set(self.about_her(personal)) == {Standing.QUARANTINED}
        (item,) = personal.inbox.waiting()
        assert "hazelnuts" in item.title
        remembering.curate(personal, now=True)
        assert len(personal.inbox.waiting()) == 1, "it is asked once"
        keeping.apply(personal, approve(personal.inbox, item.id, OWNER), at_terminal())
        assert Standing.ACTIVE in self.about_her(personal)

    def test_after_a_no_it_is_gone(self, personal: App) -> None:
        (item,) = personal.inbox.waiting()
        personal.inbox.refuse(item.id, OWNER)
        remembering.curate(personal, now=True)
        assert self.about_her(personal) == []
        assert personal.inbox.waiting() == []

    def test_after_a_no_it_is_neither_learnt_nor_asked_again_whatever_it_is_called(
        self, personal: App, clock: MovableClock
    ) -> None:
        (item,) = personal.inbox.waiting()
        (old,) = personal.grimoire.facts.get([item.body["fact"]])
        personal.inbox.refuse(item.id, OWNER)
        keeping.ask_consent(personal)
        again = App.open(personal.workspace, clock)
        again.__dict__["embedder"] = Embedder()
        for _ in range(3):
            again.grimoire.add(self.HER)
            clock.move(timedelta(days=1))
        remembering.curate(again, now=True)
        again.grimoire.facts.put(replace(old, id="01OTHER", text=f"{old.text} It was seen more often."))
        assert keeping.ask_consent(again) == 0
        assert (self.about_her(again), again.inbox.waiting()) == ([], [])
        again.close()

    def test_a_no_survives_out_and_in_again_and_lets_nothing_in_by_that_way(
        self, personal: App, clock: MovableClock, tmp_path: Path
    ) -> None:
        before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
        keeping.export(personal, before)
        personal.inbox.refuse(personal.inbox.waiting()[0].id, OWNER)
        keeping.ask_consent(personal)
        assert keeping.take_in(personal, before).refused == 1
        assert self.about_her(personal) == []
        keeping.export(personal, after)
        assert "hazelnuts" in after.read_text(), "what was said stays, unless it is forgotten"
        fresh = same_agent(personal, Workspace(tmp_path / "other"))
        keeping.take_in(fresh, after)
        keeping.take_in(fresh, before)
        assert self.about_her(fresh) == []
        fresh.close()

    def test_a_no_leaves_no_word_when_it_is_forgotten(self, personal: App) -> None:
        personal.inbox.refuse(personal.inbox.waiting()[0].id, OWNER)
        keeping.ask_consent(personal)
        keeping.forget(personal, keeping.forgetting(personal).plan("hazelnuts"), at_terminal())
        personal.close()
        held = [path for path in personal.workspace.root.rglob("*") if path.is_file()]
        assert [path for path in held if b"hazelnuts" in path.read_bytes().lower()] == []

    def test_what_somebody_else_said_about_their_life_is_not_put_before_the_owner(self, personal: App) -> None:
        (item,) = personal.inbox.waiting()
        (mine,) = personal.grimoire.facts.get([item.body["fact"]])
        theirs = replace(mine, id="01THEIRS", text=f"{self.HER}, too", scope=Scope.SENDER, sender=str(PROGRAM))
        personal.grimoire.facts.put(theirs)
        assert keeping.ask_consent(personal) == 0
        personal.grimoire.facts.put(replace(theirs, id="01OURS", scope=mine.scope, sender=mine.sender))
        assert keeping.ask_consent(personal) == 1
