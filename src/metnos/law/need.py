"""What one call wants, and where on the network a host is.

Rules: a need names one capability and one target: a canonical path, a host in small letters, a program, an executor.
A host counts as outside the home unless whoever looked it up says otherwise, and an address is never taken at its
spelling: IPv4 written inside IPv6 (mapped, 6to4, NAT64) is unwrapped first, and so are the old ways to write IPv4 that
the system's resolver still takes. Addresses that no friend of the owner has (a cloud's metadata, multicast, reserved
blocks) are out of reach for good. A request of a call that may have read something *carries*: its address can hold what
was read, so beyond the home it counts as sending, whatever its method. To look a name up is to tell it to name servers.
Does not guarantee that a name still leads to the same address when it is used: whoever connects asks `fits` about the
address that it is about to connect to.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from metnos.core.errors import Refused
from metnos.law.capability import Capability

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

READING = frozenset({"GET", "HEAD", "OPTIONS"})
PATHS = frozenset({Capability.FS_READ, Capability.FS_WRITE})
# Verbs of needs for paths, by which the code that prepared a call says what the path's letters do not.
OWN = "own"  # a change to what Metnos keeps for the owner: notes and reminders
OPEN = "open"  # within the workspace, whose own place may have a hidden name
HIDDEN = "hidden"  # reached through a hidden name
STARTED = "started"  # what a program that runs outside the sandbox is started from
CARRIED = "carried"  # hidden, and taken along by a folder that goes as a whole
NAMED = "named"  # hidden, and the owner's own words name this very path
RUNS = "runs"  # reached through a name that something runs or obeys by itself
AGENT = "agent"  # within the workspace, where executors change the notes alone
FORBIDDEN = "forbidden"  # reached through a name that nothing may touch
LOOKUP = "LOOKUP"  # the verb of asking name servers for a name, where that alone can tell them something


class Place(StrEnum):
    """Where an address is."""

    HOME = "home"
    OUTSIDE = "outside"
    NEVER = "never"


def _networks(text: str) -> tuple[_Network, ...]:
    return tuple(ipaddress.ip_network(word) for word in text.split())


_HOME = _networks("127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 ::1/128 fc00::/7 fe80::/10")
# Where clouds answer whoever runs on them with credentials.
_METADATA = _networks(
    "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32"
    " fd00:ec2::254/128 fd00:ec2::23/128 fd20:ce::254/128"
)
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"})
# From IANA's lists of special addresses. 198.18.0.0/15 is not here though it is special: proxies hand it out for every
# name they look up, and as `outside` it is asked about like the name itself.
_NEVER = _networks(
    "0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
    " 2001::/23 2001:db8::/32 3fff::/20"
)
_GLOBAL6 = ipaddress.IPv6Network("2000::/3")  # the only part of IPv6 that has been given out
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_HOME_NAMES = (".local", ".lan", ".home", ".home.arpa", ".internal")  # names that no public registry gives out
_RANK = (Place.HOME, Place.OUTSIDE, Place.NEVER)


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a call wants. ``outside`` matters for hosts and models only; unless it is said, they are.

    ``carries``: a request that can hold what was read before it.
    """

    capability: Capability
    target: str
    verb: str = ""
    outside: bool = True
    carries: bool = False

    @property
    def leaves(self) -> bool:
        """Whether it goes beyond the home, whatever is claimed of an address."""
        return self.outside or place_of_host(self.target) is Place.OUTSIDE

    @property
    def sends(self) -> bool:
        """Whether a request gives something away. A verb that is not known to be reading does."""
        return self.verb not in READING or (self.carries and self.leaves)

    @property
    def words(self) -> str:
        where = "outside the home" if self.outside else "at home"
        match self.capability:
            case Capability.FS_READ:
                return f"take along {self.target}, which is hidden" if self.verb == CARRIED else f"read {self.target}"
            case Capability.FS_WRITE:
                risk = ", which something runs or obeys by itself (high risk)" if self.verb in (RUNS, STARTED) else ""
                return f"change {self.target}{risk}"
            case Capability.NET_HTTP if self.verb == LOOKUP:
                return f"ask name servers for {self.target}, which tells them that name"
            case Capability.NET_HTTP:
                told = ", which can tell it what was read" if self.carries and self.leaves else ""
                return f"{self.verb or 'speak'} to {self.target}, {where}{told}"
            case Capability.SHELL_EXEC:
                return f"run {self.target}"
            case Capability.EXECUTOR_CALL:
                return f"call {self.target}"
            case Capability.MODEL_CHAT:
                return f"ask the model {self.target}, {where}"
            case Capability.SYSTEM_READ:
                return f"look at this machine's {self.target}"
            case Capability.MCP_CALL:
                server, _, tool = self.target.partition("/")
                return f"ask the tool {tool} of the MCP server {server}, outside the sandbox"


def place(address: str | Address) -> Place:
    """Where an address is. What is no address is nowhere one may go."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return Place.NEVER
    if isinstance(parsed, ipaddress.IPv4Address):
        return _listed(parsed, Place.OUTSIDE)
    if parsed.ipv4_mapped is not None:
        return place(parsed.ipv4_mapped)
    translated = _translated(parsed)
    if translated is not None:
        # The gateway that unwraps it stands beyond the home, whatever address is inside.
        return max(place(translated), Place.OUTSIDE, key=_RANK.index)
    return _listed(parsed, Place.OUTSIDE if parsed in _GLOBAL6 else Place.NEVER)


def literal(host: str) -> Address | None:
    """The address that a host is written as, if it is one, in any spelling that the system's resolver takes."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    if not re.fullmatch(r"[0-9a-fx.]+", host):
        return None  # also keeps out white space, behind which `inet_aton` ignores everything
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def host_name(text: str) -> str:
    """The one spelling of a host: small letters, no brackets, no dot at its end."""
    return text.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")


def place_of_host(host: str) -> Place | None:
    """Where a host is as far as its spelling says; nothing for a name that has to be looked up."""
    address = literal(host)
    if address is not None:
        return place(address)
    if host in _METADATA_NAMES or not _HOST.fullmatch(host):
        return Place.NEVER
    if host == "localhost" or host.endswith(".localhost"):
        return Place.HOME
    return None


def sounds_like_home(host: str) -> bool:
    """Whether a host is at home as far as its name says: nobody has to be asked where it is."""
    name = host_name(host)
    place_by_name = place_of_host(name)
    return place_by_name is Place.HOME or (place_by_name is None and ("." not in name or name.endswith(_HOME_NAMES)))


def lookup_tells(host: str) -> bool:
    """Whether looking up a name that sounds like home tells name servers a name that a call made up.

    Only where the network is set up so are names such as ``nas.local`` asked for at home alone.
    """
    name = host_name(host)
    return place_of_host(name) is None and sounds_like_home(name)


def refuse_never(host: str, _method: str = "") -> None:
    """Raise for a host that nothing may speak to, as far as its spelling says: it is not even looked up."""
    name = host_name(host)
    if place_of_host(name) is Place.NEVER:
        raise _never(name)


def http_need(host: str, method: str, addresses: Iterable[str]) -> Need:
    """The need for one HTTP call to a host that was looked up: at home only if all of its addresses are."""
    name = host_name(host)
    places = [place(address) for address in addresses]
    if Place.NEVER in places or place_of_host(name) is Place.NEVER:
        raise _never(name)
    at_home = bool(places) and all(each is Place.HOME for each in places)
    return Need(Capability.NET_HTTP, name, method.upper(), outside=not at_home)


def fits(need: Need, address: str) -> bool:
    """Whether connecting to this address is what the need was about: a name may lead elsewhere by now."""
    return place(address) is (Place.OUTSIDE if need.outside else Place.HOME)


def lies_within(need: Need, capability: Capability, target: str) -> bool:
    """Whether a need is covered by a capability on a target: a folder and all below it, ``*.host``, or exactly it."""
    if need.capability is not capability:
        return False
    if capability in PATHS:
        return need.target == target or need.target.startswith(target.rstrip("/") + "/")
    if capability is Capability.NET_HTTP and target.startswith("*."):
        return literal(need.target) is None and need.target.endswith(target[1:])
    return need.target == target


def _never(host: str) -> Refused:
    fix = "Use another host; no approval lifts this."
    return Refused(f"{host} leads to an address that nothing may speak to", fix=fix)


def _listed(address: Address, otherwise: Place) -> Place:
    if any(address in network for network in (*_METADATA, *_NEVER) if network.version == address.version):
        return Place.NEVER
    if any(address in network for network in _HOME if network.version == address.version):
        return Place.HOME
    return otherwise


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a gateway would turn this one into."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour
