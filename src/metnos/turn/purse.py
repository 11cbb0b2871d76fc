"""What one turn may spend on language models, whoever spends it: the planner, or an executor that asks the model.

Rules: all calls of a turn draw on one meter, which refuses before a call what the budget does not allow; all are kept
for the trace. An executor that runs outside a turn has a purse of its own for each call. What an executor says to the
model is content: it is the user's message, never the system's.
"""

from collections.abc import Callable
from threading import Lock

from metnos.core.errors import ExecutorFailed, ModelError
from metnos.grimoire.trace import ModelCall
from metnos.models.budget import Budget, Meter
from metnos.models.chat import Chat, Message, OnText, Prompt, Reply, Usage

Metering = Callable[[str, Meter], Chat | None]  # a tier's model, every call checked against the meter first

_SYSTEM = "You help a small program on the owner's computer. Answer what it asks, briefly and plainly."


class Purse:
    """One turn's model, metered and counted."""

    def __init__(self, chat: Chat, calls: list[ModelCall], meter: Meter) -> None:
        self._chat = chat
        self._calls = calls
        self.meter = meter

    def lent(self, chat: Chat) -> "Purse":
        """For a model that is asked in this turn and has bounds of its own too: its calls are counted here."""
        return Purse(chat, self._calls, self.meter)

    @property
    def name(self) -> str:
        return self._chat.name

    def ask(self, purpose: str, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """One reply; counted also when there is none. Raises `ModelError`."""
        try:
            reply = self._chat.ask(prompt, on_text)
        except ModelError as error:
            self._note(purpose, self.name, Usage(calls=1), error.kind)
            raise
        self._note(purpose, reply.model or self.name, reply.usage, "")
        return reply

    def _note(self, purpose: str, name: str, usage: Usage, error: str) -> None:
        self._calls.append(
            ModelCall(
                purpose,
                name,
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                usage.usd,
                usage.wall_ms,
                error,
            )
        )


class Purses:
    """The purses of the turns that go on in this process. Threads may share it."""

    def __init__(self, metered: Metering, budget: Budget) -> None:
        self._metered = metered
        self._budget = budget
        self._open: dict[str, Purse] = {}
        self._lock = Lock()

    def open(self, turn: str, calls: list[ModelCall]) -> Purse | None:
        """The purse of a turn that begins; nothing if there is no model."""
        with self._lock:
            purse = self._make(calls)
            if purse is not None:
                self._open[turn] = purse
        return purse

    def close(self, turn: str) -> None:
        with self._lock:
            self._open.pop(turn, None)

    def ask(self, turn: str, executor: str, text: str, max_tokens: int) -> str:
        """What the model says to an executor. Raises `ExecutorFailed`."""
        with self._lock:
            purse = self._open.get(turn) or self._make([])
        if purse is None:
            raise ExecutorFailed("there is no language model", kind="unavailable", fix="metnos model list")
        try:
            prompt = Prompt(_SYSTEM, (Message("user", text),), max_tokens=max_tokens)
            return purse.ask(f"asked by {executor}", prompt).text
        except ModelError as error:
            raise ExecutorFailed(error.what, kind="unavailable", fix=error.fix) from error

    def _make(self, calls: list[ModelCall]) -> Purse | None:
        meter = Meter(self._budget)
        chat = self._metered("main", meter)
        return None if chat is None else Purse(chat, calls, meter)
