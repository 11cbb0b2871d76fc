"""Attacks on the daemon: half lines, answers to questions of others, clients that do not read, leaving at every event.
The turns are real ones where that matters."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.standin import Running, StandIn, Turn, answered, exchange, raw, running, said, until
from metnos.api import server, wire
from metnos.api.daemon import Patience
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import State
from metnos.law.principal import at_terminal
from metnos.turn.events import Answer, Started, StepDone, Text, Wanted
from metnos.turn.request import Request
from tables import try_each

HURRY = Patience(grace_s=0.1, cancel_s=5, job_s=20)


def wanted(number: int = 1) -> Wanted:
    return Wanted("01X", number, "write_files", "write b", ("writes b",), "undo", (), 0, 1, "", "")


def asks_twice(request: Request) -> Turn:
    first = yield wanted(1)
    second = yield wanted(2)
    yield answered(request, f"{first} {second}")


def says_what_it_read(request: Request) -> Turn:
    yield Started(request.id)
    raise KeyError("my secret diary")


def huge(request: Request) -> Turn:
    yield Started(request.id)
    for _ in range(64):
        yield Text("x" * (1 << 20))
    yield answered(request, "over")


@pytest.fixture
def turns(clock: MovableClock) -> StandIn:
    return StandIn(clock, twice=asks_twice, secret=says_what_it_read, huge=huge)


@pytest.fixture
def daemon(equipped: App, clock: MovableClock, turns: StandIn) -> Iterator[Running]:
    with running(equipped.workspace, clock, turns, HURRY) as daemon:
        yield daemon


@pytest.fixture
def real(equipped: App, clock: MovableClock, tmp_path: Path) -> Iterator[Running]:
    """A daemon with turns of its own workspace, at the level `full`."""
    inbox = tmp_path / "home" / "inbox"
    inbox.mkdir()
    (inbox / "one.txt").write_text("1")
    (inbox / "two.txt").write_text("2")
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    app = App.open(equipped.workspace, clock)
    with running(equipped.workspace, clock, app.turns, HURRY) as daemon:
        yield daemon
    app.close()


# -- answers


def test_an_answer_that_is_cut_in_two_by_the_time_is_neither_lost_nor_mixed_up(daemon: Running, equipped: App) -> None:
    equipped.set_setting("turn.prompt_s", "0.3", at_terminal())
    with raw(daemon.workspace) as file:
        first = exchange(file, wire.pack(wire.request("ask", text="twice", cwd="/")))
        late = wire.pack({"answer": "yes", "question": first["question"]})
        file.write(late[:10])
        file.flush()
        second = json.loads(file.readline())  # the first question was given up meanwhile
        file.write(late[10:])
        ended = exchange(file, wire.pack({"answer": "no", "question": second["question"]}))
        assert ended.get("text") == "later no", ended
        assert exchange(file, wire.pack(wire.request("ping")))["v"] == 1


def test_nobody_answers_the_question_of_another_client(daemon: Running) -> None:
    with raw(daemon.workspace) as mine, raw(daemon.workspace) as theirs:
        first = exchange(mine, wire.pack(wire.request("ask", text="twice", cwd="/")))
        assert "error" in exchange(theirs, wire.pack({"answer": "yes", "question": first["question"]}))
        assert "error" in exchange(theirs, wire.pack({"v": 1, "answer": "yes", "question": first["question"]}))
        second = exchange(mine, wire.pack({"answer": "no", "question": first["question"]}))
        assert exchange(mine, wire.pack({"answer": "no", "question": second["question"]}))["text"] == "no no"


@try_each("answer", [None, True, 1, "YES", "yes ", "", ["yes"], {"yes": 1}])
def test_what_is_nearly_a_yes_is_none(daemon: Running, answer: object) -> None:
    with raw(daemon.workspace) as file:
        first = exchange(file, wire.pack(wire.request("ask", text="twice", cwd="/")))
        assert said(exchange(file, wire.pack({"answer": answer, "question": first["question"]}))) == "that is no answer"


# -- what it says, and to whom


def test_the_log_never_holds_what_an_error_says(daemon: Running) -> None:
    with raw(daemon.workspace) as file:
        exchange(file, wire.pack(wire.request("ask", text="secret", cwd="/")))
        assert "KeyError" in said(json.loads(file.readline()))
    until(lambda: daemon.says("KeyError"))
    assert not daemon.says("diary")


@pytest.mark.parametrize(
    "fields",
    [{"conversation": "\ud800"}, {"conversation": "a\x00b\n"}, {"cwd": "/\udcff"}, {"text": "\udcff"},
     {"cwd": "/no/such/folder"}, {"text": "x" * 20_000}, {"conversation": "c" * 200}],
)  # fmt: skip
def test_strange_texts_are_answered_by_a_turn_or_an_error_and_never_by_a_mistake(
    real: Running, fields: dict[str, str]
) -> None:
    with raw(real.workspace) as file:
        file.write(wire.pack(wire.request("ask", **{"text": "find the txt files", "cwd": "/", **fields})))
        file.flush()
        last = json.loads(file.readline())
        while last.get("event") not in (None, "Answered"):
            last = json.loads(file.readline())
    assert "mistake in Metnos" not in str(last), last
    assert not real.says("mistake")


def test_a_client_that_does_not_read_keeps_nobody_waiting(daemon: Running, turns: StandIn, tmp_path: Path) -> None:
    with raw(daemon.workspace) as slow:
        slow.write(wire.pack(wire.request("ask", text="huge", cwd="/")))
        slow.flush()
        until(lambda: turns.requests)
        for _ in range(3):
            assert list(daemon.client.ask("hello", cwd=tmp_path))
        assert daemon.client.status()["turns"] == 1
    until(lambda: turns.ended.count("hello whole") == 3 and "huge cancelled" in turns.ended)


def test_clients_that_come_and_go_leave_no_thread_and_no_slot(daemon: Running, tmp_path: Path) -> None:
    for line in (b"", b"{", b'{"v":1,"op":"ask","text":"twice","cwd":"/"}\n', b"\n\n\n", b"\xff" * 100):
        for _ in range(5):
            with raw(daemon.workspace) as file:
                file.write(line)
                file.flush()
    server = daemon.daemon._server
    assert server is not None
    until(lambda: not server.clients)
    until(lambda: daemon.client.status()["turns"] == 0)
    assert list(daemon.client.ask("hello", cwd=tmp_path))


# -- real turns


@pytest.mark.slow
@pytest.mark.parametrize("events", range(1, 7))
def test_a_client_that_leaves_after_any_event_leaves_a_whole_turn(real: Running, tmp_path: Path, events: int) -> None:
    app = real.apps[0]
    turn = real.client.ask("copy ~/inbox/one.txt to ~/inbox/three.txt and delete ~/inbox/two.txt", cwd=tmp_path)
    seen = [next(turn) for _ in range(events)]
    turn.close()
    assert isinstance(seen[0], Started)
    until(lambda: not app.medium.db.query("SELECT 1 FROM open_turns"))
    trace = app.medium.load(seen[0].turn)
    assert trace.state in (State.CANCELLED, State.DONE)
    done = {event.executor for event in seen if isinstance(event, StepDone)}
    assert done <= {step.executor for step in trace.steps}
    assert {step.action for step in trace.steps if step.action} == {
        action.id for action in app.undo.actions(9) if action.turn == trace.id
    }


@pytest.mark.slow
def test_two_clients_who_are_asked_the_same_do_it_once(
    equipped: App, clock: MovableClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "is_at_terminal", lambda _pid: True)  # a person sits at each of them
    home = tmp_path / "home"
    (home / "done").mkdir()
    (home / "one.txt").write_text("1")
    app = App.open(equipped.workspace, clock)
    with running(equipped.workspace, clock, app.turns, HURRY) as daemon:
        states: list[str] = []
        both = threading.Barrier(2)

        def ask() -> None:
            turn = daemon.client.ask("move ~/one.txt to ~/done", cwd=home)
            answer: Answer | None = None
            while True:
                try:
                    event = turn.send(answer)
                except StopIteration:
                    break
                answer = None
                if isinstance(event, Wanted):
                    both.wait(60)
                    answer = Answer.YES
                elif hasattr(event, "state"):
                    states.append(event.state)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(states) == ["done", "refused"]
    assert (home / "done" / "one.txt").exists()
    app.close()
