"""One client of the daemon, from its first line to its last.

Rules: whatever a client sends, it gets a clear answer and the daemon goes on; a client that goes away cancels its turn
at the next event; a question that gets no answer in time stays in the inbox. Everybody who gets this far is of the
owner's account: the socket lets no other in. A person is only who sits at a terminal, by the kernel's word about the
client's process, and only they are asked anything; every other client is a script. Does not guarantee that such a
process shows what it is asked, or that a person types the answer. A yes counts for the question that was last asked and
no other. A turn that waits for a person holds no slot: whoever does not answer keeps nobody else waiting.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from metnos.api import wire
from metnos.api.line import Bell, Gone, Line, Overdue, Rung, TooLong
from metnos.api.wire import Ask, Message
from metnos.core.clock import to_text
from metnos.core.errors import DaemonError, MetnosError
from metnos.law.principal import Principal
from metnos.night.notices import Notices
from metnos.turn.events import Answer, Answered, Event, Spoken, Typed, Wanted
from metnos.turn.request import Request

_TURNS = 4  # at the same time; each may hold a sandbox and a language model
_LOOK_S = 0.2  # how often one that waits for its turn looks whether its client is still there


class Turns(Protocol):
    """What runs turns."""

    def request(
        self, text: str, *, principal: Principal, cwd: Path, conversation: str = "", dry_run: bool = False
    ) -> Request: ...

    def run(self, request: Request) -> Generator[Event, Spoken | None, None]: ...


class House(Protocol):
    """An open workspace, as far as a client needs it. ``prompt_s`` is how long a question waits for its answer."""

    @property
    def turns(self) -> Turns: ...

    @property
    def notices(self) -> Notices: ...

    @property
    def prompt_s(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Counter:
    """The desk that all clients share. ``stopping``: no more turns begin; ``hurry``: those that run are cancelled."""

    lease: Callable[[], AbstractContextManager[House]]
    status: Callable[[], Message]
    stop: Callable[[], None]
    after: Callable[[], None]  # called when a turn has ended
    log: Callable[[str], None]
    stopping: Bell
    hurry: threading.Event
    slots: "Slots"


class Slots:
    """How many turns may run at once, and how many do."""

    def __init__(self, most: int = _TURNS) -> None:
        self.most = most
        self.running = 0
        self.waiting = 0
        self.asking = 0  # turns that hold no slot, because a person thinks
        self._free = threading.Condition()

    def take(self, patience_s: float) -> bool:
        """A slot, if one is free in time."""
        with self._free:
            self.waiting += 1
            free = self._free.wait_for(lambda: self.running < self.most, patience_s)
            self.waiting -= 1
            self.running += int(free)
            return free

    def give_back(self) -> None:
        with self._free:
            self.running -= 1
            self._free.notify()

    @contextlib.contextmanager
    def lent(self, over: Callable[[], bool]) -> Iterator[None]:
        """Give a slot back while a person thinks, and wait for one again afterwards.

        A turn that is ``over`` does not wait: all it has to do is to end, and it gives back what it counts for.
        """
        with self._free:
            self.asking += 1
        self.give_back()
        try:
            yield
        finally:
            with self._free:
                self.asking -= 1
            while not self.take(_LOOK_S):
                if over():
                    with self._free:
                        self.running += 1
                    break


def serve(line: Line, counter: Counter, who: Principal) -> None:
    """Answer one client until it goes, or the daemon does."""
    while True:
        try:
            message = line.receive(bell=counter.stopping)
            _answer(line, message, counter, who)
        except (Gone, Rung):
            return
        except TooLong as error:
            _say(line, error)
            return
        except MetnosError as error:
            if not _say(line, error):
                return
        except Exception as error:  # noqa: BLE001 -- the border of a client: its end must not be the daemon's
            what = f"a mistake in Metnos: {type(error).__name__}"
            counter.log(f"{what} ({_where(error)})")  # without its text, which may hold what was said
            _say(line, MetnosError(f"{what}: {error}", fix="Please report it, with what the daemon logged."))
            return


def _answer(line: Line, message: Message, counter: Counter, who: Principal) -> None:
    op = wire.operation(message)
    if op == "ask":
        _turn(line, wire.read_ask(message), counter, who)
    elif op in ("ping", "status"):
        line.send(counter.status())
    elif op == "notices":
        with counter.lease() as house:
            found = house.notices.unseen()
        told = [{"id": each.id, "ts": to_text(each.ts), "kind": each.kind, "text": each.text} for each in found]
        line.send({"notices": told})
    elif op == "seen":
        with counter.lease() as house:
            line.send({"seen": house.notices.seen(wire.read_ids(message))})
    elif op == "stop":
        line.send({"ok": True})
        counter.stop()
    else:
        raise DaemonError("there is no such operation", fix="There are: ask, notices, ping, seen, status, stop.")


def _say(line: Line, error: MetnosError) -> bool:
    """Whether the client could be told."""
    try:
        line.send(wire.from_error(error))
    except Gone:
        return False
    return True


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"


# -- a turn


def _turn(line: Line, ask: Ask, counter: Counter, who: Principal) -> None:
    _wait_for_slot(line, counter)
    try:
        with counter.lease() as house:
            request = house.turns.request(
                ask.text,
                principal=who,
                cwd=ask.cwd,
                conversation=ask.conversation,
                dry_run=ask.dry_run,
            )
            _run(line, house, request, counter)
    finally:
        counter.slots.give_back()
        counter.after()


def _wait_for_slot(line: Line, counter: Counter) -> None:
    if counter.slots.take(0):
        return
    line.send({"waiting": f"{counter.slots.running} other turns run; this one begins when one of them ends"})
    while not counter.slots.take(_LOOK_S):
        if line.hung_up():
            raise Gone
        if counter.stopping.rung:
            raise DaemonError("the daemon is ending", fix="Ask again: without it Metnos works alone.")


def _run(line: Line, house: House, request: Request, counter: Counter) -> None:
    counter.log(f"turn {request.id}: begins")
    turn = house.turns.run(request)
    ended = "cancelled"
    try:
        asked = 0
        answer: Spoken | None = None
        while True:
            event = turn.send(answer)
            answer = None
            if isinstance(event, Answered):
                ended = event.state
            if counter.hurry.is_set() and not isinstance(event, Answered):
                raise DaemonError("the daemon ended, and the turn was cancelled", fix="Ask again.")
            asked += 1
            extra = {"question": asked} if isinstance(event, Wanted) else {}
            line.send(wire.from_event(event) | extra)
            if isinstance(event, Wanted):
                with counter.slots.lent(lambda: line.hung_up() or counter.stopping.rung):
                    answer = _answer_to(line, asked, house.prompt_s, counter)
            elif line.hung_up() and not isinstance(event, Answered):
                raise Gone
    except StopIteration:
        pass
    finally:
        turn.close()
        counter.log(f"turn {request.id}: {ended}")


def _answer_to(line: Line, question: int, patience_s: float, counter: Counter) -> Spoken:
    deadline = time.monotonic() + patience_s
    try:
        message = line.receive(patience_s, counter.stopping)
        while message.get("question") != question:  # an answer to an earlier question that came too late
            message = line.receive(deadline - time.monotonic(), counter.stopping)
    except (Overdue, Rung):
        return Answer.LATER
    said: Any = message.get("answer")
    typed = message.get("typed")
    if isinstance(typed, str):
        return Typed(typed)
    try:
        return Answer(said)
    except ValueError as error:
        raise DaemonError("that is no answer", fix=f"There are: {', '.join(Answer)}.") from error
