"""Lines of the audit in words.

Rules: pure. A line holds names, digests and counts, never content; all of them are shown. A kind that is not known here
is shown as it is called.
"""

from collections.abc import Mapping
from typing import Any

from metnos.web.catalog import listed

_LONG = 64  # letters: a key or a digest among the names
_SHORT = 12
_FRAME = frozenset({"seq", "ts", "kind", "hash", "prev", "month", "signature", "names", "digests", "counts", "sig"})


def lines(given: Any) -> list[dict[str, Any]]:
    return [_line(each) for each in listed(given) if isinstance(each, Mapping)]


def _line(each: Mapping[str, Any]) -> dict[str, Any]:
    names, digests, counts = (_part(each, key) for key in ("names", "digests", "counts"))
    other = {key: value for key, value in each.items() if key not in _FRAME}
    brief = {key: shortened(value) for key, value in (names | counts | other).items() if value not in (None, "")}
    return {
        "seq": each.get("seq", ""),
        "ts": str(each.get("ts") or ""),
        "kind": str(each.get("kind") or ""),
        "signed": bool(each.get("signature") or each.get("sig")),
        "brief": [(key.replace("_", " "), value) for key, value in brief.items()],
        "whole": [(key.replace("_", " "), str(value)) for key, value in (names | digests | counts | other).items()]
        + [(name, str(each[key])) for key, name in (("hash", "hash"), ("prev", "hash before"), ("signature", "signature"))
           if each.get(key)],
    }  # fmt: skip


def shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) < _LONG else text[:_SHORT] + "…"


def _part(each: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = each.get(key)
    return dict(found) if isinstance(found, Mapping) else {}
