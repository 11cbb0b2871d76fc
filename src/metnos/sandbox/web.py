"""The web half of the broker: speaks HTTP for an executor, from outside the sandbox.

A request is read strictly, the policy is asked about method and host by its name, the host is looked up once, the
policy is asked about those very addresses, and only then a line is opened, to one of them. Every redirect starts over,
from the reading to the questions.

Rules: HTTP/1.1, one connection for one request; certificates are verified against the host that was asked for; nothing
comes from the environment (no proxy, no .netrc) and nothing is kept (no cookies, no cache); head, body, redirects and
the time of the whole trip are bounded. Errors name the host and never the rest of the address, which may hold a secret.
Names of this machine are never looked up. A lookup that hangs is given up on, and ends whenever the system's resolver
ends it.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpcore

from metnos.core.errors import ExecutorFailed
from metnos.law.capability import Capability
from metnos.law.need import Need, Place, literal, place_of_host
from metnos.sandbox import web_body, web_head, web_url
from metnos.sandbox.web_line import Lines, Meter
from metnos.sandbox.web_url import Url

Resolve = Callable[[str, int], list[str]]
Allow = Callable[[str, str, list[str]], Need]
Screen = Callable[[str, str], None]

MOST_SENT = 16 * 1024 * 1024
MOST_RECEIVED = 64 * 1024 * 1024

_HERE = ("127.0.0.1", "::1")
_MOST_ADDRESSES = 32
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered. ``url`` is where the answer came from; ``truncated`` says that the body was cut."""

    status: int
    headers: dict[str, str]
    body: bytes
    url: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Request:
    """One hop of a trip."""

    method: str
    url: Url
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Terms:
    """What holds for a whole trip."""

    max_bytes: int
    deadline: float
    allow: Allow
    screen: Screen


def resolve_host(host: str, port: int) -> list[str]:
    """The system's resolver: every address of a host, in the system's order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Web:
    """Fetches for executors. Holds no state between calls, so that several threads may share one."""

    def __init__(
        self,
        resolve: Resolve = resolve_host,
        timeout_s: float = 20.0,
        max_redirects: int = 5,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._resolve = resolve
        self._timeout_s = timeout_s
        self._max_redirects = max_redirects
        self._tls = tls

    def fetch(
        self,
        method: str,
        url: str,
        headers: Mapping[str, Any],
        body: bytes = b"",
        *,
        max_bytes: int,
        allow: Allow,
        screen: Screen,
        timeout_s: float | None = None,
    ) -> Fetched:
        """Fetch ``url``. ``screen`` (before the lookup) and ``allow`` (after it) raise when a hop is not permitted.

        Raises `ExecutorFailed`, or whatever ``allow`` and ``screen`` raise. ``timeout_s`` can only shorten the trip.
        """
        if type(max_bytes) is not int or max_bytes < 0:
            raise ExecutorFailed("max_bytes must be a whole number that is not negative", kind="invalid")
        name = web_head.check_method(method, body, MOST_SENT)
        request = _Request(name, web_url.parse(url), web_head.check_headers(headers), body)
        time_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        terms = _Terms(min(max_bytes, MOST_RECEIVED), time.monotonic() + time_s, allow, screen)
        for _ in range(self._max_redirects + 1):
            answer = self._hop(request, terms)
            if isinstance(answer, Fetched):
                return answer
            request = answer
        raise ExecutorFailed(f"{request.url.host} was the end of too many redirects", fix="Use the final address.")

    # -- one hop

    def _hop(self, request: _Request, terms: _Terms) -> Fetched | _Request:
        url = request.url
        terms.screen(url.host, request.method)
        meter = Meter(url.host, terms.deadline)
        addresses = self._addresses(url, meter)
        need = terms.allow(url.host, request.method, list(addresses))
        if (need.capability, need.target, need.verb) != (Capability.NET_HTTP, url.host, request.method):
            raise ExecutorFailed(f"what was allowed is not a {request.method} to {url.host}", kind="not_permitted")
        connection = httpcore.HTTPConnection(
            httpcore.Origin(url.scheme.encode("ascii"), url.host.encode("ascii"), url.port),
            ssl_context=self._verifying() if url.scheme == "https" else None,
            network_backend=Lines(need, url.port, addresses, meter),
        )
        try:
            return _exchange(connection, request, terms, meter)
        except (httpcore.RemoteProtocolError, httpcore.LocalProtocolError) as error:
            raise ExecutorFailed(f"{url.host} does not answer as a web server should: {error}") from error
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise ExecutorFailed(f"the connection to {url.host} broke off", kind="unavailable") from error
        finally:
            connection.close()

    def _addresses(self, url: Url, meter: Meter) -> tuple[str, ...]:
        """Where the host is; looked up here and nowhere else."""
        if literal(url.host) is not None:
            return (url.host,)
        if place_of_host(url.host) is Place.HOME:  # some resolvers would ask others for what stands before `localhost`
            return _HERE
        try:
            found = _in_time(lambda: self._resolve(url.host, url.port), meter)
        except (OSError, UnicodeError) as error:
            raise ExecutorFailed(
                f"there is no host {url.host}, or it cannot be looked up", kind="unavailable"
            ) from error
        if not found:
            raise ExecutorFailed(f"the host {url.host} has no address", kind="unavailable")
        if len(found) > _MOST_ADDRESSES:
            raise ExecutorFailed(f"the host {url.host} has too many addresses")
        return tuple(found)

    def _verifying(self) -> ssl.SSLContext:
        """Verifies against the system's authorities; made once, because reading them takes a while."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.minimum_version = ssl.TLSVersion.TLSv1_2  # some systems' own setting allows less
        return self._tls


def _exchange(
    connection: httpcore.HTTPConnection, request: _Request, terms: _Terms, meter: Meter
) -> Fetched | _Request:
    """Send one request; the answer, or the request that a redirect asks for."""
    url, method = request.url, request.method
    place = httpcore.URL(
        scheme=url.scheme.encode("ascii"),
        host=url.host.encode("ascii"),
        port=url.port,
        target=url.target.encode("ascii"),
    )
    headers = web_head.request_headers(url, method, request.headers, request.body)
    content = request.body if method not in web_head.BODILESS else None
    with connection.stream(method, place, headers=headers, content=content) as response:
        meter.in_body = True
        if response.status == 101:
            raise ExecutorFailed(f"{url.host} wants to speak another protocol than HTTP")
        location = web_head.first(response.headers, "location") if response.status in _REDIRECTS else ""
        if location:
            return _redirected(request, response.status, location)
        packed = "" if method == "HEAD" else _coding(response.headers, url.host)
        body, cut = web_body.collect(response.iter_stream(), packed, terms.max_bytes, url.host)
        shown = web_head.shown_headers(response.headers, unpacked=bool(packed))
        return Fetched(response.status, shown, body, url.text, cut)


def _coding(raw: web_head.Raw, host: str) -> str:
    every = [value.decode("latin-1") for name, value in raw if name.lower() == b"content-encoding"]
    return web_body.coding(",".join(every), host)


def _redirected(request: _Request, status: int, location: str) -> _Request:
    """The next hop. 303 asks for a GET, and so do 301 and 302 after a POST, as everybody reads them."""
    url = web_url.follow(request.url, location)
    turns = (status == 303 and request.method != "HEAD") or (status in (301, 302) and request.method == "POST")
    method = "GET" if turns else request.method
    keeps_body = method not in web_head.BODILESS
    if keeps_body and (request.url.scheme, url.scheme) == ("https", "http"):
        raise ExecutorFailed(
            f"{request.url.host} wants what was sent to it encrypted to be sent again in the clear",
            kind="not_permitted",
        )
    headers = web_head.headers_after(
        request.headers, same_origin=url.origin == request.url.origin, keeps_body=keeps_body
    )
    return replace(request, method=method, url=url, headers=headers, body=request.body if keeps_body else b"")


def _in_time(look: Callable[[], list[str]], meter: Meter) -> list[str]:
    """The system's resolver knows no deadline, so it runs beside and is left alone when the time is up."""
    answers: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(look())
        except Exception as error:  # noqa: BLE001 -- it is raised again, where somebody waits for it
            answers.put(error)

    threading.Thread(target=work, name="metnos-resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=meter.left())
    except queue.Empty:
        raise meter.overdue() from None
    if isinstance(answer, Exception):
        raise answer
    return answer
