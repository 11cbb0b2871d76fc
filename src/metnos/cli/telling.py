"""Showing a turn: a live line for each step that becomes a finished one, words as they come, and the answer.

Rules: the answer, and nothing else, goes to standard output; all else to standard error. Whatever comes from a model, a
file or a page is shown inert. What was streamed is not printed twice. Decides nothing: it shows events and passes the
owner's answers back.
"""

import contextlib
import sys
from collections.abc import Callable, Generator
from types import TracebackType

import click

from metnos.cli.live import Live, clip, columns, lasted
from metnos.cli.output import COLOURS, MARKS, counted, inert, wrapped
from metnos.core.errors import TurnError
from metnos.core.records import Level
from metnos.grimoire.trace import State
from metnos.turn.events import (
    ACT,
    Answer,
    Answered,
    Event,
    Planned,
    Spoken,
    Started,
    StepDone,
    StepStarted,
    Text,
    Thinking,
    Wanted,
)

Turn = Generator[Event, Spoken | None, None]
_WORKING = "working"  # what stands there while there is nothing better to say
_MOST_TITLE = 160
_NARROW = 20  # columns that a step gets at least
_WAYS = {"fast": "a fast path", "router": "fixed rules", "model": "a language model", "react": "a language model"}
_AROUND = 5  # the mark, and the spaces of a finished line


class Telling(contextlib.AbstractContextManager["Telling"]):
    """Shows one turn. ``streams`` says whether words are shown as they come, which a pipe does not want."""

    def __init__(self, *, streams: bool) -> None:
        self.turn = ""
        self.waits: list[str] = []  # the questions that were left in the inbox
        self._streams = streams
        self._live = Live()
        self._steps: dict[int, StepStarted] = {}
        self._thinking: Thinking | None = None
        self._left: set[int] = set()  # the steps whose question was left in the inbox
        self._actions: list[str] = []
        self._ran = 0
        self._begun = ""  # the step that goes on
        self._said = ""
        self._learnt_from = 0  # earlier requests that the plan rests on, if a fast path made it

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def begin(self) -> None:
        """Show that something goes on, before anything is known about it."""
        self._live.start(_WORKING)

    def tell(self, event: Event) -> None:
        """Show one event that asks for nothing."""
        if isinstance(event, Started):
            self.turn = event.turn
            return
        if isinstance(event, Text) and not self._streams:
            return
        took = self._live.stop()
        if isinstance(event, Text):
            self._thinking = None
            self._stream(event.delta)
            return
        self._end_stream()
        self._end_thinking(took)
        match event:
            case Thinking():
                self._thinking = event
                self._live.start(_thought(event))
            case Planned():
                self._learnt_from = event.learnt_from
                _tell_plan(event)
                self._live.start(_WORKING)
            case StepStarted():
                self._steps[event.number] = event
                self._begun = event.executor
                self._live.start(self._what(event.number, event.executor))
            case StepDone():
                self._begun = ""
                self._tell_step(event)
                self._live.start(_WORKING)

    def ask(self, wanted: Wanted, ask: Callable[[Wanted], Spoken]) -> Spoken:
        """Let the owner be asked, with nothing moving on the screen meanwhile."""
        took = self._live.stop()
        self._end_stream()
        self._end_thinking(took)
        self._begun = ""  # it has not: it waits for the answer
        answer = ask(wanted)
        if answer is Answer.LATER and wanted.item:
            self.waits.append(wanted.item)
            self._left.add(wanted.number)
        elif wanted.about != ACT:
            self._live.start(_WORKING)
        else:
            self._begun = wanted.executor
            self._live.start(self._what(wanted.number, wanted.executor))
        return answer

    def cancelled(self) -> Answered:
        """How a turn ended that the owner stopped."""
        before = f" {counted(self._ran, 'step')} had been done before that." if self._ran else " Nothing had been done."
        if self._begun:
            before = f" {_short(self._begun)} had begun; what was changed is in: metnos undo --list"
        return Answered(self.turn, State.CANCELLED, f"Cancelled.{before}", undo=tuple(self._actions))

    def finish(self, ended: Answered, command: str) -> None:
        """Print the answer and what can be done about it; ``command`` begins whatever is to be typed."""
        self._live.stop()
        if ended.state == State.CANCELLED:
            self._end_stream()
            click.echo(shown(ended.text), err=True)
        else:
            self.answer(ended.text)
        if ended.model_text and not self._ran:
            _say_dim("(a language model's words; nothing was done)")
        if self._learnt_from and ended.state != State.CANCELLED:
            _say_dim(
                f"(from memory of {counted(self._learnt_from, 'earlier request')}, without planning: {command}why)"
            )
        for item in self.waits:
            _say_what_to_do("Waits for your yes", f"{command}inbox show {inert(item)}", "yellow")
        for action in ended.undo:
            if action not in ended.text:
                _say_what_to_do("To take it back", f"{command}undo {inert(action)}", "cyan")

    def answer(self, text: str) -> None:
        """Print the answer, or what of it was not streamed yet."""
        said, text = self._said.strip(), text.strip("\n")
        if said and not text.strip().startswith(said):
            self._end_stream()
            _say_dim("(what stands above was a draft; this is the answer:)")
            said = ""
        rest = text.strip()[len(said) :] if said else text
        self._said = ""
        if rest or said:
            click.echo(shown(rest))

    # -- inside

    def _tell_step(self, done: StepDone) -> None:
        self._ran += done.ok
        if done.action:
            self._actions.append(done.action)
        level = Level.GREEN if done.ok else Level.YELLOW if done.number in self._left else Level.RED
        click.secho(f"{MARKS[level]} ", fg=COLOURS[level], bold=True, nl=False, err=True)
        counts = counted(done.count, "item") if done.ok else ""
        time = lasted(done.wall_ms) if done.wall_ms else ""
        tail = ", ".join(filter(None, (_short(done.message), counts, time)))
        what, tail = _fitted(self._what(done.number, done.executor), tail)
        click.echo(what, nl=False, err=True)
        click.secho(f"  {tail}" if tail else "", dim=done.ok or None, err=True)

    def _what(self, number: int, executor: str) -> str:
        """A step in one line: which of how many, the executor, and what it is pointed at."""
        started = self._steps.get(number)
        place = f"{number}/{started.of} " if started and started.of > 1 else ""
        title = f"  {_short(started.title)}" if started and started.title else ""
        return f"{place}{_short(executor)}{title}"

    def _end_thinking(self, took: float) -> None:
        thinking, self._thinking = self._thinking, None
        if thinking is not None:
            _say_dim(f"· {_thought(thinking)}  {lasted(took)}")

    def _stream(self, delta: str) -> None:
        delta = delta if self._said else delta.lstrip()
        self._said += delta
        click.echo(shown(delta), nl=False)

    def _end_stream(self) -> None:
        if self._said and not self._said.endswith("\n"):
            click.echo()
        self._said = ""


def follow(turn: Turn, telling: Telling, ask: Callable[[Wanted], Spoken]) -> Answered:
    """Show a turn to its end; returns how it ended. An interrupt cancels it cleanly."""
    ended: Answered | None = None
    answer: Spoken | None = None
    try:
        telling.begin()
        while True:
            event = turn.send(answer)
            answer = None
            if isinstance(event, Wanted):
                answer = telling.ask(event, ask)
            elif isinstance(event, Answered):
                ended = event
            else:
                telling.tell(event)
    except StopIteration:
        pass
    except KeyboardInterrupt:
        ended = ended or telling.cancelled()
    finally:
        turn.close()
    if ended is None:
        raise TurnError("the turn ended without an answer", fix="See what was recorded: metnos turns list")
    return ended


def shown(text: str) -> str:
    """Text from outside as a terminal may get it: inert, with its tabs, and with plain line ends."""
    return "\t".join(map(inert, text.replace("\r\n", "\n").split("\t")))


def _fitted(what: str, tail: str) -> tuple[str, str]:
    """Both, so short that a terminal shows them in one line; a pipe gets them whole."""
    if not sys.stderr.isatty():
        return what, tail
    room = max(columns(sys.stderr) - _AROUND, _NARROW)
    what = clip(what, max(room - len(tail), room // 2))
    return what, clip(tail, room - len(what))


def _thought(thinking: Thinking) -> str:
    """What is thought about, and by which model; there may be none, where code does the work."""
    return "  ".join(filter(None, (_short(thinking.what), _short(thinking.model))))


def _tell_plan(plan: Planned) -> None:
    if len(plan.executors) > 1:
        _say_dim(f"· plan: {' → '.join(map(_short, plan.executors))}  ({_WAYS.get(plan.path, _short(plan.path))})")
    for note in plan.notes:
        _say_dim(f"· {_short(note)}")


def _say_dim(text: str) -> None:
    click.secho(wrapped(text, sys.stderr), dim=True, err=True)


def _say_what_to_do(what: str, command: str, colour: str) -> None:
    click.secho(f"{what}: ", fg=colour, nl=False, err=True)
    click.echo(command, err=True)


def _short(text: str) -> str:
    """Inert, in one line, and no longer than a line should be."""
    line = inert(" ".join(text.split()))
    return line if len(line) <= _MOST_TITLE else line[: _MOST_TITLE - 1] + "…"
