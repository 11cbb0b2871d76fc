"""A bundle: executors of one instance in one file, to be given to another.

The file is canonical JSON in one line, and ed25519 over the canonical JSON of everything but ``signature``::

    {"format": "metnos-executors", "version": 1, "key": hex,
     "executors": [{"name": ..., "files": {"manifest.toml": {"sha256": hex, "text": ...}, ...}}, ...],
     "signature": hex}

Executors stand in the order of their names; the same ones packed by the same key are the same bytes. There are no
paths, links or packed parts in it, so there is nothing in it that could be unpacked to somewhere or grow on the way.

Rules: a bundle is read whole or refused with the reason; every byte of it counts. The signature says whose key packed
it and that nobody changed it since, and nothing else: what it holds is a stranger's text, and becomes a draft. Only the
three files cross; states, signatures, strikes, grants, journals and reasons stay where they are. Does not guarantee
that the owner of the key means well.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metnos.core import sign
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import ExecutorError, NotTrusted
from metnos.core.files import read_outside
from metnos.core.sign import Signer
from metnos.executors import folder, vocabulary
from metnos.synt.draft import Draft

FORMAT = "metnos-executors"
VERSION = 1
PURPOSE = "executor bundle"  # of the signature: one made for anything else is worth nothing here
MOST_BYTES = 16 << 20  # of a file: a hundred times what one executor is likely to have
MOST_EXECUTORS = 64  # three times what may live at once that is not built in

_KEY = re.compile(r"[0-9a-f]{64}")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")
_FIELDS = frozenset({"format", "version", "key", "executors", "signature"})
_AGAIN = "Have it sent again, or exported again: metnos executor export"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds, once its signature was checked."""

    key: str  # who packed it
    drafts: tuple[Draft, ...]
    digest: str  # of the file


def pack(drafts: Sequence[Draft], signer: Signer) -> bytes:
    """The bytes of a bundle. Raises `ExecutorError` on what no bundle may hold."""
    named = {draft.name: draft for draft in drafts}
    if not named:
        raise ExecutorError("there is no executor to be exported", fix="Name one: metnos executor list")
    if len(named) > MOST_EXECUTORS:
        raise ExecutorError(f"a bundle holds at most {MOST_EXECUTORS} executors", fix="Make several of it.")
    content: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "key": signer.public,
        "executors": [_packed(named[name]) for name in sorted(named)],
    }
    signature = signer.sign(PURPOSE, canonical_json(content))
    made = canonical_json({**content, "signature": signature}) + b"\n"
    if len(made) > MOST_BYTES:
        raise ExecutorError(f"that is more than the {MOST_BYTES >> 20} MB of a bundle", fix="Make several of it.")
    return made


def _packed(draft: Draft) -> dict[str, Json]:
    files = draft.contents().items()
    return {
        "name": draft.name,
        "files": {file: {"sha256": sha256_hex(content), "text": content.decode()} for file, content in files},
    }


def read(path: Path) -> bytes:
    """The bytes of a file that may be a bundle: an ordinary one, and no larger than a bundle can be."""
    return read_outside(path, MOST_BYTES, "bundle", ExecutorError)


def unpack(raw: bytes, own: str = "") -> Bundle:
    """What a bundle holds, if its signature holds. Raises `ExecutorError`, or `NotTrusted` on what was forged.

    ``own`` is this agent's key: whoever claims it without having it is told so.
    """
    data = _parse(raw)
    content = {name: value for name, value in data.items() if name != "signature"}
    key, signature = _hex(data["key"], _KEY), _hex(data["signature"], _SIGNATURE)
    if not key or not signature:
        raise NotTrusted("nobody signed the bundle: its key or its signature is none", fix=_AGAIN)
    if not sign.verify(key, PURPOSE, canonical_json(content), signature):
        if key == own:
            raise NotTrusted("the bundle claims to be signed by this very agent, and is not: it was forged")
        raise NotTrusted("the signature of the bundle does not hold: it was changed, or forged", fix=_AGAIN)
    if canonical_json(data) + b"\n" != raw:
        raise NotTrusted("the bundle is not spelt as Metnos writes it, so it was changed", fix=_AGAIN)
    return Bundle(key, _drafts(data["executors"]), sha256_hex(raw))


def _parse(raw: bytes) -> dict[str, Any]:
    if len(raw) > MOST_BYTES:
        raise ExecutorError(f"that is larger than a bundle can be ({MOST_BYTES >> 20} MB)")
    try:
        data = json.loads(raw)
        canonical_json(data)  # what has no canonical form, such as NaN, is none of ours
    except (ValueError, RecursionError) as error:
        raise ExecutorError("this is no bundle of executors, or it was damaged", fix=_AGAIN) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ExecutorError("this is no bundle of executors", fix="One is made by: metnos executor export")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise ExecutorError(
            "the bundle is of a format that this Metnos does not know",
            fix=f"It reads format {VERSION}. Bring both to the same version of Metnos.",
        )
    if "signature" not in data or "key" not in data:
        raise NotTrusted("nobody signed the bundle, so nobody knows where it comes from", fix=_AGAIN)
    if set(data) != _FIELDS:
        raise ExecutorError("the bundle has other parts than a bundle has", fix=_AGAIN)
    return data


def _hex(value: object, shape: re.Pattern[str]) -> str:
    return value if isinstance(value, str) and shape.fullmatch(value) else ""


# -- what it holds: signed, and a stranger's all the same


def _drafts(listed: object) -> tuple[Draft, ...]:
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_EXECUTORS:
        raise ExecutorError(f"a bundle holds 1 to {MOST_EXECUTORS} executors, and this one does not")
    drafts = tuple(map(_draft, listed))
    names = [draft.name for draft in drafts]
    if len(set(names)) < len(names):
        raise ExecutorError("the bundle holds two executors of one name; which one is meant nobody can tell")
    if names != sorted(names):
        raise ExecutorError("the executors of the bundle are not in their order")
    return drafts


def _draft(given: object) -> Draft:
    name = given.get("name") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or set(given) != {"name", "files"} or not isinstance(name, str):
        raise ExecutorError("something in the bundle is no executor")
    if not vocabulary.is_name(name):
        raise ExecutorError("something in the bundle has a name that no executor can have: it must be like verb_object")
    files = given["files"]
    if not isinstance(files, Mapping) or set(files) != set(folder.SIGNED):
        raise ExecutorError(f"{name} in the bundle has other files than {', '.join(folder.SIGNED)}")
    return Draft(name, *(_text(name, file, files[file]) for file in (folder.MANIFEST, folder.SOURCE, folder.TESTS)))


def _text(name: str, file: str, given: object) -> str:
    if not isinstance(given, Mapping) or set(given) != {"sha256", "text"} or not isinstance(given["text"], str):
        raise ExecutorError(f"{file} of {name} in the bundle is no text")
    content = given["text"].encode()
    if len(content) > folder.MOST[file]:
        raise ExecutorError(f"{file} of {name} in the bundle is larger than such a file may be")
    if sha256_hex(content) != given["sha256"]:
        raise NotTrusted(f"{file} of {name} in the bundle is not the file that its digest speaks of")
    return given["text"]
