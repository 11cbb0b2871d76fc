"""The daemon: one process for each workspace that runs turns for others and keeps the clock of the house.

Rules: the lock comes first and goes last; the socket appears when everything behind it is ready, and disappears before
anything behind it ends, so that a client either is served or works alone. Runs in the foreground until it is stopped,
by a signal, by a client, or because its workspace is not there any more. Logs say what happened, never what was said.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from metnos import __version__
from metnos.api import lock
from metnos.api.keeper import Keeper
from metnos.api.line import Bell
from metnos.api.server import Server
from metnos.api.serving import Counter, House, Slots, Turns
from metnos.api.wire import VERSION, Message
from metnos.app import App, beating
from metnos.app import night as building
from metnos.core.clock import Clock, to_text
from metnos.core.errors import MetnosError
from metnos.core.workspace import Workspace
from metnos.night.jobs import Night
from metnos.night.notices import Notices
from metnos.night.schedule import LONGEST_SLEEP, nap
from metnos.night.watch import Watch


class Opened(House, Protocol):
    """An open workspace, as far as the daemon needs it."""

    @property
    def night(self) -> Night: ...

    def beat(self, stop: Callable[[], bool]) -> float:
        """Let an agent that lives by itself beat; how long until it is to beat again, in seconds."""
        ...

    def close(self) -> None: ...


class Household:
    """A workspace opened for the daemon: what acts is put together at once, before threads share it."""

    def __init__(self, app: App, log: Callable[[str], None]) -> None:
        self.app = app
        self.night = building.build(app, log)
        self.turns: Turns = app.turns
        self._heart = beating.of(app, log)

    @property
    def notices(self) -> Notices:
        return self.night.notices

    @property
    def prompt_s(self) -> float:
        return self.app.settings.turn.prompt_s

    def beat(self, stop: Callable[[], bool]) -> float:
        now = self.app.clock.now()
        if self._heart is None or self._heart.is_dead():
            return nap(now, now + LONGEST_SLEEP)  # by then the owner may have chosen another profile
        self._heart.beat(stop=stop)
        now = self.app.clock.now()
        return nap(now, self._heart.heart.wake())

    def close(self) -> None:
        self.app.close()


class Face(Protocol):
    """Something else than the socket through which others come in. What it begins goes by the `Counter`'s rules."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    @property
    def told(self) -> Message:
        """What the daemon says of it in its status."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the end may take, in seconds: for turns to finish, to be cancelled, and for the job that runs."""

    grace_s: float = 5.0
    cancel_s: float = 5.0
    job_s: float = 5.0


class Daemon:
    """Serves one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        open_: Callable[[], Opened],
        clock: Clock,
        log: Callable[[str], None],
        patience: Patience | None = None,
        faces: Callable[[Counter], Sequence[Face]] = lambda _counter: (),
    ) -> None:
        self._workspace = workspace
        self._clock = clock
        self._log = log
        self._patience = patience or Patience()
        self._keeper = Keeper(open_, (workspace.settings, workspace.soul), log)
        self._watch = Watch(self._tick, log)
        self._heart = Watch(self._beat, log)  # of its own: a night takes long, and events do not wait
        self._stopping = Bell()
        self._since = clock.now()
        self._counter = Counter(
            lease=self._keeper.lease,
            status=self._status,
            stop=self.stop,
            after=self._watch.wake,
            log=log,
            stopping=self._stopping,
            hurry=threading.Event(),
            slots=Slots(),
        )
        self._server: Server | None = None
        self._make_faces = faces
        self._faces: list[Face] = []
        self._problems: list[str] = []  # why a face is not there

    def stop(self) -> None:
        """End, from any thread or a signal."""
        self._stopping.ring()

    def wake(self) -> None:
        """Look at once what is due."""
        self._watch.wake()
        self._heart.wake()

    def run(self) -> None:
        """Serve until stopped."""
        with lock.Lock(self._workspace) as held:
            try:
                with self._keeper.lease():
                    pass  # whatever is wrong with the workspace is said before anybody is let in
                self._show_faces()
                self._serve(held)
            finally:
                self._hide_faces()
                self._keeper.close()
        self._log("ended")

    def _serve(self, held: lock.Lock) -> None:
        door = lock.listen(self._workspace)
        self._server = server = Server(door, self._counter, held.still_ours)
        try:
            self._log(f"serving {self._workspace.root} (process {os.getpid()}); Ctrl-C ends it")
            self._watch.start()
            self._heart.start()
            server.run()
        finally:
            if held.still_ours():
                (self._workspace.run / lock.SOCKET).unlink(missing_ok=True)
            door.close()
            self._log("ending: nobody comes in any more")
            self._hide_faces()
            self._watch.stop(0)  # no other job begins
            self._heart.stop(0)
            if not server.see_out(self._patience.grace_s, self._keeper.close, self._patience.cancel_s):
                self._log("a turn did not end in time; it will be found as interrupted")
            if not self._heart.stop(self._patience.job_s):
                self._log("a heartbeat did not end in time; the next one goes on")
            if not self._watch.stop(self._patience.job_s):
                self._log("a job did not end in time; it will be found as interrupted")

    def _show_faces(self) -> None:
        """Open the other ways in. One that cannot be opened keeps nobody from using the rest."""
        for face in self._make_faces(self._counter):
            try:
                face.start()
            except MetnosError as error:
                self._log(f"{error.what}. {error.fix}")
                self._problems.append(f"{error.what}. {error.fix}")
            else:
                self._faces.append(face)

    def _hide_faces(self) -> None:
        while self._faces:
            self._faces.pop().stop()

    def _tick(self, stop: Callable[[], bool]) -> float:
        with self._keeper.lease() as opened:
            opened.night.tick(self._clock.now(), stop)
            now = self._clock.now()
            return nap(now, opened.night.wake(now))

    def _beat(self, stop: Callable[[], bool]) -> float:
        with self._keeper.lease() as opened:
            return opened.beat(stop)

    def _status(self) -> Message:
        with self._keeper.lease() as opened:
            coming = opened.night.wake(self._clock.now())
            unseen = len(opened.notices.unseen())
        return {
            "v": VERSION,
            "version": __version__,
            "pid": os.getpid(),
            "workspace": str(self._workspace.root),
            "since": to_text(self._since),
            "clients": self._server.clients if self._server else 0,
            "turns": self._counter.slots.running + self._counter.slots.asking,
            "waiting": self._counter.slots.waiting,
            "next": to_text(coming),
            "unseen": unseen,
            "problems": self._problems,
            **{name: value for face in self._faces for name, value in face.told.items()},
        }
