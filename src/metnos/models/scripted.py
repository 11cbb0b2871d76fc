"""A language model for tests: plays a list of replies and failures, one for each question.

Rules: text is said as it is, in two pieces; data is said as JSON; a reply by schema is read and checked as a real one
is. The failures are those of a real model, with the same kinds and, where a real one would have, words said before. A
question more than the script has is an error.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from metnos.core.errors import ModelError
from metnos.models import answer
from metnos.models.budget import likely_tokens
from metnos.models.chat import OnText, Prompt, Reply, Usage

DIES = ModelError("the scripted model broke off in the middle of its reply", kind="broken", fix="Try again.")
HANGS = ModelError("the scripted model did not answer after 300 seconds", kind="timeout", fix="Try again.")
RAMBLES = ModelError(
    "the scripted model repeated itself without end and was stopped", kind="rambling", fix="Try again."
)
BROKEN = ModelError("the scripted model twice gave something else than data", kind="broken", fix="Try again.")
EMPTY = ModelError("the scripted model gave an empty reply", kind="empty", fix="Try again.")
GONE = ModelError("the scripted model is not there", kind="unreachable", fix="Start it.")

_HALF_SAID = {id(DIES): "Well, I think that ", id(RAMBLES): "and so on " * 20}

Line = str | Mapping[str, Any] | Sequence[Any] | ModelError | Callable[[Prompt], Any]


class Scripted:
    """Plays its script. ``asked`` are the prompts so far."""

    def __init__(self, script: Iterable[Line], *, name: str = "scripted", outside: bool = False) -> None:
        self._script = list(script)
        self._name = name
        self._outside = outside
        self.asked: list[Prompt] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def outside(self) -> bool:
        return self._outside

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.asked.append(prompt)
        if not self._script:
            raise ModelError("the script has ended", kind="missing", fix="Give it one more line.")
        line = self._script.pop(0)
        said = line(prompt) if callable(line) else line
        if isinstance(said, ModelError):
            _say(_HALF_SAID.get(id(said), ""), prompt, on_text)
            raise ModelError(said.what, kind=said.kind, fix=said.fix)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        _say(text, prompt, on_text)
        return Reply(text, _data(text, prompt), _usage(prompt, text), self._name)


def _say(text: str, prompt: Prompt, on_text: OnText | None) -> None:
    if on_text is None or prompt.schema is not None:
        return
    middle = len(text) // 2
    for piece in (text[:middle], text[middle:]):
        if piece:
            on_text(piece)


def _data(text: str, prompt: Prompt) -> Any:
    if prompt.schema is None:
        return None
    try:
        return answer.read(text, prompt.schema)
    except answer.NotFitting as error:
        raise ModelError(f"{BROKEN.what}: {error}", kind=BROKEN.kind, fix=BROKEN.fix) from None


def _usage(prompt: Prompt, text: str) -> Usage:
    read = likely_tokens(prompt.system) + sum(likely_tokens(message.text) for message in prompt.messages)
    return Usage(1, read, likely_tokens(text))
