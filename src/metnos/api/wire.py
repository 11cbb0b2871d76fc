"""What goes over the daemon's socket: one JSON object on each line.

A client asks ``{"v": 1, "op": …}``; the daemon answers with one line, or for ``ask`` with one line for each event of
the turn: ``{"event": "StepDone", …}``. ``{"error": {…}}`` ends whatever was asked. The table of operations is in
``docs/daemon.md``.

Rules: events and errors are written from their own records and read back into them, field by field, checked by type;
whatever does not fit is a `DaemonError`, never a crash. Names of files that are no text survive. Does not read or
write: see `metnos.api.line`.
"""

import dataclasses
import functools
import json
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metnos.core import errors
from metnos.core.errors import DaemonError, MetnosError
from metnos.turn.events import Event
from metnos.turn.request import LONGEST

VERSION = 1
LONGEST_REQUEST = 512 * 1024  # bytes: the longest text, each character written as an escape, and a folder
LONGEST_EVENT = 256 << 20
_LONGEST_NAME = 200

Message = dict[str, Any]

_EVENTS: dict[str, type[Any]] = {kind.__name__: kind for kind in typing.get_args(Event)}
_MORE = ("kind", "item")  # what some errors know besides their words


@dataclasses.dataclass(frozen=True, slots=True)
class Ask:
    """A client's request for a turn."""

    text: str
    cwd: Path
    conversation: str
    dry_run: bool


def pack(message: Mapping[str, Any], longest: int = LONGEST_EVENT) -> bytes:
    """A message as one line."""
    line = json.dumps(message, separators=(",", ":"), default=_plain).encode("ascii") + b"\n"
    if len(line) > longest:
        raise DaemonError(f"a message of {len(line):,} bytes is too long for the socket", fix="Ask for less at once.")
    return line


def unpack(line: bytes) -> Message:
    """A line as a message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DaemonError("that line is no JSON", fix="One JSON object on each line.") from error
    if not isinstance(message, dict):
        raise DaemonError("that line is no JSON object", fix="One JSON object on each line.")
    return message


# -- requests


def request(op: str, **fields: Any) -> Message:
    return {"v": VERSION, "op": op, **fields}


def operation(message: Message) -> str:
    """What a client wants; refuses one that speaks another version."""
    if message.get("v") != VERSION:
        raise DaemonError(
            f"the daemon speaks version {VERSION} of its protocol, and the client another",
            fix="Stop the daemon and start it again: metnos serve --stop; metnos serve",
        )
    return _text(message, "op", _LONGEST_NAME)


def read_ask(message: Message) -> Ask:
    """The operation ``ask``, checked."""
    cwd, dry_run = _text(message, "cwd", 4096), message.get("dry_run", False)
    if not cwd.startswith("/") or "\0" in cwd:
        raise DaemonError("`cwd` must be an absolute path")
    if not isinstance(dry_run, bool):
        raise DaemonError("`dry_run` must be true or false")
    conversation = _text(message, "conversation", _LONGEST_NAME) if "conversation" in message else ""
    if not conversation.isprintable():
        raise DaemonError("`conversation` must be a name that can be printed")
    return Ask(_text(message, "text", LONGEST), Path(cwd), conversation, dry_run)


def read_ids(message: Message) -> list[int]:
    """The operation ``seen``, checked."""
    ids = message.get("ids")
    if not isinstance(ids, list) or not all(type(each) is int and 0 < each < 1 << 63 for each in ids):
        raise DaemonError("`ids` must be a list of numbers")
    return ids


def _text(message: Message, key: str, longest: int) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise DaemonError(f"`{key}` must be text")
    if len(value) > longest:
        raise DaemonError(f"`{key}` is longer than {longest:,} characters")
    return value


# -- events


def from_event(event: Event) -> Message:
    kind = type(event).__name__
    return {"event": kind, **{name: getattr(event, name) for name, _ in _fields(kind)}}


def to_event(message: Message) -> Event:
    """The event in a message. Fields that this version does not know are ignored, those that lack are an error."""
    kind = str(message.get("event"))
    if kind not in _EVENTS:
        raise DaemonError("the daemon sent something that is no event")
    try:
        fields = {name: _shaped(message[name], hint) for name, hint in _fields(kind) if name in message}
        event: Event = _EVENTS[kind](**fields)
    except TypeError as error:
        raise DaemonError(f"the daemon sent a broken {kind}: {error}") from error
    return event


@functools.cache
def _fields(kind: str) -> tuple[tuple[str, Any], ...]:
    """Name and type of each field of an event."""
    return tuple(typing.get_type_hints(_EVENTS[kind]).items())


def _shaped(value: Any, hint: Any) -> Any:
    """A value of JSON as the type that a field has, or `TypeError`."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise TypeError("a list was expected")
        if inner[-1] is Ellipsis:
            return tuple(_shaped(each, inner[0]) for each in value)
        if len(value) != len(inner):
            raise TypeError("a list has the wrong length")
        return tuple(_shaped(each, part) for each, part in zip(value, inner, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise TypeError("an object was expected")
        return value
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise TypeError(f"{getattr(hint, '__name__', hint)} was expected")
    return value


def _plain(value: object) -> Any:
    """What JSON does not know by itself: read-only mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} does not belong into a message")


# -- errors


def from_error(error: MetnosError) -> Message:
    more = {name: value for name in _MORE if isinstance(value := getattr(error, name, None), str)}
    return {"error": {"type": type(error).__name__, "what": error.what, "fix": error.fix, **more}}


def to_error(message: Message) -> MetnosError:
    """The error in a message, as the class it was."""
    said = message.get("error")
    said = {key: value for key, value in said.items() if isinstance(value, str)} if isinstance(said, dict) else {}
    kind = getattr(errors, said.pop("type", ""), MetnosError)
    what = said.pop("what", "the daemon does not say what is wrong")
    if isinstance(kind, type) and issubclass(kind, MetnosError):
        try:
            return kind(what, **said)
        except TypeError:
            pass  # it knows something that was not sent
    return MetnosError(what, fix=said.get("fix", ""))
