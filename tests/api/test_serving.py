"""What a client gets, from a daemon in a thread, with turns that go as the test says."""

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.standin import Running, StandIn, Turn, answered, exchange, raw, running, said, until
from metnos.api import wire
from metnos.api.serving import Slots
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.errors import MetnosError, ModelError, UsageError
from metnos.law.principal import Channel, at_terminal, of_account
from metnos.night.notices import News
from metnos.turn.events import Answer, Answered, Started, Text, Wanted
from metnos.turn.request import Request
from tables import try_each


def wanted(number: int = 1) -> Wanted:
    return Wanted(
        "01X", number, "write_files", "write b", ("writes b",), "undo", (("level", "ask", "x"),), 0, 1, "", ""
    )


def asks_twice(request: Request) -> Turn:
    first = yield wanted(1)
    second = yield wanted(2)
    yield answered(request, f"{first} {second}")


def breaks(request: Request) -> Turn:
    yield Started(request.id)
    raise ZeroDivisionError("oh")


def model_dies(request: Request) -> Turn:
    yield Started(request.id)
    raise ModelError("the model hangs", kind="timeout", fix="Ask again.")


class Gate:
    """Turns that stop in the middle until they may go on."""

    def __init__(self) -> None:
        self.inside = threading.Semaphore(0)
        self.open = threading.Event()

    def __call__(self, request: Request) -> Turn:
        yield Started(request.id)
        self.inside.release()
        assert self.open.wait(60)
        yield Text("on")
        yield answered(request, "through")


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


@pytest.fixture
def turns(clock: MovableClock, gate: Gate) -> StandIn:
    return StandIn(clock, twice=asks_twice, breaks=breaks, dies=model_dies, gate=gate)


@pytest.fixture
def daemon(equipped: App, clock: MovableClock, turns: StandIn, gate: Gate) -> Iterator[Running]:
    with running(equipped.workspace, clock, turns) as daemon:
        yield daemon
        gate.open.set()


# -- turns


def test_a_turn_is_the_same_over_there(daemon: Running, turns: StandIn, tmp_path: Path) -> None:
    events = list(daemon.client.ask("hello", cwd=tmp_path, conversation="c", dry_run=True))
    assert events == [Started("T0"), Answered("T0", "done", f"you said hello in {tmp_path}")]
    (request,) = turns.requests
    assert (request.principal, request.cwd, request.conversation, request.dry_run) == (
        of_account(Channel.SCRIPT),  # what runs tests sits at no terminal
        tmp_path,
        "c",
        True,
    )
    assert turns.ended == ["hello whole"]
    assert daemon.says("turn T0: done")
    assert not daemon.says("hello")  # a log holds no words of the owner's


def test_a_question_is_answered_from_here(daemon: Running, tmp_path: Path) -> None:
    turn = daemon.client.ask("twice", cwd=tmp_path)
    assert next(turn) == wanted(1)
    assert turn.send(Answer.ALWAYS) == wanted(2)
    assert turn.send(None) == Answered("T0", "done", "always later")
    with pytest.raises(StopIteration):
        next(turn)


def test_an_answer_that_comes_too_late_is_no_answer_to_the_next_question(daemon: Running) -> None:
    with raw(daemon.workspace) as file:
        first = exchange(file, wire.pack(wire.request("ask", text="twice", cwd="/")))
        second = exchange(file, wire.pack({"answer": "yes", "question": first["question"]}))
        assert (first["number"], second["number"]) == (1, 2)
        file.write(wire.pack({"answer": "yes", "question": first["question"]}))
        ended = exchange(file, wire.pack({"answer": "no", "question": second["question"]}))
        assert ended["text"] == "yes no"


def test_what_is_no_answer_cancels_the_turn(daemon: Running, turns: StandIn) -> None:
    with raw(daemon.workspace) as file:
        first = exchange(file, wire.pack(wire.request("ask", text="twice", cwd="/")))
        assert (
            said(exchange(file, wire.pack({"answer": "perhaps", "question": first["question"]}))) == "that is no answer"
        )
        assert turns.ended == ["twice cancelled"]
        assert exchange(file, wire.pack(wire.request("ping")))["v"] == 1


def test_without_an_answer_in_time_the_question_stays_in_the_inbox(daemon: Running, equipped: App) -> None:
    equipped.set_setting("turn.prompt_s", "0.05", at_terminal())
    with raw(daemon.workspace) as file:
        exchange(file, wire.pack(wire.request("ask", text="twice", cwd="/")))
        assert json.loads(file.readline())["number"] == 2
        assert json.loads(file.readline())["text"] == "later later"


def test_errors_come_back_as_they_were(daemon: Running, turns: StandIn, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as usage:
        list(daemon.client.ask("", cwd=tmp_path))
    assert usage.value.fix == "Say something."
    with pytest.raises(ModelError) as model:
        list(daemon.client.ask("dies", cwd=tmp_path))
    assert (model.value.kind, turns.ended) == ("timeout", ["dies cancelled"])


def test_a_mistake_in_a_turn_is_said_and_logged_and_the_daemon_goes_on(daemon: Running, tmp_path: Path) -> None:
    with pytest.raises(MetnosError, match="a mistake in Metnos: ZeroDivisionError: oh"):
        list(daemon.client.ask("breaks", cwd=tmp_path))
    assert daemon.says("ZeroDivisionError (")
    assert not daemon.says(": oh")  # an error may hold what was said
    assert list(daemon.client.ask("hello", cwd=tmp_path))


def test_leaving_early_cancels_the_turn(daemon: Running, turns: StandIn, gate: Gate, tmp_path: Path) -> None:
    turn = daemon.client.ask("gate", cwd=tmp_path)
    next(turn)
    assert gate.inside.acquire(timeout=60)
    threading.Timer(0.05, gate.open.set).start()
    turn.close()
    until(lambda: turns.ended == ["gate cancelled"])


def test_a_client_that_dies_in_the_middle_of_a_question_cancels_the_turn(daemon: Running, turns: StandIn) -> None:
    with raw(daemon.workspace) as file:
        exchange(file, wire.pack(wire.request("ask", text="twice", cwd="/")))
    until(lambda: turns.ended == ["twice cancelled"])


def test_turns_of_several_clients_run_at_once_and_the_rest_waits_and_is_told(
    daemon: Running, turns: StandIn, gate: Gate, tmp_path: Path
) -> None:
    told: list[str] = []
    ended: list[str] = []

    def ask() -> None:
        *_, last = daemon.client.ask("gate", cwd=tmp_path, told=told.append)
        assert isinstance(last, Answered)
        ended.append(last.text)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        assert gate.inside.acquire(timeout=60)
    until(lambda: len(told) == 2)
    assert told == ["4 other turns run; this one begins when one of them ends"] * 2
    status = daemon.client.status()
    assert (status["turns"], status["waiting"]) == (4, 2)
    assert len(turns.requests) == 4
    gate.open.set()
    for thread in threads:
        thread.join(60)
    assert ended == ["through"] * 6


def test_one_that_waits_for_its_turn_may_go(daemon: Running, turns: StandIn, gate: Gate, tmp_path: Path) -> None:
    asked = [daemon.client.ask("gate", cwd=tmp_path) for _ in range(4)]
    for turn in asked:
        next(turn)
    with raw(daemon.workspace) as file:
        assert "waiting" in exchange(file, wire.pack(wire.request("ask", text="hello", cwd="/")))
    until(lambda: daemon.client.status()["waiting"] == 0)
    gate.open.set()
    for turn in asked:
        list(turn)
    assert len(turns.requests) == 4


# -- the rest


def test_status_and_ping(daemon: Running) -> None:
    found = daemon.client.status()
    assert found["workspace"] == str(daemon.workspace.root)
    assert (found["v"], found["turns"], found["waiting"], found["unseen"]) == (1, 0, 0, 0)
    assert found["clients"] >= 1
    with raw(daemon.workspace) as file:
        assert exchange(file, wire.pack(wire.request("ping")))["pid"] == found["pid"]


def test_notices_until_they_are_seen(daemon: Running) -> None:
    with daemon.daemon._keeper.lease() as house:
        house.notices.tell([News("reminder", "tea"), News("audit", "broken")])
    found = daemon.client.notices()
    assert [(each["kind"], each["text"]) for each in found] == [("reminder", "tea"), ("audit", "broken")]
    daemon.client.seen([found[0]["id"]])
    assert [each["text"] for each in daemon.client.notices()] == ["broken"]


@try_each(
    "line",
    [b"\n", b"garbage\n", b"\xff\xfe\n", b"[" * 50_000 + b"\n", b"[]\n", b"{}\n", b'{"v":2,"op":"ping"}\n',
     b'{"v":1}\n', b'{"v":1,"op":"dance"}\n', b'{"v":1,"op":["ask"]}\n', b'{"v":1,"op":"ask"}\n',
     b'{"v":1,"op":"ask","text":"x","cwd":"relative"}\n', b'{"v":1,"op":"seen","ids":"all"}\n',
     b"GET / HTTP/1.1\r\n"],
)  # fmt: skip
def test_garbage_is_answered_and_the_client_may_go_on(daemon: Running, line: bytes) -> None:
    with raw(daemon.workspace) as file:
        assert said(exchange(file, line))
        assert exchange(file, wire.pack(wire.request("ping")))["v"] == 1


def test_a_line_that_never_ends_is_answered_and_that_is_all(daemon: Running) -> None:
    with raw(daemon.workspace) as file:
        assert "longer than" in said(exchange(file, b"a" * (wire.LONGEST_REQUEST + 1)))
        with pytest.raises(ConnectionError):
            assert file.readline() == b""
            raise ConnectionError  # an end is as good
    assert daemon.client.status()


def test_a_change_of_the_settings_or_of_the_constitution_counts_from_the_next_turn_on(
    daemon: Running, equipped: App, turns: StandIn, tmp_path: Path
) -> None:
    turn = daemon.client.ask("twice", cwd=tmp_path)
    next(turn)
    equipped.set_setting("turn.show", "7", at_terminal())
    soul = equipped.workspace.soul
    soul.write_text(soul.read_text() + "\n")
    assert list(daemon.client.ask("hello", cwd=tmp_path))
    assert len(daemon.apps) == 2
    turn.send(Answer.YES)
    list(turn)
    assert turns.ended == ["hello whole", "twice whole"]
    assert daemon.says("opened anew")


def test_broken_settings_are_told_to_whoever_asks_until_they_are_mended(daemon: Running, tmp_path: Path) -> None:
    whole = daemon.workspace.settings.read_text()
    daemon.workspace.settings.write_text("[store]\nbusy = 1\n")
    with pytest.raises(MetnosError, match="there is no setting"), raw(daemon.workspace) as file:
        raise wire.to_error(exchange(file, wire.pack(wire.request("ask", text="hello", cwd="/"))))
    daemon.workspace.settings.write_text(whole)
    assert list(daemon.client.ask("hello", cwd=tmp_path))


def test_a_client_that_never_says_anything_disturbs_nobody(daemon: Running, tmp_path: Path) -> None:
    with raw(daemon.workspace), raw(daemon.workspace) as half:
        half.write(b'{"v": 1, "op"')
        half.flush()
        assert list(daemon.client.ask("hello", cwd=tmp_path))


def test_who_waits_for_an_answer_holds_no_slot(daemon: Running, turns: StandIn, tmp_path: Path) -> None:
    with contextlib.ExitStack() as held:
        files = [held.enter_context(raw(daemon.workspace)) for _ in range(4)]
        asked = [exchange(each, wire.pack(wire.request("ask", text="twice", cwd="/"))) for each in files]
        assert list(daemon.client.ask("hello", cwd=tmp_path))[-1] == Answered(
            "T4", "done", f"you said hello in {tmp_path}"
        )
        assert daemon.client.status()["turns"] == 4  # they go on, and hold nothing
        said_yes = exchange(files[0], wire.pack({"answer": "yes", "question": asked[0]["question"]}))
        assert said_yes["number"] == 2  # it goes on when its answer has come
    until(lambda: turns.ended.count("twice cancelled") == 4)
    assert daemon.client.status()["turns"] == 0


@pytest.mark.slow
def test_a_slot_is_waited_for_after_the_answer_unless_the_turn_is_over() -> None:
    slots, over = Slots(1), threading.Event()
    assert slots.take(0)
    with slots.lent(over.is_set):
        assert slots.running == 0
        assert slots.take(0)  # somebody else's
        threading.Timer(0.3, slots.give_back).start()
    assert slots.running == 1
    with slots.lent(over.is_set):
        assert slots.take(0)
        over.set()
    assert slots.running == 2  # one too many, for as long as it takes to end
    slots.give_back()
    slots.give_back()
    assert slots.running == 0
