"""Exchanges with the real local model, recorded while the story was played with it, and replayed ever after.

``python tests/story/record.py`` plays the story with the model itself: what was recorded before is replayed, what was
not is asked, and what nobody asks any more is left out. Rules: an exchange is found by the digest of its prompt alone,
and a prompt that is not found ends the story and says what to do. The same prompt has the same reply also while
recording, else a replay could go another way. A prompt does not depend on where the story is played: the home in it is
always called `HOME`.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings
from metnos.models import pins
from metnos.models.chat import Message, OnText, Prompt, Reply
from metnos.models.local import Local
from metnos.models.recorded import Recorded, Recorder

MODEL = "qwen2.5-coder-1.5b"
SHA256 = pins.require_pin(MODEL).sha256
FILE = Path(__file__).with_name("recordings") / "month.jsonl"
STAGED, TRIED = FILE.with_suffix(".staged"), FILE.with_suffix(".tried")  # of a recording that goes on, or came to grief
AGAIN = "Record again, where the model is: python tests/story/record.py"
HOME = "/home/owner"
_TIMEOUT_S = 1800.0  # of one call: these machines are shared

Source = Callable[[Prompt], Reply]


class Model:
    """The language model of the story. ``asked`` are the prompts so far, ``missing`` is what to do if one was new."""

    outside = False

    def __init__(self, home: Path, source: Source, *, replays: bool = True) -> None:
        self._home, self._source, self._replays = str(home), source, replays
        self._saved_s = 0.0  # what the replies took when they were recorded
        self.name = f"{MODEL} (recorded)"
        self.asked: list[Prompt] = []
        self.missing = ""

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        told = replace(
            prompt,
            system=self._told(prompt.system),
            messages=tuple(Message(each.role, self._told(each.text)) for each in prompt.messages),
        )
        self.asked.append(told)
        try:
            reply = self._source(told)
        except ModelError as error:  # a night goes on without a model that fails: the story must not
            self.missing = f"{error.what}. {error.fix}\n\n{told.messages[-1].text[:2000]}"
            raise
        if self._replays:
            self._saved_s += reply.usage.wall_ms / 1000
        if on_text is not None and prompt.schema is None:
            on_text(reply.text)
        return replace(reply, text=self._heard(reply.text), data=self._heard(reply.data))

    def perf_counter(self) -> float:
        """A clock for whoever measures how long the model took: as long as when it was recorded."""
        return time.perf_counter() + self._saved_s

    def _told(self, text: str) -> str:
        return text.replace(self._home, HOME)

    def _heard(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(HOME, self._home)
        if isinstance(value, list):
            return [self._heard(each) for each in value]
        return {key: self._heard(each) for key, each in value.items()} if isinstance(value, dict) else value


def replaying(home: Path) -> Model:
    """The model as it was recorded."""
    return Model(home, Recorded(FILE, SHA256, AGAIN).ask)


@contextlib.contextmanager
def recording(home: Path, model: Path, old: Sequence[Path] = (FILE, TRIED), new: Path = STAGED) -> Iterator[Model]:
    """The model itself, asked only for what ``old`` does not know; all that the story asks goes into ``new``."""
    local = Local(ModelSettings(provider="local", name=str(model), timeout_s=_TIMEOUT_S))
    known = [Recorded(each, SHA256) for each in old if each.exists()]
    said: dict[str, Reply] = {}
    new.unlink(missing_ok=True)

    def ask(prompt: Prompt) -> Reply:
        for each in known:
            with contextlib.suppress(ModelError):
                return Recorder(each, new, SHA256).ask(prompt)
        reply = Recorder(local, new, SHA256).ask(prompt)
        took = f"{reply.usage.wall_ms / 1000:4.0f} s  {prompt.messages[-1].text[-90:]!r}"
        print(took, file=sys.__stderr__, flush=True)
        return reply

    def once(prompt: Prompt) -> Reply:
        if prompt.digest not in said:
            said[prompt.digest] = ask(prompt)
        return said[prompt.digest]

    try:
        yield Model(home, once, replays=False)
    finally:
        local.close()
