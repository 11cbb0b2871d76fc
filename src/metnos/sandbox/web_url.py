"""Web addresses: one strict reading of each, so that what is checked is what is connected to.

Rules: only http and https; no user in an address, no backslash, no white space, no percent sign in a host; a host is in
small letters, IDNA, without a dot at its end; an IP address is written in its one plain way (no octal, no decimal, no
zone); ports that belong to other protocols are refused. What one program would read as this and another as that is
refused, not guessed at. Does not guarantee that the host exists or may be spoken to.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from metnos.core.errors import ExecutorFailed
from metnos.law.need import literal

MOST_CHARACTERS = 8192

_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]@%]+))(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_PATH_SAFE = "/%:@!$&'()*+,;=~"
_QUERY_SAFE = _PATH_SAFE + "?[]|"
# Python's IDNA turns these into other letters where today's registries do not: the name would lead to somebody else.
_AMBIGUOUS = frozenset("\u00df\u03c2\u1e9e\u200c\u200d")
# As browsers have it (the Fetch standard): a request there would be read by a server of another protocol.
_BAD_PORTS = frozenset(
    (0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
     109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526,
     530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045,
     4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Url:
    """One address, taken apart. ``target`` is path and query, ready to be sent."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def text(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse(text: str) -> Url:
    """The address in ``text``, or `ExecutorFailed` of kind ``invalid``."""
    if not text or len(text) > MOST_CHARACTERS:
        raise _invalid(f"it is empty, or longer than {MOST_CHARACTERS} characters")
    if "\\" in text or " " in text or not text.isprintable():
        raise _invalid("it holds a space, a backslash or a character that cannot be seen")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise _invalid("it is malformed") from error
    scheme = parts.scheme
    if scheme not in _PORTS:
        raise _invalid("it does not begin with http:// or https://")
    if "@" in parts.netloc:
        raise _invalid("it names a user or a password before the host")
    found = _AUTHORITY.fullmatch(parts.netloc)
    if found is None:
        raise _invalid("it has no host that can be read in one way only")
    host = _six(found["six"]) if found["six"] else _name(found["name"])
    port = int(found["port"] or _PORTS[scheme])
    if port in _BAD_PORTS or port > 65535:
        raise _invalid(f"port {port} is not for the web")
    path = quote(parts.path or "/", safe=_PATH_SAFE)
    query = quote(parts.query, safe=_QUERY_SAFE)
    return Url(scheme, host, port, f"{path}?{query}" if query else path)


def follow(base: Url, location: str) -> Url:
    """Where a redirect leads; a bad one is not permitted."""
    try:
        return parse(urljoin(base.text, location))
    except (ExecutorFailed, ValueError) as error:
        why = error.what if isinstance(error, ExecutorFailed) else "it is malformed"
        raise ExecutorFailed(
            f"{base.host} redirects to a place that is not followed: {why}", kind="not_permitted"
        ) from error


def _six(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError as error:
        raise _invalid("its IPv6 address is malformed") from error


def _name(text: str) -> str:
    """The host's one spelling."""
    if _AMBIGUOUS & set(text):
        raise _invalid("its host has a letter that can be read in two ways; write the name in its xn-- form")
    try:
        name = text.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise _invalid("its host is no host name") from error
    address = literal(name)
    if address is not None:
        if str(address) != name:
            raise _invalid("its host is an IP address in an unusual spelling")
        return name
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid("its host is no host name")
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):  # some would read it as an address
        raise _invalid("its host is no host name")
    return name


def _invalid(why: str) -> ExecutorFailed:
    return ExecutorFailed(
        f"this is no web address that Metnos takes: {why}", kind="invalid", fix="Write it as https://host/path"
    )
