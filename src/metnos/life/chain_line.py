"""The line to a chain's server: one JSON-RPC question, one answer, by the house's own way to the web.

Rules: the law is asked about every address before it is spoken to, each time, and only the address that it was asked
about is spoken to; beyond the home only by https. Redirects are not followed, and nothing comes from the environment.
An answer has a size and a time, and so has a whole piece of work (`Line.within`): a server that talks for ever, or one
byte a second, costs what the owner allowed and no more. Does not guarantee that anything it says is true.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from metnos.core.errors import ExecutorFailed, Refused, SettingsError
from metnos.law.need import Need, http_need, refuse_never
from metnos.sandbox.web import Web, resolve_host

if TYPE_CHECKING:
    from web3.providers.base import JSONBaseProvider
    from web3.types import RPCEndpoint, RPCResponse

Resolve = Callable[[str, int], Sequence[str]]

MOST_BYTES = 32 << 20  # of one answer: the fullest blocks of the fastest chains, with all they did, have a few of these
_HEARD = range(200, 300)


class Line:
    """To one server. For one thread."""

    def __init__(self, url: str, key: str = "", timeout_s: float = 10.0, resolve: Resolve = resolve_host) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError("no chain's server is set", fix="Name one: metnos config set life.rpc ADDRESS")
        self._url, self._open = url, parts.scheme == "http"
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._timeout_s, self._until = timeout_s, float("inf")
        self._web = Web(lambda host, port: list(resolve(host, port)), timeout_s=timeout_s, max_redirects=0)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """All that is asked in here takes no longer than so many seconds together."""
        self._until = time.monotonic() + seconds
        try:
            yield
        finally:
            self._until = float("inf")

    def ask(self, question: bytes) -> bytes:
        """What the server answers. Raises `ExecutorFailed`, or `Refused` where nothing may be asked."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise ExecutorFailed("it took too long altogether", kind="unavailable")
        fetched = self._web.fetch(
            "POST",
            self._url,
            self._headers,
            question,
            max_bytes=MOST_BYTES,
            allow=self._allowed,
            screen=refuse_never,
            timeout_s=min(left, self._timeout_s),
        )
        if fetched.status not in _HEARD:
            raise ExecutorFailed(f"it answered with {fetched.status}", kind="unavailable")
        if fetched.truncated:
            raise ExecutorFailed(f"it said more than {MOST_BYTES >> 20} MB", kind="too_large")
        return fetched.body

    def _allowed(self, host: str, method: str, addresses: list[str]) -> Need:
        need = http_need(host, method, addresses)
        if need.outside and self._open:
            raise Refused(
                f"{host} is outside the home and does not speak https", fix="Use its https address, or one at home."
            )
        return need


def provider(line: Line) -> "JSONBaseProvider":
    """The line as web3 wants it."""
    from web3.providers.base import JSONBaseProvider

    class Provider(JSONBaseProvider):
        def make_request(self, method: "RPCEndpoint", params: Any) -> "RPCResponse":
            said = json.loads(line.ask(self.encode_rpc_request(method, params)))
            if not isinstance(said, dict):  # web3 takes for granted that it is one
                raise ValueError("an answer that is none")
            return cast("RPCResponse", said)

    return Provider()
