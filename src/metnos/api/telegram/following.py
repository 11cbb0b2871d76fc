"""A turn in a chat: its steps in one message that changes, its questions with buttons, its answer as plain text.

Rules: a question that cannot be shown, or gets no answer in time, is left in the inbox; a turn is cancelled at its next
event when its sender stops it, is not let in any more, or the daemon hurries. What cannot be sent does not end a turn.
"""

import contextlib
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

from metnos.api.telegram import showing
from metnos.api.telegram.errands import Errand
from metnos.api.telegram.post import Buttons, Post, Unsent
from metnos.api.telegram.questions import Question, Questions
from metnos.api.telegram.rules import NUMBERS, Numbers
from metnos.api.telegram.showing import ALL, ANSWERS, WHY, Rows
from metnos.api.telegram.words import words
from metnos.turn.events import OFFER, Answer, Answered, Event, Spoken, Wanted

Turn = Generator[Event, Spoken | None, None]
Asking = Callable[[], contextlib.AbstractContextManager[None]]


class Stopped(Exception):
    """The sender, or the daemon, ended it."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What errands share. ``let_in`` says whether the sender is still who they were, at the level they had."""

    post: Post
    questions: Questions
    let_in: Callable[[Errand], bool]
    hurry: Callable[[], bool]
    numbers: Numbers = NUMBERS


def follow(
    desk: Desk, errand: Errand, turn: Turn, prompt_s: float, asking: Asking = contextlib.nullcontext
) -> Answered:
    """Follow a turn to its end. Raises `Stopped` when it was cancelled. ``asking`` is around each question."""
    steps = Steps(desk, errand)
    answer: Spoken | None = None
    ended: Answered | None = None
    try:
        while True:
            event = turn.send(answer)
            answer = None
            if isinstance(event, Answered):
                ended = event
                steps.flush()
                continue
            if errand.stop.is_set() or desk.hurry() or not desk.let_in(errand):
                raise Stopped
            if isinstance(event, Wanted):
                steps.flush()
                with asking():
                    answer = ask(desk, errand, event, prompt_s)
                if errand.stop.is_set():
                    raise Stopped
            else:
                steps.show(event)
    except StopIteration:
        if ended is None:
            raise Stopped from None
        return ended
    finally:
        turn.close()


class Steps:
    """The one message that says how far a turn is. A turn that is over at once has none."""

    def __init__(self, desk: Desk, errand: Errand) -> None:
        self._desk = desk
        self._chat = errand.chat
        self._lines: list[str] = []
        self._message = 0
        self._late = False  # whether something is not shown yet
        self._last = time.monotonic()

    def show(self, event: Event) -> None:
        self._late |= showing.progress(self._lines, event)
        numbers = self._desk.numbers
        if self._late and time.monotonic() - self._last >= (numbers.edit_s if self._message else numbers.patient_s):
            self._send()

    def flush(self) -> None:
        """Show the last state, if any was shown."""
        if self._message and self._late:
            self._send()

    def _send(self) -> None:
        text = "\n".join(self._lines)
        with contextlib.suppress(Unsent):
            if self._message:
                self._desk.post.edit(self._chat, self._message, text)
            else:
                self._message = self._desk.post.send(self._chat, text)
        self._late, self._last = False, time.monotonic()


# -- asking


def ask(desk: Desk, errand: Errand, wanted: Wanted, seconds: float) -> Answer:
    """Show what would happen and take the answer; none in time is `LATER`."""
    said, text = words(wanted.language), showing.question(wanted)
    if wanted.word:  # its name has to be typed where all of it can be read
        desk.post.send(errand.chat, f"{text}\n\n{said.elsewhere}")
        return Answer.LATER

    def more(code: str) -> str:
        """What a button that is no answer shows."""
        if code == WHY:
            return showing.reasons(wanted)
        return showing.whole(wanted.lines)

    about = f"{wanted.item or wanted.executor} {wanted.number} {wanted.yes}"
    code = put(desk, errand, about, text, showing.choices(wanted), seconds, language=wanted.language, more=more)
    if not code:
        if not errand.stop.is_set():
            desk.post.tell(errand.chat, said.nobody_to_offer if wanted.about == OFFER else said.nobody)
        return Answer.LATER
    return ANSWERS[code]


def put(
    desk: Desk,
    errand: Errand,
    about: str,
    text: str,
    rows: Rows,
    seconds: float,
    *,
    language: str = "en",
    more: Callable[[str], str] | None = None,
    labels: Callable[[str], str] | None = None,
) -> str:
    """Ask with buttons; returns the code of the one that was pressed, or nothing.

    The message loses its buttons when it is over. ``more`` says what `WHY` and `ALL` show; each of them counts once.
    """
    said = words(language)
    name = labels or (lambda code: showing.label(code, said))
    question = desk.questions.ask(errand.sender, about, _codes(rows))
    if question.over:
        return ""
    deadline = time.monotonic() + seconds
    try:
        message = desk.post.send(errand.chat, text, _buttons(desk, question, rows, name))
        desk.questions.shown(question, message)
        while True:
            code = desk.questions.wait(question, deadline - time.monotonic())
            if code not in (WHY, ALL) or more is None:
                break
            rows = showing.without(rows, code)
            desk.questions.narrow(question, _codes(rows))
            desk.post.answer(errand.chat, more(code))
            desk.post.edit(errand.chat, message, text, _buttons(desk, question, rows, name))
    except Unsent:
        return ""
    finally:
        desk.questions.close(question)
    if code and not desk.let_in(errand):
        code = ""
    desk.post.edit(errand.chat, message, f"{text}\n{said.said.get(code, name(code)) if code else '—'}")
    return code


def _codes(rows: Rows) -> tuple[str, ...]:
    return tuple(code for row in rows for code in row)


def _buttons(desk: Desk, question: Question, rows: Rows, name: Callable[[str], str]) -> Buttons:
    return [[(name(code), desk.questions.carried(question, code)) for code in row] for row in rows]
