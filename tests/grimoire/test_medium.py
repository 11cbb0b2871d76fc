import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from grimoire.traces import START, step, trace
from metnos.core.clock import MovableClock
from metnos.core.errors import TurnError
from metnos.grimoire.medium import MIGRATIONS, Medium, Open
from metnos.grimoire.trace import State, StepTrace, Trace
from metnos.sandbox.process import start_time
from metnos.store.db import Database
from support import at_once, on_a_full_disk


def begin(medium: Medium, turn: str, pid: int | None = None, started: str | None = None) -> None:
    pid = os.getpid() if pid is None else pid
    medium.begin(
        turn,
        pid=pid,
        started=start_time(pid) if started is None else started,
        text_digest="d" * 64,
        conversation="talk",
        channel="terminal",
        sender="owner",
    )


def dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def count(medium: Medium, table: str) -> int:
    row = medium.db.first(f"SELECT count(*) FROM {table}")
    assert row is not None
    return int(row[0])


class TestATurn:
    def test_nothing_of_it_is_there_before_it_is_closed(self, medium: Medium) -> None:
        begin(medium, "01TURN")
        assert medium.newest(10) == []
        assert medium.last() is None
        assert count(medium, "open_turns") == 1
        assert medium.interrupted() == []

    def test_closed_it_is_there_whole(self, medium: Medium) -> None:
        begin(medium, "01TURN")
        assert medium.close(trace()) is True
        assert medium.load("01TURN") == trace()
        assert count(medium, "open_turns") == 0

    def test_closing_again_changes_nothing(self, medium: Medium) -> None:
        medium.close(trace())
        begin(medium, "01TURN")
        assert medium.close(trace(answer="another answer")) is False
        assert medium.load("01TURN") == trace()
        assert count(medium, "open_turns") == 0
        assert count(medium, "messages") == 2

    @pytest.mark.slow
    def test_many_processes_close_one_turn_once(self, medium: Medium) -> None:
        returned = at_once([lambda: medium.close(trace())] * 6)
        assert sorted(returned) == [False] * 5 + [True]
        assert medium.load("01TURN") == trace()
        assert count(medium, "steps") == 2

    @pytest.mark.slow
    def test_many_processes_close_turns_of_one_conversation(self, medium: Medium) -> None:
        at_once([lambda name=name: [medium.close(trace(f"{name}{n}")) for n in range(5)] for name in "ABCD"])
        assert count(medium, "turns") == 20
        assert [each.turns for each in medium.conversations()] == [20]

    def test_what_was_recorded_cannot_be_changed_by_mistake(self, medium: Medium) -> None:
        medium.close(trace())
        for sql in ("UPDATE turns SET state = 'failed'", "DELETE FROM turns"):
            with pytest.raises(Exception, match="recorded"), medium.db.write() as tx:
                tx.execute(sql)


class TestInterrupted:
    def test_a_turn_whose_process_is_gone(self, medium: Medium, clock: MovableClock) -> None:
        begin(medium, "01DEAD", dead_pid(), "12345")
        begin(medium, "01ALIVE")
        (found,) = medium.interrupted()
        assert isinstance(found, Open)
        assert (found.id, found.conversation) == ("01DEAD", "talk")
        clock.move(timedelta(hours=1))
        (settled,) = medium.settle_interrupted()
        assert medium.load("01DEAD") == settled
        assert (settled.state, settled.asked, settled.closed) == (State.INTERRUPTED, START, START + timedelta(hours=1))
        assert (settled.text, settled.error) == ("", "its process ended before the turn was over")
        assert medium.settle_interrupted() == []
        assert medium.close(trace("01ALIVE")) is True

    def test_a_number_that_belongs_to_another_process_by_now(self, medium: Medium) -> None:
        begin(medium, "01DEAD", os.getpid(), "1")
        assert [each.id for each in medium.interrupted()] == ["01DEAD"]

    def test_what_is_known_of_its_steps_is_recorded(self, medium: Medium) -> None:
        begin(medium, "01DEAD", dead_pid(), "1")
        medium.settle_interrupted(lambda turn: [step(action=f"action of {turn}", ok=False)])
        assert medium.load("01DEAD").steps == (step(action="action of 01DEAD", ok=False),)

    @pytest.mark.slow
    def test_settled_once_by_many_processes(self, medium: Medium) -> None:
        for number in range(4):
            begin(medium, f"01DEAD{number}", dead_pid(), "1")
        returned = at_once([lambda: len(medium.settle_interrupted())] * 4)
        assert sum(returned) == 4
        assert count(medium, "turns") == 4

    def test_one_that_was_closed_all_the_same_stays_closed(self, medium: Medium) -> None:
        begin(medium, "01TURN", dead_pid(), "1")

        def closed_meanwhile(turn: str) -> list[StepTrace]:
            medium.close(trace())
            begin(medium, "01TURN", os.getpid(), "1")
            return []

        assert medium.settle_interrupted(closed_meanwhile) == []
        assert medium.load("01TURN") == trace()


class TestReading:
    def test_by_the_beginning_or_the_end_of_an_id(self, medium: Medium) -> None:
        for turn in ("01ABCX", "01ABDY", "01QQQX"):
            medium.close(trace(turn))
        for part, turn in (("01abc", "01ABCX"), ("dy", "01ABDY"), ("01QQQX", "01QQQX"), (" qqx ", "01QQQX")):
            assert medium.find(part).id == turn
        for part, many in (("01A", "more than one"), ("x", "more than one"), ("ZZ", "no turn"), ("", "no turn")):
            with pytest.raises(TurnError, match=many) as caught:
                medium.find(part)
            assert "metnos turns list" in caught.value.fix
        with pytest.raises(TurnError, match="no turn '01A'"):
            medium.load("01A")

    def test_the_newest_first_and_by_conversation_and_state(self, medium: Medium) -> None:
        medium.close(trace("01A"))
        medium.close(trace("01B", conversation="other", state=State.FAILED))
        medium.close(trace("01C", state=State.FAILED, text="", steps=()))
        medium.feedback("01A", good=False)
        assert [each.id for each in medium.newest(2)] == ["01C", "01B"]
        assert [each.id for each in medium.newest(9, "talk")] == ["01C", "01A"]
        assert [each.id for each in medium.newest(9, state=State.FAILED)] == ["01C", "01B"]
        assert [each.id for each in medium.newest(9, "other", State.DONE)] == []
        newest, *_, oldest = medium.newest(9)
        assert (newest.text, newest.executors, newest.good) == ("", (), None)
        assert (oldest.executors, oldest.good) == (("find_files", "move_files"), False)

    def test_the_last_of_a_conversation(self, medium: Medium) -> None:
        assert medium.last("talk") is None
        medium.close(trace("01B", asked=START + timedelta(days=9)))
        medium.close(trace("01A"))  # closed later, though its clock says otherwise
        medium.close(trace("01C", conversation="other"))
        assert (medium.last("talk") or trace()).id == "01A"
        assert (medium.last() or trace()).id == "01C"

    def test_the_window_is_the_last_messages_in_order(self, medium: Medium) -> None:
        for number in range(3):
            medium.close(trace(f"0{number}", text=f"ask {number}", answer=f"answer {number}"))
        medium.close(trace("09", conversation="other"))
        medium.close(trace("08", text="", answer=""))
        assert medium.window("talk", 3) == [
            ("agent", "answer 1", "01"), ("owner", "ask 2", "02"), ("agent", "answer 2", "02"),
        ]  # fmt: skip
        assert medium.window("talk", 0) == []
        assert medium.window("talk", 1)[0].role == "agent"

    def test_conversations_the_last_one_first(self, medium: Medium) -> None:
        medium.close(trace("01A"))
        medium.close(trace("01B", conversation="other"))
        later = START + timedelta(days=2)
        medium.close(trace("01C", closed=later))
        talk, other = medium.conversations()
        assert (talk.id, talk.turns, talk.first, talk.last) == ("talk", 2, START, later)
        assert (other.id, other.turns) == ("other", 1)

    def test_the_turn_that_waits_for_a_question(self, medium: Medium) -> None:
        medium.close(trace("01A", state=State.WAITING, item="01ITEM"))
        medium.close(trace("01B", state=State.DONE, item="01OTHER"))
        assert (medium.waiting_for("01ITEM") or trace()).id == "01A"
        assert medium.waiting_for("01OTHER") is None
        assert medium.waiting_for("") is None
        medium.close(trace("01C", continues="01A"))
        assert medium.waiting_for("01ITEM") is None

    def test_facts_for_projections(self, medium: Medium) -> None:
        made = trace()
        medium.close(made)
        found = medium.facts("01TURN")
        assert (found.closed, found.desired, found.passings) == (made.closed, made.desired, made.passings)
        assert (found.tags, found.state) == (made.tags, made.state)
        with pytest.raises(TurnError):
            medium.facts("01NONE")


FILL = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from grimoire.traces import step, trace
from metnos.core.clock import SystemClock
from metnos.core.errors import StoreFull
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.store.db import Database

path = Path("/mnt/medium.db")
medium = Medium(Database(path, MIGRATIONS), SystemClock())
big = [step(number, reply={"entries": ["x" * 30_000], "count": 1}) for number in range(1, 4)]
closed, said = [], ""
try:
    for number in range(1000):
        medium.close(trace(f"T{number}", steps=tuple(big)))
        closed.append(f"T{number}")
except StoreFull as error:
    said = error.fix
assert closed and said, "the disk never was full"
assert [each.id for each in medium.newest(1000)][::-1] == closed
assert all(len(medium.load(turn).steps) == 3 for turn in closed)
assert medium.db.problems() == []
medium.db.close()
print("whole")
"""


@pytest.mark.slow
def test_a_full_disk_leaves_whole_turns_or_none() -> None:
    assert on_a_full_disk(FILL, str(Path(__file__).parents[1]), size=3 << 20) == "whole\n"


def test_a_trace_of_another_process_is_the_same(medium: Medium, tmp_path: Path, clock: MovableClock) -> None:
    medium.close(trace())
    other = Medium(Database(tmp_path / "medium.db", MIGRATIONS, clock=clock), clock)
    found: Trace = other.load("01TURN")
    other.db.close()
    assert found == trace()


class TestAskedAgain:
    @staticmethod
    def close(medium: Medium, turn: str, canonical: str = "find <files>", **other: object) -> str:
        medium.close(trace(turn, canonical=canonical, **other))
        return turn

    def test_what_was_asked_for_later_and_let_stand_counts(self, medium: Medium) -> None:
        first = self.close(medium, "01A")
        assert medium.asked_again(first) == 0
        self.close(medium, "01B")
        self.close(medium, "01C", state=State.PARTLY)
        assert medium.asked_again(first) == 2
        assert medium.asked_again("01B") == 1
        assert medium.asked_again("01C") == 0, "not what came before"

    @pytest.mark.parametrize("state", [each for each in State if each not in (State.DONE, State.PARTLY)])
    def test_what_came_to_nothing_does_not_count(self, medium: Medium, state: State) -> None:
        first = self.close(medium, "01A")
        self.close(medium, "01B", state=state)
        assert medium.asked_again(first) == 0

    def test_what_went_on_after_a_yes_is_the_same_request_and_no_other(self, medium: Medium) -> None:
        first = self.close(medium, "01A", state=State.WAITING)
        self.close(medium, "01B", continues="01A", state=State.WAITING)
        self.close(medium, "01C", continues="01B")
        assert medium.asked_again(first) == 0
        later = START + timedelta(hours=1)
        self.close(medium, "01D", state=State.WAITING, asked=later)
        self.close(medium, "01E", continues="01D", asked=later)
        assert medium.asked_again(first) == 1
        assert medium.asked_again("01D") == 0

    def test_what_is_something_else_does_not_count(self, medium: Medium) -> None:
        first, nameless = self.close(medium, "01A"), self.close(medium, "01B", "")
        self.close(medium, "01C", "find <files> in <path>")
        self.close(medium, "01D", "")
        assert (medium.asked_again(first), medium.asked_again(nameless)) == (0, 0)

    def test_the_owners_last_word_decides(self, medium: Medium) -> None:
        first, again = self.close(medium, "01A"), self.close(medium, "01B")
        for good in (False, True, False):
            medium.feedback(again, good=good)
            assert medium.asked_again(first) == int(good)

    def test_what_others_ask_says_nothing_about_it(self, medium: Medium) -> None:
        first = self.close(medium, "01A")
        self.close(medium, "01B", sender="somebody")
        self.close(medium, "01C", channel="api")
        assert medium.asked_again(first) == 0

    def test_of_a_turn_that_is_none_nothing_is_known(self, medium: Medium) -> None:
        assert medium.asked_again("01A") is None

    def test_what_was_forgotten_is_not_asked_again(self, medium: Medium) -> None:
        first, again = self.close(medium, "01A"), self.close(medium, "01B")
        medium.redact(again)
        assert medium.asked_again(first) == 0
