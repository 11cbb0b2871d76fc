"""Model servers that run on this machine already.

Rules: asks the usual ports of loopback for a list of models, all at once, with a short limit, and sends nothing else.
What is found is shown and offered, never used by itself: any program of any user can listen there, and what is asked
may be private.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from metnos.models.listing import NoList, list_models

PORTS = {11434: "Ollama", 8080: "llama.cpp", 8000: "vLLM", 1234: "LM Studio"}
_TIMEOUT_S = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answers. ``kind`` is what usually listens there, not what was proven to."""

    kind: str
    url: str
    models: tuple[str, ...]


def discover(ports: Mapping[int, str] | None = None) -> tuple[Found, ...]:
    """Every server that answers with a list of models, in the order of ``ports`` (by default the usual ones)."""
    ports = PORTS if ports is None else ports
    if not ports:
        return ()
    with ThreadPoolExecutor(len(ports)) as pool:
        return tuple(found for found in pool.map(_look, ports, ports.values()) if found is not None)


def _look(port: int, kind: str) -> Found | None:
    url = f"http://127.0.0.1:{port}/v1"
    try:
        return Found(kind, url, list_models(url, timeout_s=_TIMEOUT_S))
    except NoList:
        return None
