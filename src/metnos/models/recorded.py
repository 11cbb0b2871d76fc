"""Recorded exchanges of a real model: written once beside it, replayed wherever it is not.

One exchange is one line of JSON: the sha256 of the model's file, the digest of the prompt, and the reply. Rules: a
prompt is found by its digest alone, so that a changed prompt finds nothing and fails until it is recorded again; an
exchange with another model than the one expected fails too. The last recording of a prompt counts.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.errors import ModelError
from metnos.models.chat import Chat, OnText, Prompt, Reply, Usage

_AGAIN = "Record again: make bench NAME=llm"


class Recorded:
    """Replays a file of exchanges, made by the model of that sha256 (empty: by whichever made them).

    ``again`` says how it is recorded once more.
    """

    def __init__(self, path: Path, sha256: str = "", again: str = _AGAIN) -> None:
        self._path = path
        self._sha256 = sha256
        self._again = again
        self._exchanges = _read(path, again)

    @property
    def name(self) -> str:
        return f"{self._path.stem} (recorded)"

    @property
    def outside(self) -> bool:
        return False

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        found = self._exchanges.get(prompt.digest)
        if found is None:
            raise ModelError(
                f"{self._path.name} holds no exchange for this prompt ({prompt.digest[:12]})",
                kind="missing",
                fix=self._again,
            )
        if self._sha256 and found["model"] != self._sha256:
            raise ModelError(f"{self._path.name} was recorded with another model", kind="missing", fix=self._again)
        reply = found["reply"]
        if on_text is not None and prompt.schema is None:
            on_text(reply["text"])
        return Reply(**{**reply, "usage": Usage(**reply["usage"])})


class Recorder:
    """Passes questions on to a model and writes down what was asked and replied."""

    def __init__(self, chat: Chat, path: Path, sha256: str) -> None:
        self._chat = chat
        self._path = path
        self._sha256 = sha256

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def outside(self) -> bool:
        return self._chat.outside

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = self._chat.ask(prompt, on_text)
        line: dict[str, Any] = {"model": self._sha256, "prompt": prompt.digest, "reply": asdict(reply)}
        with self._path.open("ab") as file:
            file.write(canonical_json(line) + b"\n")
        return reply


def _read(path: Path, again: str) -> dict[str, dict[str, Any]]:
    exchanges: dict[str, dict[str, Any]] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            exchange = json.loads(line)
            exchanges[exchange["prompt"]] = exchange
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path.name} is no recording: {error}", kind="missing", fix=again) from error
    return exchanges
