"""Which requests come in. Pure: what is asked about is given, and nothing is looked up.

Rules: a request names one of our own hosts, else a page of somebody else's has had its name pointed at us; whatever
changes something comes from a page of ours, by the browser's own word, and brings what only a page of ours knows;
programs bring a secret that no browser sends by itself, and reach what is listed for them (`FOR_PROGRAMS`) and nothing
else: a new address is closed to them.
"""

import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from metnos.core.canon import sha256_hex
from metnos.core.content_policy import policy

COOKIE = "metnos"
HEADER = "x-metnos-token"
LONGEST_BODY = 2 << 20  # bytes
LONGEST_URL = 8192
SAFE = frozenset({"GET", "HEAD"})
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
OPEN = ("/static/", "/enter", "/pair", "/favicon.ico", "/locked")  # need nobody to be signed in
FOR_PROGRAMS = {  # docs/web.md has the same list; a * stands for one part of an address
    "/api/status": ("GET",),
    "/api/events": ("GET",),
    "/api/openapi.json": ("GET",),
    "/api/turns": ("GET", "POST"),
    "/api/turns/*": ("GET",),
    "/api/runs": ("GET",),
    "/api/runs/*/events": ("GET",),
    "/api/runs/*/cancel": ("POST",),
    "/api/inbox": ("GET",),
    "/api/inbox/*": ("GET",),
    "/v1/models": ("GET",),
    "/v1/models/*": ("GET",),
    "/v1/chat/completions": ("POST",),
    "/mcp": ("GET", "POST", "DELETE"),
}
_PROGRAM_ROUTES = {tuple(path.split("/")): methods for path, methods in FOR_PROGRAMS.items()}
Headers = Mapping[str, Sequence[str]]  # names in lower case; each value as it came
_SECRET = re.compile(r"[A-Za-z0-9_-]{40,64}")

Given = tuple[tuple[bytes, bytes], ...]
HEADERS: Given = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", policy().encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
# Whoever opened this window has no hold on it. A browser starts a new process for that, which takes longer than the
# page: so it is not said where the browser's own word is that nobody of elsewhere opened it.
ALONE = (*HEADERS, (b"cross-origin-opener-policy", b"same-origin"))


@dataclass(frozen=True)
class Place:
    """Where we are reached: the names of ours, and whether the way is encrypted."""

    port: int
    hosts: tuple[str, ...]  # as a browser writes them, without a port; those with one are taken as they are
    secure: bool = False

    @cached_property
    def names(self) -> frozenset[str]:
        ours = {name if has_port(name) else f"{name}:{self.port}" for name in self.hosts}
        standard = 443 if self.secure else 80
        bare = {name for name in self.hosts if self.port == standard or self.secure}
        return frozenset(ours | bare)

    @cached_property
    def origins(self) -> frozenset[str]:
        scheme = "https" if self.secure else "http"
        return frozenset(f"{scheme}://{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class No:
    """Why a request does not come in."""

    status: int
    what: str
    fix: str = ""

    @property
    def closes(self) -> bool:
        """Whether the connection ends with it: where the next request would begin cannot be known."""
        return self.status in (408, 413)


def refused_as_such(place: Place, method: str, path: str, query: bytes, headers: Headers) -> No | None:
    """What is wrong with a request whoever sends it."""
    hosts = headers.get("host", ())
    if len(hosts) != 1 or hosts[0].lower() not in place.names:
        return No(421, "this is not a name of ours", "Use the address that `metnos open` prints.")
    if method not in METHODS:
        return No(405, f"{method[:20]} is nothing that can be done here")
    if len(path) + len(query) > LONGEST_URL:
        return No(414, "the address is too long")
    if "\0" in path or "\\" in path or "//" in path or "/../" in f"{path}/" or "/./" in f"{path}/":
        return No(400, "this is no address of ours")
    lengths = headers.get("content-length", ())
    if len(lengths) > 1 or any(not each.isdecimal() for each in lengths):
        return No(400, "the length of the request is not clear")
    if lengths and int(lengths[0]) > LONGEST_BODY:
        return No(413, f"the request is longer than {LONGEST_BODY:,} bytes", "Send less at once.")
    return None


def refused_from_page(place: Place, method: str, headers: Headers, token: str) -> No | None:
    """What is wrong with a request that a browser sends with its cookie."""
    sites = headers.get("sec-fetch-site", ())
    site = sites[0] if sites else ""
    if len(sites) > 1 or site not in ("", "same-origin", "none"):
        return No(403, "another page sent this", "Open Metnos in a window of its own.")
    if method in SAFE:
        return None
    origins = headers.get("origin", ())
    if site == "none" or (origins and any(each not in place.origins for each in origins)):
        return No(403, "another page sent this", "Open Metnos in a window of its own.")
    if not origins and site != "same-origin":
        return No(403, "it is not said which page sent this", "Use the page itself, or a program's own secret.")
    given = headers.get(HEADER, ("",))[0]
    if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        return No(403, "the page is too old, or this is none of ours", "Load the page again.")
    return None


def inert(headers: Headers) -> Given:
    """What every answer carries, so that foreign content does nothing."""
    return HEADERS if tuple(headers.get("sec-fetch-site", ())) in (("none",), ("same-origin",)) else ALONE


def carried(given: Iterable[tuple[bytes, bytes]], more: Given) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with those that it has not said itself."""
    said = list(given)
    names = {name.lower() for name, _ in said}
    return [*said, *((name, value) for name, value in more if name not in names)]


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether a page that is none of ours led here, by the browser's own word."""
    return any(each not in ("same-origin", "none") for each in headers.get("sec-fetch-site", ()))


def refused_content(method: str, headers: Headers) -> No | None:
    """A form of a foreign page cannot send JSON; nothing else is taken."""
    if method in SAFE or (method == "DELETE" and not headers.get("content-type")):
        return None
    kind = headers.get("content-type", ("",))[0].partition(";")[0].strip().lower()
    if kind != "application/json":
        return No(415, "only JSON is taken", "Send it with the content type application/json.")
    return None


def is_open(path: str) -> bool:
    """Whether it may be had by somebody who is not signed in."""
    return any(path.startswith(each) if each.endswith("/") else path == each for each in OPEN)


def is_for_programs(method: str, path: str) -> bool:
    """Whether a program may ask that with its secret: only what is listed."""
    parts = tuple(path.removesuffix("/").split("/"))
    wanted = "GET" if method == "HEAD" else method
    return any(
        len(route) == len(parts)
        and wanted in methods
        and all(each == part or (each == "*" and part) for each, part in zip(route, parts, strict=True))
        for route, methods in _PROGRAM_ROUTES.items()
    )


def cookie(headers: Headers) -> str:
    """The secret in the cookie; none where there is more than one, for one of them is not ours."""
    found = [
        value.strip()
        for line in headers.get("cookie", ())
        for name, _, value in (part.partition("=") for part in line.split(";"))
        if name.strip() == COOKIE
    ]
    return found[0] if len(found) == 1 and _SECRET.fullmatch(found[0]) else ""


def bearer(headers: Headers) -> str:
    """The secret of a program."""
    given = headers.get("authorization", ())
    kind, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return secret.strip() if kind.lower() == "bearer" and _SECRET.fullmatch(secret.strip()) else ""


def token_of(secret: str) -> str:
    """What a page has to send back: follows from the secret that no page can read, and does not tell it."""
    return sha256_hex(b"page token\0" + secret.encode())[:43]


def set_cookie(secret: str, place: Place, seconds: int) -> str:
    secure = "; Secure" if place.secure else ""
    return f"{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}"


def has_port(name: str) -> bool:
    return re.search(r":\d+$", name) is not None and not name.endswith("]")
