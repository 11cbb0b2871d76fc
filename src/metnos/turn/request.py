"""What somebody asks for, and nothing else: the first record of a turn."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from metnos.law.principal import Principal

LONGEST = 20_000  # characters; a longer text belongs into a file


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``id`` is the turn's; ``asked`` is aware and in the zone of whoever asks."""

    id: str
    text: str
    principal: Principal
    cwd: Path
    asked: datetime
    conversation: str
    dry_run: bool = False
