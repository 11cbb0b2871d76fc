"""Records that more than one layer speaks of. Frozen, slotted, and made of plain values only.

A record that one package alone makes and reads lives in that package.
"""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a check came out: green is fine, yellow works with a limit, red must be mended."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of ``metnos doctor``: what was looked at, how it is, and what to type if it is not well."""

    name: str
    level: Level
    found: str
    fix: str = ""

    @classmethod
    def green(cls, name: str, found: str) -> "Check":
        return cls(name, Level.GREEN, found)

    @classmethod
    def yellow(cls, name: str, found: str, fix: str) -> "Check":
        return cls(name, Level.YELLOW, found, fix)

    @classmethod
    def red(cls, name: str, found: str, fix: str) -> "Check":
        return cls(name, Level.RED, found, fix)
