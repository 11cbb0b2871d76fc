"""The tables of executors in ``.mnestome/mnest.sqlite``.

`index` is the one writer of those in `MIGRATIONS`, `fitness` of ``executor_fitness`` and `selection` of
``executor_hidden``. The file is shared, and steps are only ever added at its end: so `FITNESS` comes after the others'.
"""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0001_executors",
        (
            # One row for each version that was ever signed; the row of the greatest serial is the one in force.
            # `before` is the state that an executor had when it was found tampered with.
            """CREATE TABLE executors (
                name TEXT NOT NULL,
                version TEXT NOT NULL,
                state TEXT NOT NULL
                    CHECK (state IN ('seed', 'active', 'disabled', 'quarantine', 'archived', 'revoked')),
                loaded_at TEXT NOT NULL,
                manifest_hash TEXT NOT NULL,
                digest TEXT NOT NULL,
                code TEXT NOT NULL,
                origin TEXT NOT NULL CHECK (origin IN ('builtin', 'synthesised', 'owner')),
                serial INTEGER NOT NULL CHECK (serial >= 0),
                reason TEXT NOT NULL,
                before TEXT,
                ts TEXT NOT NULL,
                PRIMARY KEY (name, version)
            ) STRICT""",
            "CREATE INDEX executors_state ON executors (state)",
            "CREATE INDEX executors_serial ON executors (name, serial)",
            """CREATE TABLE executor_uses (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL,
                digest TEXT NOT NULL,
                ts TEXT NOT NULL,
                ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
                kind TEXT NOT NULL,
                fault INTEGER NOT NULL CHECK (fault IN (0, 1)),
                wall_ms INTEGER NOT NULL CHECK (wall_ms >= 0),
                cpu_ms INTEGER NOT NULL CHECK (cpu_ms >= 0),
                writes INTEGER NOT NULL CHECK (writes >= 0),
                write_bytes INTEGER NOT NULL CHECK (write_bytes >= 0)
            ) STRICT""",
            "CREATE INDEX executor_uses_ts ON executor_uses (name, ts)",
            """CREATE TABLE executor_births (
                digest TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                ts TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX executor_births_ts ON executor_births (ts)",
            """CREATE TABLE executor_revoked (
                code TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                ts TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)

FITNESS = (
    Migration(
        "0005_fitness",
        (
            # One row for each step that ran in a turn. `measured` is what it was worth by itself, `utility` what it was
            # worth when everybody was heard; either is nothing where nobody can tell.
            """CREATE TABLE executor_fitness (
                turn TEXT NOT NULL,
                step INTEGER NOT NULL,
                name TEXT NOT NULL,
                digest TEXT NOT NULL,
                goal TEXT NOT NULL,
                ts TEXT NOT NULL,
                changed INTEGER NOT NULL CHECK (changed IN (0, 1)),
                measured REAL,
                owner INTEGER CHECK (owner IN (0, 1)),
                undone INTEGER NOT NULL DEFAULT 0 CHECK (undone IN (0, 1)),
                critic REAL CHECK (critic BETWEEN -1 AND 1),
                utility REAL,
                PRIMARY KEY (turn, step)
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX executor_fitness_name ON executor_fitness (name, digest, goal)",
            "CREATE INDEX executor_fitness_goal ON executor_fitness (goal, name)",
            """CREATE INDEX executor_fitness_said ON executor_fitness (turn)
                WHERE owner IS NOT NULL OR undone = 1 OR critic IS NOT NULL""",
            # Which executors planners do not see, in which version, and why.
            """CREATE TABLE executor_hidden (
                name TEXT PRIMARY KEY,
                digest TEXT NOT NULL,
                why TEXT NOT NULL CHECK (why IN ('unfit', 'unproven', 'dormant')),
                ts TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            # What the owner was asked about an executor, so that nobody asks again while it is as it was.
            """CREATE TABLE executor_asked (
                name TEXT NOT NULL,
                about TEXT NOT NULL,
                standing TEXT NOT NULL,
                ts TEXT NOT NULL,
                PRIMARY KEY (name, about)
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
