"""The tables of mnests in ``.mnestome/mnest.sqlite``, which the executors' own tables precede.

Rules:

- A mnest is known by source, its version, destination and its version. One live row (seed, active or decaying) for each
  such tuple; superseded rows are history and may be many.
- A proto-mnest is a wish, so its destination has no version. One row for each source and desired name: a newer version
  of the source that wishes the same reinforces it, and the row has the version that wished last.
- ``ts_used`` is the last use; ``ts_decayed`` is the moment that ``weight`` belongs to.
- Events are only ever added, and weights can be computed from them again: one that carries a ``decay_lambda`` says that
  from then on the mnest fades so fast. They refer to a mnest by id without a foreign key, because a row may leave (to
  an archive, or a faded wish for good) while its history stays. Events of past years move to a file of their own; what
  may leave is written down first (``events_moved``), in the transaction that removes it.
- ``mnests_archive`` holds rows that were superseded long ago, or that the owner let go.
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
    Migration(
        "0003_ageing",
        (
            "ALTER TABLE events ADD COLUMN decay_lambda REAL CHECK (decay_lambda > 0)",
            """CREATE TABLE events_moved (
                year TEXT PRIMARY KEY,
                upto INTEGER NOT NULL,
                ts TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            "DROP TRIGGER events_never_go",
            """CREATE TRIGGER events_never_go BEFORE DELETE ON events
                WHEN NOT EXISTS
                    (SELECT 1 FROM events_moved m WHERE m.year = substr(OLD.ts, 1, 4) AND OLD.id <= m.upto)
                BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END""",
            """CREATE TABLE mnests_archive (
                id TEXT PRIMARY KEY,
                src_executor TEXT NOT NULL,
                src_version TEXT NOT NULL,
                dst_executor TEXT NOT NULL,
                dst_version TEXT,
                weight REAL NOT NULL,
                uses INTEGER NOT NULL,
                ts_first TEXT NOT NULL,
                ts_used TEXT NOT NULL,
                ts_decayed TEXT NOT NULL,
                decay_lambda REAL NOT NULL,
                state TEXT NOT NULL,
                tags TEXT NOT NULL,
                desired_sig TEXT,
                desired_by TEXT,
                ts_archived TEXT NOT NULL,
                reason TEXT NOT NULL CHECK (reason <> '')
            ) STRICT""",
            # With all that a walk reads, so that it reads no rows: those lie scattered, and cost five times as much.
            """CREATE INDEX mnests_out
                ON mnests (src_executor, weight DESC, dst_executor, ts_decayed, decay_lambda, state)
                WHERE state IN ('seed', 'active', 'decaying')""",
            """CREATE INDEX mnests_in
                ON mnests (dst_executor, weight DESC, src_executor, ts_decayed, decay_lambda, state)
                WHERE state IN ('seed', 'active', 'decaying')""",
            # What the seed calls the living graph: no history, and nothing that is on its way out.
            """CREATE VIEW v_mnestome AS
                SELECT id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_used AS ts_last,
                    state, tags, desired_sig
                FROM mnests WHERE state IN ('active', 'proto')""",
            # Single facts of the ager: when it last ran, up to which day the owner's activity was counted.
            """CREATE TABLE ager_facts (
                name TEXT PRIMARY KEY,
                value TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
