"""How the tests of slots read a request: always on the same day, in the same place, told in one short line each."""

from datetime import UTC, datetime
from pathlib import Path

from metnos.fastpath.slots import Slot, extract

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)  # a Sunday
HOME = Path("/home/owner")
CWD = Path("/home/owner/work")


def slots(text: str, now: datetime = NOW) -> tuple[Slot, ...]:
    return extract(text, now=now, home=HOME, cwd=CWD)


def told(text: str) -> list[str]:
    """Each slot as `kind value @role`; a range as `first..last`, with its days if it has them."""
    return [_told(slot) for slot in slots(text)]


def _told(slot: Slot) -> str:
    value = slot.value
    if isinstance(value, dict):
        value = f"{value['from']}..{value['to']}" + (f" {value['days']}d" if "days" in value else "")
    return f"{slot.kind} {value}" + (f" @{slot.role}" if slot.role else "")
