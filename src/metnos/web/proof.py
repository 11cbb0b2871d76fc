"""Lines of the audit in words.

Rules: pure. A line holds names, digests and counts, never content; all of them are shown. A kind that is not known here
is shown as it is called.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from metnos.web.catalog import listed

_LONG = 64  # letters: a key or a digest among the names
_SHORT = 12
_QUIET = frozenset({"permit", "turn", "version", "intent", "phase", "channel", "sender"})  # told when asked for
_PHASES = {"intent": "begins", "done": "done", "failed": "failed"}
_SEALS = (("hash", "hash"), ("prev", "hash before"), ("signature", "signature"))


def lines(given: Any) -> list[dict[str, Any]]:
    return [_line(each) for each in listed(given)]


def _line(each: Mapping[str, Any]) -> dict[str, Any]:
    names = each["names"]
    brief = {name: value for name, value in (names | each["counts"]).items() if name not in _QUIET}
    whole = names | each["digests"] | each["counts"]
    phase = names.get("phase", "")
    return {
        "seq": each["seq"],
        "ts": each["ts"],
        "kind": each["kind"],
        "phase": _PHASES.get(phase, phase),
        "signed": bool(each["signature"]),
        "brief": [(name.replace("_", " "), shortened(value)) for name, value in brief.items()],
        "whole": [(name.replace("_", " "), _cell(name, value)) for name, value in whole.items()]
        + [(name, each[key]) for key, name in _SEALS if each[key]],
    }


def _cell(name: str, value: Any) -> Any:
    """A value; a turn leads to why it came about."""
    return {"text": value, "href": f"/turns/{quote(str(value), safe='')}"} if name == "turn" else str(value)


def shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) < _LONG else text[:_SHORT] + "…"
