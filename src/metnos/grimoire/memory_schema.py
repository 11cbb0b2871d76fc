"""The tables of ``memory/grimoire.db``: facts, links, the immune memory, versions of the playbook, affect, reports.

Each table has one writer, named beside it. Episodes have a store of their own (`episodes`).
"""

from metnos.store.migrations import Migration

_FACTS = (
    # Written by `facts`.
    """CREATE TABLE facts (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        domain TEXT NOT NULL,
        subject TEXT NOT NULL,
        value TEXT NOT NULL,
        data TEXT NOT NULL,
        confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
        quality REAL NOT NULL CHECK (quality BETWEEN 0 AND 1),
        provenance TEXT NOT NULL,
        generation INTEGER NOT NULL DEFAULT 0 CHECK (generation >= 0),
        decay TEXT NOT NULL,
        scope TEXT NOT NULL,
        sender TEXT NOT NULL,
        standing TEXT NOT NULL CHECK (standing IN ('active', 'quarantined', 'expired', 'pruned')),
        episode_count INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL,
        reinforced TEXT NOT NULL,
        applied TEXT NOT NULL,
        valid_from TEXT,
        valid_until TEXT,
        confirm_by TEXT,
        pleasure REAL NOT NULL DEFAULT 0,
        arousal REAL NOT NULL DEFAULT 0,
        dominance REAL NOT NULL DEFAULT 0,
        bloodstain INTEGER NOT NULL DEFAULT 0,
        pinned INTEGER NOT NULL DEFAULT 0,
        shown INTEGER NOT NULL DEFAULT 0,
        helped INTEGER NOT NULL DEFAULT 0,
        harmed INTEGER NOT NULL DEFAULT 0,
        low_cycles INTEGER NOT NULL DEFAULT 0,
        tags TEXT NOT NULL DEFAULT '[]',
        vector BLOB,
        space TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    "CREATE INDEX facts_standing ON facts (standing, kind, domain)",
    "CREATE INDEX facts_domain ON facts (domain, kind)",
    "CREATE INDEX facts_subject ON facts (subject) WHERE subject <> ''",
    """CREATE TABLE fact_sources (
        fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
        episode TEXT NOT NULL,
        PRIMARY KEY (fact, episode)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX fact_sources_episode ON fact_sources (episode)",
    """CREATE TABLE fact_links (
        src TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
        dst TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
        relation TEXT NOT NULL CHECK (relation IN ('contradicts', 'supports', 'refines', 'used_with', 'supersedes')),
        weight REAL NOT NULL DEFAULT 1,
        ts TEXT NOT NULL,
        PRIMARY KEY (src, dst, relation)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX fact_links_dst ON fact_links (dst, relation)",
    # What causes what, one row for a pair in a domain; written by `causal`.
    """CREATE TABLE causal (
        cause TEXT NOT NULL,
        effect TEXT NOT NULL,
        domain TEXT NOT NULL,
        fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
        lag_s REAL NOT NULL,
        strength REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
        count INTEGER NOT NULL,
        PRIMARY KEY (domain, cause, effect)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX causal_effect ON causal (domain, effect)",
    "CREATE INDEX causal_fact ON causal (fact)",
    # The words of facts, by the facts' seq; written with them.
    "CREATE VIRTUAL TABLE facts_text USING fts5(text, subject, tokenize = 'porter unicode61 remove_diacritics 2')",
)

_REST = (
    # Every write and every curation, as it happened: names and numbers, never words. Written by `happenings`.
    """CREATE TABLE happenings (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        ts TEXT NOT NULL,
        data TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX happenings_kind ON happenings (kind, id)",
    # Patterns that were rejected, known by their digest only. Written by `immune`.
    """CREATE TABLE immune (
        digest TEXT NOT NULL PRIMARY KEY,
        stage TEXT NOT NULL,
        reason TEXT NOT NULL,
        source TEXT NOT NULL,
        count INTEGER NOT NULL CHECK (count > 0),
        first TEXT NOT NULL,
        last TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # Every version of PLAYBOOK.md that Metnos found or wrote. Written by `playbook`.
    """CREATE TABLE playbook_versions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        ts TEXT NOT NULL,
        digest TEXT NOT NULL,
        by TEXT NOT NULL CHECK (by IN ('owner', 'metnos')),
        why TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT""",
    # Heuristics of the playbook. Written by `playbook`. ``strategy`` is empty for the global section.
    """CREATE TABLE heuristics (
        fact TEXT NOT NULL PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE,
        strategy TEXT NOT NULL,
        line TEXT NOT NULL,
        entered TEXT NOT NULL,
        ticks INTEGER NOT NULL DEFAULT 0,
        barred INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID""",
    # One row: the mood, a slow average of what was felt. Written by `mood`.
    """CREATE TABLE mood (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        pleasure REAL NOT NULL, arousal REAL NOT NULL, dominance REAL NOT NULL,
        ts TEXT NOT NULL
    ) STRICT""",
    # How far consolidation, dreams and checks have come. Written by whoever is named in ``name``.
    "CREATE TABLE progress (name TEXT PRIMARY KEY, value TEXT NOT NULL, ts TEXT NOT NULL) STRICT, WITHOUT ROWID",
    # Reports of consolidations, dreams and checks of the embedder. Written by `reports`.
    """CREATE TABLE reports (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL CHECK (kind IN ('curator', 'dream', 'health', 'migration')),
        ts TEXT NOT NULL,
        data TEXT NOT NULL
    ) STRICT""",
    # Vectors of the reference texts, as they were when this space began: slow drift adds up. Written by `health`.
    """CREATE TABLE reference_vectors (
        space TEXT NOT NULL, place INTEGER NOT NULL, vector BLOB NOT NULL, ts TEXT NOT NULL,
        PRIMARY KEY (space, place)
    ) STRICT, WITHOUT ROWID""",
    # What was recalled for a turn and whether it helped, so that weights can be fitted. Written by `usefulness`.
    """CREATE TABLE recalls (
        turn TEXT NOT NULL, memory TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('episode', 'fact')),
        factors TEXT NOT NULL, steered INTEGER NOT NULL, helped INTEGER, ts TEXT NOT NULL,
        PRIMARY KEY (turn, memory)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX recalls_memory ON recalls (memory)",
    # Turns that were taken in. Written by `store.applied`.
    "CREATE TABLE applied_turns (projection TEXT NOT NULL, turn TEXT NOT NULL, ts TEXT NOT NULL,"
    " PRIMARY KEY (projection, turn)) STRICT, WITHOUT ROWID",
)

_SOMATIC = (
    # How situations ended, known by their digest only. Written by `somatic`.
    """CREATE TABLE somatic (
        situation TEXT NOT NULL,
        source TEXT NOT NULL,
        ts TEXT NOT NULL,
        ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
        kind TEXT NOT NULL,
        irreversible INTEGER NOT NULL CHECK (irreversible IN (0, 1)),
        PRIMARY KEY (situation, source)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX somatic_source ON somatic (source)",
    "CREATE INDEX somatic_ts ON somatic (ts)",
)

MIGRATIONS = (
    Migration("0001_facts", _FACTS),
    Migration("0002_memory", _REST),
    Migration("0003_somatic", _SOMATIC),
)
