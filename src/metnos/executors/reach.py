"""The ways out of a call beside files: the web, the machine's facts, other executors, the language model, a tool of an
MCP server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from metnos.core.errors import ExecutorFailed
from metnos.executors.capabilities import Tool
from metnos.law.need import Need
from metnos.sandbox.web import Fetched


class Fetching(Protocol):
    """The web, or a recorded double of it. ``screen`` is asked about every host before it is looked up, and ``allow``
    before it is spoken to."""

    def fetch(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        max_bytes: int,
        allow: Callable[[str, str, list[str]], Need],
        screen: Callable[[str, str], None],
        timeout_s: float | None = None,
    ) -> Fetched: ...


class NoWeb:
    """Stands where the web stands in a dry run: nothing leaves the machine before the owner said yes."""

    def fetch(self, method: str, url: str, headers: Mapping[str, str], body: bytes, **_: Any) -> Fetched:  # noqa: ARG002
        raise ExecutorFailed("in a dry run nothing is fetched and nothing sent", kind="unavailable")


AskTool = Callable[[Tool, Mapping[str, Any], float], Any]  # the tool, its arguments, and for how many seconds at most


@dataclass(frozen=True, slots=True)
class Reach:
    """The ways out that a broker has, beside files."""

    web: Fetching
    facts: Callable[[str], list[Any]]
    call: Callable[[str, Mapping[str, Any]], Any]
    chat: Callable[[str, int], str] | None
    decide: Callable[[Need], bool]  # whether a need beyond the permit is one that nobody has to be asked about
    ask_tool: AskTool | None = None
