"""Asking a language model in the middle of a turn: within the budget, counted, and shown while it goes on.

Rules: every call draws on the turn's purse, which checks the budget first and keeps count. What takes long runs in a
thread of its own, so that the turn can tell its face what happens meanwhile; a turn that is cancelled stops planning at
its next word. Only words meant for the owner are streamed, never a plan's JSON.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

from metnos.models.chat import Prompt, Reply
from metnos.turn.events import Event, Spoken, Text, Thinking
from metnos.turn.plan import model, react
from metnos.turn.plan.model_scene import Ask, Done, Scene
from metnos.turn.plan.records import Candidate, Plan
from metnos.turn.purse import Purse

T = TypeVar("T")

Thought = Generator[Event, Spoken | None, Plan]


class _Cancelled(Exception):
    """The turn is over; nobody waits for the rest of it."""


class Face:
    """Whom a thread tells what it is doing: the turn, which passes it on, as long as it goes on."""

    def __init__(self) -> None:
        self.said: SimpleQueue[Event | None] = SimpleQueue()
        self.over = threading.Event()

    def tell(self, event: Event) -> None:
        self.go_on()
        self.said.put(event)

    def go_on(self) -> None:
        """To be called now and then: raises once the turn is over, so that nothing goes on for nobody."""
        if self.over.is_set():
            raise _Cancelled


def beside(work: Callable[[Face], T]) -> Generator[Event, Spoken | None, T]:
    """Do something that takes long in a thread of its own, and yield what it tells meanwhile; returns what it gave."""
    face = Face()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(face))
        except BaseException as error:  # noqa: BLE001 -- carried to the thread that waits, and raised there
            errors.append(error)
        finally:
            face.said.put(None)

    threading.Thread(target=run, name="thinking", daemon=True).start()
    try:
        while (event := face.said.get()) is not None:
            yield event
    finally:
        face.over.set()
    if errors:
        raise errors[0]
    return results[0]


@dataclass(slots=True)
class Thinker:
    """One model, for one turn."""

    purse: Purse

    def plan(self, text: str, candidates: Sequence[Candidate], scene: Scene) -> Thought:
        return self._think(lambda ask: model.plan(text, candidates, scene, ask))

    def repair(
        self,
        text: str,
        plan: Plan,
        done: Sequence[Done],
        failed: Done,
        candidates: Sequence[Candidate],
        scene: Scene,
    ) -> Thought:
        return self._think(lambda ask: model.repair(text, plan, done, failed, candidates, scene, ask))

    def reason(self, text: str, done: Sequence[Done], candidates: Sequence[Candidate], scene: Scene) -> Thought:
        return self._think(lambda ask: react.reason(text, done, candidates, scene, ask))

    def _think(self, work: Callable[[Ask], T]) -> Generator[Event, Spoken | None, T]:
        return beside(lambda face: work(lambda purpose, prompt: self._ask(purpose, prompt, face)))

    def _ask(self, purpose: str, prompt: Prompt, face: "Face") -> Reply:
        def heard(delta: str) -> None:
            face.go_on()
            if prompt.schema is None:
                face.tell(Text(delta))

        face.tell(Thinking(purpose, self.purse.name))
        return self.purse.ask(purpose, prompt, heard)
