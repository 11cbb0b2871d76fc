"""Telemetry of real turns at a real receiver: what arrives, what never does, and that nobody waits for it."""

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from api.standin import until
from app.collector import Receiver, attributes
from grimoire.traces import trace as make
from metnos.app import App
from metnos.app.observing import Observer
from metnos.core.clock import MovableClock
from metnos.core.log import Log
from metnos.grimoire.trace import ModelCall, State
from metnos.law.principal import at_terminal
from turn.turning import take

SECRET = "quetzalcoatl"


@dataclass
class Home:
    app: App


class Watched:
    """An observer of a workspace, and what it logged."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.lines: list[str] = []
        home = Home(app)
        self.observer = Observer(lambda: contextlib.nullcontext(home), Log(self.lines.append, "text", app.clock))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """It watches, and is stopped at the end, whatever happens."""
        self.observer.start()
        try:
            yield
        finally:
            self.observer.stop(60)

    def says(self, text: str) -> int:
        return len([line for line in self.lines if text in line])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def telling(app: App, clock: MovableClock, **settings: str) -> App:
    for name, value in settings.items():
        app.set_setting(f"otel.{name}", value, at_terminal())
    return App.open(app.workspace, clock)


@pytest.fixture
def watched(equipped: App, clock: MovableClock, receiver: Receiver, tmp_path: Path) -> Iterator[Watched]:
    """A workspace that tells a receiver, and a file whose name and content nobody outside may see."""
    (tmp_path / "home" / f"{SECRET}.txt").write_text(f"{SECRET} inside")
    made = Watched(telling(equipped, clock, endpoint=receiver.url))
    with made.running():
        yield made


def test_a_real_turn_arrives_as_spans_with_the_right_parents(watched: Watched, receiver: Receiver) -> None:
    taken = take(watched.app, f"find files named {SECRET} in ~", conversation=f"about {SECRET}")
    assert taken.trace is not None
    assert SECRET in taken.ended.text
    watched.observer.wake()
    until(lambda: len(receiver.spans()) >= 3 and receiver.metrics())
    spans = {span.name: span for span in receiver.spans()}
    root = spans["invoke_agent metnos"]
    step = spans["execute_tool find_files"]
    assert root.parent_span_id == b""
    assert {spans["plan"].parent_span_id, step.parent_span_id} == {root.span_id}
    assert len({span.trace_id for span in spans.values()}) == 1
    told = attributes(step)
    assert (told["gen_ai.operation.name"], told["gen_ai.tool.name"], told["metnos.step.ok"]) == (
        "execute_tool",
        "find_files",
        True,
    )
    assert told["metnos.permit"] not in ("", "none", "other")
    assert attributes(root)["metnos.turn.id"] == taken.trace.id
    assert attributes(root)["metnos.turn.state"] == "done"
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano for span in spans.values())
    assert all(span.end_time_unix_nano <= root.end_time_unix_nano for span in spans.values())


def test_nothing_of_what_was_said_leaves(watched: Watched, receiver: Receiver, tmp_path: Path) -> None:
    for text in (f"find files named {SECRET} in ~", f"read ~/{SECRET}.txt", f"read ~/no-{SECRET}.txt", SECRET):
        take(watched.app, text, conversation=f"about {SECRET}")
    watched.observer.wake()
    until(lambda: watched.says("turn ended") == 4 and receiver.metrics())
    sent = receiver.everything()
    assert b"metnos" in sent
    for secret in (SECRET, str(tmp_path), "owner"):
        assert secret.encode() not in sent
        assert not watched.says(secret)


def test_calls_of_a_model_follow_the_conventions(watched: Watched, receiver: Receiver, clock: MovableClock) -> None:
    calls = (
        ModelCall("plan", "qwen3 at 10.0.0.7", 1200, 80, 1000, 0.01, 2500.0),
        ModelCall("asked by read_files", f"/home/{SECRET}/m.gguf", 10, 5, 0, 0.0, 100.0),
        ModelCall("answer", "qwen3 at 10.0.0.7", 0, 0, 0, 0.0, 30.0, "timeout"),
    )
    trace = make("01J0000000000000000000000A", asked=clock.now(), closed=clock.now() + timedelta(seconds=9))
    steps = tuple(replace(step, executor="read_files") for step in trace.steps[:1])
    watched.app.medium.close(replace(trace, calls=calls, steps=steps, plan={"ms": 2600.0, "steps": []}, path="model"))
    watched.observer.wake()
    until(lambda: receiver.metrics())
    spans = {span.name: span for span in receiver.spans()}
    ids = {span.span_id: span.name for span in receiver.spans()}
    plan, asked = spans["chat qwen3"], spans["chat m.gguf"]
    chats = [span for span in receiver.spans() if span.name.startswith("chat ")]
    assert [ids[span.parent_span_id] for span in chats] == ["plan", "execute_tool read_files", "invoke_agent metnos"]
    first = attributes(chats[0])
    assert {key: first[key] for key in first if key.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "qwen3",
        "gen_ai.usage.input_tokens": 1200,
        "gen_ai.usage.output_tokens": 80,
        "gen_ai.usage.cache_read.input_tokens": 1000,
    }
    assert chats[0].end_time_unix_nano - chats[0].start_time_unix_nano == 2_500_000_000
    assert (attributes(chats[2])["error.type"], chats[2].status.code) == ("timeout", 2)
    assert (plan.kind, asked.kind, spans["plan"].kind) == (3, 3, 1)
    metrics = receiver.metrics()
    durations = metrics["gen_ai.client.operation.duration"]
    assert (durations.unit, sum(point.count for point in durations.histogram.data_points)) == ("s", 3)
    tokens = {attributes(point)["gen_ai.token.type"]: point.sum for point in
              metrics["gen_ai.client.token.usage"].histogram.data_points
              if attributes(point)["gen_ai.request.model"] == "qwen3"}  # fmt: skip
    assert tokens == {"input": 1200, "output": 80}
    assert metrics["metnos.turn.duration"].histogram.data_points[0].sum == 9
    (ran,) = metrics["metnos.executor.runs"].sum.data_points
    assert (attributes(ran), ran.as_double + ran.as_int) == (
        {"gen_ai.tool.name": "read_files", "metnos.step.ok": True},
        1,
    )
    assert SECRET.encode() not in receiver.everything()


def test_a_hit_of_a_fast_path_is_counted(watched: Watched, receiver: Receiver, clock: MovableClock) -> None:
    for number in range(3):
        trace = make(f"01J0000000000000000000000{number}", asked=clock.now(), closed=clock.now())
        watched.app.medium.close(replace(trace, path="fast", calls=()))
    watched.observer.wake()
    until(lambda: "metnos.fast_path.hits" in receiver.metrics())
    (point,) = receiver.metrics()["metnos.fast_path.hits"].sum.data_points
    assert point.as_double + point.as_int == 3


def test_each_turn_is_told_once_and_none_of_before(equipped: App, clock: MovableClock, receiver: Receiver) -> None:
    app = telling(equipped, clock, endpoint=receiver.url)
    app.medium.close(make("01J0000000000000000000000A", asked=clock.now(), closed=clock.now()))
    watched = Watched(app)
    watched.observer._begin()
    assert watched.observer.look() == 0
    app.medium.close(make("01J0000000000000000000000B", asked=clock.now(), closed=clock.now()))
    assert [watched.observer.look(), watched.observer.look()] == [1, 0]
    assert watched.says("turn ended turn=01J0000000000000000000000B") == 1


def test_a_rush_of_turns_is_told_as_far_as_it_goes(opened: App, clock: MovableClock) -> None:
    watched = Watched(opened)
    watched.observer._begin()
    for number in range(70):
        opened.medium.close(make(f"01J000000000000000000000{number:02}", asked=clock.now(), closed=clock.now()))
    assert watched.observer.look() == 64
    assert watched.says("more turns ended") == 1


def test_the_key_of_the_collector_goes_with_it_and_is_not_logged(
    equipped: App, clock: MovableClock, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLLECTOR_KEY", "k3y")
    watched = Watched(telling(equipped, clock, endpoint=receiver.url, key="env:COLLECTOR_KEY"))
    watched.observer._begin()
    watched.app.medium.close(make("01J0000000000000000000000A", asked=clock.now(), closed=clock.now()))
    watched.observer.look()
    assert {headers["authorization"] for _, _, headers in receiver.bodies} == {"Bearer k3y"}
    assert not watched.says("k3y")


# -- trouble


def dead() -> str:
    """An address where nobody is."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_a_dead_collector_breaks_no_turn_and_is_said_once(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    watched = Watched(telling(equipped, clock, endpoint=dead(), timeout_s="0.2"))
    with watched.running():
        for _ in range(2):
            assert take(watched.app, "find the txt files in ~").ended.state == "done"
            watched.observer.wake()
            until(lambda: watched.observer._bell.is_set() is False)
    assert not watched.observer._thread.is_alive()
    assert watched.says("the collector takes no telemetry") == 1
    assert watched.says("turn ended") == 2
    assert watched.observer.told == {"telemetry": "the collector takes no telemetry"}


def test_no_turn_waits_for_a_collector_that_does_not_answer(
    equipped: App, clock: MovableClock, receiver: Receiver
) -> None:
    receiver.hold.clear()
    watched = Watched(telling(equipped, clock, endpoint=receiver.url, timeout_s="60"))
    ended = threading.Event()

    def another() -> None:
        take(watched.app, "find the txt files in ~")
        ended.set()

    with watched.running():
        take(watched.app, "find the txt files in ~")
        watched.observer.wake()
        until(lambda: watched.says("turn ended") == 1)
        thread = threading.Thread(target=another)
        thread.start()
        assert ended.wait(60)  # while the first one still hangs
        assert receiver.bodies == []
        thread.join(60)
        receiver.hold.set()
    assert len(receiver.spans()) >= 6


def test_a_collector_that_refuses_is_said_and_so_is_its_return(
    equipped: App, clock: MovableClock, receiver: Receiver
) -> None:
    watched = Watched(telling(equipped, clock, endpoint=receiver.url))
    watched.observer._begin()
    for number, status in enumerate((400, 200)):
        receiver.status = status
        watched.app.medium.close(make(f"01J0000000000000000000000{number}", asked=clock.now(), closed=clock.now()))
        watched.observer.look()
    assert (watched.says("takes no telemetry"), watched.says("takes telemetry again")) == (1, 1)


def test_a_key_that_is_not_there_is_said_and_ends_nothing(
    equipped: App, clock: MovableClock, receiver: Receiver
) -> None:
    watched = Watched(telling(equipped, clock, endpoint=receiver.url, key="file:missing"))
    with watched.running():
        watched.app.medium.close(make("01J0000000000000000000000A", asked=clock.now(), closed=clock.now()))
        watched.observer.wake()
        until(lambda: watched.says("turns are not told"))
    assert receiver.bodies == []


@pytest.mark.slow
def test_nothing_of_it_is_loaded_while_no_endpoint_is_set() -> None:
    code = "import sys, metnos.app.observing, metnos.api.telegram.build; print([m for m in sys.modules if" \
           " m.startswith(('opentelemetry', 'telegram', 'requests'))])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_turn_that_broke_says_so_by_its_kind(opened: App, clock: MovableClock) -> None:
    watched = Watched(opened)
    watched.observer._begin()
    trace = make("01J0000000000000000000000A", asked=clock.now(), closed=clock.now())
    opened.medium.close(replace(trace, state=State.FAILED, error="StoreFull"))
    watched.observer.look()
    assert watched.says("state=failed") == 1
    assert watched.says("error=StoreFull") == 1
