"""A sketch: what the five stages of synt agree on, one after the other, before any file is written.

A model says little, and only what code can check: words of the vocabulary, typed fields, cases, one sentence, one
function. `scaffold` makes files of it. Rules: each stage adds its own part and leaves the others' alone; what a stage
cannot use is a `Rejection` with a reason that a model, or a person, can act on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from metnos.core.errors import MetnosError
from metnos.synt.need import Need


class Type(StrEnum):
    """What a field holds."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXTS = "texts"
    NUMBERS = "numbers"
    OBJECT = "object"
    OBJECTS = "objects"
    FILE = "file"
    FOLDER = "folder"

    @property
    def is_list(self) -> bool:
        return self in _ITEMS

    @property
    def item(self) -> "Type":
        """What one item of a list is."""
        return _ITEMS[self]

    @property
    def is_place(self) -> bool:
        """Whether it names something on the disk."""
        return self in (Type.FILE, Type.FOLDER)

    @property
    def python(self) -> str:
        """As a model, and a reader of code, would write it."""
        return _PYTHON[self]


_ITEMS = {Type.TEXTS: Type.TEXT, Type.NUMBERS: Type.NUMBER, Type.OBJECTS: Type.OBJECT}
_PYTHON = {
    Type.TEXT: "str", Type.NUMBER: "float", Type.INTEGER: "int", Type.BOOLEAN: "bool", Type.TEXTS: "list[str]",
    Type.NUMBERS: "list[float]", Type.OBJECT: "dict", Type.OBJECTS: "list[dict]", Type.FILE: "str", Type.FOLDER: "str",
}  # fmt: skip


class Rejection(MetnosError):
    """A stage's work cannot be used: why, and which stage has to do better."""

    def __init__(self, stage: str, what: str) -> None:
        super().__init__(what)
        self.stage = stage


@dataclass(frozen=True, slots=True)
class Field:
    """One argument, or one part of an entry. A ``default`` makes an argument optional."""

    name: str
    type: Type
    description: str
    default: Any = None

    @property
    def optional(self) -> bool:
        return self.default is not None


@dataclass(frozen=True, slots=True)
class Case:
    """What must come of some arguments: entries, or an error of that kind.

    ``observed``: it was seen in a real run or said by the owner, and nobody may change it. ``sure``: it follows from
    the arguments themselves. ``agreed``: how many bodies, written without sight of one another, gave this; no proof.
    ``edge``: code thought of it (`probes`), and all that speaks for it is that bodies agree.
    """

    args: Mapping[str, Any]
    entries: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    observed: bool = False
    sure: bool = False
    agreed: int = 0
    edge: bool = False

    @property
    def is_fixed(self) -> bool:
        return self.observed or self.sure


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of the executor to be made."""

    need: Need
    name: str = ""
    takes: tuple[Field, ...] = ()
    gives: tuple[Field, ...] = ()
    each: str = ""  # the argument whose items are worked on one by one; empty if all is worked on at once
    cases: tuple[Case, ...] = ()
    purpose: str = ""
    says: tuple[str, ...] = ()  # what a person might say who wants it
    body: str = ""  # imports and functions; one of them is called like the executor
    version: str = "1.0.0"

    @property
    def parameters(self) -> tuple[Field, ...]:
        """What the function is called with: of a list that is worked on item by item, the item."""
        return tuple(Field(self.item, each.type.item, each.description) if each.name == self.each else each
                     for each in self.takes)  # fmt: skip

    @property
    def item(self) -> str:
        """What one of them is called: `texts` are *text*."""
        name = self.each
        if name.endswith("ies"):
            return f"{name[:-3]}y"
        return name[:-1] if name.endswith("s") and len(name) > 2 else f"{name}_item"

    @property
    def echoes(self) -> bool:
        """Whether an entry says which item it is about."""
        listed = next((each for each in self.takes if each.name == self.each), None)
        return listed is not None and listed.type is not Type.OBJECTS and all(
            each.name != self.item for each in self.gives)  # fmt: skip
