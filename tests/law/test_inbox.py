import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from law.asks import DIGEST, OWNER, Court, others
from metnos import app
from metnos.core.canon import sha256_hex
from metnos.core.clock import MovableClock
from metnos.core.errors import InboxError
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.audit_log import backwards
from metnos.law.inbox import NAMED, Inbox, Item, State
from metnos.law.principal import Autonomy, Channel, Principal
from support import at_once, kinds
from tables import try_each

OTHER = sha256_hex(b"something else")
WEB = Principal(Channel.WEB, "owner", Autonomy.SUPERVISED)


@pytest.fixture
def inbox(court: Court) -> Inbox:
    return court.inbox


def put(inbox: Inbox, digest: str = DIGEST, **more: Any) -> Item:
    fields: dict[str, Any] = {"asked_by": OWNER, "hours": 24} | more
    return inbox.ask("act", "Write a file", {"args": {"path": "secret-path"}}, digest, **fields)


class TestAsking:
    def test_the_same_question_is_asked_once_while_it_is_open(self, inbox: Inbox, court: Court) -> None:
        first = put(inbox)
        assert put(inbox) == first
        inbox.approve(first.id, OWNER)
        assert put(inbox).id == first.id
        assert put(inbox, OTHER).id != first.id
        assert kinds(court.opened.workspace).count("question asked") == 2

    @pytest.mark.parametrize("end", ["refuse", "take", "expire"])
    def test_once_it_is_closed_it_is_asked_anew(self, inbox: Inbox, clock: MovableClock, end: str) -> None:
        first = put(inbox)
        if end == "refuse":
            inbox.refuse(first.id, OWNER)
        elif end == "take":
            inbox.approve(first.id, OWNER)
            inbox.take(DIGEST)
        else:
            clock.move(timedelta(days=1))
        again = put(inbox)
        assert (again.id != first.id, again.state) == (True, State.WAITING)

    def test_one_yes_is_never_an_answer_to_what_needs_two(self, inbox: Inbox) -> None:
        easy = put(inbox)
        inbox.approve(easy.id, OWNER)
        hard = put(inbox, needs_yes=2)
        assert hard.id != easy.id
        assert inbox.take(DIGEST, 2) is None
        assert inbox.standing(DIGEST, 2) == hard

    @pytest.mark.parametrize("bad", [{"digest": "x"}, {"needs_yes": 0}, {"needs_yes": 3}, {"digest": "A" * 64}])
    def test_what_is_no_question(self, inbox: Inbox, bad: dict[str, Any]) -> None:
        with pytest.raises(InboxError):
            put(inbox, **bad)
        with pytest.raises(InboxError):
            inbox.ask("An Act", "x", {}, DIGEST, asked_by=OWNER, hours=1)
        with pytest.raises(InboxError, match="more than an owner can read"):
            inbox.ask("act", "x", {"x": "x" * 4_000_000}, DIGEST, asked_by=OWNER, hours=1)


class TestErasing:
    @pytest.mark.parametrize("end", ["waiting", "approved", "used", "refused", "expired"])
    def test_the_words_go_and_that_it_was_asked_stays(
        self, inbox: Inbox, court: Court, clock: MovableClock, end: str
    ) -> None:
        item = put(inbox)
        if end in ("approved", "used"):
            inbox.approve(item.id, OWNER)
        if end == "used":
            inbox.take(DIGEST)
        elif end == "refused":
            inbox.refuse(item.id, OWNER, reason="not the secret-path")
        elif end == "expired":
            clock.move(timedelta(days=2))
            assert inbox.waiting() == []
        inbox.erase(item.id)
        erased = inbox.find(item.id)
        assert (erased.title, dict(erased.body), erased.reason) == ("(forgotten)", {}, "")
        assert erased.state == (State.EXPIRED if end in ("waiting", "approved") else end)
        court.opened.seat.db.query("PRAGMA wal_checkpoint(TRUNCATE)")
        folder = court.opened.workspace.law
        assert not [path for path in folder.glob("law.db*") if b"secret-path" in path.read_bytes()]

    def test_nobody_can_answer_or_use_it_any_more(self, inbox: Inbox) -> None:
        waiting, approved = put(inbox), put(inbox, OTHER)
        inbox.approve(approved.id, OWNER)
        for item in (waiting, approved):
            inbox.erase(item.id)
            with pytest.raises(InboxError):
                inbox.approve(item.id, OWNER)
        assert inbox.take(OTHER) is None
        assert inbox.standing(DIGEST) is None
        assert inbox.waiting() == []
        assert put(inbox).id != waiting.id, "the same can be asked anew"

    def test_what_is_nobodys_word_can_stay(self, inbox: Inbox) -> None:
        item = put(inbox)
        kept = next(iter(item.body))
        inbox.erase(item.id, [kept, "nothing"])
        assert dict(inbox.find(item.id).body) == {kept: item.body[kept]}

    def test_others_stay_as_they_are_and_what_is_none_is_nothing(self, inbox: Inbox) -> None:
        item, other = put(inbox), put(inbox, OTHER)
        for _ in range(2):
            inbox.erase(item.id)
        inbox.erase("nobody")
        assert inbox.waiting() == [other]


class TestAnswering:
    def test_one_yes(self, inbox: Inbox) -> None:
        item = inbox.approve(put(inbox).id, WEB)
        assert (item.state, item.answered_by) == (State.APPROVED, "web:owner")
        with pytest.raises(InboxError, match="approved already"):
            inbox.approve(item.id, WEB)

    def test_two_yeses_are_two_acts_each_recorded(self, inbox: Inbox, clock: MovableClock, court: Court) -> None:
        item = inbox.approve(put(inbox, needs_yes=2).id, WEB)
        assert (item.state, item.yes_count) == (State.WAITING, 1)
        assert inbox.take(DIGEST) is None
        clock.move(timedelta(seconds=5))
        item = inbox.approve(item.id, OWNER)
        assert (item.state, item.yes_count) == (State.APPROVED, 2)
        first, second = inbox.yeses(item.id)
        assert (first.by, second.by) == ("web:owner", "terminal:owner")
        assert second.ts - first.ts == timedelta(seconds=5)
        lines = [line for line in backwards(court.opened.workspace.audit) if line.kind == "question approved"]
        assert [line.entry.counts for line in lines] == [{"yes": 2, "of": 2}, {"yes": 1, "of": 2}]

    def test_one_click_that_arrives_twice_is_one_yes(self, inbox: Inbox) -> None:
        item = put(inbox, needs_yes=2)
        assert inbox.approve(item.id, WEB, seen=0).yes_count == 1
        with pytest.raises(InboxError):
            inbox.approve(item.id, WEB, seen=0)
        assert (inbox.find(item.id).state, inbox.find(item.id).yes_count) == (State.WAITING, 1)

    @pytest.mark.slow
    def test_one_click_that_arrives_twice_at_once_too(self, inbox: Inbox) -> None:
        item = put(inbox, needs_yes=2)
        done = at_once([lambda: tried(lambda: inbox.approve(item.id, WEB, seen=0))] * 4)
        assert sorted(done) == [False, False, False, True]
        assert inbox.find(item.id).yes_count == 1

    @try_each("kind", list(NAMED))
    def test_what_would_live_is_named_in_full(self, kind: str, inbox: Inbox, court: Court) -> None:
        with pytest.raises(InboxError):
            inbox.ask(kind, "Let it live", {}, DIGEST, asked_by=OWNER, hours=1)
        body = {NAMED[kind]: "count_lines"}
        item = inbox.ask(kind, "Let it live", body, sha256_hex(kind.encode()), asked_by=OWNER, hours=1)
        for typed in ("", "y", "yes", "count_line", "count_lines ", "COUNT_LINES"):
            with pytest.raises(InboxError):
                inbox.approve(item.id, OWNER, typed=typed)
        for program in (Channel.SCRIPT, Channel.LIBRARY, Channel.MCP, Channel.API):
            with pytest.raises(InboxError, match="a person"):
                inbox.approve(item.id, Principal(program, "owner", Autonomy.FULL), typed="count_lines")
        assert inbox.find(item.id).yes_count == 0
        assert inbox.approve(item.id, OWNER, typed="count_lines").state is State.APPROVED

    def test_the_library_answers_the_acts_it_asked_for_and_nothing_else(self, inbox: Inbox) -> None:
        program = Principal(Channel.LIBRARY, "owner", Autonomy.FULL)
        own, twice, owners = (
            put(inbox, sha256_hex(name.encode()), asked_by=by, needs_yes=yeses)
            for name, by, yeses in (("own", program, 1), ("twice", program, 2), ("owners", OWNER, 1))
        )
        learn = inbox.ask("direction", "Learn it", {}, OTHER, asked_by=program, hours=1)
        for item in (twice, owners, learn):
            with pytest.raises(InboxError, match="a person"):
                inbox.approve(item.id, program)
            with pytest.raises(InboxError, match="a person"):
                inbox.refuse(item.id, program)
        assert inbox.approve(own.id, program).state is State.APPROVED
        assert inbox.yeses(own.id)[0].by == "library:owner"

    def test_no_also_after_yes(self, inbox: Inbox) -> None:
        item = put(inbox)
        inbox.approve(item.id, OWNER)
        refused = inbox.refuse(item.id, OWNER, "on second thought")
        assert (refused.state, refused.reason) == (State.REFUSED, "on second thought")
        assert inbox.take(DIGEST) is None
        with pytest.raises(InboxError):
            inbox.approve(item.id, OWNER)

    @pytest.mark.parametrize("stranger", others(), ids=str)
    def test_only_the_owner_answers(self, inbox: Inbox, stranger: Principal) -> None:
        item = put(inbox)
        acts: list[Callable[[], object]] = [
            lambda: inbox.approve(item.id, stranger),
            lambda: inbox.refuse(item.id, stranger),
            lambda: inbox.edit(item.id, stranger, {}, OTHER),
        ]
        for act in acts:
            with pytest.raises(InboxError, match="may not answer"):
                act()
        assert inbox.find(item.id).state is State.WAITING

    def test_what_is_not_there(self, inbox: Inbox) -> None:
        with pytest.raises(InboxError, match="no question"):
            inbox.approve("nope", OWNER)


class TestEditing:
    def test_another_question_takes_its_place(self, inbox: Inbox, clock: MovableClock) -> None:
        old = put(inbox, needs_yes=2)
        inbox.approve(old.id, OWNER)
        clock.move(timedelta(hours=20))
        new = inbox.edit(old.id, OWNER, {"args": {"path": "other"}}, OTHER, title="Write another")
        assert inbox.find(old.id).state is State.EDITED
        assert (new.digest, new.title, new.needs_yes, new.yes_count) == (OTHER, "Write another", 2, 0)
        assert new.expires_at - clock.now() == timedelta(hours=24)
        for _ in range(2):
            inbox.approve(new.id, OWNER)
        assert inbox.take(DIGEST, 2) is None
        assert inbox.take(OTHER, 2) is not None

    def test_into_a_question_that_is_there_already(self, inbox: Inbox) -> None:
        old, other = put(inbox), put(inbox, OTHER)
        assert inbox.edit(old.id, OWNER, {}, OTHER) == other

    def test_what_was_approved_is_not_edited(self, inbox: Inbox) -> None:
        item = inbox.approve(put(inbox).id, OWNER)
        with pytest.raises(InboxError):
            inbox.edit(item.id, OWNER, {}, OTHER)
        assert inbox.take(DIGEST) is not None


class TestTime:
    def test_no_answer_in_time_is_no(self, inbox: Inbox, clock: MovableClock, court: Court) -> None:
        item = put(inbox)
        clock.move(timedelta(hours=24))
        with pytest.raises(InboxError, match="expired"):
            inbox.approve(item.id, OWNER)
        assert inbox.waiting() == []
        assert inbox.find(item.id).state is State.EXPIRED
        assert kinds(court.opened.workspace).count("question expired") == 1

    def test_an_approval_that_is_not_used_in_time_is_worth_nothing(self, inbox: Inbox, clock: MovableClock) -> None:
        inbox.approve(put(inbox).id, OWNER)
        clock.move(timedelta(hours=24))
        assert inbox.take(DIGEST) is None
        clock.move(timedelta(hours=-24))
        assert inbox.take(DIGEST) is None, "what expired stays so, also when the clock is set back"

    def test_a_clock_set_back_before_the_question_ends_it(self, inbox: Inbox, clock: MovableClock) -> None:
        item = inbox.approve(put(inbox).id, OWNER)
        clock.move(timedelta(hours=-1))
        assert inbox.take(DIGEST) is None
        assert inbox.find(item.id).state is State.EXPIRED

    def test_a_clock_that_is_corrected_by_a_moment_does_not(self, inbox: Inbox, clock: MovableClock) -> None:
        inbox.approve(put(inbox).id, OWNER)
        clock.move(timedelta(seconds=-2))
        assert inbox.take(DIGEST) is not None


class TestUsing:
    def test_once(self, inbox: Inbox) -> None:
        item = inbox.approve(put(inbox).id, OWNER)
        taken = inbox.take(DIGEST)
        assert taken is not None
        assert (taken.id, taken.state, taken.body) == (item.id, State.USED, {"args": {"path": "secret-path"}})
        assert inbox.take(DIGEST) is None

    def test_only_for_exactly_this(self, inbox: Inbox) -> None:
        inbox.approve(put(inbox).id, OWNER)
        assert inbox.take(OTHER) is None
        assert inbox.take(DIGEST[:-1]) is None

    @pytest.mark.slow
    def test_of_many_processes_one_gets_it(self, inbox: Inbox, court: Court) -> None:
        item = put(inbox, needs_yes=2)
        done = at_once([lambda: tried(lambda: inbox.approve(item.id, OWNER))] * 4)
        assert sorted(done) == [False, False, True, True]
        taken = at_once([lambda: inbox.take(DIGEST, 2) is not None] * 6)
        assert sorted(taken) == [False] * 5 + [True]
        assert kinds(court.opened.workspace).count("approval used") == 1
        assert app.verify_audit(court.opened.workspace).sound


def tried(act: Callable[[], object]) -> bool:
    try:
        act()
    except InboxError:
        return False
    return True


class TestReading:
    def test_by_the_beginning_of_its_id(self, inbox: Inbox, clock: MovableClock) -> None:
        first = put(inbox)
        clock.move(timedelta(seconds=1))
        second = put(inbox, OTHER)
        assert inbox.find(first.id[:20].lower()) == first
        for wrong in (first.id[:6], "", "%", "ZZZ"):
            with pytest.raises(InboxError):
                inbox.find(wrong)
        assert inbox.waiting() == [first, second]
        assert inbox.newest(5) == [second, first]

    def test_the_audit_holds_no_content(self, inbox: Inbox, court: Court) -> None:
        item = put(inbox)
        inbox.approve(item.id, OWNER)
        inbox.take(DIGEST)
        inbox.refuse(put(inbox).id, OWNER, "secret-reason")
        for line in backwards(court.opened.workspace.audit):
            assert b"secret" not in line.encode()
            assert b"Write a file" not in line.encode()

    def test_the_store_itself_lets_no_question_go_back(self, inbox: Inbox, court: Court) -> None:
        item = put(inbox)
        inbox.refuse(item.id, OWNER)
        for state in ("waiting", "approved", "used"):
            with pytest.raises(Exception, match="does not go back"), court.opened.seat.db.write() as tx:
                tx.execute("UPDATE inbox SET state = ?, yes_count = 1 WHERE id = ?", (state, item.id))


class Machine(RuleBasedStateMachine):
    """Anything that can happen to questions, in any order, against a model of what must come of it."""

    items = Bundle("items")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = MovableClock(datetime(2026, 11, 15, 12, tzinfo=UTC))
        workspace = Workspace(Path(self.folder.name) / "w")
        founding.found(workspace, Settings(), self.clock)
        self.inbox = Court.over(app.App.open(workspace, self.clock)).inbox
        self.known: dict[str, Item] = {}
        self.taken: set[str] = set()

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(target=items, number=st.integers(0, 2), needs_yes=st.sampled_from([1, 2]))
    def ask(self, number: int, needs_yes: int) -> str:
        item = put(self.inbox, sha256_hex(bytes([number])), needs_yes=needs_yes, hours=2)
        self.known.setdefault(item.id, item)
        return item.id

    @rule(item=items)
    def approve(self, item: str) -> None:
        before = self.now(item)
        if not tried(lambda: self.inbox.approve(item, OWNER)):
            assert before.state is not State.WAITING
        else:
            assert before.state is State.WAITING
            assert self.now(item).yes_count == before.yes_count + 1

    @rule(item=items)
    def refuse(self, item: str) -> None:
        before = self.now(item).state
        assert tried(lambda: self.inbox.refuse(item, OWNER)) is (before in (State.WAITING, State.APPROVED))

    @rule(target=items, item=consumes(items), number=st.integers(0, 2))
    def edit(self, item: str, number: int) -> Any:
        if self.now(item).state is not State.WAITING:
            return multiple()
        new = self.inbox.edit(item, OWNER, {}, sha256_hex(bytes([number])))
        self.known.setdefault(new.id, new)
        return new.id

    @rule(number=st.integers(0, 2), needs_yes=st.sampled_from([1, 2]))
    def take(self, number: int, needs_yes: int) -> None:
        before = {item.id: item for item in self.inbox.newest(1000)}
        taken = self.inbox.take(sha256_hex(bytes([number])), needs_yes)
        ready = [
            item
            for item in before.values()
            if item.state is State.APPROVED
            and item.digest == sha256_hex(bytes([number]))
            and item.needs_yes >= needs_yes
        ]
        assert (taken is not None) is bool(ready)
        if taken is not None:
            assert taken.id not in self.taken
            assert taken.yes_count == taken.needs_yes >= needs_yes
            self.taken.add(taken.id)

    @rule(minutes=st.sampled_from([1, 50, 130, -1, -200]))
    def move(self, minutes: int) -> None:
        self.clock.move(timedelta(minutes=minutes))

    @invariant()
    def states_go_one_way(self) -> None:
        allowed = {
            State.WAITING: set(State) - {State.USED},
            State.APPROVED: {State.APPROVED, State.USED, State.REFUSED, State.EXPIRED},
        }
        for item in self.inbox.newest(1000):
            before = self.known[item.id].state
            assert item.state in allowed.get(before, {before})
            assert (item.state is State.USED) is (item.id in self.taken)
            assert len(self.inbox.yeses(item.id)) == item.yes_count
            self.known[item.id] = item

    def now(self, item: str) -> Item:
        return self.inbox.find(item)


Machine.TestCase.settings = hypothesis_settings(
    max_examples=hypothesis_settings().max_examples // 3, stateful_step_count=25
)
TestMachine = Machine.TestCase
