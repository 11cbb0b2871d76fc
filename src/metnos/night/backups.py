"""The nightly backups: their names, and which of them are too many.

Rules: a name carries the beginning of the agent's public key, because several agents may share a folder; nothing that
is not named so by this agent is ever touched, nor what is no plain file. Of those, the oldest go first; one from the
future was made while the clock was wrong, and goes before all others. What a killed night left half made goes too.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

_SHAPE = "%Y%m%dT%H%M%SZ"


def name_of(public_key: str, now: datetime) -> str:
    """The name of the backup made now."""
    return f"metnos-nightly-{public_key[:12]}-{now.astimezone(UTC):{_SHAPE}}.tar.gz"


def surplus(names: Iterable[str], public_key: str, now: datetime, keep: int) -> list[str]:
    """Which of these names are too many, when the newest ``keep`` are to stay."""
    pattern = re.compile(rf"metnos-nightly-{re.escape(public_key[:12])}-(\d{{8}}T\d{{6}}Z)\.tar\.gz")
    found = [(match[1], name) for name in names if (match := pattern.fullmatch(name))]
    limit = f"{now.astimezone(UTC):{_SHAPE}}"
    ordered = sorted(found, key=lambda each: (each[0] <= limit, each[0]))
    return [name for _, name in ordered[: max(0, len(ordered) - keep)]]


def too_many(folder: Path, public_key: str, now: datetime, keep: int) -> list[str]:
    """The nightly backups of this agent in a folder that are to go."""
    return surplus(_plain(folder), public_key, now, keep)


def prune(folder: Path, public_key: str, now: datetime, keep: int) -> int:
    """Remove the nightly backups of this agent that are too many; how many went. Not while one is being made."""
    gone = too_many(folder, public_key, now, keep)
    half = re.compile(rf"\.metnos-nightly-{re.escape(public_key[:12])}-[^/]+\.partial")
    for name in [*gone, *(name for name in _plain(folder) if half.fullmatch(name))]:
        (folder / name).unlink(missing_ok=True)
    return len(gone)


def _plain(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
