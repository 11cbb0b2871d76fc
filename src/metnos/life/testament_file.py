"""The file of a testament: packing, reading, and refusing what is not to the bit what its signature speaks of.

`testament` says what the two lines hold. Rules: `pack` reads back what it wrote before it hands it out, so nothing is
ever left that could not be inherited. `unpack` raises `TestamentError` with the reason, and hands out all or nothing.
Its work has a limit, whatever the file holds: nobody holds the door with what takes long to look through.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metnos.core import files, sign
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import ExecutorError, TestamentError, TestamentTooLarge
from metnos.core.sign import Signer
from metnos.grimoire import poison
from metnos.grimoire.strings import strings
from metnos.life import testament_lines as lines
from metnos.life.testament import CORE_BYTES, FORMAT, MOST_BYTES, PURPOSE, VERSION, Opened, Testament
from metnos.synt import bundle
from metnos.synt.bundle import Bundle

_KEY = re.compile(r"[0-9a-f]{64}")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
_CORE = frozenset({"format", "version", "key", "core", "left", "body", "signature"})
_BODY = frozenset({"entries", "links", "episodes", "bones", "executors"})
# Characters that are read in search of poison, each text in all its readings: about a minute of one core for the worst
# of texts. It is enough for 2048 entries of about a thousand characters; entries have a few hundred.
MOST_READ = 12_000_000
_AGAIN = "Nothing was changed. Have it sent again from where it was made."


# -- out


def pack(testament: Testament, executors: bytes, signer: Signer) -> bytes:
    """The bytes of a testament; ``executors`` is a bundle that the same key signed, or empty.

    Raises `TestamentError` on what no testament may hold: what could not be read again is never written.
    """
    body = canonical_json({**lines.body_out(testament), "executors": executors.decode()})
    content: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "key": signer.public,
        "core": lines.core_out(testament),
        "left": _counts(testament, len(bundle.unpack(executors).drafts) if executors else 0),
        "body": {"bytes": len(body), "sha256": sha256_hex(body)},
    }
    signature = signer.sign(PURPOSE, canonical_json(content))
    made = canonical_json({**content, "signature": signature}) + b"\n" + body + b"\n"
    unpack(made, own=signer.public)
    return made


def _counts(testament: Testament, executors: int) -> dict[str, Json]:
    """What a reader has to find: so that the core alone says what is left."""
    return {
        "entries": len(testament.entries),
        "links": len(testament.links),
        "episodes": len(testament.episodes),
        "bones": len(testament.bones),
        "executors": executors,
    }


# -- in


def read(path: Path) -> bytes:
    """The bytes of a file that may be a testament: an ordinary one, and no larger than a testament can be."""
    return files.read_outside(path, MOST_BYTES, "testament", TestamentError)


def unpack(raw: bytes, own: str = "") -> Opened:
    """What a testament holds, if its signature and everything in it holds. Raises `TestamentError`.

    ``own`` is this agent's key: whoever claims it without having it is told so.
    """
    first, second = _split(raw)
    outer = _outer(first)
    key = _signed(outer, own)
    body = _body(outer["body"], second)
    try:
        testament = lines.testament_in(outer["core"], body)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        what = f"something in the testament is not what it can be ({error})"
        raise TestamentError(what, fix=_AGAIN) from error
    executors = _executors(body["executors"], key)
    if outer["left"] != _counts(testament, len(executors.drafts) if executors else 0):
        raise TestamentError("the testament does not hold what its first line says it does", fix=_AGAIN)
    _refuse_poison(testament)
    return Opened(key, sha256_hex(raw), len(raw), len(first), testament, executors)


def _split(raw: bytes) -> tuple[bytes, bytes]:
    if len(raw) > MOST_BYTES:
        raise TestamentTooLarge(f"that is larger than a testament can be ({MOST_BYTES >> 20} MB)", fix=_AGAIN)
    first, found, rest = raw.partition(b"\n")
    if len(first) > CORE_BYTES:
        raise TestamentError(f"this is no testament: its first line is longer than {CORE_BYTES} bytes", fix=_AGAIN)
    if not found or not rest.endswith(b"\n") or b"\n" in rest[:-1]:
        raise TestamentError("this is no testament, or its end is missing", fix=_AGAIN)
    return first, rest[:-1]


def _parse(line: bytes) -> Any:
    try:
        data = json.loads(line)
        same = canonical_json(data) == line  # what has no canonical form, such as NaN, is none of ours
    except RecursionError as error:
        raise TestamentError("this is no testament: it is nested deeper than anything of Metnos", fix=_AGAIN) from error
    except ValueError as error:
        raise TestamentError("this is no testament, or it was damaged", fix=_AGAIN) from error
    if not same:
        raise TestamentError("the testament is not spelt as Metnos writes it, so it was changed", fix=_AGAIN)
    return data


def _outer(first: bytes) -> dict[str, Any]:
    data = _parse(first)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise TestamentError("this is no testament", fix="One is made by: metnos life retire")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise TestamentError(
            "the testament is of a format that this Metnos does not know",
            fix=f"It reads format {VERSION}. Bring both to the same version of Metnos.",
        )
    if "signature" not in data or "key" not in data:
        raise TestamentError("nobody signed the testament, so nobody knows whose it is", fix=_AGAIN)
    if set(data) != _CORE:
        raise TestamentError("the testament has other parts than a testament has", fix=_AGAIN)
    return data


def _signed(outer: dict[str, Any], own: str) -> str:
    """The key that signed it."""
    key, signature = outer["key"], outer["signature"]
    if not _is(key, _KEY) or not _is(signature, _SIGNATURE):
        raise TestamentError("nobody signed the testament: its key or its signature is none", fix=_AGAIN)
    content = canonical_json({name: value for name, value in outer.items() if name != "signature"})
    if not sign.verify(key, PURPOSE, content, signature):
        if key == own:
            raise TestamentError("the testament claims to be signed by this very agent, and is not: it was forged")
        raise TestamentError("the signature of the testament does not hold: it was changed, or forged", fix=_AGAIN)
    return str(key)


def _body(said: Any, second: bytes) -> dict[str, Any]:
    if not isinstance(said, dict) or said != {"bytes": len(second), "sha256": sha256_hex(second)}:
        raise TestamentError(
            "what the testament leaves is not what its signature speaks of: it was changed, or something is missing",
            fix=_AGAIN,
        )
    data = _parse(second)
    if not isinstance(data, dict) or set(data) != _BODY:
        raise TestamentError("what the testament leaves has other parts than it can have", fix=_AGAIN)
    return data


def _executors(text: Any, key: str) -> Bundle | None:
    if text == "":
        return None
    if not isinstance(text, str):
        raise TestamentError("the executors of the testament are no bundle", fix=_AGAIN)
    try:
        found = bundle.unpack(text.encode())
    except ExecutorError as error:
        raise TestamentError(f"the executors of the testament cannot be used: {error.what}", fix=_AGAIN) from error
    if found.key != key:
        raise TestamentError("the executors of the testament were signed by somebody else than the testament")
    return found


def _refuse_poison(testament: Testament) -> None:
    """What speaks to the agent is no knowledge. Ours never holds any, so a testament that does was made to harm."""
    said: list[tuple[str, Sequence[str]]] = [
        ("its reflection", [line for many in testament.reflection.values() for line in many]),
        *(("an entry", [e.text, e.subject, e.value, e.domain, *e.tags, *strings(e.data)]) for e in testament.entries),
        *(("an episode", [each.text, each.domain, *each.tags]) for each in testament.episodes),
        ("its settings", [text for habit in testament.habits for text in (habit.setting, str(habit.value))]),
    ]
    joined = [(where, "\n".join(texts)) for where, texts in said]
    work = 0
    if sum(len(text) for _, text in joined) > MOST_READ:
        raise _too_much()
    for where, text in joined:
        found = poison.screen(text)
        if found.is_poison:
            raise TestamentError(
                f"the testament is poisoned: {where} speaks to the agent ({found.reason})",
                fix="Nothing was changed. Do not use this testament; ask whoever gave it to you where it comes from.",
            )
        work += found.work
        if work > MOST_READ:
            raise _too_much()


def _too_much() -> TestamentTooLarge:
    return TestamentTooLarge(
        "the testament says more than can be looked through for what would harm",
        fix="Nothing was changed. Have it made again with fewer entries, or shorter ones.",
    )


def _is(value: object, shape: re.Pattern[str]) -> bool:
    return isinstance(value, str) and shape.fullmatch(value) is not None
