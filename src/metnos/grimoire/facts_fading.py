"""What changes of facts by itself: reading what is due, writing what is believed now.

Rules: only columns of belief, standing, counters and times are written here, and of what is due only those are read
that fading is about, because there may be many. The words of a fact are not touched.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from metnos.core.clock import from_text, to_text
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.facts_rows import Store, maybe
from metnos.store.db import Row, Transaction, Value

_NAMED = ("id", "kind", "domain", "confidence", "provenance", "decay", "standing")
_COLUMNS = ", ".join(
    (*_NAMED, "applied", "valid_until", "confirm_by", "episode_count", "bloodstain", "pinned", "helped", "low_cycles")
)


def due(store: Store, since: Mapping[Decay, datetime], now: datetime, unconfirmed: datetime, low: float) -> list[Fact]:
    """Facts that fading may have changed, and of them only what fading is about."""
    fading = " OR ".join("decay = ? AND applied < ?" for _ in since)
    values: list[Value] = [text for decay, moment in since.items() for text in (str(decay), to_text(moment))]
    sql = (
        f"SELECT {_COLUMNS} FROM facts WHERE standing IN ('active', 'quarantined') AND (({fading})"  # noqa: S608
        " AND pinned = 0 OR valid_until <= ? OR confirm_by <= ? OR confidence < ? OR low_cycles > 0)"
    )
    found = store.query(sql, [*values, to_text(now), to_text(unconfirmed), low])
    return [_fading(row) for row in found]


def _fading(row: Row) -> Fact:
    key, kind, domain, confidence, provenance, decay, standing, applied, until, confirm_by, *counts = row
    episodes, bloodstain, pinned, helped, low_cycles = counts
    then = from_text(applied)
    return Fact(
        id=key,
        kind=Kind(kind),
        text="",
        domain=domain,
        confidence=confidence,
        quality=0.0,
        provenance=Provenance(provenance),
        decay=Decay(decay),
        created=then,
        reinforced=then,
        applied=then,
        standing=Standing(standing),
        valid_until=None if until is None else from_text(until),
        confirm_by=None if confirm_by is None else from_text(confirm_by),
        episode_count=episodes,
        bloodstain=bool(bloodstain),
        pinned=bool(pinned),
        helped=helped,
        low_cycles=low_cycles,
    )


def believed(tx: Transaction, changed: Iterable[Fact]) -> None:
    """Write only what changes by itself: belief, standing, counters and times."""
    tx.execute_many(
        "UPDATE facts SET confidence = ?, standing = ?, reinforced = ?, applied = ?, low_cycles = ?, shown = ?,"
        " helped = ?, harmed = ?, valid_until = ?, confirm_by = ? WHERE id = ?",
        [
            (
                each.confidence,
                str(each.standing),
                to_text(each.reinforced),
                to_text(each.applied),
                each.low_cycles,
                each.shown,
                each.helped,
                each.harmed,
                maybe(each.valid_until),
                maybe(each.confirm_by),
                each.id,
            )
            for each in changed
        ],
    )


def faded(tx: Transaction, changed: Sequence[Fact]) -> None:
    """Write what fading changed."""
    tx.execute_many(
        "UPDATE facts SET confidence = ?, standing = ?, applied = ?, low_cycles = ? WHERE id = ?",
        [(each.confidence, str(each.standing), to_text(each.applied), each.low_cycles, each.id) for each in changed],
    )
