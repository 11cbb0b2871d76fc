"""Lines of the audit in words.

Rules: pure. A line holds names, digests and counts, never content; all of them are shown. A kind that is not known here
is shown as it is called.
"""

from collections.abc import Mapping
from typing import Any

from metnos.web.catalog import listed

_LONG = 64  # letters: a key or a digest among the names
_SHORT = 12
_SEALS = (("hash", "hash"), ("prev", "hash before"), ("signature", "signature"))


def lines(given: Any) -> list[dict[str, Any]]:
    return [_line(each) for each in listed(given)]


def _line(each: Mapping[str, Any]) -> dict[str, Any]:
    brief, whole = each["names"] | each["counts"], each["names"] | each["digests"] | each["counts"]
    return {
        "seq": each["seq"],
        "ts": each["ts"],
        "kind": each["kind"],
        "signed": bool(each["signature"]),
        "brief": [(name.replace("_", " "), shortened(value)) for name, value in brief.items()],
        "whole": [(name.replace("_", " "), str(value)) for name, value in whole.items()]
        + [(name, each[key]) for key, name in _SEALS if each[key]],
    }


def shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) < _LONG else text[:_SHORT] + "…"
