"""The daemon's door: takes clients in, each in a thread of its own, and sees everybody out at the end.

Rules: only processes of this very account come in, by the kernel's word; so many at once and no more. When it ends,
nobody else comes in, what runs may finish for a few seconds, and is then cancelled at its next event.
"""

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable

from metnos.api import wire
from metnos.api.line import Gone, Line, peer_pid, peer_uid
from metnos.api.serving import Counter, serve
from metnos.core.errors import DaemonError
from metnos.core.log import Bounded
from metnos.core.terminal import is_at_terminal
from metnos.law.principal import Channel, Principal, of_account

MOST_CLIENTS = 64
_LOOK_S = 5.0  # how often the door looks whether the workspace is still there


class Server:
    """Serves the clients of one listening socket."""

    def __init__(self, door: socket.socket, counter: Counter, still_ours: Callable[[], bool]) -> None:
        self._door = door
        self._counter = counter
        self._of_strangers = Bounded(counter.log)
        self._still_ours = still_ours
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()

    @property
    def clients(self) -> int:
        with self._lock:
            return len(self._threads)

    def run(self) -> None:
        """Take clients in until the bell rings, or the workspace is not ours any more."""
        self._door.setblocking(False)
        poll = select.poll()
        poll.register(self._door, select.POLLIN)
        poll.register(self._counter.stopping, select.POLLIN)
        while not self._counter.stopping.rung:
            ready = poll.poll(_LOOK_S * 1000)
            if not self._still_ours():
                raise DaemonError(
                    "the workspace was replaced or removed while it was served", fix="Start it again: metnos serve"
                )
            if ready and not self._counter.stopping.rung:
                self._take_in()

    def see_out(self, grace_s: float, cut_off: Callable[[], None], patience_s: float) -> bool:
        """Let what runs finish for ``grace_s``; then cancel it and ``cut_off`` what it waits for. Whether all left."""
        self._counter.stopping.ring()
        if self._empty(grace_s):
            return True
        self._counter.log("turns still run: cancelling them")
        self._counter.hurry.set()
        cut_off()
        return self._empty(patience_s)

    def _empty(self, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while (threads := self._snapshot()) and (left := deadline - time.monotonic()) > 0:
            threads[0].join(left)
        return not threads

    def _snapshot(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._threads)

    def _take_in(self) -> None:
        try:
            connection, _ = self._door.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # gone again before we came to the door
        except OSError as error:  # no descriptor is free: whoever knocks waits until one is
            self._of_strangers(f"nobody can come in: {error.strerror}")
            time.sleep(0.1)
            return
        refusal = self._refusal(connection)
        if refusal is not None:
            self._of_strangers(f"a client was refused: {refusal.what}")
            with connection, contextlib.suppress(Gone):
                Line.of_client(connection).send(wire.from_error(refusal))
            return
        thread = threading.Thread(target=self._serve, args=(connection,), name="client", daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def _refusal(self, connection: socket.socket) -> DaemonError | None:
        uid = peer_uid(connection)
        if uid != os.getuid():
            return DaemonError(f"account {uid} has no business here", fix="Use Metnos under its owner's account.")
        if self.clients >= MOST_CLIENTS:
            return DaemonError(f"there are {MOST_CLIENTS} clients already", fix="Try again in a moment.")
        return None

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                serve(Line.of_client(connection), self._counter, _who(connection))
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())


def _who(connection: socket.socket) -> Principal:
    """The owner in person, if the process at the other end sits at a terminal; else a script of theirs."""
    here = is_at_terminal(peer_pid(connection))
    return of_account(Channel.TERMINAL if here else Channel.SCRIPT)
