"""The tables of an agent that beats by itself: when it last did what, and how far it has read."""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0005_heartbeat",
        (
            # Written by `heartbeat`. ``count`` is how many there were; ``last`` is when the last one began.
            """CREATE TABLE beats (
                kind TEXT PRIMARY KEY CHECK (kind IN ('gamma', 'theta', 'delta')),
                count INTEGER NOT NULL CHECK (count >= 0),
                last TEXT NOT NULL,
                message TEXT NOT NULL DEFAULT ''
            ) STRICT, WITHOUT ROWID""",
            # Written by `heartbeat`. One row: what has come in and was not thought about yet.
            """CREATE TABLE pulse (
                one INTEGER PRIMARY KEY CHECK (one = 1),
                curious REAL NOT NULL CHECK (curious BETWEEN 0 AND 1),
                fresh INTEGER NOT NULL CHECK (fresh >= 0)
            ) STRICT""",
            # Written by `heartbeat`. How far each source was read: a chain's blocks, the episodes thought about.
            """CREATE TABLE places (
                source TEXT PRIMARY KEY,
                place INTEGER NOT NULL,
                ts TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
