"""What every tool works with: the open workspace, who asks, and what an answer looks like.

Rules: whoever comes this way is a program, on whatever transport, and its words are a program's words: the channel is
always MCP, and the level at most the one of ``mcp.level``. What it sends is data, bounded before it gets here; what it
gets back is bounded too. Work is done in threads; a client that cancels ends its turn at the next event.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metnos.app import App
from metnos.core.errors import LawError
from metnos.core.sections_outward import McpSettings
from metnos.core.settings import load
from metnos.grimoire.capture import sender_of
from metnos.law.principal import Autonomy, Channel, Principal, lower

STDIO = "stdio"  # the sender on standard input, where nobody says who they are
WHO = "metnos.who"  # where in the scope of an HTTP request the guard says who asks
MOST_TEXT = 60_000  # characters of one answer: what a model can still read
_LONG = 20_000  # characters of one text in it


@dataclass(frozen=True, slots=True)
class Desk:
    """What all tools share. ``cwd`` is where relative paths begin."""

    lease: Callable[[], AbstractContextManager[App]]
    cwd: Path


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of one client: the workspace, who asks, and how they are told what goes on."""

    app: App
    who: Principal
    cwd: Path
    tell: Callable[[str], None] = lambda _text: None
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def sender(self) -> str:
        """The name under which this client's own memories are kept."""
        return sender_of(self.who.channel, self.who.sender)


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked before it goes on: ``state`` says about what, and comes back with the answer."""

    state: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: words, the same as data, and the question that it waits for, if it does."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    question: Question | None = None
    failed: bool = False


def settings(app: App) -> McpSettings:
    """What the owner allows now, and not when this process began: switching it off counts at once."""
    return load(app.workspace.settings).settings.mcp


def principal(scope: Mapping[str, Any] | None, allowed: McpSettings) -> Principal:
    """Who asks. On HTTP the guard knows; whoever it let in is still a program, and never speaks for the owner here."""
    most = Autonomy(allowed.level)
    if scope is None:
        return Principal(Channel.MCP, STDIO, most)
    who = scope.get(WHO)
    if not isinstance(who, Principal) or not who.known:
        raise LawError("nobody is signed in", fix="Send the secret of a program: metnos device token")
    return Principal(Channel.MCP, f"{who.channel}.{who.sender}"[:64], lower(who.level, most))


def cut(text: str, most: int = MOST_TEXT) -> str:
    """A text that is not too long, and says so if it was."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}… ({left:,} more characters)"


def fitting(items: list[Any], most: int = MOST_TEXT) -> tuple[list[Any], int]:
    """As many items from the beginning as fit into an answer, long texts in them cut, and how many are left out."""
    room = most
    kept: list[Any] = []
    for item in items:
        small = _small(item, _LONG)
        size = len(json.dumps(small, default=str))
        if size > room:
            if kept:
                break
            small = {"cut": cut(json.dumps(small, default=str), most)}
        room -= size
        kept.append(small)
    return kept, len(items) - len(kept)


def _small(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return cut(value, most)
    if isinstance(value, Mapping):
        return {key: _small(each, most) for key, each in value.items()}
    return [_small(each, most) for each in value] if isinstance(value, list | tuple) else value
