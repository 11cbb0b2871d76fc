"""One line of the audit: what it may hold, how it is written, and how it is tied to the one before.

Rules: a line holds names, digests and counts, never content, so that forgetting can be real; what is not a name by its
shape is refused here, before it can reach the log. A line is canonical JSON; its ``hash`` covers every other field, the
hash of the line before (``prev``) and the month whose file it stands in, so it cannot be changed, moved or re-spelled.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import AuditError

GENESIS = "0" * 64
CHECKPOINT = "checkpoint"
KEY_INSTALLED = "key installed"
RECOVERED = "audit recovered"
DAMAGED = "audit damaged"
HEAD_REBUILT = "audit head rebuilt"
DOUBTED = "audit doubted"
ACCEPTED = "audit accepted"

_KIND = re.compile(r"[a-z]{1,24}( [a-z]{1,24}){0,3}")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,31}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,127}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SIGNATURE = re.compile(r"(?:[0-9a-f]{128})?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_MAX_COUNT = 1 << 53


@dataclass(frozen=True, slots=True)
class Entry:
    """What an act wants recorded: its kind in one to four words, and what it touched."""

    kind: str
    names: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require(_KIND.fullmatch(self.kind) is not None, f"{self.kind!r} is no kind of audit line: use 1 to 4 words")
        for name, text in self.names.items():
            _require(_fits(_FIELD, name) and _fits(_NAME, text), f"the audit holds names, and {name!r} is none")
        for name, text in self.digests.items():
            _require(_fits(_FIELD, name) and _fits(_DIGEST, text), f"the audit holds digests, and {name!r} is none")
        for name, number in self.counts.items():
            fits = _fits(_FIELD, name) and type(number) is int and abs(number) <= _MAX_COUNT
            _require(fits, f"the audit holds counts, and {name!r} is none")


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One recorded line."""

    seq: int
    ts: str
    entry: Entry
    prev: str
    month: str
    signature: str = ""
    hash: str = field(init=False)

    def __post_init__(self) -> None:
        digest = sha256_hex(self.month.encode() + b"\n" + canonical_json(self._fields()))
        object.__setattr__(self, "hash", digest)  # computed once: a line is frozen, and its hash is asked for often

    @property
    def kind(self) -> str:
        return self.entry.kind

    def as_dict(self) -> dict[str, Json]:
        return self._fields() | {"hash": self.hash}

    def encode(self) -> bytes:
        return canonical_json(self.as_dict()) + b"\n"

    def _fields(self) -> dict[str, Json]:
        fields: dict[str, Json] = {
            "seq": self.seq,
            "ts": self.ts,
            "kind": self.entry.kind,
            "names": dict(self.entry.names),
            "digests": dict(self.entry.digests),
            "counts": dict(self.entry.counts),
            "prev": self.prev,
        }
        return fields | ({"signature": self.signature} if self.signature else {})


def checkpoint_message(seq: int, prev: str) -> bytes:
    """What a checkpoint signs: everything up to here, through the hash of the line before it."""
    return f"{seq}:{prev}".encode()


def parse(raw: bytes, month: str) -> AuditLine | None:
    """The line that these bytes are, or nothing if one byte of them is not as it was written."""
    try:
        data = json.loads(raw)
        _require(type(data["seq"]) is int and 1 <= data["seq"] <= _MAX_COUNT, "no number")
        _require(_fits(_TIME, data["ts"]) and _fits(_DIGEST, data["prev"]), "no time or no hash")
        _require(_fits(_SIGNATURE, data.get("signature", "")), "no signature")
        line = AuditLine(
            seq=data["seq"],
            ts=data["ts"],
            entry=Entry(data["kind"], data["names"], data["digests"], data["counts"]),
            prev=data["prev"],
            month=month,
            signature=data.get("signature", ""),
        )
        return line if line.encode() == raw else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, AuditError):
        return None


def _fits(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AuditError(otherwise)
