"""What a language model reads out of memories, by night: which one is asked, with what, and how much of it.

The curator finds what episodes teach by rules; a model, where there is one, reads each new topic as well, and what it
says is checked like anything from outside (`metnos.grimoire.extract_model`).

Rules: nothing leaves the home, and nothing is paid, unless the owner has said so (`memory.think`). It is asked by night
or on the owner's word, never right after a turn. Memories stand in the user's message, fenced as data; the system's
holds nothing but the fixed instruction. All questions of one run together have the budget of one turn and ten minutes,
and each answer is short. A model that fails costs what it would have said and nothing else; one that cannot be asked,
or has failed three times, is not asked again in this run; how often it was asked and failed is counted.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from metnos.context.fence import fence
from metnos.core.errors import ModelError
from metnos.grimoire import extract_model
from metnos.models.budget import Budget, Meter, most_tokens
from metnos.models.chat import Chat, Message, Prompt

if TYPE_CHECKING:
    from metnos.app.house import App

_ANSWER = 400  # tokens: three sentences as JSON
_FAILURES = 3
_WALL_S = 600.0
_AROUND = 64  # tokens that the server's template puts around it
_WORTH_ANOTHER_TRY = frozenset({"broken", "empty", "rambling", "refused"})  # about one answer, not about the model
_SOURCE = "records of what happened"


class Thinking:
    """A model that is asked during one run of the curator."""

    def __init__(
        self,
        chat: Chat,
        window: int,
        stop: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chat = chat
        self._window = window
        self._stop = stop
        self._now = now
        self._until = now() + _WALL_S
        self._asked = self._failed = 0
        self._over = ""

    def __call__(self, material: str) -> str:
        """What the model says about records, one to a line. Raises `ModelError`."""
        if not self._over and self._now() >= self._until:
            self._over = "its time was used up"
        if self._over:
            raise ModelError(self._over, kind="budget")
        self._heard("")
        self._asked += 1
        try:
            return self._chat.ask(_prompt(material, self._window), self._heard).text
        except ModelError as error:
            self._failed += 1
            if error.kind not in _WORTH_ANOTHER_TRY or self._failed >= _FAILURES:
                self._over = error.what
            raise

    def _heard(self, _word: str) -> None:
        if self._stop():
            raise ModelError("it was stopped", kind="none")

    @property
    def counts(self) -> dict[str, int]:
        """How often it was asked, and how often there was no answer."""
        return {"asked": self._asked, "unanswered": self._failed} if self._asked else {}

    @property
    def message(self) -> str:
        """Why it was not asked to the end; empty if it was."""
        return f"thinking ended early: {self._over}" if self._over else ""


def of(app: "App", stop: Callable[[], bool] = lambda: False) -> Thinking | None:
    """The model that thinks here; nothing if there is none, or if it may not."""
    chat = allowed(app)
    return None if chat is None else Thinking(chat, app.settings.models.main.context, stop)


def allowed(app: "App", budget: Budget | None = None) -> Chat | None:
    """The model that may be asked by night about what the owner said and did, with the budget of a turn; or none."""
    wanted, models = app.settings.memory.think, app.settings.models
    chat = app.models.metered("main", Meter(budget or Budget(models.turn_tokens, models.turn_usd)))
    costs = models.main.price_in > 0 or models.main.price_out > 0
    if chat is None or wanted == "off" or (wanted == "auto" and (chat.outside or costs)):
        return None
    return chat


def _prompt(material: str, window: int) -> Prompt:
    """The newest records that fit, as data; the oldest stand first and are left out first."""
    lines = material.splitlines()
    room = window - _ANSWER - _AROUND - most_tokens(extract_model.INSTRUCTION)
    while len(lines) > 1 and most_tokens(_fenced(lines)) > room:
        del lines[0]
    return Prompt(extract_model.INSTRUCTION, (Message("user", _fenced(lines)),), max_tokens=_ANSWER)


def _fenced(lines: list[str]) -> str:
    content = "\n".join(lines)
    return fence(content, _SOURCE, len(content) + 1)
