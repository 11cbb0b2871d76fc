"""Questions that are open in chats, and the buttons that answer them.

Rules: each sender has at most one open question, and only its buttons count: what a button carries is bound by a code
of this process to the question's number, to what it is about, to the sender and to the answer, and is good for the one
message that shows it. Whatever else is pressed does nothing. No answer in time is none. After a restart all buttons of
before are old.
"""

import hmac
import re
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

_CARRIED = re.compile(r"([0-9]{1,9})\.([a-z0-9]{1,8})\.([0-9a-f]{24})")
_TAG = 24  # hexadecimal digits
_SHOWN_S = 5.0


class Pressed(StrEnum):
    """What became of a press."""

    TAKEN = "taken"
    OVER = "over"  # it belongs to no open question of this sender


@dataclass(eq=False)
class Question:
    """One that is open. ``answer`` is the code of the button that was pressed last."""

    number: int
    sender: str
    about: str
    codes: tuple[str, ...]
    message: int = 0
    answer: str = ""
    over: bool = field(default=False)


class Questions:
    """All open questions. Threads may share it."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._changed = threading.Condition()
        self._open: dict[str, Question] = {}
        self._last = 0
        self._closed = False

    def ask(self, sender: str, about: str, codes: Sequence[str]) -> Question:
        """Open a question; one that this sender still had is over."""
        with self._changed:
            self._last += 1
            before = self._open.get(sender)
            if before is not None:
                before.over = True
            made = Question(self._last, sender, about, tuple(codes), over=self._closed)
            if not self._closed:
                self._open[sender] = made
            self._changed.notify_all()
            return made

    def carried(self, question: Question, code: str) -> str:
        """What the button for an answer carries: at most 64 bytes, by the Bot API."""
        return f"{question.number}.{code}.{self._tag(question, code)}"

    def shown(self, question: Question, message: int) -> None:
        """Note which message shows it."""
        with self._changed:
            question.message = message
            self._changed.notify_all()

    def press(self, sender: str, message: int, carried: str) -> Pressed:
        """Take a press of a button."""
        found = _CARRIED.fullmatch(carried)
        with self._changed:
            question = self._open.get(sender)
            if found is None or question is None:
                return Pressed.OVER
            number, code, tag = found.groups()
            ours = hmac.compare_digest(tag, self._tag(question, code)) and int(number) == question.number
            if not ours or code not in question.codes:
                return Pressed.OVER
            # A quick finger may be here before we were told which message it was.
            self._changed.wait_for(lambda: question.message or question.over, _SHOWN_S)
            if question.over or question.answer or message != question.message:
                return Pressed.OVER
            question.answer = code
            self._changed.notify_all()
            return Pressed.TAKEN

    def wait(self, question: Question, seconds: float) -> str:
        """The code that was pressed; empty if none came in time, or the question was ended."""
        with self._changed:
            self._changed.wait_for(lambda: question.answer or question.over, seconds)
            answer, question.answer = question.answer, ""
            return "" if question.over else answer

    def narrow(self, question: Question, codes: Sequence[str]) -> None:
        """Take answers away that make no more sense."""
        with self._changed:
            question.codes = tuple(codes)

    def close(self, question: Question) -> None:
        with self._changed:
            question.over = True
            if self._open.get(question.sender) is question:
                del self._open[question.sender]
            self._changed.notify_all()

    def is_open(self, sender: str) -> bool:
        with self._changed:
            return sender in self._open

    def give_up(self, sender: str | None = None) -> None:
        """End the question of one sender without an answer; or all of them, and let nobody ask any more."""
        with self._changed:
            self._closed |= sender is None
            for question in list(self._open.values()):
                if sender in (None, question.sender):
                    question.over = True
                    del self._open[question.sender]
            self._changed.notify_all()

    def _tag(self, question: Question, code: str) -> str:
        bound = f"{question.number}|{question.about}|{question.sender}|{code}".encode()
        return hmac.new(self._key, bound, "sha256").hexdigest()[:_TAG]
