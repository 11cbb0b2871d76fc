"""What a page of ours may load and run, as a browser is told (the content security policy).

Rules: everything comes from where the page came from, nothing is put into a frame, and of what stands in a page itself
only that runs or applies whose digest is named here: our own files, to the byte. There is no way to allow more.
"""

import base64
import hashlib
from collections.abc import Iterable


def digest(content: bytes) -> str:
    """How a policy names something that stands in a page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"


def policy(scripts: Iterable[bytes] = (), styles: Iterable[bytes] = ()) -> str:
    """The policy of a page in which these scripts and styles may stand."""
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *map(digest, scripts))),
            " ".join(("style-src 'self'", *map(digest, styles))),
            "img-src 'self' data:",
            "connect-src 'self'",
            "font-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )
