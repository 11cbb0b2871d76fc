"""An embedder behind a server that speaks the OpenAI protocol: ``POST /v1/embeddings``.

Rules: no proxy of the environment and no redirect takes a text or the key to another place than the settings name;
the key is asked for at the first call and never shown; an answer is bounded, counted and checked before it is used.
What goes wrong is a `ModelError` that names the address and not the texts.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from metnos.core.errors import ModelError
from metnos.models.embed import Preparation, Probed, Space, broken, unit_rows

if TYPE_CHECKING:
    from metnos.models.embed import Vectors

_PREPARATION = Preparation(characters=8000)  # about 2000 tokens: what the smallest of the usual models can read
_BATCH = 64
_TIMEOUT_S = 60.0
_MOST_BYTES = 64 << 20
_REASONS = {
    401: ("key", "it does not accept the key", "metnos config set embed.key env:VARIABLE"),
    403: ("key", "it does not accept the key", "metnos config set embed.key env:VARIABLE"),
    404: (
        "missing",
        "it has no embeddings there, or no such model",
        "Correct embed.url (it ends in /v1) or embed.name",
    ),
    429: ("unreachable", "it is asked too often", "Wait a little and try again"),
}


class _StayPut(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Server(Probed):
    """Vectors from a server. ``secret`` gives its key, or nothing if it needs none."""

    def __init__(self, url: str, name: str, *, secret: Callable[[], str], timeout_s: float = _TIMEOUT_S) -> None:
        self._url = url.rstrip("/")
        self._name = name
        self._secret = secret
        self._timeout_s = timeout_s
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        prepared = [_PREPARATION.apply(text) for text in texts]
        if not prepared:
            return np.empty((0, self.space.dim), dtype=np.float32)
        return np.concatenate([self._batch(batch) for batch in _batches(prepared)])

    def _batch(self, texts: list[str]) -> "Vectors":
        answer = self._post({"model": self._name, "input": texts, "encoding_format": "float"})
        try:
            rows = [row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row["index"]))]
            served = str(answer.get("model") or self._name)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise broken(f"{self._url} gave something else than vectors") from None
        return self._checked(unit_rows(rows, len(texts)), served)

    def _checked(self, rows: "Vectors", served: str) -> "Vectors":
        """One server, one space: if it changes its model while we run, nothing of it can be compared any more."""
        space = Space(self._name, served, _PREPARATION.hash, rows.shape[1])
        with self._lock:
            if self._space is None:
                self._space = space
        if space != self._space:
            raise broken(f"{self._url} changed its model in between")
        return rows

    def _post(self, body: dict[str, Any]) -> Any:
        if not self._url or not self._name:
            raise ModelError(
                "the embedder's server or model is not named",
                kind="missing",
                fix="metnos config set embed.url http://127.0.0.1:11434/v1 and embed.name NAME",
            )
        secret = self._secret()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        sent = json.dumps(body).encode()
        request = Request(f"{self._url}/embeddings", data=sent, headers=headers, method="POST")  # noqa: S310 -- http(s) only: the setting's pattern
        # Built for each call: no proxy from the environment may carry the request out of the house.
        opener = build_opener(ProxyHandler({}), _StayPut)
        try:
            with opener.open(request, timeout=self._timeout_s) as answer:
                read = answer.read(_MOST_BYTES + 1)
        except (URLError, HTTPException, OSError, ValueError) as error:
            raise self._failure(error) from None
        if len(read) > _MOST_BYTES:
            raise broken(f"{self._url} answered with more than {_MOST_BYTES >> 20} MB")
        try:
            return json.loads(read)
        except (ValueError, RecursionError):
            raise broken(f"{self._url} did not answer in JSON") from None

    def _failure(self, error: Exception) -> ModelError:
        if isinstance(error, HTTPError):
            error.close()
            kind, why, fix = _REASONS.get(error.code, ("broken", f"HTTP {error.code}", "Look at the server's own log"))
            if 300 <= error.code < 400:
                why, fix = "it points elsewhere, which is not followed", "Name the right address in embed.url"
            return ModelError(f"the embedder at {self._url} refused: {why}", kind=kind, fix=fix)
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            return ModelError(
                f"the embedder at {self._url} did not answer within {self._timeout_s:g} s",
                kind="timeout",
                fix="Look whether the server is busy, or set embed.kind to builtin",
            )
        shown = getattr(reason, "strerror", None) or type(reason).__name__
        return ModelError(
            f"the embedder at {self._url} cannot be reached: {shown}",
            kind="unreachable",
            fix="Start the server, or correct embed.url",
        )


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _BATCH):
        yield texts[start : start + _BATCH]
