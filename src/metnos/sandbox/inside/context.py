"""``ctx``: what an executor's code gets to work with. Every method is a question to the broker outside."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing them would double the time of a cold start
    from datetime import datetime
    from typing import Any, NoReturn

    from metnos.sandbox.inside.child import Channel, Nowhere


class Failure(Exception):
    """Something did not succeed: ``kind`` is one of the closed error classes, ``message`` is for a person."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Response:
    """What a web server answered."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes, url: str, truncated: bool) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
        self.truncated = truncated


class Context:
    """The executor's side of the broker."""

    Failure = Failure

    def __init__(self, talk: Channel | Nowhere, facts: dict[str, Any]) -> None:
        self._talk = talk
        self.dry_run: bool = facts["dry_run"]
        self.limit: int = facts["limit"]
        self.workspace: str = facts["workspace"]
        self._facts = facts

    @property
    def now(self) -> datetime:
        """The time of the call, in the owner's time zone."""
        from datetime import datetime, timedelta, timezone

        zone = timezone(timedelta(seconds=self._facts["utc_offset_s"]))
        return datetime.fromtimestamp(self._facts["now"], zone)

    def write(self, path: str, data: str | bytes, overwrite: bool = False, append: bool = False) -> Any:
        """Make a file, or with ``overwrite`` or ``append`` change one."""
        encoded = {"text": data} if isinstance(data, str) else {"base64": _base64(data)}
        return self._ask("write", {"path": str(path), "overwrite": overwrite, "append": append, **encoded})

    def put(self, path: str, local: str, overwrite: bool = False) -> Any:
        """A file made under /tmp becomes ``path``."""
        descriptor = os.open(local, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            return self._ask("put", {"path": str(path), "overwrite": overwrite}, descriptor)
        finally:
            os.close(descriptor)

    def make_folder(self, path: str) -> Any:
        return self._ask("make_folder", {"path": str(path)})

    def move(self, source: str, target: str, overwrite: bool = False) -> Any:
        return self._ask("move", {"source": str(source), "target": str(target), "overwrite": overwrite})

    def copy(self, source: str, target: str, overwrite: bool = False) -> Any:
        return self._ask("copy", {"source": str(source), "target": str(target), "overwrite": overwrite})

    def trash(self, path: str) -> Any:
        return self._ask("trash", {"path": str(path)})

    def look(self, path: str) -> Any:
        """What is at a path that this call may change, or beside it: ``kind`` (``missing`` if nothing) and ``size``."""
        return self._ask("look", {"path": str(path)})

    def http(
        self,
        method: str,
        url: str,
        headers: dict[str, str] | None = None,
        body: bytes | str | None = None,
        max_bytes: int = 5_000_000,
    ) -> Response:
        """Ask a web server, through the broker's checks."""
        content = body.encode() if isinstance(body, str) else body or b""
        fields = {"method": method, "url": url, "headers": headers or {}, "max_bytes": max_bytes}
        answer = self._ask("http", fields | {"base64": _base64(content)})
        return Response(**answer)

    def call(self, name: str, args: dict[str, Any]) -> Any:
        """Another executor that the manifest names; returns its reply."""
        return self._ask("call", {"name": name, "args": args})

    def chat(self, prompt: str, max_tokens: int = 512) -> str:
        """What the owner's language model answers."""
        return str(self._ask("chat", {"prompt": prompt, "max_tokens": max_tokens}))

    def system(self, what: str) -> Any:
        """Facts about the machine: ``processes``, ``disks`` or ``host``."""
        return self._ask("system", {"what": what})

    def mcp(self, args: dict[str, Any]) -> Any:
        """What the one tool of an MCP server that the manifest names answers: ``entries``, or ``failed`` and why."""
        return self._ask("mcp", {"args": args})

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]:
        """One item that failed, for the list of failures."""
        return {"item": item, "kind": kind, "message": message}

    def fail(self, kind: str, message: str) -> NoReturn:
        """End the whole call with this error class."""
        raise Failure(kind, message)

    def _ask(self, op: str, fields: dict[str, Any], descriptor: int | None = None) -> Any:
        self._talk.say({"op": op, **fields}, descriptor)
        answer = self._talk.hear()
        if answer.get("failed"):
            raise Failure(answer["kind"], answer["message"])
        return answer["value"]


def _base64(data: bytes) -> str:
    import binascii  # only when it is needed: see above

    return binascii.b2a_base64(data, newline=False).decode()
