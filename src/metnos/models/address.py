"""Addresses of model servers: which are at home, and how they are shown.

Rules: home is what the policy says it is: this machine and the private addresses around it. A name that would have to
be looked up is outside: what it leads to can change.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from metnos.law.need import Place, host_name, place_of_host

ANTHROPIC = "https://api.anthropic.com"


def at_home(url: str) -> bool:
    """Whether what is sent there stays at home."""
    return place_of_host(_host(url)) is Place.HOME


def on_this_machine(url: str) -> bool:
    """Whether it does not even leave the machine."""
    try:
        return ip_address(_host(url)).is_loopback
    except ValueError:
        return False


def shown(url: str) -> str:
    """The address as it may be printed: without what could hold a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "that address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def host(url: str) -> str:
    """The host of an address, for a sentence."""
    return shown(url).partition("://")[2].partition("/")[0]


def _host(url: str) -> str:
    try:
        return host_name(urlsplit(url).hostname or "")
    except ValueError:
        return ""
