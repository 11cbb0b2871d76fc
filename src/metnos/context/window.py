"""The window: what a language model sees of the conversation so far.

The owner's own words and what Metnos answered stand in one message, in their order. An answer is made of what executors
found, so it is content from outside and stands fenced; the owner's words stand as they were said. Nothing of it is
ever in the role of the assistant: a model trusts what it believes to have said itself.

Rules: the last messages, at most ``messages`` of them, and of each no more than a bound; the newest are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from metnos.context.fence import fence, plain, visible
from metnos.models.chat import Message

MOST_SAID = 500  # characters of one thing that the owner said
MOST_ANSWERED = 400  # characters of one answer
_OWNER = "Owner: "


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was said. ``owner``: by the owner, else by Metnos."""

    owner: bool
    text: str


def build(lines: Sequence[Line], messages: int) -> tuple[Message, ...]:
    """The last ``messages`` lines as what a model is shown; nothing if there are none."""
    kept = list(lines)[-messages:] if messages > 0 else []
    shown = [_owner(line.text) if line.owner else _answer(line.text) for line in kept if line.text.strip()]
    if not shown:
        return ()
    return (Message("user", "\n".join(["Earlier in this conversation:", *shown])),)


def owner_words(messages: Sequence[Message]) -> str:
    """What the owner said, and nothing else, of a window that `build` made.

    Each thing they said is one line, and nothing that is fenced can begin one.
    """
    lines = [line for message in messages for line in message.text.split("\n")]
    return "\n".join(line.removeprefix(_OWNER) for line in lines if line.startswith(_OWNER))


def _owner(text: str) -> str:
    return f"{_OWNER}{plain(visible(' '.join(text.split())))[:MOST_SAID]}"


def _answer(text: str) -> str:
    return fence(text, "an earlier answer", MOST_ANSWERED)
