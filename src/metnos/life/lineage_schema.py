"""The tables of descent: whom an agent comes from, and what became of each thing it was left."""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0004_lineage",
        (
            # Written by `lineage`, like all below. One row at most: an agent inherits once. ``core`` is the first
            # line of the testament, word for word: the gravestone.
            """CREATE TABLE inheritance (
                one INTEGER PRIMARY KEY CHECK (one = 1),
                testament TEXT NOT NULL CHECK (length(testament) = 64),
                key TEXT NOT NULL CHECK (length(key) = 64),
                generation INTEGER NOT NULL CHECK (generation >= 1),
                size INTEGER NOT NULL,
                core TEXT NOT NULL,
                taken TEXT NOT NULL,
                ended TEXT,
                counts TEXT NOT NULL DEFAULT '{}'
            ) STRICT""",
            # One row for each entry of the testament. ``held`` and ``generation`` are the testament's; ``believed`` is
            # how far the predecessor believed it, ``confidence`` how far it was believed here at first. ``fact`` is
            # what it became, if it became anything.
            """CREATE TABLE heirlooms (
                entry TEXT PRIMARY KEY,
                kind TEXT NOT NULL,
                state TEXT NOT NULL CHECK (state IN
                    ('quarantined', 'left out', 'taken', 'doubted', 'merged', 'contradicted', 'consent', 'refused')),
                reason TEXT NOT NULL DEFAULT '',
                fact TEXT,
                origin TEXT NOT NULL,
                generation INTEGER NOT NULL CHECK (generation >= 1),
                held INTEGER NOT NULL CHECK (held >= 0),
                believed REAL NOT NULL CHECK (believed BETWEEN 0 AND 1),
                confidence REAL NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 1),
                earned TEXT
            ) STRICT""",
            "CREATE INDEX heirlooms_fact ON heirlooms (fact) WHERE fact IS NOT NULL",
            "CREATE TABLE heir_episodes (episode TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
            # The skeleton of the predecessor's mnestome: a passing is planted when both of its executors are here.
            """CREATE TABLE heir_bones (
                src TEXT NOT NULL,
                dst TEXT NOT NULL,
                weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
                PRIMARY KEY (src, dst)
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
