"""An owner at their terminal, with a clock that tests move: every word goes through the program itself.

Each command opens the workspace anew, as it would in a process of its own. Only the clock and the language model are
stand-ins; store, sandbox, executors, inbox and audit are the real ones.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from metnos.app import App
from metnos.cli import main
from metnos.core.clock import Clock, MovableClock
from metnos.core.workspace import Workspace
from metnos.models.budget import Meter, Metered
from metnos.models.chat import Chat
from support import Ran

_A_WHILE = timedelta(minutes=7)  # between two things that an owner does
_MORNING, _NIGHT = 9, 4  # hours of the day


@dataclass(frozen=True, slots=True)
class OneModel:
    """The language models of a workspace, when there is only this one."""

    chat: Chat

    def tier(self, _: str) -> Chat:
        return self.chat

    def metered(self, _: str, meter: Meter) -> Metered:
        return Metered(self.chat, meter)

    def close(self) -> None:
        """It belongs to the test, and outlives every command."""


def stand_in(patch: pytest.MonkeyPatch, clock: MovableClock, chat: Chat) -> None:
    """Whatever opens a workspace from now on has this clock and this language model."""
    really = App.open.__func__  # type: ignore[attr-defined]  # the function behind the class method

    def opened(cls: type[App], workspace: Workspace, _clock: Clock | None = None) -> App:
        app: App = really(cls, workspace, clock)
        app.__dict__["models"] = OneModel(chat)
        app.__dict__["embedder"] = None  # loading one takes longer than all the rest
        return app

    patch.setattr(App, "open", classmethod(opened))


@dataclass(slots=True)
class Owner:
    """Says what an owner says, and sees what an owner sees."""

    clock: MovableClock
    screen: pytest.CaptureFixture[str]

    # -- time

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def sleep(self) -> list[Mapping[str, Any]]:
        """The rest of the day, and the night with its jobs; it is morning then. Returns what the jobs did."""
        self._move_to(_NIGHT)
        done = self.json("jobs", "run")
        assert all(job["state"] == "done" for job in done), done
        self._move_to(_MORNING)
        return list(done)

    def rest(self, days: int) -> None:
        """Days on which the machine is off."""
        self.clock.move(timedelta(days=days))

    def _move_to(self, hour: int) -> None:
        then = self.now.replace(hour=hour, minute=0, second=0, microsecond=0)
        self.clock.move((then if then > self.now else then + timedelta(days=1)) - self.now)

    # -- words

    def say(self, *arguments: str) -> Ran:
        """One command, whatever comes of it."""
        self.screen.readouterr()
        code = main(arguments)
        seen = self.screen.readouterr()
        self.clock.move(_A_WHILE)
        return Ran(code, seen.out, seen.err)

    def read(self, *arguments: str) -> str:
        """What a command prints that must succeed."""
        ran = self.say(*arguments)
        assert ran.code == 0, (arguments, ran.out, ran.err)
        return ran.out

    def json(self, *arguments: str) -> Any:
        """The same for programs."""
        return json.loads(self.read(*arguments, "--json"))

    def ask(self, *words: str) -> dict[str, Any]:
        """One request and what came of it, good or bad."""
        found: dict[str, Any] = json.loads(self.say("ask", *words, "--json").out)
        return found

    def why(self, turn: str) -> str:
        return self.read("why", turn)

    # -- the inbox

    def waiting(self, kind: str = "") -> list[dict[str, Any]]:
        """What waits for an answer."""
        return [item for item in self.json("inbox", "list") if kind in ("", item["kind"])]

    def approve(self, item: Mapping[str, Any]) -> str:
        return self.read("inbox", "approve", str(item["id"]))

    def refuse(self, item: Mapping[str, Any], reason: str) -> str:
        return self.read("inbox", "refuse", str(item["id"]), "--reason", reason)
