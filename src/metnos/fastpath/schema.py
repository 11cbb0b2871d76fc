"""The tables of fast paths: L1 in ``.mnestome/mnest.sqlite``, L2 in ``.mnestome/multi_tool_paths.sqlite``.

Rules: both files have the same tables but for the log of forms, which is `canonical_query_log` where a path is one
executor and `multi_tool_paths` where it is a sequence. `fast_paths` holds a path's state, and a form's state is always
that of its path; its ``plain_query`` is without the words that join its parts. `path_events` only ever grows and holds
no words of a request: counts and states can be explained from it; each kind of event, but for changes of state, counts
once for a path in a turn, and ``form`` says by which form it came. Vectors carry their space and can be computed again.
`applied_turns` holds which turns were worked in, by projection; L1 shares the mnestome's.
"""

from metnos.store.migrations import Migration

L1, L2 = "canonical_query_log", "multi_tool_paths"

_APPLIED = """CREATE TABLE applied_turns (
    projection TEXT NOT NULL,
    turn TEXT NOT NULL,
    ts TEXT NOT NULL,
    PRIMARY KEY (projection, turn)
) STRICT, WITHOUT ROWID"""

_EVENTS = (
    """CREATE TABLE path_events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL,
        turn TEXT NOT NULL,
        ts TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN
            ('pass', 'fail', 'agree', 'disagree', 'hit', 'fell_back', 'wrong', 'good', 'state', 'offered',
             'link', 'forgotten')),
        form INTEGER,
        probability REAL,
        score REAL,
        exact INTEGER CHECK (exact IN (0, 1)),
        saved_ms REAL,
        saved_usd REAL,
        reason TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX path_events_path ON path_events (path, id)",
    "CREATE UNIQUE INDEX path_events_once ON path_events (path, turn, kind) WHERE kind <> 'state'",
    """CREATE TRIGGER path_events_stay BEFORE UPDATE ON path_events
        BEGIN SELECT RAISE(ABORT, 'events of fast paths are only ever added'); END""",
    """CREATE TRIGGER path_events_never_go BEFORE DELETE ON path_events
        BEGIN SELECT RAISE(ABORT, 'events of fast paths are only ever added'); END""",
    "CREATE INDEX path_events_turn ON path_events (turn)",
    "CREATE INDEX path_events_form ON path_events (form)",
)


def _tables(log: str) -> tuple[str, ...]:
    return (
        f"""CREATE TABLE {log} (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            path TEXT NOT NULL REFERENCES fast_paths (path),
            canonical_query TEXT NOT NULL,
            plain_query TEXT NOT NULL,
            said TEXT NOT NULL,
            tool_name TEXT NOT NULL,
            args_shape TEXT NOT NULL CHECK (json_valid(args_shape)),
            args_observed TEXT CHECK (json_valid(args_observed)),
            uses INTEGER NOT NULL DEFAULT 1 CHECK (uses >= 1),
            ok_count INTEGER NOT NULL DEFAULT 0 CHECK (ok_count >= 0),
            fail_count INTEGER NOT NULL DEFAULT 0 CHECK (fail_count >= 0),
            ts_first TEXT NOT NULL,
            ts_last TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'candidate' CHECK (state IN ('candidate', 'shadow', 'active', 'demoted')),
            UNIQUE (canonical_query, tool_name, args_shape)
        ) STRICT""",
        f"CREATE INDEX {log}_path ON {log} (path)",
        f"CREATE INDEX {log}_plain ON {log} (plain_query)",
        """CREATE TABLE fast_paths (
            path TEXT PRIMARY KEY,
            marks TEXT NOT NULL CHECK (json_type(marks) = 'array'),
            shape TEXT NOT NULL CHECK (json_type(shape) = 'array'),
            state TEXT NOT NULL CHECK (state IN ('candidate', 'shadow', 'active', 'demoted')),
            reason TEXT NOT NULL,
            origin TEXT NOT NULL CHECK (origin IN ('turn', 'adjacent')),
            passes INTEGER NOT NULL DEFAULT 0,
            agreed INTEGER NOT NULL DEFAULT 0,
            disagreed INTEGER NOT NULL DEFAULT 0,
            hits INTEGER NOT NULL DEFAULT 0,
            wrong INTEGER NOT NULL DEFAULT 0,
            plan_ms REAL NOT NULL DEFAULT 0,
            plan_usd REAL NOT NULL DEFAULT 0,
            ts_first TEXT NOT NULL,
            ts_last TEXT NOT NULL
        ) STRICT""",
        f"""CREATE TRIGGER fast_paths_state AFTER UPDATE OF state ON fast_paths
            BEGIN UPDATE {log} SET state = NEW.state WHERE path = NEW.path; END""",  # noqa: S608 -- our own words
        *_EVENTS,
        """CREATE TABLE form_vectors (
            said TEXT NOT NULL,
            space TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (said, space)
        ) STRICT""",
    )


MIGRATIONS_L1 = (
    Migration(
        "0004_fast_paths",
        (
            *_tables(L1),
            # What was fitted from all that was seen, of L2 too; the newest row counts.
            """CREATE TABLE calibrations (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                ts TEXT NOT NULL,
                space TEXT NOT NULL,
                fitted TEXT NOT NULL CHECK (json_type(fitted) = 'object')
            ) STRICT""",
            # The rules of PLAYBOOK.md as they were when paths were last held against them.
            """CREATE TABLE playbook_rules (
                digest TEXT PRIMARY KEY,
                text TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
MIGRATIONS_L2 = (Migration("0001_multi_tool_paths", (_APPLIED, *_tables(L2))),)
