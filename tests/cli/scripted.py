"""Turns as they are written here, for looking at how they are shown; as a program, ``metnos`` that speaks with them."""

import contextlib
import os
import time
from collections.abc import Iterator

from metnos import cli
from metnos.cli import ask, chat, notices
from metnos.core.errors import ModelError
from metnos.turn.events import (
    Answer,
    Answered,
    Event,
    Planned,
    Started,
    StepDone,
    StepStarted,
    Text,
    Thinking,
    Wanted,
)

HOSTILE = "\x1b[2J\x1b]52;c;aGk=\x07\x1b]8;;http://evil.example\x1b\\click\u202egnp.exe\x9b31m"
TURN = "01JTURN"
ITEM = "01JITEM"
ACTION = "01JACTION"

WHY = (("level", "ask_twice", "at the level supervised, Metnos must ask"), ("grants", "ask", "no grant covers it"))


def wanted(*lines: str, yes: int = 0, needs: int = 1, always: str = "", **changed: str) -> Wanted:
    fields = {
        "item": ITEM,
        "executor": "move_files",
        "title": "move_files: Move files.",
        "reversal": "moves things; undo moves them back",
        "expires": "2026-11-17T12:00:00.000Z",
    }
    return Wanted(number=1, lines=lines, why=WHY, yes=yes, needs=needs, always=always, **(fields | changed))


class Scripted:
    """The events of a turn one after the other. Notes what came back, and whether it was closed before its end."""

    def __init__(self, *events: Event | BaseException) -> None:
        self.events = events
        self.answers: list[Answer | None] = []
        self.cancelled = False

    def run(self) -> Iterator[Event]:
        try:
            for event in self.events:
                if isinstance(event, BaseException):
                    raise event
                answer = yield event
                if isinstance(event, Wanted):
                    self.answers.append(answer)
        except GeneratorExit:
            self.cancelled = True
            raise


def speak(text: str, dry_run: bool) -> Iterator[Event]:
    """One of a few turns, by the first word of the request."""
    yield Started(TURN)
    match text.split()[0]:
        case "move":
            yield from _move(dry_run)
        case "sleep":
            yield Planned(("read_files",), "router", ("this takes a while",))
            yield StepStarted(1, 1, "read_files", "path ~/slow")
            time.sleep(600)
        case "talk":
            yield Thinking("answer", "small-model")
            yield Text("Words ")
            yield Text(HOSTILE)
            yield Answered(TURN, "talked", f"Words {HOSTILE}", model_text=True)
        case "which":
            yield Answered(TURN, "question", "Which folder?")
        case "fail":
            raise ModelError("the model did not answer", kind="timeout", fix="Start it.")
        case "full":
            raise OSError(28, "No space left on device")
        case _:
            yield Answered(TURN, "done", f"You said: {text!r}")


def _move(dry_run: bool) -> Iterator[Event]:
    if dry_run:
        yield Answered(TURN, "rehearsed", "It would move a.pdf.")
        return
    yield Planned(("find_files", "move_files"), "router", ("`inbox` was taken for ~/inbox",))
    yield StepStarted(1, 2, "find_files", "path ~/inbox")
    yield StepDone(1, "find_files", True, "", 1, 12.4)
    yield StepStarted(2, 2, "move_files", "paths a.pdf")
    answer = yield wanted("move a.pdf to b.pdf")
    if answer is Answer.YES:
        yield StepDone(2, "move_files", True, "", 1, 34.0, ACTION)
        yield Answered(TURN, "done", "Moved 1 file.", undo=(ACTION,))
    elif answer is Answer.NO:
        yield StepDone(2, "move_files", False, "you said no", 0, 0.0)
        yield Answered(TURN, "refused", "Not done: you said no.")
    else:
        yield StepDone(2, "move_files", False, "it waits", 0, 0.0)
        yield Answered(TURN, "waiting", "It waits for your yes.")


@contextlib.contextmanager
def speaker(_choice: object, conversation: str) -> Iterator[object]:
    def said(text: str, dry_run: bool) -> Iterator[Event]:
        if text == "conversation":
            yield Answered(TURN, "done", f"This is {conversation}.")
        else:
            yield from speak(text, dry_run)

    yield said


def main() -> int:
    """``metnos`` that speaks with them."""
    for module in (ask, chat):
        module.speaker = speaker  # type: ignore[assignment]
    chat._POLL_S = 0.2
    news = iter(([], [os.environ["NEWS"]] if "NEWS" in os.environ else []))
    notices.fetching = lambda _app: lambda: next(news, [])
    return cli.main()
