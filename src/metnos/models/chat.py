"""Asking a language model: the one small protocol, and its records.

Rules: ``system`` is the constant prefix and must be byte-stable, so that servers can cache it; what came from outside
is never in it. A reply that is asked for by schema is parsed and validated. Whatever goes wrong is a `ModelError`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from metnos.core.canon import canonical_json, sha256_hex

OnText = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Message:
    """One message after the system prompt."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is sent for one reply."""

    system: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float = 0.0

    @property
    def digest(self) -> str:
        """What identifies this prompt in a recording."""
        said = [[each.role, each.text] for each in self.messages]
        schema = dict(self.schema) if self.schema is not None else None
        return sha256_hex(canonical_json([self.system, said, schema, self.max_tokens, self.temperature]))


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call, or several together, used."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float = 0.0
    wall_ms: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.usd + other.usd,
            self.wall_ms + other.wall_ms,
        )

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. ``data`` is the parsed JSON if a schema was given; ``cut`` says that it had to stop early."""

    text: str
    data: Any = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cut: bool = False


class Chat(Protocol):
    """A language model. ``outside`` says whether what it is told leaves the home."""

    @property
    def name(self) -> str: ...

    @property
    def outside(self) -> bool: ...

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """One reply. Text is streamed to ``on_text`` as it comes; a reply by schema is not. Raises `ModelError`."""
        ...
