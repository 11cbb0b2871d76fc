"""The tables of how alive an agent is: one row for each tick, and one for each fact that had a say in a step."""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0002_vitality",
        (
            # Written by `vitality`. ``source`` is the turn or the heartbeat that the tick is; ``cause`` is why the life
            # is over at this tick, empty while it goes on. ``roll`` and ``proof`` are there if the dice were thrown.
            """CREATE TABLE ticks (
                tick INTEGER PRIMARY KEY CHECK (tick >= 1),
                source TEXT NOT NULL UNIQUE,
                ts TEXT NOT NULL,
                economic REAL NOT NULL CHECK (economic BETWEEN 0 AND 1),
                epistemic REAL NOT NULL CHECK (epistemic BETWEEN 0 AND 1),
                stochastic REAL NOT NULL CHECK (stochastic BETWEEN 0 AND 1),
                vitality REAL NOT NULL CHECK (vitality BETWEEN 0 AND 1),
                phase TEXT NOT NULL CHECK (phase IN ('thriving', 'stable', 'conservation', 'declining', 'terminal')),
                hazard REAL NOT NULL CHECK (hazard BETWEEN 0 AND 1),
                roll REAL CHECK (roll >= 0 AND roll < 1),
                proof TEXT NOT NULL DEFAULT '' CHECK ((roll IS NULL) = (proof = '')),
                cause TEXT NOT NULL DEFAULT '' CHECK (cause IN ('', 'economic', 'epistemic', 'stochastic'))
            ) STRICT""",
            # Written by `fitness`. ``expects`` is what the fact foretold of the step (1: it goes well), ``went`` is how
            # it went; ``final`` says that no later word of the owner can change that.
            """CREATE TABLE scores (
                seq INTEGER PRIMARY KEY AUTOINCREMENT,
                turn TEXT NOT NULL,
                step INTEGER NOT NULL,
                fact TEXT NOT NULL,
                confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
                expects INTEGER NOT NULL CHECK (expects IN (0, 1)),
                ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
                went INTEGER NOT NULL CHECK (went IN (0, 1)),
                final INTEGER NOT NULL CHECK (final IN (0, 1)),
                ts TEXT NOT NULL,
                UNIQUE (turn, step, fact)
            ) STRICT""",
            "CREATE INDEX scores_open ON scores (ts) WHERE final = 0",
        ),
    ),
)
HAYFLICK = Migration(
    "0006_hayflick",  # the greatest age that held at a tick; zero where nobody aged
    ("ALTER TABLE ticks ADD COLUMN hayflick INTEGER NOT NULL DEFAULT 0 CHECK (hayflick >= 0)",),
)
