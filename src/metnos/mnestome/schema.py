"""The tables of mnests in ``.mnestome/mnest.sqlite``, which the executors' own tables precede.

Rules:

- A mnest is known by source, its version, destination and its version. One live row (seed, active or decaying) for each
  such tuple; superseded rows are history and may be many.
- A proto-mnest is a wish, so its destination has no version. One row for each source and desired name: a newer version
  of the source that wishes the same reinforces it, and the row has the version that wished last.
- ``ts_used`` is the last use; ``ts_decayed`` is the moment that ``weight`` belongs to.
- Events are only ever added, and weights can be computed from them again. They refer to a mnest by id without a foreign
  key, because a row may leave (to an archive, or a faded wish for good) while its history stays.
- ``applied_turns`` holds which turns were worked in, by projection, and is written in the transaction that does so.
"""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0002_mnests",
        (
            """CREATE TABLE mnests (
                id TEXT PRIMARY KEY,
                src_executor TEXT NOT NULL,
                src_version TEXT NOT NULL,
                dst_executor TEXT NOT NULL,
                dst_version TEXT,
                weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
                uses INTEGER NOT NULL CHECK (uses >= 1),
                ts_first TEXT NOT NULL,
                ts_used TEXT NOT NULL CHECK (ts_used >= ts_first),
                ts_decayed TEXT NOT NULL CHECK (ts_decayed >= ts_used),
                decay_lambda REAL NOT NULL CHECK (decay_lambda > 0),
                state TEXT NOT NULL CHECK (state IN ('seed', 'proto', 'active', 'decaying', 'superseded'))
                    CHECK (state = 'superseded' OR (state = 'proto') = (dst_version IS NULL)),
                tags TEXT NOT NULL CHECK (json_type(tags) = 'array'),
                desired_sig TEXT CHECK (json_type(desired_sig) = 'object')
                    CHECK (state <> 'proto' OR desired_sig IS NOT NULL),
                desired_by TEXT
            ) STRICT""",
            """CREATE UNIQUE INDEX mnests_live ON mnests (src_executor, src_version, dst_executor, dst_version)
                WHERE state IN ('seed', 'active', 'decaying')""",
            "CREATE UNIQUE INDEX mnests_proto ON mnests (src_executor, dst_executor) WHERE state = 'proto'",
            "CREATE INDEX mnests_dst ON mnests (dst_executor)",
            "CREATE INDEX mnests_state ON mnests (state, weight DESC)",
            """CREATE TABLE events (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                mnest_id TEXT NOT NULL,
                ts TEXT NOT NULL,
                kind TEXT NOT NULL CHECK (kind IN ('reinforce', 'decay', 'state_change')),
                delta REAL CHECK ((delta IS NULL) = (kind = 'state_change')),
                new_state TEXT CHECK (kind <> 'state_change' OR new_state IS NOT NULL),
                reason TEXT NOT NULL CHECK (reason <> ''),
                turn TEXT
            ) STRICT""",
            "CREATE INDEX events_mnest ON events (mnest_id, id)",
            "CREATE INDEX events_ts ON events (ts)",
            """CREATE TRIGGER events_stay BEFORE UPDATE ON events
                BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END""",
            """CREATE TRIGGER events_never_go BEFORE DELETE ON events
                BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END""",
            """CREATE TABLE applied_turns (
                projection TEXT NOT NULL,
                turn TEXT NOT NULL,
                ts TEXT NOT NULL,
                PRIMARY KEY (projection, turn)
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
