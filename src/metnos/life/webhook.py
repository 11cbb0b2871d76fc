"""Telling somebody elsewhere that an agent has died: one POST of a few names and numbers to an address of the owner.

Rules: nothing of what was lived or learnt is in it. The law is asked about the address before a line is opened, so it
never leads to where nothing may speak to; redirects are not followed. It is tried once, and briefly. Does not guarantee
that anybody heard it: a death goes on without.
"""

from collections.abc import Mapping

from metnos.core.canon import Json, canonical_json
from metnos.core.errors import ExecutorFailed
from metnos.law.need import http_need, refuse_never
from metnos.sandbox.web import Web

PATIENCE_S = 10.0
_HEARD = range(200, 300)
_READ = 4096  # bytes of an answer that nobody reads


def tell(address: str, news: Mapping[str, Json], web: Web | None = None) -> None:
    """Send it. Raises a `MetnosError` if it was not heard, or must not be said there."""
    fetched = (web or Web(max_redirects=0, timeout_s=PATIENCE_S)).fetch(
        "POST",
        address,
        {"Content-Type": "application/json"},
        canonical_json(dict(news)),
        max_bytes=_READ,
        allow=http_need,
        screen=refuse_never,
    )
    if fetched.status not in _HEARD:
        raise ExecutorFailed(f"the webhook answered with {fetched.status}", kind="unavailable")
