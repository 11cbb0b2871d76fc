"""What Metnos proposes by itself in a real workspace, what of it reaches the owner, and no way around a yes."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.turned import close
from app.wishing import DAY, NAME, proposals, questions, say_no, say_yes, three_wishes, why, wish
from executors.samples import sample_files
from metnos.app import App, growing, learning, selecting
from metnos.app import night as building
from metnos.core.clock import MovableClock
from metnos.core.errors import NotTrusted
from metnos.executors import index
from metnos.executors.signature import Origin
from metnos.executors.state import State as Standing
from metnos.fastpath.promote import USES
from metnos.grimoire.trace import State as Turn
from metnos.law.inbox import ACTIVATION
from metnos.law.principal import at_terminal
from metnos.mnestome import proto
from metnos.night.jobs import Night, Watcher
from metnos.night.records import State as Ran
from metnos.synt.need import Way
from metnos.synt.proposals import State
from signing import approve
from synt.pipelines import PIPELINES, furnish, record
from turn.scripted import reopened


@pytest.fixture
def app(equipped: App, tmp_path: Path) -> Iterator[App]:
    furnish(tmp_path / "home")
    opened, _ = reopened(equipped, model=False, policy__autonomy="full")
    opened.__dict__["embedder"] = None  # loading one takes longer than all the rest
    yield opened
    opened.close()


@pytest.fixture
def night(app: App) -> Night:
    return building.build(app)


class TestWishes:
    def test_two_are_not_enough_and_three_become_a_question_with_its_evidence(
        self, app: App, night: Night, clock: MovableClock
    ) -> None:
        for number in range(2):
            wish(app, number)
        assert night.run_now("introspection").counts == {"found": 0}
        wish(app, 2)
        run = night.run_now("introspection")
        assert (run.state, run.counts) == (Ran.DONE, {"found": 1, "asked": 1})
        (item,) = questions(app)
        assert item.title == "Shall I learn to describe urls, wished for as “say what the pages are about”"
        assert item.asked_by == "night:introspection"
        assert item.body["turns"] == ["01T00000", "01T00001", "01T00002"]
        assert (item.body["uses"], item.body["saved seconds"]) == (3, 4.5)
        assert item.body["evidence"] == "You asked for this 3 times in a day, and nothing here does it."
        assert "It serves your end: Save me time on what I do again and again" in item.body["why"]
        (proposal,) = proposals(app)
        assert (proposal.state, proposal.need.way, proposal.need.name) == (State.DIRECTION, Way.DIRECT, NAME)
        assert proposal.need.mnest == proto.protos(app.catalog.db)[0].id
        assert proposal.need.inputs == ("urls",)

    def test_it_is_asked_once_however_often_the_night_comes(self, app: App, night: Night, clock: MovableClock) -> None:
        three_wishes(app, clock)
        for _ in range(3):
            night.run_now("introspection")
        assert len(questions(app)) == len(proposals(app)) == 1

    def test_a_refusal_is_heeded_until_time_and_evidence_make_up_for_it(
        self, app: App, night: Night, clock: MovableClock
    ) -> None:
        three_wishes(app, clock)
        night.run_now("introspection")
        say_no(app, questions(app)[0], "I do it by hand")
        for number in range(3, 6):
            clock.move(7 * DAY)
            wish(app, number)
            assert night.run_now("introspection").counts.get("asked", 0) == 0
            assert questions(app) == []
        (weighed,) = [each for each in proposals(app) if each.state is State.WEIGHED]
        (said,) = why(app, weighed)
        assert said.startswith("not asked (not now, ")
        assert said.endswith("): you refused it not long ago")
        asked_after = None
        for number in range(6, 30):
            clock.move(7 * DAY)
            wish(app, number)
            if night.run_now("introspection").counts.get("asked"):
                asked_after = number
                break
        assert asked_after is not None, "never again is for three refusals, not for one"
        (item,) = questions(app)
        assert item.body["uses"] == asked_after + 1, "the evidence is that of today, not of when it was first weighed"

    def test_three_refusals_are_for_good_and_the_reason_is_kept(
        self, app: App, night: Night, clock: MovableClock
    ) -> None:
        three_wishes(app, clock)
        number = 3
        for _ in range(3):
            while not questions(app):
                clock.move(14 * DAY)
                wish(app, number)
                number += 1
                night.run_now("introspection")
                assert number < 60
            say_no(app, questions(app)[0])
        for _ in range(4):
            clock.move(200 * DAY)
            for _ in range(3):
                wish(app, number)
                number += 1
            night.run_now("introspection")
        assert questions(app) == []
        given_up = [each.reason for each in proposals(app) if each.state is State.ABANDONED]
        kept = [reason for reason in given_up if reason.startswith("not asked (never, ")]
        assert len(kept) == 1
        assert "refused or given up 3 times" in kept[0]

    def test_no_answer_in_time_is_no(self, app: App, night: Night, clock: MovableClock) -> None:
        three_wishes(app, clock)
        night.run_now("introspection")
        clock.move(31 * DAY)
        assert night.run_now("introspection").counts.get("unanswered") == 1
        closed = [each for each in proposals(app) if each.state is State.REFUSED]
        assert [each.reason for each in closed] == ["refused by the owner: no answer in time"]
        assert questions(app) == []


class TestEnds:
    def test_without_an_end_nothing_is_asked_and_that_is_said_once(
        self, app: App, night: Night, clock: MovableClock
    ) -> None:
        (app.workspace.root / "TELOS.md").write_text("# Telos\n\n<!-- - 1.0 Save me time -->\n- 0 Save me time\n")
        three_wishes(app, clock)
        for _ in range(2):
            assert "asked" not in night.run_now("introspection").counts
        assert questions(app) == []
        (said,) = [each.text for each in night.notices.unseen() if each.kind == "telos"]
        assert said.startswith("TELOS.md names no end")

    def test_what_serves_no_end_waits_until_one_is_written(self, app: App, night: Night, clock: MovableClock) -> None:
        ends = app.workspace.root / "TELOS.md"
        ends.write_text("- 1.0 Learn Italian\n")
        three_wishes(app, clock)
        night.run_now("introspection")
        (kept,) = proposals(app)
        assert kept.state is State.WEIGHED
        assert why(app, kept) == ["not asked (not now, 0.00): it serves none of your ends"]
        ends.write_text("- 1.0 Describe the urls that I get\n")
        night.run_now("introspection")
        assert len(questions(app)) == 1

    def test_only_after_the_owner_was_there(self, app: App, clock: MovableClock) -> None:
        job = next(each for each in building.jobs(app) if each.name == "introspection")
        assert job.needs_activity is not None
        assert not job.needs_activity(None, clock.now())
        wish(app, 0)
        since = clock.now()
        clock.move(DAY)
        assert job.needs_activity(None, clock.now())
        assert not job.needs_activity(since, clock.now())
        close(app, 1, "from a program", [], channel="api", state=Turn.NOTHING)
        assert not job.needs_activity(since, clock.now() + DAY), "what programs ask is not the owner"


def use_often(app: App, tmp_path: Path) -> None:
    """A sequence that was used as often as it takes: a few times for real, and the others as those were."""
    real = [record(app, tmp_path / "home", asked) for asked in PIPELINES[0].asked[:2]]
    for number in range(USES - len(real)):
        like = real[number % len(real)]
        app.medium.close(dataclasses.replace(like, id=f"01P{number:05}", conversation=f"01P{number:05}"))
    learning.catch_up(app)


@pytest.mark.slow
class TestSequences:
    def test_one_that_is_used_often_is_proposed_compiled_without_a_model_and_asked_about_again(
        self, app: App, night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(growing, "_MOST_RUNS", 4)  # each costs a sandbox, and the others are copies
        use_often(app, tmp_path)
        assert night.run_now("multi_tool_promote").counts == {"offered": 1}
        assert night.run_now("introspection").counts["asked"] == 1
        (item,) = questions(app)
        assert (item.body["way"], item.body["uses"]) == ("indirect", USES)
        assert item.title == "Shall I learn to count files in one step: find_files, then count_text"
        assert night.run_now("synt").counts == {}, "without a yes there is nothing to make"
        approve(app.inbox, item.id, at_terminal())  # and whoever was to carry it out died
        made = night.run_now("synt")
        assert (made.state, made.counts) == (Ran.DONE, {"made": 1, "given up": 0, "left": 0}), made
        (proposal,) = proposals(app)
        assert proposal.state is State.DRAFTED, proposal.reason
        assert (proposal.usage or {}).get("calls", 0) == 0
        with pytest.raises(NotTrusted):
            app.catalog.get(proposal.name)
        (living,) = questions(app, ACTIVATION)
        say_yes(app, living)
        assert app.catalog.get(proposal.name).origin is Origin.SYNTHESISED
        assert "asked" not in night.run_now("introspection").counts, "what lives is not proposed again"

    def test_one_whose_name_was_wished_for_before_is_still_a_sequence(
        self, app: App, night: Night, tmp_path: Path
    ) -> None:
        for number in range(4):
            wish(app, number, "count_files", summary="say how many words there are")
        use_often(app, tmp_path)
        assert night.run_now("multi_tool_promote").counts == {"offered": 1}
        assert night.run_now("introspection").counts["asked"] == 1
        (proposal,) = proposals(app)
        assert (proposal.need.way, proposal.need.name) == (Way.INDIRECT, "count_files")
        assert app.fast.logs[1].path(proposal.need.path) is not None


class TestMaking:
    def test_what_needs_a_model_stays_commissioned_and_is_said_once(
        self, app: App, night: Night, clock: MovableClock
    ) -> None:
        three_wishes(app, clock)
        night.run_now("introspection")
        (item,) = questions(app)
        assert any("none is configured" in line for line in item.body["why"])
        say_yes(app, item)
        for _ in range(2):
            assert night.run_now("synt").counts == {"left": 1}
        assert [each.state for each in proposals(app)] == [State.COMMISSIONED]
        assert len([each for each in night.notices.unseen() if each.kind == "synt"]) == 1

    def test_whoever_stops_the_night_stops_it_before_it_begins(self, app: App, night: Night, tmp_path: Path) -> None:
        use_often(app, tmp_path)
        for job in ("multi_tool_promote", "introspection"):
            night.run_now(job)
        say_yes(app, questions(app)[0])
        run = night.run_now("synt", Watcher(stop=lambda: True))
        assert run.state is Ran.INTERRUPTED
        assert [each.state for each in proposals(app)] == [State.COMMISSIONED]


TWIN = """
def run(args, ctx):
    found = [name for name in args.get("names", []) if len(name) > LIMIT]
    return {"entries": [{"path": name} for name in sorted(found)]}
"""


def born(app: App, name: str, source: str, uses: int) -> None:
    """An executor that Metnos made and the owner agreed to, used so often."""
    files = sample_files(name, source=source, purpose=f'"Find what is long ({name})."')
    executor = app.catalog.adopt(name, files, "for a test", Origin.SYNTHESISED)
    for _ in range(uses):
        index.record_use(app.catalog.db, index.Use(name, executor.digest, app.clock.now(), ok=True))


class TestExecutors:
    @pytest.fixture(autouse=True)
    def _agreed(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(App, "_consent", lambda _self, _digest, _origin: "")

    def test_one_that_is_in_quarantine_for_what_it_did_is_to_be_mended(self, app: App, night: Night) -> None:
        born(app, "find_words", TWIN.replace("LIMIT", "3"), 9)
        app.catalog.change("find_words", Standing.QUARANTINE, "3 faults of its own within a day")
        assert night.run_now("introspection").counts == {"found": 1, "asked": 1}
        (item,) = questions(app)
        assert item.title.startswith("Shall I learn to mend find_words, which is there for this: “Find what is long")
        (proposal,) = proposals(app)
        assert (proposal.need.way, proposal.need.replaces) == (Way.REPAIR, "find_words")
        assert proposal.need.evidence.says == (
            "find_words is in quarantine for what it did, and was used 9 times before."
        )

    def test_one_that_was_tampered_with_is_not_mended(self, app: App, night: Night) -> None:
        born(app, "find_words", TWIN.replace("LIMIT", "3"), 9)
        with (app.workspace.executors / "find_words" / "executor.py").open("a") as file:
            file.write("\n")
        app.catalog.verify_all()
        assert night.run_now("introspection").counts == {"found": 0}

    def test_of_two_that_do_the_same_the_one_less_used_is_offered_to_be_put_away(
        self, app: App, night: Night, clock: MovableClock
    ) -> None:
        born(app, "find_words", TWIN.replace("LIMIT", "3"), 9)
        born(app, "list_words", TWIN.replace("LIMIT", "3"), 2)
        assert night.run_now("introspection").counts == {"found": 1, "to put away": 1}
        (item,) = questions(app, selecting.DORMANCY)
        assert item.title == "Archive list_words: another executor does the same"
        assert item.body["because"] == ("list_words does what find_words does; it was used 2 times, the other 9 times.")
        assert night.run_now("introspection").counts == {"found": 1}, "asked once"
        said = selecting.answered(app, approve(app.inbox, item.id, at_terminal()))
        assert said.startswith("list_words is archived.")
        assert night.run_now("introspection").counts == {"found": 0}

    def test_two_that_differ_in_one_constant_are_one_need(self, app: App, night: Night) -> None:
        born(app, "compare_words_size", TWIN.replace("LIMIT", "3"), 9)
        born(app, "compare_words_name", TWIN.replace("LIMIT", "7"), 2)
        assert night.run_now("introspection").counts == {"found": 1, "asked": 1}
        (proposal,) = proposals(app)
        assert (proposal.name, proposal.need.evidence.uses) == ("compare_words", 11)
        assert proposal.need.instead == ("compare_words_name", "compare_words_size")
        assert questions(app, selecting.DORMANCY) == []
