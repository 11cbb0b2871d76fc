"""The tables of executors in ``.mnestome/mnest.sqlite``. `index` is their one writer."""

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
