"""One exchange with a model server, through `pydantic-ai`'s direct API: a question out, a stream of words back.

Rules: one attempt, no retries (`remote` has those); words are handed on as they come; an exchange ends at the deadline,
at a silence between words, at the limit of bytes and where the model only repeats itself. Raises `Broken`, which holds
what was seen and nothing of the library's own errors: those carry requests, and requests carry keys. Heavy: imported
only where a call is made.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from pydantic_ai import messages as said
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition

from metnos.models.chat import Prompt
from metnos.models.line import Course, Line
from metnos.models.rambling import rambles
from metnos.models.veil import Veil, hide

if TYPE_CHECKING:
    from pydantic_ai.settings import ModelSettings

_CONNECT_S = 5.0
_LOOK_EVERY = 400  # characters between two looks at whether it rambles
_SHOWN = 200
_TIGHT = {"x-guidance": {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}}
_OWN_LIMIT_NAME = ("openai.com", "openai.azure.com")  # these want `max_completion_tokens`, all others `max_tokens`


@dataclass(frozen=True, slots=True)
class Target:
    """Where a call goes."""

    provider: str
    url: str
    name: str
    key: str = field(repr=False)
    tls: ssl.SSLContext | None = None
    guided: bool = False  # it takes a grammar of llguidance, so JSON comes without white space: that halves its tokens


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an exchange ends, whatever the server does."""

    total_s: float
    silence_s: float
    text_bytes: int
    wire_bytes: int

    @classmethod
    def of(cls, prompt: Prompt, total_s: float, silence_s: float) -> "Limits":
        # A token is hardly ever longer than 16 bytes; on the wire each of them comes in a frame of a few hundred.
        return cls(total_s, silence_s, 4096 + 16 * prompt.max_tokens, (1 << 20) + 2048 * prompt.max_tokens)


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back. The counts are the server's own claims."""

    text: str
    cut: bool
    refused: bool
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_written: int


class Broken(Exception):
    """An exchange that did not end well; ``why`` is ended, timeout, silence, flood, rambling or error."""

    def __init__(self, why: str, course: Course, message: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.course = course
        self.message = message


def exchange(
    target: Target, prompt: Prompt, *, grammar: bool, limits: Limits, say: Callable[[str], None] | None
) -> Heard:
    """Ask once. Raises `Broken`; what ``say`` raises goes through."""
    return asyncio.run(_exchange(target, prompt, grammar, limits, say))


async def _exchange(
    target: Target, prompt: Prompt, grammar: bool, limits: Limits, say: Callable[[str], None] | None
) -> Heard:
    course = Course()
    listener = _Listener(course, target.key, limits, say)
    broken: Broken
    try:
        async with asyncio.timeout(limits.total_s):
            return await _converse(target, prompt, grammar, course, listener)
    except _Hushed as hushed:
        broken = Broken(hushed.why, course)
    except TimeoutError:
        broken = Broken("timeout", course)
    except _Heckled as heckled:
        raise heckled.error from None
    except Exception as error:  # noqa: BLE001 -- a border: the library and what it stands on raise dozens of kinds
        broken = Broken("flood" if course.fault == "flood" else "error", course, _message(error, target.key))
    raise broken  # out here, so that nothing of the library's error hangs on it


async def _converse(target: Target, prompt: Prompt, grammar: bool, course: Course, listener: "_Listener") -> Heard:
    line = Line(course, _auth(target), target.tls, listener.limits.wire_bytes)
    timeout = httpx2.Timeout(listener.limits.total_s, connect=min(_CONNECT_S, listener.limits.total_s))
    async with httpx2.AsyncClient(transport=line, trust_env=False, follow_redirects=False, timeout=timeout) as http:
        stream = model_request_stream(
            _model(target, http),
            _messages(prompt),
            model_settings=_settings(target, prompt, grammar),
            model_request_parameters=_parameters(target, prompt, grammar),
            instrument=False,
        )
        async with stream as events:
            await listener.listen(aiter(events))
            response = events.get()
    if response.finish_reason is None:
        raise _Hushed("ended")  # the connection did, and the model had not
    usage = response.usage
    return Heard(
        text=listener.text,
        cut=response.finish_reason == "length",
        refused=response.finish_reason == "content_filter",
        model=hide(_whole(response.model_name or target.name), target.key)[:_SHOWN],
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        cache_written=usage.cache_write_tokens,
    )


class _Hushed(Exception):
    """We have heard enough."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class _Heckled(Exception):
    """Whoever listens raised something of their own."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Listener:
    """Takes the events of a stream apart and hands the words on."""

    def __init__(self, course: Course, key: str, limits: Limits, say: Callable[[str], None] | None) -> None:
        self.limits = limits
        self._course = course
        self._veil = Veil(key)
        self._say = say
        self._pieces: list[str] = []
        self._bytes = 0
        self._tail = ""
        self._unseen = 0

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    async def listen(self, events: AsyncIterator[Any]) -> None:
        while True:
            try:
                async with asyncio.timeout(self.limits.silence_s if self._course.spoken else None):
                    event = await anext(events)
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise _Hushed("silence") from None
            words, thought = map(_whole, _words(event))
            if words or thought:
                self._course.spoken = True
                self._weigh(words or thought)
            self._hand_on(self._veil.pass_on(words))
        self._hand_on(self._veil.rest())

    def _weigh(self, piece: str) -> None:
        self._bytes += len(piece.encode(errors="replace"))
        if self._bytes > self.limits.text_bytes:
            raise _Hushed("flood")
        self._tail = (self._tail + piece)[-4 * _LOOK_EVERY :]
        self._unseen += len(piece)
        if self._unseen >= _LOOK_EVERY:
            self._unseen = 0
            if rambles(self._tail):
                raise _Hushed("rambling")

    def _hand_on(self, words: str) -> None:
        if not words:
            return
        self._pieces.append(words)
        if self._say is not None:
            try:
                self._say(words)
            except Exception as error:
                raise _Heckled(error) from error


def _words(event: Any) -> tuple[str, str]:
    """What an event says, and what it only thinks."""
    if isinstance(event, said.PartStartEvent):
        if isinstance(event.part, said.TextPart):
            return event.part.content, ""
        if isinstance(event.part, said.ThinkingPart):
            return "", event.part.content
    if isinstance(event, said.PartDeltaEvent):
        if isinstance(event.delta, said.TextPartDelta):
            return event.delta.content_delta, ""
        if isinstance(event.delta, said.ThinkingPartDelta):
            return "", event.delta.content_delta or ""
    return "", ""


def _whole(text: str) -> str:
    """Text without half characters, which nothing could store or send."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _messages(prompt: Prompt) -> list[said.ModelMessage]:
    asked: list[said.ModelMessage] = []
    if prompt.system:
        asked.append(said.ModelRequest(parts=[said.SystemPromptPart(_whole(prompt.system))]))
    for message in prompt.messages:
        if message.role == "user":
            asked.append(said.ModelRequest(parts=[said.UserPromptPart(_whole(message.text))]))
        else:
            asked.append(said.ModelResponse(parts=[said.TextPart(_whole(message.text))]))
    return asked


def _parameters(target: Target, prompt: Prompt, grammar: bool) -> ModelRequestParameters:
    if prompt.schema is None or not grammar or target.guided:
        return ModelRequestParameters()
    wanted = OutputObjectDefinition(json_schema=dict(prompt.schema), name="reply", strict=False)
    return ModelRequestParameters(output_mode="native", output_object=wanted)


def _settings(target: Target, prompt: Prompt, grammar: bool) -> "ModelSettings":
    settings: dict[str, Any] = {"max_tokens": prompt.max_tokens, "temperature": prompt.temperature}
    if prompt.schema is not None and grammar and target.guided:
        tight = json.dumps({**prompt.schema, **_TIGHT})
        settings["extra_body"] = {"grammar": f"%llguidance {{}}\nstart: %json {tight}"}
    if target.provider == "anthropic":
        settings["anthropic_cache_instructions"] = True
    return settings  # type: ignore[return-value]  # typed dictionaries of the library, chosen by provider


def _auth(target: Target) -> dict[str, str]:
    if not target.key:
        return {}
    return {"x-api-key": target.key} if target.provider == "anthropic" else {"Authorization": f"Bearer {target.key}"}


def _model(target: Target, http: httpx2.AsyncClient) -> Model[Any]:
    """The library's model. It gets no key and nothing from the environment: the line adds what is ours."""
    if target.provider == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(api_key="-", base_url=target.url, http_client=http, max_retries=0)
        return AnthropicModel(target.name, provider=AnthropicProvider(anthropic_client=client))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    asking = AsyncOpenAI(api_key="-", base_url=target.url, http_client=http, max_retries=0)
    own = (httpx2.URL(target.url).host or "").endswith(_OWN_LIMIT_NAME)
    profile = OpenAIModelProfile(
        supports_json_schema_output=True,
        json_schema_transformer=None,
        openai_chat_supports_max_completion_tokens=own,
        openai_chat_streaming_requires_finish_reason=True,  # a stream that ends without one was cut off
    )
    provider = OpenAICompatibleProvider("metnos", openai_client=asking)
    return OpenAIChatModel(target.name, provider=provider, profile=profile)


def _message(error: Exception, key: str) -> str:
    """What the server itself said about it, in one short line and without the key."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    text = inner.get("message") if isinstance(inner, Mapping) else inner
    return hide(_whole(" ".join(text.split())), key)[:_SHOWN] if isinstance(text, str) else ""
