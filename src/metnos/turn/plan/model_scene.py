"""What a language model is told when it plans, and how it is asked: the records between the loop and the planners."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.models.chat import Message, Prompt, Reply

Ask = Callable[[str, Prompt], Reply]  # purpose and prompt; accounts for it, and raises `ModelError`


@dataclass(frozen=True, slots=True)
class Done:
    """A step that ended. ``args`` are as they were planned; ``message`` and ``reply`` are content from outside."""

    number: int
    executor: str
    args: Mapping[str, Any]
    ok: bool
    kind: str
    message: str
    reply: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a turn stands. ``head`` is the constant prefix (`metnos.context.head`), ``window`` what was said before
    (`metnos.context.window`), ``last`` what the previous turn gave, in short; all but the head is from outside."""

    head: str
    window: tuple[Message, ...]
    now: str
    cwd: str
    home: str
    last: str
