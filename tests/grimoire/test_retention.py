import dataclasses
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.traces import SECRET, START, secretive, step, trace
from metnos.core.clock import MovableClock
from metnos.grimoire.medium import MIGRATIONS, Medium, Retained
from metnos.grimoire.trace import Kept, State, Trace
from metnos.store.db import Database
from support import at_once

DAY = timedelta(days=1)


def on_disk(medium: Medium) -> bytes:
    """Everything that the file and its log hold, freed pages included."""
    folder = medium.db.path.parent
    return b"".join(path.read_bytes() for path in sorted(folder.glob("medium.db*")) if path.suffix != ".db-shm")


class TestForgetting:
    def test_its_content_is_gone_from_the_very_file(self, medium: Medium) -> None:
        medium.close(secretive(steps=(step(args={"x": SECRET * 2000}, reply={"entries": [SECRET] * 9000}),)))
        medium.feedback("01SECRET", good=False, note=SECRET)
        assert SECRET.encode() in on_disk(medium)
        assert medium.redact("01SECRET") is True
        assert SECRET.encode() not in on_disk(medium)
        found = medium.load("01SECRET")
        assert (found.kept, found.state, found.steps[0].executor) == (Kept.FORGOTTEN, State.DONE, "find_files")
        opinion = medium.opinion("01SECRET")
        assert opinion is not None
        assert (opinion.good, opinion.note) == (False, "")

    def test_it_is_not_said_any_more(self, medium: Medium) -> None:
        medium.close(secretive(state=State.WAITING, item="01ITEM"))
        medium.redact("01SECRET")
        assert medium.window("talk", 9) == []
        assert medium.newest(1)[0].text == ""
        assert medium.waiting_for("01ITEM") is None

    def test_again_does_nothing_and_others_stay(self, medium: Medium) -> None:
        medium.close(trace())
        medium.close(secretive())
        medium.redact("01SECRET")
        assert medium.redact("01SECRET") is False
        assert medium.load("01TURN") == trace()

    def test_what_is_gone_does_not_come_back(self, medium: Medium) -> None:
        medium.close(secretive())
        medium.redact("01SECRET")
        assert medium.close(secretive()) is False
        with pytest.raises(Exception, match="does not come back"), medium.db.write() as tx:
            tx.execute("UPDATE turns SET kept = 'whole'")

    def test_a_summary_and_a_proposal_lose_it_too(self, medium: Medium) -> None:
        for number in range(6):
            made = secretive(f"0{number}", text=SECRET if number == 5 else "a plain request")
            medium.close(dataclasses.replace(made, asked=START + number * DAY))
        assert medium.retain(START + 400 * DAY, 90, 5000, lambda _: f"all about {SECRET}").proposals
        assert SECRET in medium.summaries("talk")[0].text
        assert medium.redact("05") is True
        (summary,) = medium.summaries("talk")
        assert summary.text == "2026-11-15 to 2026-11-20: 6 requests (done 6).\nUsed: find_files 6."
        assert summary.made_by == "extraction"
        assert medium.retain(START + 400 * DAY, 90, 5000).proposals == ()
        assert SECRET.encode() not in on_disk(medium)

    def test_one_that_was_proposed_already(self, medium: Medium) -> None:
        for number in range(6):
            medium.close(secretive(f"0{number}", asked=START + number * DAY))
        (habit,) = medium.retain(START, 90, 5000).proposals
        medium.put(habit.key)
        for number in range(6):
            medium.redact(f"0{number}")
        assert SECRET.encode() not in on_disk(medium)
        assert medium.retain(START, 90, 5000).proposals == ()


class TestRetention:
    def test_too_old_or_too_many(self, medium: Medium) -> None:
        medium.close(trace("01", closed=START - 100 * DAY))
        medium.close(trace("02"))
        medium.close(trace("03"))
        assert medium.retain(START, 90, 5000) == Retained(1, 2, 1, 0, 0, ())
        assert [each.kept for each in medium.newest(9)] == [Kept.WHOLE, Kept.WHOLE, Kept.SUMMARISED]
        assert medium.retain(START, 90, 2) == Retained(1, 2, 1, 0, 0, ())
        assert medium.load("03") == trace("03")
        assert medium.retain(START, 90, 2) == Retained(0, 0, 0, 0, 0, ())

    def test_what_is_left(self, medium: Medium) -> None:
        medium.close(trace("01"))
        medium.close(trace("02"))
        medium.retain(START + 100 * DAY, 90, 5000)
        (summary,) = medium.summaries("talk")
        assert (summary.turns, summary.made_by, summary.first, summary.last) == (2, "extraction", START, trace().closed)
        assert "find_files 2" in summary.text
        left = medium.load("01")
        assert (left.text, left.kept, left.passings) == ("", Kept.SUMMARISED, trace().passings)
        assert left.steps[0].reply == {"count": 1, "total": 1, "failed": 0, "truncated": False}
        assert medium.redact("01") is True

    def test_single_turns_of_many_conversations_are_summarised_together(self, medium: Medium) -> None:
        for number in range(60):
            medium.close(trace(f"T{number:02}", conversation=f"T{number:02}"))
        medium.close(trace("01"))
        medium.close(trace("02"))
        done = medium.retain(START + 100 * DAY, 90, 5000)
        assert (done.turns, done.summaries) == (62, 3)
        assert [each.turns for each in medium.summaries("")] == [50, 10]
        assert [each.turns for each in medium.summaries("talk")] == [2]

    def test_a_model_may_summarise(self, medium: Medium) -> None:
        medium.close(trace("01"))
        seen: list[Trace] = []
        done = medium.retain(START + 100 * DAY, 90, 5000, lambda turns: seen.extend(turns) or "  in\udcff short  ")
        assert seen == [trace("01")]
        assert (done.by_model, done.model_failed) == (1, 0)
        (summary,) = medium.summaries("talk")
        assert (summary.text, summary.made_by) == ("in\\udcff short", "model")

    @pytest.mark.parametrize("broken", [lambda _: "", lambda _: "  \n", lambda _: 1 / 0, lambda _: None])
    def test_a_model_that_fails_stops_nothing(self, medium: Medium, broken: Callable[[list[Trace]], str]) -> None:
        medium.close(trace("01"))
        done = medium.retain(START + 100 * DAY, 90, 5000, broken)
        assert (done.turns, done.by_model, done.model_failed) == (1, 0, 1)
        assert medium.summaries("talk")[0].made_by == "extraction"

    def test_a_model_that_rambles_is_cut_short(self, medium: Medium) -> None:
        medium.close(trace("01"))
        medium.retain(START + 100 * DAY, 90, 5000, lambda _: "word " * 100_000)
        assert len(medium.summaries("talk")[0].text) == 4000

    def test_nothing_goes_that_a_projection_has_not_applied(self, medium: Medium) -> None:
        for turn in ("01", "02", "03"):
            medium.close(trace(turn))
        medium.pending("wishes")
        medium.pending("passings")
        medium.applied("wishes", "01", "03")
        medium.applied("passings", "02", "03")
        assert medium.retain(START + 100 * DAY, 90, 5000).turns == 1
        assert [each.kept for each in medium.newest(9)][::-1] == [Kept.WHOLE, Kept.WHOLE, Kept.SUMMARISED]
        medium.applied("wishes", "02")
        medium.applied("passings", "01")
        assert medium.retain(START + 100 * DAY, 90, 5000).turns == 2

    def test_one_that_is_forgotten_meanwhile_is_not_summarised(self, medium: Medium) -> None:
        medium.close(secretive())
        medium.close(trace())

        def slow(turns: list[Trace]) -> str:
            medium.redact("01SECRET")
            return f"about {SECRET}"

        assert medium.retain(START + 100 * DAY, 90, 5000, slow).turns == 0
        assert SECRET.encode() not in on_disk(medium)
        assert medium.retain(START + 100 * DAY, 90, 5000).turns == 1

    @pytest.mark.slow
    def test_processes_at_once_summarise_once(self, medium: Medium) -> None:
        for number in range(8):
            medium.close(trace(f"0{number}", conversation=f"c{number // 2}"))
        done = at_once([lambda: medium.retain(START + 100 * DAY, 90, 5000).turns] * 4)
        assert sum(done) == 8
        assert medium.db.query("SELECT count(*), sum(turns) FROM summaries") == [(4, 8)]


class TestProposals:
    def habit(self, medium: Medium, **changes: object) -> None:
        for number in range(6):
            medium.close(trace(f"0{number}", asked=START + number * DAY, **changes))

    def test_proposed_until_put_before_the_owner_and_never_again(self, medium: Medium) -> None:
        self.habit(medium)
        medium.feedback("03", good=True)
        for _ in range(2):
            habit, place = medium.retain(START, 90, 5000).proposals
        assert {habit.kind, place.kind} == {"habit", "place"}
        assert habit.evidence == ("00", "01", "02", "03", "04", "05")
        medium.put(habit.key)
        assert [each.key for each in medium.retain(START, 90, 5000).proposals] == [place.key]
        medium.put(place.key)
        assert medium.retain(START, 90, 5000).proposals == ()

    def test_they_outlive_what_they_rest_on(self, medium: Medium) -> None:
        self.habit(medium)
        assert medium.retain(START + 400 * DAY, 90, 5000).turns == 6
        assert len(medium.retain(START + 400 * DAY, 90, 5000).proposals) == 1

    def test_what_somebody_else_asked_is_never_proposed(self, medium: Medium) -> None:
        self.habit(medium, channel="api")
        assert medium.retain(START, 90, 5000).proposals == ()

    def test_what_did_not_work_is_not_proposed(self, medium: Medium) -> None:
        self.habit(medium, state=State.FAILED)
        assert medium.retain(START, 90, 5000).proposals == ()

    def test_what_the_owner_called_bad_is_not_proposed(self, medium: Medium) -> None:
        self.habit(medium)
        medium.feedback("02", good=False)
        assert medium.retain(START, 90, 5000).proposals == ()
        medium.feedback("02", good=True)
        assert len(medium.retain(START, 90, 5000).proposals) == 2


turns = st.lists(
    st.tuples(st.integers(0, 200), st.sampled_from(["talk", "other", "third"]), st.booleans(), st.booleans()),
    max_size=14,
)


@given(turns, st.integers(1, 120), st.integers(10, 30), st.booleans())
def test_whatever_is_kept_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory,
    turns: list[tuple[int, str, bool, bool]],
    days: int,
    messages: int,
    model_fails: bool,
) -> None:
    path: Path = tmp_path_factory.mktemp("medium") / "medium.db"
    medium = Medium(Database(path, MIGRATIONS), MovableClock(START))
    made: dict[str, Trace] = {}
    for place, (age, conversation, quiet, applied) in enumerate(turns):
        name = f"T{place:02}"
        words = {"text": "", "answer": ""} if quiet else {}
        made[name] = trace(name, conversation=conversation, closed=START - age * DAY, **words)
        medium.close(made[name])
        if applied:
            medium.applied("wishes", name)
    waiting = set(medium.pending("wishes"))
    done = medium.retain(START, days, messages, (lambda _: 1 / 0) if model_fails else None)
    newer = 0
    for name in sorted(made, reverse=True):
        newer += bool(made[name].text) * 2
        found = medium.load(name)
        beyond = made[name].closed < START - days * DAY or newer > messages
        if beyond and name not in waiting:
            assert (found.kept, found.text, found.steps[0].args) == (Kept.SUMMARISED, "", {})
            assert medium.db.first("SELECT summary IS NOT NULL FROM turns WHERE id = ?", (name,)) == (1,)
        else:
            assert found == made[name]
        assert (found.state, found.passings, len(found.steps)) == (made[name].state, made[name].passings, 2)
    assert medium.db.query("SELECT coalesce(sum(turns), 0) FROM summaries") == [(done.turns,)]
    assert medium.retain(START, days, messages).turns == 0, "a second run finds nothing"
    assert medium.db.problems() == []
    medium.db.close()
