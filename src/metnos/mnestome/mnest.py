"""The record of one mnest, and how it is read from its row. Lists and histories of them are in `lists`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from metnos.core.clock import from_text
from metnos.mnestome.rules import LIVE, State, decayed
from metnos.store.db import Row

COLUMNS = (
    "id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used, ts_decayed,"
    " decay_lambda, state, tags, desired_sig"
)
LIVING = "state IN ('seed', 'active', 'decaying')"  # word for word as in the indexes, or SQLite would not use them


@dataclass(frozen=True, slots=True)
class Mnest:
    """One passing and how strongly it is remembered. ``weight`` is as it was at ``weighed``; `at` says it for later."""

    id: str
    src: str
    src_version: str
    dst: str
    dst_version: str | None  # none for a wish
    weight: float
    uses: int
    first: datetime
    used: datetime
    weighed: datetime
    decay_lambda: float
    state: State
    tags: tuple[str, ...]
    signature: Mapping[str, Any]  # what was wished for; empty for what was not

    def at(self, now: datetime) -> float:
        """The weight at a later moment."""
        return decayed(self.weight, self.weighed, now, self.decay_lambda)

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def summary(self) -> str:
        return str(self.signature.get("summary", ""))


def of_row(row: Row) -> Mnest:
    """From the `COLUMNS` of a row of ``mnests`` or ``mnests_archive``."""
    key, src, src_version, dst, dst_version, weight, uses, first, used, weighed, rate, state, tags, signature = row
    return Mnest(
        id=key,
        src=src,
        src_version=src_version,
        dst=dst,
        dst_version=dst_version,
        weight=weight,
        uses=uses,
        first=from_text(first),
        used=from_text(used),
        weighed=from_text(weighed),
        decay_lambda=rate,
        state=State(state),
        tags=() if tags == "[]" else tuple(json.loads(tags)),
        signature=json.loads(signature) if signature else {},
    )
