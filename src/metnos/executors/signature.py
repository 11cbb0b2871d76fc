"""The signature of an executor: what was signed, in what state, by whose key.

The file ``signature`` is canonical JSON, ``{"signed": {...}, "key": hex, "signature": hex}``, in ed25519 over the
canonical JSON of ``signed``.

Rules: it names the executor, its version and the sha256 of every signed file, so that it is worth nothing on another
one; it carries the state and a serial number that grows with every change, so that an older one put back shows against
the index; the ``digest`` in it is the executor's identity. Whether bytes are a signature of this agent is a property of
those bytes, and is remembered; whether the files are as signed is compared every time. Nothing is read or written here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from metnos.core import sign
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.clock import from_text, to_text
from metnos.executors import folder, vocabulary
from metnos.executors.folder import Content, Problem
from metnos.executors.state import State

PURPOSE = "executor"
_MOST_REASON = 300


class Origin(StrEnum):
    """Where an executor came from."""

    BUILTIN = "builtin"
    SYNTHESISED = "synthesised"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Signed:
    """What a signature vouches for."""

    name: str
    version: str
    digest: str
    files: Mapping[str, str]
    manifest: str
    origin: Origin
    state: State
    reason: str
    since: datetime
    serial: int

    @property
    def code(self) -> str:
        """The digest of the code alone."""
        return self.files[folder.SOURCE]

    def message(self) -> bytes:
        return canonical_json(self._as_json())

    def encode(self, signer: sign.Signer) -> bytes:
        """The bytes of the signature file."""
        signature = signer.sign(PURPOSE, self.message())
        return canonical_json({"signed": self._as_json(), "key": signer.public, "signature": signature}) + b"\n"

    def _as_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "files": dict(self.files),
            "manifest": self.manifest,
            "origin": self.origin.value,
            "state": self.state.value,
            "reason": self.reason,
            "since": to_text(self.since),
            "serial": self.serial,
        }


def file_digests(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The sha256 of each file that a signature covers."""
    return {file: sha256_hex(contents[file]) for file in folder.SIGNED}


def identity(manifest: str, files: Mapping[str, str]) -> str:
    """The digest that an executor is known by: of its canonical manifest and of every signed file."""
    return sha256_hex(canonical_json({"manifest": manifest, "files": dict(files)}))


def clean_reason(text: str) -> str:
    """A reason as it is kept: one line of bounded length."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:_MOST_REASON]


@lru_cache(maxsize=512)
def read(raw: bytes, public: str) -> Signed | Problem:
    """What the bytes of a signature file vouch for, if this agent's key signed exactly them."""
    try:
        data = json.loads(raw)
        key, signature, inner = data["key"], data["signature"], data["signed"]
        signed = _parse(inner)
        rebuilt = canonical_json({"signed": inner, "key": key, "signature": signature}) + b"\n"
        if rebuilt != raw or canonical_json(inner) != signed.message():
            return Problem("signature", "its signature is not spelt as Metnos writes it")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Problem("signature", "its signature cannot be read")
    if key != public:
        return Problem("key", "its signature was made with another key than this agent's")
    if not sign.verify(public, PURPOSE, signed.message(), signature):
        return Problem("signature", "its signature does not hold")
    return signed


def compare(content: Content, signed: Signed) -> list[Problem]:
    """In what a folder differs from what was signed."""
    problems = list(content.strange)
    if signed.name != content.name:
        problems.append(Problem("name", f"its signature is that of {signed.name}"))
    spoken_of = {problem.wrong.partition(":")[2] for problem in problems}
    for file, digest in signed.files.items():
        found = content.files.get(file)
        if found is None:
            if file not in spoken_of:
                problems.append(Problem(f"missing:{file}", f"{file} is missing"))
        elif sha256_hex(found) != digest:
            problems.append(Problem(f"changed:{file}", f"{file} was changed since it was signed"))
    return problems


def _parse(data: Mapping[str, Any]) -> Signed:
    """The record behind the JSON. Raises on anything that Metnos would not have written."""
    files = {str(file): str(digest) for file, digest in data["files"].items()}
    if set(files) != set(folder.SIGNED) or not vocabulary.is_name(data["name"]) or type(data["serial"]) is not int:
        raise ValueError("not a signature")
    return Signed(
        name=data["name"],
        version=str(data["version"]),
        digest=str(data["digest"]),
        files=files,
        manifest=str(data["manifest"]),
        origin=Origin(data["origin"]),
        state=State(data["state"]),
        reason=str(data["reason"]),
        since=from_text(data["since"]),
        serial=data["serial"],
    )
