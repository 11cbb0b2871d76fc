"""The tables of ``memory/episodes/episodes.db``. Written by `episodes_sqlite`, `side_index` and `vectors` by `vectors`.

What happened never changes: a trigger holds that. What is long stands at the end of a row, so that reading the rest of
it does not touch it. A vector has an order of its own (``place``), since it may come long after its episode; whoever
keeps vectors in memory reads on from the last place.
"""

from metnos.store.migrations import Migration

_EPISODES = (
    """CREATE TABLE episodes (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        ts TEXT NOT NULL,
        source TEXT NOT NULL,
        kind TEXT NOT NULL,
        sender TEXT NOT NULL,
        session TEXT NOT NULL,
        scope TEXT NOT NULL,
        domain TEXT NOT NULL,
        tags TEXT NOT NULL,
        provenance TEXT NOT NULL,
        curiosity REAL NOT NULL,
        pleasure REAL NOT NULL,
        arousal REAL NOT NULL,
        dominance REAL NOT NULL,
        importance REAL,
        verdict TEXT NOT NULL,
        replays INTEGER NOT NULL,
        used INTEGER NOT NULL,
        used_at TEXT,
        pinned INTEGER NOT NULL,
        bloodstain INTEGER NOT NULL,
        embedded INTEGER NOT NULL DEFAULT 0,
        text TEXT NOT NULL,
        payload TEXT NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX episodes_source ON episodes (source) WHERE source <> ''",
    "CREATE INDEX episodes_ts ON episodes (ts)",
    "CREATE INDEX episodes_session ON episodes (session) WHERE session <> ''",
    "CREATE INDEX episodes_domain ON episodes (domain)",
    "CREATE INDEX episodes_sender ON episodes (sender)",
    "CREATE INDEX episodes_scope ON episodes (scope)",
    "CREATE INDEX episodes_verdict ON episodes (verdict)",
    "CREATE INDEX episodes_bare ON episodes (seq) WHERE embedded = 0",
    """CREATE TRIGGER episodes_stay
        BEFORE UPDATE OF seq, id, ts, source, kind, sender, session, scope, domain, tags, provenance, curiosity,
            text, payload ON episodes
        BEGIN SELECT RAISE(ABORT, 'what happened does not change'); END""",
    # The words; the text itself is not kept twice.
    "CREATE VIRTUAL TABLE episodes_text USING fts5(text, content = 'episodes', content_rowid = 'seq',"
    " tokenize = 'porter unicode61 remove_diacritics 2')",
)

_VECTORS = (
    # One of them is current; another one's vectors are being gathered to take its place.
    """CREATE TABLE spaces (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        model TEXT NOT NULL,
        version TEXT NOT NULL,
        preprocess_hash TEXT NOT NULL,
        dim INTEGER NOT NULL CHECK (dim > 0),
        current INTEGER NOT NULL CHECK (current IN (0, 1)),
        ts TEXT NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX spaces_current ON spaces (current) WHERE current = 1",
    """CREATE TABLE vectors (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        episode INTEGER NOT NULL REFERENCES episodes (seq) ON DELETE CASCADE,
        space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
        made TEXT NOT NULL,
        vector BLOB NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX vectors_episode ON vectors (episode, space)",
    "CREATE INDEX vectors_space ON vectors (space)",
    # The file of the side index, if there is one: what it holds, and how it looked when it was written.
    """CREATE TABLE side_index (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        file TEXT NOT NULL,
        space INTEGER NOT NULL,
        upto INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        digest TEXT NOT NULL
    ) STRICT""",
    # A row as long as something was removed whose bytes may still be found.
    "CREATE TABLE to_scrub (one INTEGER PRIMARY KEY CHECK (one = 1), times INTEGER NOT NULL) STRICT",
)

MIGRATIONS = (Migration("0001_episodes", (*_EPISODES, *_VECTORS)),)
