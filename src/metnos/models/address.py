"""Addresses of model servers: which are of this machine, and how they are shown.

Rules: only loopback counts as at home. A machine next door is another machine: nothing tells whose network this is.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

ANTHROPIC = "https://api.anthropic.com"


def at_home(url: str) -> bool:
    """Whether what is sent there stays on this machine."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
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
