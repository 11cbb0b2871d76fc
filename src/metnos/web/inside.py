"""The API, asked by a page from inside the same process: an ASGI call with no network between.

Rules: only GET, so rendering a page can change nothing. The one who asked for the page asks here too: their identity,
as the guard found it, is passed on and nothing else of theirs is. Ids come into a path as they are: no escape in one
can become a slash or a query. Does not guarantee an answer in time: the server's own limits hold for the whole page.
"""

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.types import ASGIApp

WHO, TOKEN, MARK = "metnos.who", "metnos.token", "metnos.inside"
_PASSED_ON = (WHO, TOKEN, "asgi", "http_version", "scheme", "server", "client", "state")
_FINE = range(200, 300)


class Answer(Exception):
    """The API did not give what a page asked for: its status, and what it says about it."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{status}: {problem.get('what', '')}")
        self.status = status
        self.problem = {key: str(problem.get(key) or "") for key in ("type", "what", "fix")}


class Inside:
    """Asks the API ``api`` on behalf of whoever asked for a page."""

    def __init__(self, api: ASGIApp) -> None:
        self._api = api

    async def get(self, request: Request, path: str, **query: Any) -> Any:
        """What the API answers to GET ``path``; arguments that are nothing are left out. Else raises `Answer`."""
        status, body = await self._call(_scope(request, path, query))
        try:
            said = json.loads(body)
        except ValueError:
            said = {"error": {"what": "the API gave no answer that can be read"}}
            status = status if status not in _FINE else 502
        if status not in _FINE:
            problem = said.get("error") if isinstance(said, dict) else None
            raise Answer(status, problem if isinstance(problem, dict) else {})
        return said

    async def _call(self, scope: MutableMapping[str, Any]) -> tuple[int, bytes]:
        status, parts = 500, []
        asked = False

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if asked:
                await asyncio.Future()  # nobody hangs up before the answer is there
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        try:
            await self._api(scope, receive, send)
        except Exception:  # the border to the API: it has told its mistake as an answer, and logged it
            if not parts:
                raise
        return status, b"".join(parts)


def _scope(request: Request, path: str, query: Mapping[str, Any]) -> MutableMapping[str, Any]:
    asked = [(key, _plain(each)) for key, value in query.items() for each in _each(value)]
    host = request.headers.get("host", "")
    headers = [(b"host", host.encode("latin-1")), (b"accept", b"application/json")]
    return {
        **{key: request.scope[key] for key in _PASSED_ON if key in request.scope},
        MARK: True,
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": quote(path, errors="surrogatepass").encode("ascii"),
        "root_path": "",
        "query_string": urlencode(asked, errors="surrogatepass").encode("ascii"),
        "headers": headers,
    }


def _each(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
