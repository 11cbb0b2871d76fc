"""Compare installed packages with the RECORD that their installer left.

Rules: an entry without a digest (compiled files, RECORD itself) proves nothing and is passed over; one whose digest is
of another kind than sha256 cannot be checked, and counts as a difference. Does not guarantee that RECORD is the one
that was shipped: who can change a file can change its line, too.
"""

import base64
import binascii
import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from metnos.core.canon import sha256_hex
from metnos.law.own_code import CACHE, OwnCode, compare, read_plain

RECORD = "RECORD"
_INFO = ".dist-info"


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed package: its name with its version, and the digest that each of its files must have, if any."""

    name: str
    files: Mapping[str, str]  # by the path from the folder that holds the package


def read_distribution(info: Path) -> Distribution | None:
    """The RECORD in this ``.dist-info`` folder; nothing if there is none that can be read."""
    raw = read_plain(str(info / RECORD))
    if raw is None:
        return None
    try:
        rows = list(csv.reader(raw.decode().splitlines(), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return None
    return Distribution(info.name.removesuffix(_INFO), {row[0]: _digest(row) for row in rows if row})


def read_own(package: Path) -> Mapping[str, str] | None:
    """What the RECORD beside the package says of its files; nothing for a checkout, which has none."""
    for info in sorted(package.parent.glob(f"{package.name}-*{_INFO}")):
        found = read_distribution(info)
        above = f"{package.name}/"
        if found is not None and f"{above}__init__.py" in found.files:
            own = {name.removeprefix(above): digest for name, digest in found.files.items() if name.startswith(above)}
            return {name: digest for name, digest in own.items() if digest}
    return None


def compare_own(code: OwnCode, package: Path) -> tuple[str, ...]:
    """Name each file of the package that is not what its RECORD says; none for a checkout."""
    record = read_own(package)
    return () if record is None else compare(record, code.files)


def check_distributions(found: Iterable[Distribution], folder: Path) -> Iterator[str]:
    """Name each file of these packages that is missing or not what a RECORD says.

    Where several packages brought one file, the last that was installed has it: one of their digests is enough.
    """
    wanted: dict[str, dict[str, str]] = {}
    for each in found:
        for name, digest in each.files.items():
            if digest:
                wanted.setdefault(name, {})[digest] = each.name
    for name, digests in wanted.items():
        content = read_plain(os.path.join(folder, name))
        if content is None or sha256_hex(content) not in digests:
            yield f"{next(iter(digests.values()))}: {name} {'is gone' if content is None else 'was changed'}"


def find_unlisted(folder: Path, listed: frozenset[str]) -> Iterator[str]:
    """Name each file in a folder of packages that Python could load and no RECORD lists."""
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != CACHE)
        for name in sorted(names):
            path = os.path.join(above, name)
            if name.endswith((".py", ".pth", ".so", ".pyc")) and os.path.relpath(path, folder) not in listed:
                yield os.path.relpath(path, folder)


def _digest(row: list[str]) -> str:
    """The digest of one line in hexadecimal; empty if the line gives none, and no digest at all if it is unreadable."""
    text = row[1] if len(row) > 1 else ""
    if not text:
        return ""
    kind, _, encoded = text.partition("=")
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).hex() or text if kind == "sha256" else text
    except (ValueError, binascii.Error):
        return text
