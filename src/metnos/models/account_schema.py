"""The table of what an agent spent on language models over its whole life.

It lies in ``memory/life.db`` beside what a life is told by; the money is counted here because calls are begun here.
"""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0001_spendings",
        (
            # Written by `account`. While a call runs, ``usd`` is the most that it can cost; a call whose process died
            # stays like that, because nobody knows what it cost. ``death`` marks what may draw on the reserve.
            """CREATE TABLE spendings (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                ts TEXT NOT NULL,
                death INTEGER NOT NULL CHECK (death IN (0, 1)),
                usd REAL NOT NULL CHECK (usd >= 0),
                settled INTEGER NOT NULL CHECK (settled IN (0, 1))
            ) STRICT""",
        ),
    ),
)
