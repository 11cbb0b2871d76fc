"""What a language model is told when it plans, and how it is asked: the records between the loop and the planners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.context.assemble import Assembled
from metnos.context.blocks import Block
from metnos.context.budgets import Task
from metnos.models.chat import Message, Prompt, Reply

See = Callable[[Task, Sequence[Block], str, int], Assembled]  # task, blocks, question, tokens kept for the reply
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
    (`metnos.context.window`), ``last`` what the previous turn gave, in short, ``memory`` what is remembered; all of it
    but the head is from outside. ``see`` puts a context together."""

    head: str
    window: tuple[Message, ...]
    now: str
    cwd: str
    home: str
    last: str
    memory: tuple[Block, ...] = ()
    see: See | None = None  # nothing: as much as fits an ordinary window
