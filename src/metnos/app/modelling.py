"""Language models for whoever shows and tries them: which serves which tier, and two small questions to measure by.

Rules: an address is told without what could hold a secret; what a key is, nobody is told.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metnos.core.sections_models import ModelSettings
from metnos.models import address
from metnos.models.chat import Chat, Message, Prompt

_QUESTION = "What is the capital of Italy? Answer in one short sentence."
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "letters": {"type": "integer"}},
    "required": ["city", "letters"],
    "additionalProperties": False,
}
QUESTIONS: Mapping[str, Mapping[str, Any] | None] = {"words": None, "data": _CITY}  # asked for, and by which schema


@dataclass(frozen=True, slots=True)
class Measured:
    """One question, and what came of it. Words are timed from the first of them on: before it, a model may start."""

    said: str
    seconds: float
    speaking_s: float
    tokens_in: int
    tokens_out: int


def measured(chat: Chat, schema: Mapping[str, Any] | None) -> Measured:
    """Ask one small question."""
    prompt = Prompt("You are brief.", (Message("user", _QUESTION),), schema, max_tokens=60)
    heard: list[float] = []
    begun = time.monotonic()
    reply = chat.ask(prompt, lambda _: heard.append(time.monotonic()))
    ended, used = time.monotonic(), reply.usage
    speaking = max(ended - (heard[0] if len(heard) > 1 else begun), 0.001)
    return Measured(" ".join(reply.text.split()), ended - begun, speaking, used.input_tokens, used.output_tokens)


def tier_row(tier: str, serving: ModelSettings | None, own: ModelSettings) -> dict[str, Any]:
    """What serves a tier, and where."""
    row: dict[str, Any] = {"tier": tier, "model": "none", "where": "", "provider": None, "url": None, "outside": False}
    if serving is None:
        return row
    name = serving.name or "the first that is listed"
    if not own.configured:
        return row | {"model": name, "where": "as main"}
    if serving.provider == "local":
        return row | {"model": name, "where": "in Metnos itself", "provider": "local"}
    url = serving.url or address.ANTHROPIC
    outside = not address.at_home(url)
    where = f"{address.shown(url)}{' (outside the home)' if outside else ''}"
    return row | {"model": name, "where": where, "provider": serving.provider, "url": url, "outside": outside}
