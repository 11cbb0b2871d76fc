"""A draft: an executor that does not live yet, as the three files that it would be, and how it came to be so.

Rules: the files are what is examined, shown, approved and signed, bit for bit; whatever changes them makes another
draft with another digest. A draft holds nothing that could run: it is text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tomlkit

from metnos.core.canon import sha256_hex
from metnos.executors import folder, manifest, signature
from metnos.executors.manifest import Manifest

VERSION = "1.0.0"  # of what is born


@dataclass(frozen=True, slots=True)
class Draft:
    """Manifest, code and birth tests, as texts."""

    name: str
    manifest: str
    code: str
    tests: str

    def contents(self) -> dict[str, bytes]:
        """The files of its folder."""
        texts = {folder.MANIFEST: self.manifest, folder.SOURCE: self.code, folder.TESTS: self.tests}
        return {name: text.encode() for name, text in texts.items()}

    def read(self) -> Manifest:
        """The manifest, checked. Raises `ManifestError`."""
        return manifest.parse(self.manifest, where=f"{self.name}/{folder.MANIFEST}")

    @property
    def digest(self) -> str:
        """What the signature will name: only these files, to the bit. Raises `ManifestError`."""
        return signature.identity(sha256_hex(self.read().canonical()), signature.file_digests(self.contents()))


def toml(table: Mapping[str, Any]) -> str:
    """A table as TOML that a person likes to read."""
    return tomlkit.dumps(dict(table))


def tests_toml(tests: Sequence[Mapping[str, Any]]) -> str:
    """Birth tests as a file."""
    return toml({"test": [dict(each) for each in tests]})


@dataclass(frozen=True, slots=True)
class Check:
    """One gate that a draft went through; ``problem`` is empty when it passed. ``stage`` is who has to mend it."""

    gate: str
    problem: str
    stage: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a need: a draft that passed every gate, or the reason why there is none."""

    draft: Draft | None
    checks: tuple[Check, ...] = ()
    abandoned: str = ""  # in words for the owner
    stage: str = ""  # where it ended
    rejections: int = 0
    usage: Mapping[str, float] = field(default_factory=dict)  # calls, tokens, seconds, money

    @property
    def green(self) -> bool:
        return self.draft is not None and not self.abandoned and all(each.passed for each in self.checks)
