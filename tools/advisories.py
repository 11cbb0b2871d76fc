"""Compare a lock with known faults, without asking anybody.

    python tools/advisories.py DATA [LOCK ...]     DATA: a file, folder or zip in OSV format; without LOCK every lock

Rules: nothing is fetched: the answer is as new as the data, and the newest entry is named. What cannot be decided (a
version that is none, a range of commits alone) is said and counts as a finding. Exit 0: nothing known; 1: something;
2: the data or a lock cannot be read, or says nothing about Python packages.
"""

import argparse
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locked import Locked, read_all
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
FINE, FOUND, UNREADABLE = 0, 1, 2
_ECOSYSTEM = "PyPI"
_LARGEST = 16 << 20  # bytes of one entry
_KINDS = ("limit", "fixed", "introduced", "last_affected")  # of events, in the order in which they count


@dataclass(frozen=True, slots=True)
class KnownFault:
    """One locked package that an advisory speaks of, and what it says."""

    package: str
    version: str
    advisory: str
    summary: str
    fixed: tuple[str, ...]
    is_clear: bool  # whether the version was compared, or could not be

    def __str__(self) -> str:
        what = f"{self.package} {self.version}: {self.advisory}"
        what += "" if self.is_clear else ", which cannot be compared with this version"
        way_out = f" (fixed in {', '.join(self.fixed)})" if self.fixed else ""
        return f"{what}{way_out}{': ' + self.summary if self.summary else ''}"


def read_data(path: Path) -> Iterator[dict[str, Any]]:
    """Every entry of a file, a folder or a zip. Raises ``ValueError`` on what is no entry."""
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield from _entries(file.read_bytes(), str(file))
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.endswith(".json"):
                    if info.file_size > _LARGEST:
                        raise ValueError(f"{path}: {info.filename} is larger than an entry can be")
                    yield from _entries(archive.read(info), f"{path}: {info.filename}")
    else:
        yield from _entries(path.read_bytes(), str(path))


def find_faults(packages: Iterable[Locked], entries: Iterable[dict[str, Any]]) -> Iterator[KnownFault]:
    """Each locked package that an entry speaks of and does not say to be well."""
    wanted: dict[str, set[str]] = {}
    for each in packages:
        wanted.setdefault(each.name, set()).add(each.version)
    for entry in entries:
        if entry.get("withdrawn"):
            continue
        for affected in entry.get("affected") or ():
            name = _name(affected)
            for version in sorted(wanted.get(name, ())):
                verdict = is_affected(version, affected)
                if verdict is not False:
                    summary = " ".join(str(entry.get("summary") or "").split())
                    fixed = tuple(_named(affected, "fixed"))
                    yield KnownFault(name, version, str(entry["id"]), summary, fixed, verdict is not None)


def is_affected(version: str, affected: dict[str, Any]) -> bool | None:
    """Whether an entry's part about this package covers the version; nothing if that cannot be said."""
    try:
        wanted = Version(version)
    except InvalidVersion:
        return None
    listed = affected.get("versions") or ()
    if version in listed or any(_is_same(wanted, each) for each in listed):
        return True
    ranges = [each for each in affected.get("ranges") or () if each.get("type") in ("ECOSYSTEM", "SEMVER")]
    try:
        if any(_is_within(wanted, each.get("events") or ()) for each in ranges):
            return True
    except (InvalidVersion, TypeError, AttributeError):
        return None
    return False if ranges or listed else None


def _is_within(wanted: Version, events: Sequence[dict[str, str]]) -> bool:
    """Whether the version lies between an introduction and what ended it."""
    ends = [limit for event in events if (limit := event.get("limit"))]
    if ends and not any(limit == "*" or wanted < Version(limit) for limit in ends):
        return False
    inside = False
    for event in sorted(events, key=_order):
        begun, fixed, last = (event.get(kind) for kind in ("introduced", "fixed", "last_affected"))
        if begun is not None and (begun == "0" or wanted >= Version(begun)):
            inside = True
        if (fixed is not None and wanted >= Version(fixed)) or (last is not None and wanted > Version(last)):
            inside = False
    return inside


def _order(event: dict[str, str]) -> tuple[Version, int]:
    """Events in the order of their versions; at the same one, in that of their kinds."""
    (kind, text), *more = event.items()
    if more or kind not in _KINDS:
        raise TypeError(f"{event} is no event")
    return Version("0.dev0" if text in ("0", "*") else text), _KINDS.index(kind)


def _is_same(wanted: Version, listed: str) -> bool:
    try:
        return Version(listed) == wanted
    except InvalidVersion:
        return False


def _name(affected: dict[str, Any]) -> str:
    package = affected.get("package") or {}
    return canonicalize_name(package["name"]) if str(package.get("ecosystem")).split(":")[0] == _ECOSYSTEM else ""


def _named(affected: dict[str, Any], kind: str) -> Iterator[str]:
    for each in affected.get("ranges") or ():
        if each.get("type") != "GIT":
            yield from (event[kind] for event in each.get("events") or () if kind in event)


def _entries(raw: bytes, where: str) -> Iterator[dict[str, Any]]:
    """The entries of one file: one, or a list of them."""
    try:
        data = json.loads(raw)
        for entry in data if isinstance(data, list) else [data]:
            if not (isinstance(entry["id"], str) and isinstance(entry["modified"], str)):
                raise TypeError("no id or no time")
            for affected in entry.get("affected") or ():
                _name(affected)
            yield entry
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{where} is no entry in OSV format") from error


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the locks with known faults.")
    parser.add_argument("data", type=Path, help="a file, a folder or a zip in OSV format")
    parser.add_argument("locks", type=Path, nargs="*", help="locks; without any, those of this checkout")
    chosen = parser.parse_args(arguments)
    try:
        packages = [each for lock in chosen.locks or _locks() for each in read_all(lock.read_text(encoding="utf-8"))]
        entries = [entry for entry in read_data(chosen.data) if any(map(_name, entry.get("affected") or ()))]
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    if not entries or not packages:
        print(f"{chosen.data} says nothing about Python packages, or the lock is empty", file=sys.stderr)
        return UNREADABLE
    found = list(dict.fromkeys(find_faults(packages, entries)))
    print(*found, sep="\n", end="\n" if found else "")
    newest = max(entry["modified"] for entry in entries)
    print(
        f"{len(found)} findings; {len(packages)} locked, {len(entries)} entries, the newest of {newest}",
        file=sys.stderr,
    )
    return FOUND if found else FINE


def _locks() -> list[Path]:
    return sorted((ROOT / "lock").glob("*.txt"))


if __name__ == "__main__":
    sys.exit(main())
