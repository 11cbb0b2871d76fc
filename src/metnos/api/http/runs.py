"""Turns that run for a page or a program: each in a thread of its own, while any number of listeners follow.

Rules: what happens is kept in order, so that a listener who lost the connection goes on where it was; a listener who
leaves ends nothing. Only whoever began a run sees it, answers it and cancels it. A question that gets no answer in time
stays in the inbox. So many run at once as the daemon allows; what ended is kept for some minutes. What a run keeps is
bounded: of a long result listeners get the beginning, and the record of the turn has the rest.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metnos.api import wire
from metnos.api.daemon import Household
from metnos.api.serving import Counter
from metnos.api.wire import Message
from metnos.core.errors import DaemonError, MetnosError, TurnError
from metnos.core.ids import UlidMaker
from metnos.law.principal import Principal
from metnos.turn.events import Answer, Answered, Event, Spoken, Started, Wanted

KEPT_S = 600.0  # after its end
MOST = 64  # runs that are kept
_MOST_OF_ONE = 8  # runs at once of whoever it is
_SLOT_S = 0.2
_ENTRIES = 200  # of a step's reply
_BEAT_S = 15.0  # a listener hears something at least that often, so that what stands between does not hang up
MOST_EVENTS = 20_000

Turn = Generator[Event, Spoken | None, None]
Make = Callable[[Household], Turn]


@dataclass(eq=False)
class Run:
    """One turn that runs or ran, and what happened so far."""

    id: str
    who: Principal
    text: str
    turn: str = ""
    events: list[Message] = field(default_factory=list)
    ended: float | None = None
    question: int = 0  # the one that waits, or 0
    began: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)
    answers: "queue.Queue[tuple[int, Spoken]]" = field(default_factory=queue.Queue)
    _listeners: "set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]" = field(default_factory=set)

    def tell(self, message: Message) -> None:
        self.events.append(message)
        self._wake()

    def end(self) -> None:
        self.ended = time.monotonic()
        self._wake()

    def _wake(self) -> None:
        for loop, event in tuple(self._listeners):
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody listens any more
                loop.call_soon_threadsafe(event.set)

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, Message | None]]:
        """Each event with its number, from the one after ``after``; ``None`` now and then, as a sign of life."""
        mine = (asyncio.get_running_loop(), asyncio.Event())
        self._listeners.add(mine)
        place = max(0, after)
        try:
            while True:
                mine[1].clear()
                over = self.ended is not None
                for message in self.events[place:]:
                    place += 1
                    yield place, message
                if over:
                    return
                try:
                    await asyncio.wait_for(mine[1].wait(), _BEAT_S)
                except TimeoutError:
                    yield place, None
        finally:
            self._listeners.discard(mine)


class Runs:
    """All runs of one daemon."""

    def __init__(self, counter: Counter, lease: Callable[[], contextlib.AbstractContextManager[Household]]) -> None:
        self._counter = counter
        self._lease = lease
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._threads: set[threading.Thread] = set()
        self._ids = UlidMaker()

    def ask(self, text: str, who: Principal, cwd: Path, conversation: str = "", dry_run: bool = False) -> Run:
        """Begin a turn for a request. Wrong words are refused at once."""

        def make(household: Household) -> Turn:
            turns = household.turns
            return turns.run(turns.request(text, principal=who, cwd=cwd, conversation=conversation, dry_run=dry_run))

        return self.begin(who, make, text)

    def begin(self, who: Principal, make: Make, text: str = "") -> Run:
        """Begin what ``make`` gives, in a thread of its own."""
        with self.reserved(who, text) as run:
            self.start(run, make)
        return run

    @contextlib.contextmanager
    def reserved(self, who: Principal, text: str) -> Iterator[Run]:
        """A place for a run, or a refusal before anything is done that only a run can finish."""
        run = Run(self._ids(), who, text)
        with self._lock:
            self._forget()
            mine = sum(each.ended is None and each.who == who for each in self._runs.values())
            if self._counter.stopping.rung:
                raise DaemonError("Metnos is ending", fix="Start it again: metnos open")
            if mine >= _MOST_OF_ONE or len(self._runs) >= MOST:
                raise DaemonError("too many requests run already", fix="Wait until one of them ends, or cancel one.")
            self._runs[run.id] = run
        try:
            yield run
        finally:
            if not run.began:
                with self._lock:
                    del self._runs[run.id]

    def start(self, run: Run, make: Make) -> None:
        """Begin what ``make`` gives at a place that was reserved."""
        thread = threading.Thread(target=self._thread, args=(run, make), name="run", daemon=True)
        with self._lock:
            self._threads.add(thread)
        run.began = True
        thread.start()

    def find(self, run_id: str, who: Principal) -> Run:
        with self._lock:
            run = self._runs.get(run_id)
        if run is None or run.who != who:
            raise TurnError("there is no such run, or it ended long ago", fix="See what was done: GET /api/turns")
        return run

    def running(self, who: Principal) -> list[Run]:
        with self._lock:
            return [each for each in self._runs.values() if each.ended is None and each.who == who]

    def answer(self, run: Run, question: int, answer: Spoken) -> None:
        """Answer the question that waits; an answer to another one is refused."""
        if run.question != question or run.ended is not None:
            raise TurnError("this question does not wait any more", fix="Look into the inbox.")
        run.answers.put((question, answer))

    def cancel(self, run: Run) -> None:
        """End a run at its next event."""
        run.cancelled.set()
        run.answers.put((0, Answer.LATER))

    def stop(self, patience_s: float, grace_s: float = 0.0) -> bool:
        """Let what runs finish for ``grace_s``, then cancel it; whether all of it ended in time."""
        with self._lock:
            runs, threads = list(self._runs.values()), list(self._threads)
        if _ended(threads, grace_s):
            return True
        for run in runs:
            self.cancel(run)
        return _ended(threads, patience_s)

    # -- the thread of a run

    def _thread(self, run: Run, make: Make) -> None:
        try:
            if self._slot(run):
                try:
                    with self._lease() as household:
                        self._play(run, make(household), household.prompt_s)
                finally:
                    self._counter.slots.give_back()
        except MetnosError as error:
            run.tell({"event": "Failed", **wire.from_error(error)})
        except Exception as error:  # noqa: BLE001 -- the border of a run: its end must not be the daemon's
            self._counter.log(f"a mistake in Metnos: {type(error).__name__} in run {run.id}")
            said = MetnosError(f"a mistake in Metnos: {type(error).__name__}", fix="Please report it.")
            run.tell({"event": "Failed", **wire.from_error(said)})
        finally:
            run.end()
            self._counter.after()
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _slot(self, run: Run) -> bool:
        if self._counter.slots.take(0):
            return True
        run.tell({"event": "Waiting", "what": "other requests run; this one begins when one of them ends"})
        while not self._counter.slots.take(_SLOT_S):
            if run.cancelled.is_set() or self._counter.stopping.rung:
                raise TurnError("cancelled before it began")
        return True

    def _play(self, run: Run, turn: Turn, prompt_s: float) -> None:
        answer: Spoken | None = None
        asked = 0
        with contextlib.closing(turn):
            while True:
                try:
                    event = turn.send(answer)
                except StopIteration:
                    return
                answer = None
                if isinstance(event, Started):
                    run.turn = event.turn
                    self._counter.log(f"turn {event.turn}: begins")
                over = isinstance(event, Answered)
                if not over and (run.cancelled.is_set() or self._counter.hurry.is_set()):
                    raise TurnError("cancelled", fix="What was done until then: metnos turns list")
                extra: Message = {}
                if isinstance(event, Wanted):
                    asked += 1
                    run.question, extra = asked, {"question": asked, "seconds": prompt_s}
                if len(run.events) < MOST_EVENTS or over or extra:
                    run.tell(wire.from_event(_bounded(event)) | extra)
                if isinstance(event, Wanted):
                    with self._counter.slots.lent(lambda: run.cancelled.is_set() or self._counter.stopping.rung):
                        answer = self._answered(run, asked, prompt_s)

    def _answered(self, run: Run, asked: int, prompt_s: float) -> Spoken:
        deadline = time.monotonic() + prompt_s
        try:
            while (left := deadline - time.monotonic()) > 0:
                if run.cancelled.is_set() or self._counter.stopping.rung:
                    break
                try:
                    question, answer = run.answers.get(timeout=min(left, 1.0))
                except queue.Empty:
                    continue
                if question == asked:
                    return answer
            return Answer.LATER
        finally:
            run.question = 0

    def _forget(self) -> None:
        now = time.monotonic()
        old = [key for key, run in self._runs.items() if run.ended is not None and now - run.ended > KEPT_S]
        over = sorted((run.ended, key) for key, run in self._runs.items() if run.ended is not None)
        old += [key for _, key in over[: max(0, len(self._runs) - MOST + 1)]]
        for key in dict.fromkeys(old):
            del self._runs[key]


def _ended(threads: Sequence[threading.Thread], patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def _bounded(event: Event) -> Event:
    """An answer without what no page shows."""
    if not isinstance(event, Answered):
        return event
    return replace(event, steps=tuple(_step(each) for each in event.steps))


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    reply = step.get("reply")
    if not isinstance(reply, Mapping) or not isinstance(reply.get("entries"), list):
        return dict(step)
    entries = reply["entries"]
    return {**step, "reply": {**reply, "entries": entries[:_ENTRIES], "count": len(entries)}}
