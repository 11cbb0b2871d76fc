"""The folder of the episodes: which engine is in charge there, and what of another one lies about.

Rules: a file names the engine in charge; it is replaced at one stroke, which is how episodes move from one engine to
the other. Whatever lies there of an engine that is not in charge is a copy: half of one that was being made, or one
that was left. It is dropped before anything is removed, so that nothing stays behind in it.
"""

import shutil
from pathlib import Path

from metnos.core import files
from metnos.core.errors import StoreError

MARK = "engine"

_OF = {  # what belongs to each engine
    "sqlite": ("episodes.db", "episodes.db-wal", "episodes.db-shm", "tend.lock", "vectors-*.usearch*"),
    "lance": ("lance",),
}


def in_charge(folder: Path) -> str | None:
    """The engine that keeps the episodes here; none if nobody does yet."""
    try:
        return (folder / MARK).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def claim(folder: Path, engine: str) -> None:
    """Be the one in charge, or raise if another one is."""
    files.private_folder(folder)
    if in_charge(folder) is None:
        files.create(folder / MARK, engine.encode(), mode=files.PRIVATE_FILE)
    other = in_charge(folder)
    if other != engine:
        raise StoreError(
            f"the episodes in {folder} are kept by {other}, and the settings name {engine}",
            fix=f"Move them (metnos memory move {engine}), or set it back: metnos config set memory.engine {other}",
        )


def hand_over(folder: Path, engine: str) -> None:
    """Put another engine in charge, at one stroke."""
    files.replace(folder / MARK, engine.encode(), mode=files.PRIVATE_FILE)


def drop(folder: Path, engine: str) -> None:
    """Delete what lies here of an engine that is not in charge."""
    if in_charge(folder) == engine:
        raise StoreError(f"{engine} keeps the episodes in {folder}; what it keeps is not deleted as a whole")
    for pattern in _OF[engine]:
        for path in folder.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    files.sync_folder(folder)


def drop_copies(folder: Path, engine: str) -> None:
    """Delete what lies here of others than this engine, if it is in charge."""
    if in_charge(folder) == engine:
        for other in _OF:
            if other != engine:
                drop(folder, other)
