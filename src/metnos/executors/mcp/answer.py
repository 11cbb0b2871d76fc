"""What a tool answered, as plain bounded data.

Rules: everything in it is content from outside, and stays data. Texts are cut at a bound and say so; pictures, sounds
and attached files are named and not handed on. A structured answer is handed on whole or not at all.
"""

from collections.abc import Mapping
from typing import Any

from metnos.core.canon import canonical_json

_MOST = 200_000  # characters of all texts together; also bytes of the structured part
_ENTRIES = 1000
_MESSAGE = 1000


def read(result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as the executor gets it: ``failed``, ``message``, ``entries``."""
    entries: list[dict[str, Any]] = []
    left = _MOST
    for block in list(result.get("content") or ())[:_ENTRIES]:
        entry = _entry(block)
        text = entry["text"]
        if len(text) > left:
            entry["text"] = f"{text[:left]}… (cut: {len(text) - left:,} more characters)"
        left -= min(len(text), left)
        entries.append(entry)
    structured = result.get("structuredContent")
    if structured is not None:
        entries.append(_structured(structured))
    failed = bool(result.get("isError"))
    words = " ".join(entry["text"] for entry in entries if entry["kind"] == "text")
    message = (words[:_MESSAGE] or "the tool failed and did not say why") if failed else ""
    return {"failed": failed, "message": message, "entries": entries}


def _entry(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(block.get("type"))[:40]
    if kind == "text":
        return {"kind": "text", "text": str(block.get("text", ""))}
    inner = block.get("resource")
    if isinstance(inner, Mapping) and isinstance(inner.get("text"), str):
        return {"kind": "text", "text": inner["text"]}
    size = len(str(block.get("data") or (inner or {}).get("blob") or ""))
    what = str(block.get("mimeType") or block.get("uri") or "")[:200]
    return {"kind": kind, "text": f"{what or kind}, {size:,} characters, not handed on"}


def _structured(value: Any) -> dict[str, Any]:
    try:
        size = len(canonical_json(value))
    except (ValueError, TypeError, RecursionError):
        return {"kind": "data", "text": "a structured answer that is no plain data, not handed on"}
    if size > _MOST:
        return {"kind": "data", "text": f"a structured answer of {size:,} bytes, which is too much, not handed on"}
    return {"kind": "data", "text": "", "data": value}
