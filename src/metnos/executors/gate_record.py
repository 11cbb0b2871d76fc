"""The static gate's records: what an executor declares, what its code needs, and what was found against it.

Rules: two families never mix. A *need* is something the code uses and a manifest can declare: it is refused only while
it is undeclared. A *finding* that no rule derives from a need is a hostile or broken shape: no declaration waives it.
Says nothing about whether a declaration is wise: that is the policy's and the owner's business.
"""

from dataclasses import dataclass
from enum import StrEnum

SOMEWHERE = ""  # the value of a need for a path that is known only when the code runs


@dataclass(frozen=True, slots=True)
class Declared:
    """What an executor may do at most, as plain data."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    model: bool = False
    system: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    mcp: bool = False


class Kind(StrEnum):
    """What a manifest can declare; each is the rule name of the finding when it did not."""

    READ = "undeclared-read"
    WRITE = "undeclared-write"
    HOST = "undeclared-host"
    METHOD = "undeclared-method"
    PROGRAM = "undeclared-program"
    CALL = "undeclared-call"
    MODEL = "undeclared-model"
    SYSTEM = "undeclared-system"
    MCP = "undeclared-mcp"
    LIBRARY = "undeclared-library"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Why code is refused: which rule, where, and what it saw. No finding at all means accepted."""

    rule: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Need:
    """Something the code uses that a manifest can declare. ``inferable`` is false for what nobody grants unasked."""

    kind: Kind
    value: str
    line: int
    what: str
    inferable: bool = True
