"""`Agent`: a whole workspace, as a Python object: ask, follow, approve, undo.

    >>> from metnos import Agent
    >>> with Agent(folder) as agent:                         # made, if there is none
    ...     answer = agent.ask("what is 17 * 23?")
    ...     answer.state, "391" in answer.text
    ('done', True)

Rules: everything that acts goes through the one door, with its permit, its sandbox and its line in the audit; this
object decides nothing. It is a program of the owner's account (`Channel.LIBRARY`) and no person: it asks for whatever
it wants, and ``approve`` answers the acts it asked for itself, as far as one yes is enough for them. What two yeses are
needed for, what would live, be learnt or be allowed for good waits in the inbox for the owner in person.

Does not go through a running daemon: it works beside it, in this process.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from metnos.app.house import App
from metnos.app.library_memory import Grimoire
from metnos.app.library_mnestome import Mnestome
from metnos.app.library_records import Answer, Step
from metnos.app.whole import found
from metnos.core import files
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import ExecutorError, MetnosError, UsageError, WorkspaceError
from metnos.core.ids import UlidMaker
from metnos.core.settings import find_workspace
from metnos.executors.call import Call
from metnos.law.principal import Channel, Principal, of_account
from metnos.turn.events import Answer as Said
from metnos.turn.events import Answered, Event, Wanted

if TYPE_CHECKING:
    from metnos.turn.act import Ended

Approve = Callable[[Wanted], "bool | str | None"]
OnEvent = Callable[[Event], object]


class Agent:
    """An agent: ``path`` is its workspace, which is founded if there is none (unless ``create`` is false); without a
    path it is the one that the terminal uses."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        principal: Principal | None = None,
        create: bool = True,
        clock: Clock | None = None,
    ) -> None:
        who = principal or of_account(Channel.LIBRARY)
        if not who.known or who.channel is not Channel.LIBRARY:
            raise UsageError(
                f"this is the library, and does not speak as {who}", fix="Use Channel.LIBRARY, or leave it."
            )
        workspace = find_workspace(None if path is None else os.fspath(path))
        clock = clock or SystemClock()
        if not workspace.exists():
            if not create:
                raise WorkspaceError(f"there is no workspace at {workspace.root}", fix="Make one: metnos init")
            found(workspace, clock)
        self.app = App.open(workspace, clock)
        self._principal = who
        self._ids = UlidMaker(clock)
        self._conversation = self._ids()
        self._grimoire: Grimoire | None = None
        self._mnestome: Mnestome | None = None

    @property
    def principal(self) -> Principal:
        """As whom it asks: a program, for as long as it lives."""
        return self._principal

    # -- asking

    def ask(
        self,
        text: str,
        *,
        approve: Approve | None = None,
        on_event: OnEvent | None = None,
        conversation: str = "",
        cwd: str | os.PathLike[str] | None = None,
        dry_run: bool = False,
    ) -> Answer:
        """One request, one answer. Requests of one object are one conversation, unless another is named.

        ``approve`` gets each question that a program may answer and says yes (``True``), no (``False``), or nothing,
        which leaves it in the inbox. ``on_event`` hears everything that happens. A ``dry_run`` changes nothing.
        """
        waits: list[str] = []
        ended: Answered | None = None
        stream = self.stream(text, approve=approve, conversation=conversation, cwd=cwd, dry_run=dry_run)
        with closing(stream):
            for event in stream:
                if on_event is not None:
                    on_event(event)
                if isinstance(event, Wanted) and event.item:
                    waits.append(event.item)
                if isinstance(event, Answered):
                    ended = event
        if ended is None:
            raise AssertionError("a turn ends with an answer or raises")
        return self._answer(ended, waits)

    def stream(
        self,
        text: str,
        *,
        approve: Approve | None = None,
        conversation: str = "",
        cwd: str | os.PathLike[str] | None = None,
        dry_run: bool = False,
    ) -> "Turning":
        """The same as it happens: iterate over the events, of which `Answered` is the last. Closing it cancels."""
        turns = self.app.turns
        request = turns.request(
            text,
            principal=self.principal,
            cwd=_folder(cwd),
            conversation=conversation or self._conversation,
            dry_run=dry_run,
        )
        return Turning(turns.run(request), approve)

    def run(
        self,
        executor: str,
        args: Mapping[str, Any] | None = None,
        *,
        approve: Approve | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> Step:
        """Run one executor with these arguments, through the same door; how it ended. Nothing is learnt from it."""
        from metnos.turn.act import act

        call = Call(executor, dict(args or {}), self.principal, _folder(cwd), now=self.app.clock.now())
        acting = act(self.app.door, call, 1, 1, dry_run=False)
        said: Said | None = None
        while True:
            try:
                event = acting.send(said)
            except StopIteration as stop:
                return _step_of(call, stop.value)
            said = _said(approve, event) if isinstance(event, Wanted) else None

    def adopt(self, folder: str | os.PathLike[str], *, reason: str = "signed by the owner") -> str:
        """Put an executor of one's own before the owner: a folder of its name with ``manifest.toml``, ``executor.py``
        and ``tests.toml``. Its code is checked and its tests are run in the sandbox; then its question waits in the
        inbox, and it lives when the owner has typed its name. Returns the id of the question; raises `MetnosError` if
        it did not pass."""
        from metnos.app import adopting
        from metnos.executors import adopt
        from metnos.executors import folder as folders

        self._refuse_guest()
        source, catalog = Path(folder).absolute(), self.app.catalog
        name, target = source.name, catalog.folder_of(source.name)
        if target.exists():
            raise UsageError(f"there is an executor {name!r} already", fix="Choose another name.")
        target.mkdir(mode=files.PRIVATE_FOLDER)
        try:
            for file in folders.SIGNED:
                files.create(target / file, (source / file).read_bytes(), mode=files.PRIVATE_FILE)
            draft = adopt.draft(catalog, name)
            steps = list(adopt.examine(draft, self.app.pool, self.app.settings.executors))
            wrong = next((step for step in steps if step.problem), None)
            if wrong is not None:
                raise ExecutorError(f"{name} does not pass: {wrong.name}: {wrong.problem}", fix="docs/executors.md")
            return adopting.ask(self.app, draft, self.principal, reason=reason).id
        except OSError as error:
            shutil.rmtree(target, ignore_errors=True)
            raise ExecutorError(f"{source} cannot be read: {error.strerror}", fix="docs/executors.md") from error
        except MetnosError:
            shutil.rmtree(target, ignore_errors=True)
            raise

    def _answer(self, ended: Answered, asked: list[str]) -> Answer:
        trace = self.app.medium.load(ended.turn)
        waits = dict.fromkeys(each for each in (*asked, trace.item) if each and self._is_open(each))
        steps = tuple(
            Step(
                executor=str(step["executor"]),
                ok=bool(step["ok"]),
                message=str(step["message"]),
                args=dict(step["args"]),
                reply=dict(step["reply"]),
                undo=str(step["action"]),
            )
            for step in ended.steps
        )
        return Answer(ended.turn, ended.state, ended.text, steps, ended.undo, tuple(waits))

    def _is_open(self, item: str) -> bool:
        return str(self.app.inbox.find(item).state) == "waiting"

    # -- taking back

    def undo(self, action: str = "") -> str:
        """Take back what was done: an id of `Answer.undo`, or the last of all; says in words what that was.

        All of it is taken back or, if anything changed since, nothing.
        """
        from metnos.app import learning

        self._refuse_guest()
        done = self.app.undo.undo(action or None, by=self.principal)
        learning.catch_up_or_later(self.app)  # what a fast path did wrong it does not do again
        return done.title

    def _refuse_guest(self) -> None:
        if not self.principal.is_owner:
            raise UsageError(f"{self.principal} may not take anything back", fix="Do it at the terminal: metnos undo")

    # -- what it remembers and what it has learnt

    @property
    def grimoire(self) -> Grimoire:
        """Its memory."""
        if self._grimoire is None:
            self._grimoire = Grimoire.of(self.app)
        return self._grimoire

    @property
    def mnestome(self) -> Mnestome:
        """Which of its executors work together."""
        if self._mnestome is None:
            self._mnestome = Mnestome.of(self.app)
        return self._mnestome

    # -- the end

    def close(self) -> None:
        """End its sandboxes and its models, and let go of every file."""
        self.app.close()

    def __enter__(self) -> "Agent":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Turning(Iterator[Event]):
    """The events of one turn, each as it happens; questions among them go to ``approve`` when the next is asked for."""

    def __init__(self, turn: Any, approve: Approve | None) -> None:
        self._turn = turn
        self._approve = approve
        self._last: Event | None = None

    def __next__(self) -> Event:
        last, self._last = self._last, None
        said = _said(self._approve, last) if isinstance(last, Wanted) else None
        event: Event = self._turn.send(said)
        self._last = event
        return event

    def close(self) -> None:
        """Cancel it, if it goes on: what was done until then is recorded."""
        self._turn.close()


def _folder(cwd: str | os.PathLike[str] | None) -> Path:
    return Path.cwd() if cwd is None else Path(cwd).absolute()


def _step_of(call: Call, ended: "Ended") -> Step:
    done = ended.outcome
    message = ended.message or (done.message if done else "")
    if ended.item and done is None:
        message = f"{message} (it waits: metnos inbox approve {ended.item})"
    ok, reply, action = (done.ok, dict(done.reply), done.action) if done else (False, {}, "")
    return Step(call.name, ok, message, dict(call.args), reply, action)


def _said(approve: Approve | None, wanted: Wanted) -> Said:
    answer = None if approve is None else approve(wanted)
    if answer is None:
        return Said.LATER
    if isinstance(answer, bool):
        return Said.YES if answer else Said.NO
    try:
        said = Said(answer)
    except ValueError:
        raise UsageError(f"{answer!r} is no answer", fix="True, False or None.") from None
    if said is Said.ALWAYS:
        raise UsageError("a program allows nothing for good", fix="Type at a terminal: metnos policy grant --help")
    return said
