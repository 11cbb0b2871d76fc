"""What OpenAI's chat completions look like, and what of them Metnos does: pure.

What is taken: messages of text, ``stream``, ``stream_options``, ``user``, ``metadata``. What only tunes a language
model (temperature, lengths, seeds, penalties) is ignored, because an answer here is what was done. What would have to
change the answer's form or give the caller's own tools a say is refused by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from metnos.core.errors import MetnosError, UsageError
from metnos.grimoire.trace import State, Trace
from metnos.turn.request import LONGEST

DRY_RUN = "metnos-dry-run"
NAMES = ("metnos", DRY_RUN)
_PIECE = 400  # characters of one chunk
_MOST_MESSAGES = 2000
_LONG = 2 << 20
_TYPES = {400: "invalid_request_error", 403: "permission_error", 404: "not_found_error"}
_NO_TOOLS = "Leave the tools away: Metnos chooses among its own executors, and MCP servers can be added to it."


# -- what comes in


class Part(BaseModel):
    """A piece of a message. Only text is read."""

    type: str = Field(max_length=64)
    text: str = Field("", max_length=_LONG)


class Spoken(BaseModel):
    """One message of the talk."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")

    @property
    def other(self) -> list[str]:
        """What is in it besides text."""
        return [part.type for part in self.content if part.type != "text"] if isinstance(self.content, list) else []


class StreamOptions(BaseModel):
    include_usage: bool = False


class Format(BaseModel):
    type: str = Field("text", max_length=64)


class Asked(BaseModel):
    """A request as chat clients send it. What is not named here is ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(max_length=200)
    messages: list[Spoken] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    user: str = Field("", max_length=512)
    metadata: dict[str, str] | None = Field(None, max_length=16)
    n: int | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: Format | None = None
    modalities: list[str] | None = None
    logprobs: bool | None = None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


def request_of(asked: Asked) -> str:
    """The words that a turn begins with. Raises `UsageError` on what cannot be done."""
    _refuse_no_text(asked)
    _refuse(asked)
    last = asked.messages[-1]
    if last.role != "user":
        raise UsageError("the last message must be the user's", fix="Send the talk up to what is asked now.")
    if last.other:
        what = ", ".join(sorted(set(last.other)))
        raise UsageError(f"Metnos reads text, and not {what}", fix="Save it as a file, and name the file.")
    text = last.text.strip()
    if not text:
        raise UsageError("there is nothing to do: the request is empty", fix="Say what you want done.")
    if len(text) > LONGEST:
        raise UsageError(f"the request is longer than {LONGEST:,} characters", fix="Put the text into a file.")
    return text


def _refuse_no_text(asked: Asked) -> None:
    """JSON can name halves of characters; no text holds them."""
    said = (asked.model, asked.user, *(asked.metadata or {}).items(), *(each.text for each in asked.messages))
    try:
        "".join(each if isinstance(each, str) else "".join(each) for each in said).encode()
    except UnicodeEncodeError:
        raise UsageError("this is no text", fix="Leave out what is no character.") from None


def _refuse(asked: Asked) -> None:
    if asked.n is not None and asked.n != 1:
        raise UsageError("there is one answer, for something is done only once", fix="Leave `n` away.")
    if asked.tools or asked.functions:
        raise UsageError("Metnos does not call the tools of a client", fix=_NO_TOOLS)
    if asked.response_format is not None and asked.response_format.type != "text":
        raise UsageError("an answer is text, and follows no schema", fix="Leave `response_format` away.")
    if asked.modalities and set(asked.modalities) != {"text"}:
        raise UsageError("an answer is text", fix="Leave `modalities` away.")
    if asked.logprobs:
        raise UsageError("an answer has no probabilities: it says what was done", fix="Leave `logprobs` away.")


# -- what goes out


class Model(BaseModel):
    """A model that a client can choose."""

    id: str
    object: Literal["model"] = "model"
    created: int = 1_767_225_600  # the beginning of 2026: models are not made, but clients want a time
    owned_by: str = "metnos"


class Models(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


class Said(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    reasoning_content: str = ""
    refusal: str | None = None


class Choice(BaseModel):
    index: int = 0
    message: Said
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(BaseModel):
    """What the turn's own language model took: nothing where none was needed."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(BaseModel):
    """The answer. ``metnos`` has the turn, how it ended, what `metnos undo` takes, and the question that waits."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    metnos: dict[str, Any]


class Fault(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class Wrong(BaseModel):
    """What went wrong, in OpenAI's shape."""

    error: Fault


@dataclass(frozen=True, slots=True)
class Ended:
    """How a turn ended, for a chat client."""

    text: str
    usage: dict[str, int]
    facts: dict[str, Any]


def ended(message: Mapping[str, Any], trace: Trace) -> Ended:
    """The answer of a turn, with what its record says."""
    text, waits = str(message["text"]), trace.item if message["state"] == State.WAITING else ""
    if waits:
        text += f"\n\nIt is in the inbox. To approve it: metnos inbox approve {waits} (or on the page, under Inbox)."
    sent, made = (sum(getattr(call, name) for call in trace.calls) for name in ("input_tokens", "output_tokens"))
    usage = {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}
    facts = {"turn": message["turn"], "state": message["state"], "undo": list(message["undo"]), "waits": waits or None}
    return Ended(text, usage, facts)


def completion(run: str, created: int, asked: Asked, done: Ended, thoughts: str) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": done.text, "reasoning_content": thoughts, "refusal": None},
        "finish_reason": "stop",
        "logprobs": None,
    }
    head = {"id": f"chatcmpl-{run}", "object": "chat.completion", "created": created, "model": asked.model}
    return {**head, "choices": [choice], "usage": done.usage, "metnos": done.facts}


def chunk(
    run: str, created: int, asked: Asked, choices: Sequence[Mapping[str, Any]], more: Mapping[str, Any]
) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{run}", "object": "chat.completion.chunk", "created": created, "model": asked.model}
    return {**head, "choices": list(choices), **more}


def pieces(text: str) -> Iterator[str]:
    """An answer in parts that a client can show as they come."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


class Progress:
    """What a client is told while a turn goes on."""

    def __init__(self) -> None:
        self._talking = False  # in the middle of a language model's own words

    def told(self, message: Mapping[str, Any]) -> str:
        """An event in words; nothing for what says nothing."""
        if message["event"] == "Text":
            self._talking = True
            return str(message["delta"])
        line = _line(message)
        before, self._talking = ("\n" if self._talking and line else ""), self._talking and not line
        return f"{before}{line}\n" if line else ""


def _line(message: Mapping[str, Any]) -> str:
    kind = message["event"]
    if kind == "Thinking":
        return f"{message['model']}: {message['what']}"
    if kind == "Planned":
        return f"plan: {', '.join(message['executors'])}" if message["executors"] else ""
    if kind == "StepStarted":
        return f"{message['executor']}: {message['title']}" if message["title"] else str(message["executor"])
    if kind == "StepDone":
        how = "done" if message["ok"] else "failed"
        said = f": {message['message']}" if message["message"] else ""
        return f"{message['executor']} {how} in {message['wall_ms']:.0f} ms{said}"
    return str(message["what"]) if kind == "Waiting" else ""


# -- what goes wrong


def wrong(error: MetnosError, status: int) -> dict[str, Any]:
    return _fault(f"{error.what}. {error.fix}" if error.fix else error.what, status, type(error).__name__)


def malformed(errors: Sequence[Any]) -> dict[str, Any]:
    """What is not as OpenAI's documentation says."""
    said = "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}" for each in errors[:5])
    place = ".".join(map(str, errors[0]["loc"][1:])) if errors else ""
    return _fault(f"the request is not as it has to be: {said}", 400, "malformed", place or None)


def _fault(message: str, status: int, code: str, param: str | None = None) -> dict[str, Any]:
    clean = message.encode("utf-8", "replace").decode()
    return {"error": {"message": clean, "type": _TYPES.get(status, "server_error"), "param": param, "code": code}}
