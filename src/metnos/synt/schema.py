"""The tables of synt in ``memory/synt.db``. `proposals` is their one writer."""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0001_proposals",
        (
            # `direction` and `activation` are questions in the inbox. `draft` is what would be signed, as JSON.
            """CREATE TABLE proposals (
                id TEXT PRIMARY KEY,
                way TEXT NOT NULL CHECK (way IN ('direct', 'indirect', 'external', 'owner', 'repair', 'imported')),
                state TEXT NOT NULL CHECK (state IN
                    ('weighed', 'direction', 'commissioned', 'drafted', 'active', 'refused', 'abandoned')),
                subject TEXT NOT NULL,
                name TEXT NOT NULL DEFAULT '',
                need TEXT NOT NULL,
                direction TEXT NOT NULL DEFAULT '',
                activation TEXT NOT NULL DEFAULT '',
                digest TEXT NOT NULL DEFAULT '',
                draft TEXT NOT NULL DEFAULT '',
                checks TEXT NOT NULL DEFAULT '[]',
                usage TEXT NOT NULL DEFAULT '{}',
                refusals INTEGER NOT NULL DEFAULT 0 CHECK (refusals >= 0),
                reason TEXT NOT NULL DEFAULT '',
                ts_first TEXT NOT NULL,
                ts_last TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX proposals_state ON proposals (state)",
            # One open proposal about one thing.
            """CREATE UNIQUE INDEX proposals_open ON proposals (subject)
                WHERE state IN ('weighed', 'direction', 'commissioned', 'drafted')""",
            """CREATE TABLE proposal_events (
                id INTEGER PRIMARY KEY,
                proposal TEXT NOT NULL REFERENCES proposals (id),
                ts TEXT NOT NULL,
                state TEXT NOT NULL,
                reason TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX proposal_events_of ON proposal_events (proposal, id)",
            # Every version that ever lived, as it was signed: what a rollback puts back.
            """CREATE TABLE births (
                digest TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                version TEXT NOT NULL,
                draft TEXT NOT NULL,
                proposal TEXT NOT NULL REFERENCES proposals (id),
                ts TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX births_name ON births (name, ts)",
        ),
    ),
)
