"""Anthropic's protocol, and what differs between servers; the rest of the wire is tested through `test_remote`."""

import json
from typing import Any

import pytest

from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings
from metnos.models.chat import Message, Prompt
from metnos.models.patience import Patience
from metnos.models.remote import Remote
from models.server import Talk, fails, serving

pytestmark = pytest.mark.slow  # the library takes a second or two to load

KEY = "sk-ant-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]}
PROMPT = Prompt("The constant prefix.", (Message("user", "hello"),), max_tokens=64)


def claude(*words: str, reason: str | None = "end_turn") -> Any:
    def act(talk: Talk) -> None:
        talk.head()
        usage = {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 100}
        usage["cache_creation_input_tokens"] = 1000
        message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage,
                   "stop_reason": None, "stop_sequence": None}  # fmt: skip
        talk.event({"type": "message_start", "message": message}, "message_start")
        start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        talk.event(start, "content_block_start")
        for word in words:
            delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
            talk.event(delta, "content_block_delta")
        if reason is None:
            return
        talk.event({"type": "content_block_stop", "index": 0}, "content_block_stop")
        end = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
               "usage": {"output_tokens": 5}}  # fmt: skip
        talk.event(end, "message_delta")
        talk.event({"type": "message_stop"}, "message_stop")

    return act


def anthropic(url: str, **values: Any) -> Remote:
    settings = ModelSettings(provider="anthropic", url=url, name="claude-haiku-4-5", timeout_s=60.0, **values)
    return Remote(settings, lambda: KEY, patience=Patience(0))


def test_the_constant_prefix_is_cached_and_paid_for_as_such() -> None:
    heard: list[str] = []
    with serving(claude("Hel", "lo")) as running:
        reply = anthropic(running.url[:-3], price_in=10.0, price_out=100.0).ask(PROMPT, heard.append)
    assert (reply.text, heard, reply.model) == ("Hello", ["Hel", "lo"], "claude")
    (seen,) = running.seen
    assert seen.path.startswith("/v1/messages")
    assert seen.body["system"] == [
        {"type": "text", "text": "The constant prefix.", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    ]
    assert "cache_control" not in json.dumps(seen.body["messages"])
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (1110, 5, 100)
    assert reply.usage.usd == pytest.approx((10 * 10 + 1000 * 12.5 + 100 * 1 + 5 * 100) / 1e6)


def test_only_our_key_and_headers_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "other-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-token")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Other: other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    with serving(claude("ok")) as running:
        anthropic(running.url[:-3]).ask(PROMPT)
    headers = running.seen[0].headers
    assert headers["x-api-key"] == KEY
    assert "authorization" not in headers
    assert "other" not in json.dumps(headers)


def test_data_is_asked_for_in_words_so_that_free_objects_survive() -> None:
    with serving(claude('{"a": {"anything": [1]}}')) as running:
        reply = anthropic(running.url[:-3]).ask(Prompt("s", PROMPT.messages, SCHEMA, max_tokens=64))
    assert reply.data == {"a": {"anything": [1]}}
    assert '"required":["a"]' in json.dumps(running.seen[0].body["messages"]).replace("\\", "")


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (claude("half", reason=None), "broken"),
        (claude("", reason="end_turn"), "empty"),
        (claude("", reason="refusal"), "refused"),
        (fails(401), "key"),
        (fails(529), "unreachable"),
    ],
)
def test_what_goes_wrong_is_named_there_too(act: Any, kind: str) -> None:
    with serving(act) as running, pytest.raises(ModelError) as caught:
        anthropic(running.url[:-3]).ask(PROMPT)
    assert caught.value.kind == kind, caught.value.what


def test_without_a_key_nothing_is_sent() -> None:
    with serving(claude("ok")) as running, pytest.raises(ModelError, match="needs a key"):
        Remote(ModelSettings(provider="anthropic", url=running.url, name="claude-haiku-4-5")).ask(PROMPT)
    assert running.seen == []


def test_its_own_address_is_outside() -> None:
    assert Remote(ModelSettings(provider="anthropic", name="claude-haiku-4-5")).outside
