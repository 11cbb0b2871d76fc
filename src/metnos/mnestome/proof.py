"""Whether weights are what their events say: events are only ever added, and every weight can be computed from them.

Rules: reads only. Does not guarantee anything about what was not looked at: a large mnestome is proved by its heaviest.
"""

import math
from datetime import datetime

from metnos.mnestome import graph
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Rules, decayed, replay
from metnos.store.db import Database

RULES = Rules()
_CLOSE = 1e-6  # rounding of a year of nights stays far below this, and nobody would see so little


def unproved(db: Database, past: Past, n: int, now: datetime, rules: Rules = RULES) -> tuple[int, list[Mnest]]:
    """How many of the ``n`` heaviest mnests were looked at, and those whose events lead to another weight."""
    heaviest = graph.top(db, n, now)
    return len(heaviest), [each for each in heaviest if not _follows(each, db, past, now, rules)]


def _follows(mnest: Mnest, db: Database, past: Past, now: datetime, rules: Rules) -> bool:
    weight, since = replay(past.events(db, mnest.id), rules.decay_lambda)
    said = decayed(weight, since or now, now, mnest.decay_lambda)
    return math.isclose(said, mnest.at(now), abs_tol=_CLOSE)
