"""The particulars of a request as records: what kind each is, where it stands, and what it means.

Rules: a slot never changes; its text is exactly what stands in the request; its value is a JSON value. A slot whose
value is a range holds a mapping and so cannot be a member of a set.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a particular is."""

    PATH = "path"
    FOLDER = "folder"
    NAME = "name"
    GLOB = "glob"
    FILES = "files"
    URL = "url"
    EMAIL = "email"
    NUMBER = "number"
    SIZE = "size"
    DATE = "date"
    RANGE = "range"
    TIME = "time"
    DURATION = "duration"
    QUOTED = "quoted"
    COUNT = "count"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Slot:
    """One particular. ``role`` is what the words around it say; ``also`` are other paths that it may mean."""

    kind: Kind
    start: int
    end: int
    text: str
    value: Any
    role: str = ""
    also: tuple[str, ...] = ()
