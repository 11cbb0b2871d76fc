"""What happened to the memory, as the source document names it: ``GrimoireWrite`` and ``CuratorCycleComplete``.

Rules: names and numbers, never words of a memory: a name that could be content is noted as ``other``, so that what is
forgotten is not found here. A happening is written in the transaction of what it tells, if there is one. The newest are
kept, up to a bound; older ones go when a curation ends.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, SystemClock, from_text, to_text
from metnos.core.errors import StoreError
from metnos.store.db import Database

WRITE = "GrimoireWrite"
CYCLE = "CuratorCycleComplete"
KEPT = 50_000  # a year of a hundred writes a day, in some megabytes
OTHER = "other"

_KEYS: dict[str, tuple[str, ...]] = {
    WRITE: ("entry_type", "category", "confidence", "source"),
    CYCLE: ("entries_pruned", "entries_promoted", "heuristics_proposed"),
}
_NAME = re.compile(r"[a-z][a-z0-9_.:-]{0,63}")

Tell = Callable[[str, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Happening:
    id: int
    kind: str
    ts: datetime
    data: Mapping[str, Any]


def tell(db: Database, clock: Clock | None = None, kept: int = KEPT) -> Tell:
    """The callable that records what happens; refuses what is no happening, since then it is told wrongly."""
    now = (clock or SystemClock()).now

    def record(kind: str, data: Mapping[str, Any]) -> None:
        keys = _KEYS.get(kind)
        if keys is None or set(data) != set(keys):
            raise StoreError(f"{kind} is told with {', '.join(sorted(data))}; this is a mistake in Metnos")
        plain = canonical_json({key: _plain(data[key]) for key in keys}).decode()
        with db.write() as tx:
            tx.execute("INSERT INTO happenings (kind, ts, data) VALUES (?, ?, ?)", (kind, to_text(now()), plain))
            if kind == CYCLE:
                tx.execute("DELETE FROM happenings WHERE id <= (SELECT max(id) FROM happenings) - ?", (kept,))

    return record


def newest(db: Database, kind: str, count: int) -> list[Happening]:
    """The latest of a kind, the newest first."""
    rows = db.query("SELECT id, kind, ts, data FROM happenings WHERE kind = ? ORDER BY id DESC LIMIT ?", (kind, count))
    return [Happening(number, name, from_text(ts), json.loads(data)) for number, name, ts, data in rows]


def _plain(value: object) -> str | float | int:
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else 0.0
    text = str(value)
    return text if _NAME.fullmatch(text) else OTHER
