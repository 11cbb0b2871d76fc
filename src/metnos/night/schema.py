"""The schema of night.db. New steps go to the end; see `metnos.store.migrations`."""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0001_runs_and_notices",
        (
            """CREATE TABLE job_runs (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                job TEXT NOT NULL,
                night TEXT NOT NULL,
                by_hand INTEGER NOT NULL CHECK (by_hand IN (0, 1)),
                state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'interrupted')),
                started TEXT NOT NULL,
                ended TEXT,
                message TEXT NOT NULL DEFAULT '',
                counts TEXT NOT NULL DEFAULT '{}',
                cpu_ms INTEGER NOT NULL DEFAULT 0,
                pid INTEGER NOT NULL,
                process TEXT NOT NULL,
                CHECK ((state = 'running') = (ended IS NULL))
            ) STRICT""",
            "CREATE INDEX job_runs_by_night ON job_runs (job, night)",
            "CREATE UNIQUE INDEX one_run_at_a_time ON job_runs (job) WHERE state = 'running'",
            "CREATE UNIQUE INDEX one_run_a_night ON job_runs (job, night) WHERE state = 'done' AND by_hand = 0",
            """CREATE TABLE notices (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                ts TEXT NOT NULL,
                kind TEXT NOT NULL,
                text TEXT NOT NULL,
                once TEXT UNIQUE,
                shown_at TEXT
            ) STRICT""",
            "CREATE INDEX notices_unseen ON notices (id) WHERE shown_at IS NULL",
        ),
    ),
)
