"""Read a lock: every package with its version, the digests it may have, and where it is wanted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Locked:
    """One line of a lock. ``marker`` says on which machines; empty on all."""

    name: str
    version: str
    marker: str
    digests: tuple[str, ...]


def read_all(text: str) -> Iterator[Locked]:
    """Every package of the lock, also those for other machines. Raises ``ValueError`` on a line that pins nothing."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        wanted = line.split(" #")[0].split("--hash")[0].strip()
        if not wanted or wanted.startswith("#"):
            continue
        requirement = Requirement(wanted)
        pins = [each.version for each in requirement.specifier if each.operator == "=="]
        if len(pins) != 1 or len(requirement.specifier) != 1:
            raise ValueError(f"the lock does not pin {wanted!r}")
        marker = str(requirement.marker or "")
        yield Locked(canonicalize_name(requirement.name), pins[0], marker, tuple(sorted(_HASH.findall(line))))
