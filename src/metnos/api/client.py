"""Talking with the daemon from another process: the same turn, the same events, run over there.

Rules: `connect` says whether anybody serves the workspace; whoever answers must run under this very account. Each
operation is a connection of its own, so that leaving it early, however it happens, cancels it and nothing else.
"""

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from metnos.api import wire
from metnos.api.line import Gone, Line, Overdue, peer_uid
from metnos.api.lock import dial
from metnos.api.wire import Message
from metnos.core.errors import DaemonError
from metnos.core.workspace import Workspace
from metnos.turn.events import Answer, Answered, Event, Spoken, Typed, Wanted

_PATIENCE_S = 10.0
_FAREWELL_S = 1.0

Told = Callable[[str], None]


class _Absent(DaemonError):
    """Nobody serves the workspace, or they are just leaving."""


class Client:
    """A way to the daemon of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def status(self) -> Message:
        """What the daemon says of itself: pid, version, since, turns, waiting, clients, next, unseen."""
        return self._once("status")

    def notices(self) -> list[dict[str, Any]]:
        """What nobody has seen yet: id, ts, kind, text."""
        found = self._once("notices").get("notices")
        return found if isinstance(found, list) else []

    def seen(self, ids: Sequence[int]) -> None:
        """Say that these were shown to the owner."""
        self._once("seen", ids=list(ids))

    def stop(self) -> None:
        """Ask the daemon to end. It lets what runs finish first."""
        self._once("stop")

    def ask(
        self, text: str, *, cwd: Path, conversation: str = "", dry_run: bool = False, told: Told = lambda _: None
    ) -> Generator[Event, Spoken | None, None]:
        """A turn, like ``app.turns.run``. ``told`` gets what the daemon says besides: that others come first."""
        with self._line() as line:
            fields = {"text": text, "cwd": str(cwd), "conversation": conversation, "dry_run": dry_run}
            _send(line, wire.request("ask", **fields))
            try:
                yield from _turn(line, told)
            finally:
                # Closing at once would do too, but then the turn's end is often not recorded yet when we return.
                line.leave(_FAREWELL_S)

    def _once(self, op: str, **fields: Any) -> Message:
        with self._line() as line, _lost():
            _send(line, wire.request(op, **fields))
            return _checked(line.receive(_PATIENCE_S))

    @contextlib.contextmanager
    def _line(self) -> Iterator[Line]:
        connection = dial(self._workspace, _PATIENCE_S)
        if connection is None:
            raise _Absent("the daemon is not there", fix="Start it: metnos serve")
        try:
            if peer_uid(connection) != os.getuid():
                raise DaemonError("whoever serves this workspace runs under another account", fix="metnos doctor")
            yield Line.of_daemon(connection)
        finally:
            connection.close()


def connect(workspace: Workspace) -> Client | None:
    """The daemon of this workspace, if one runs. One that runs and cannot be talked with is an error."""
    client = Client(workspace)
    try:
        client.status()
    except _Absent:
        return None
    return client


def _turn(line: Line, told: Told) -> Generator[Event, Spoken | None, None]:
    while True:
        with _lost():
            message = _checked(line.receive())
        if "waiting" in message:
            told(str(message["waiting"]))
            continue
        event = wire.to_event(message)
        answer = yield event
        if isinstance(event, Wanted):
            said = {"typed": answer.word} if isinstance(answer, Typed) else {"answer": answer or Answer.LATER}
            _send(line, {**said, "question": message.get("question")})
        if isinstance(event, Answered):
            return


def _send(line: Line, message: Message) -> None:
    """A daemon that is gone may have said why before it went: whoever reads next finds out."""
    with contextlib.suppress(Gone):
        line.send(message)


def _checked(message: Message) -> Message:
    if "error" in message:
        raise wire.to_error(message)
    return message


@contextlib.contextmanager
def _lost() -> Iterator[None]:
    try:
        yield
    except Gone as error:
        fix = "`metnos turns list` says what was done. Start it again: metnos serve"
        raise _Absent("the daemon went away in the middle", fix=fix) from error
    except Overdue as error:
        fix = "End the process whose number is in .run/serve.lock of the workspace, then: metnos serve"
        raise DaemonError("the daemon is there and does not answer", fix=fix) from error
