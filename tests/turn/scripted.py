"""A workspace whose language model says what a test wants, whatever it is asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from metnos.app import App
from metnos.core.errors import ModelError
from metnos.law.principal import at_terminal
from metnos.models.budget import Meter, Metered
from metnos.models.chat import OnText, Prompt, Reply, Usage

Said = dict[str, Any] | str | Callable[[Prompt], Reply]


@dataclass
class Scripted:
    """Replies with each of ``replies`` in turn: a table is a reply by the schema, a text plain words."""

    replies: list[Said] = field(default_factory=list)
    asked: list[Prompt] = field(default_factory=list)
    name: str = "scripted"
    outside: bool = False

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.asked.append(prompt)
        if not self.replies:
            raise ModelError("nothing more to say", kind="missing")
        said = self.replies.pop(0)
        if callable(said):
            return said(prompt)
        if isinstance(said, dict):
            return Reply("", said, Usage(1, 10, 10), self.name)
        if on_text is not None:
            on_text(said)
        return Reply(said, None, Usage(1, 10, 10), self.name)


@dataclass
class Only:
    """The models of a workspace, when there is only this one."""

    chat: Scripted

    def tier(self, _: str) -> Scripted:
        return self.chat

    def metered(self, _: str, meter: Meter) -> Metered:
        return Metered(self.chat, meter)

    def close(self) -> None:
        pass


def steps(*calls: dict[str, Any]) -> dict[str, Any]:
    """A reply by the planner's schema."""
    return {"steps": list(calls)}


def reopened(app: App, *replies: Said, model: bool = True, **settings: str) -> tuple[App, Scripted]:
    """The same workspace with other settings (``policy__autonomy="full"``), and with a model of the test's own."""
    for name, value in settings.items():
        app.set_setting(name.replace("__", "."), value, at_terminal())
    opened = App.open(app.workspace, app.clock)
    opened.__dict__["embedder"] = None  # loading one takes longer than all the rest
    chat = Scripted(list(replies))
    if model:
        opened.__dict__["models"] = Only(chat)
    return opened, chat
