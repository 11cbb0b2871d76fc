"""The tables of ``memory/medium.db``. `medium_rows` writes turns; each other table's writer is named beside it.

Rules: what a turn was (who, when, which state, which executors) never changes once it is written; only its content may
go, and only one way: whole, then summarised, then forgotten. Order is by ``seq``, the order of commits, because a clock
may be set back.
"""

from metnos.store.migrations import Migration

_TURNS = (
    """CREATE TABLE conversations (
        id TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        sender TEXT NOT NULL,
        first TEXT NOT NULL,
        last TEXT NOT NULL
    ) STRICT""",
    # What content went into when it was too old to be kept; written by `retention`. An empty conversation stands for
    # several that had one turn each.
    """CREATE TABLE summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation TEXT NOT NULL,
        first TEXT NOT NULL,
        last TEXT NOT NULL,
        turns INTEGER NOT NULL CHECK (turns > 0),
        text TEXT NOT NULL,
        made_by TEXT NOT NULL CHECK (made_by IN ('model', 'extraction')),
        ts TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE turns (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        conversation TEXT NOT NULL REFERENCES conversations (id),
        channel TEXT NOT NULL,
        sender TEXT NOT NULL,
        cwd TEXT NOT NULL,
        asked TEXT NOT NULL,
        zone INTEGER NOT NULL,
        closed TEXT NOT NULL,
        language TEXT NOT NULL,
        path TEXT NOT NULL,
        state TEXT NOT NULL,
        plan TEXT NOT NULL,
        canonical TEXT NOT NULL,
        slots TEXT NOT NULL,
        candidates TEXT NOT NULL,
        memories TEXT NOT NULL,
        permits TEXT NOT NULL,
        continues TEXT NOT NULL,
        item TEXT NOT NULL,
        cpu_ms REAL NOT NULL,
        error TEXT NOT NULL,
        tags TEXT NOT NULL,
        kept TEXT NOT NULL CHECK (kept IN ('whole', 'summarised', 'forgotten')),
        summary INTEGER REFERENCES summaries (id)
    ) STRICT""",
    "CREATE INDEX turns_conversation ON turns (conversation, seq)",
    "CREATE INDEX turns_whole ON turns (seq) WHERE kept = 'whole'",
    "CREATE INDEX turns_canonical ON turns (canonical) WHERE canonical <> ''",
    "CREATE INDEX turns_item ON turns (item) WHERE item <> ''",
    "CREATE INDEX turns_continues ON turns (continues) WHERE continues <> ''",
    "CREATE INDEX turns_summary ON turns (summary) WHERE summary IS NOT NULL",
    """CREATE TRIGGER turns_stay
        BEFORE UPDATE OF seq, id, conversation, channel, sender, asked, closed, path, state ON turns
        BEGIN SELECT RAISE(ABORT, 'a turn that was recorded does not change'); END""",
    """CREATE TRIGGER turns_one_way BEFORE UPDATE OF kept ON turns
        WHEN NOT (OLD.kept = 'whole' OR NEW.kept = 'forgotten')
        BEGIN SELECT RAISE(ABORT, 'what is gone does not come back'); END""",
    "CREATE TRIGGER turns_never_go BEFORE DELETE ON turns"
    " BEGIN SELECT RAISE(ABORT, 'a turn that was recorded stays recorded'); END",
)

_PARTS = (
    """CREATE TABLE messages (
        turn TEXT NOT NULL REFERENCES turns (id),
        role TEXT NOT NULL CHECK (role IN ('owner', 'agent')),
        text TEXT NOT NULL,
        PRIMARY KEY (turn, role)
    ) STRICT""",
    """CREATE TABLE steps (
        turn TEXT NOT NULL REFERENCES turns (id),
        place INTEGER NOT NULL,
        number INTEGER NOT NULL,
        executor TEXT NOT NULL,
        version TEXT NOT NULL,
        digest TEXT NOT NULL,
        args TEXT NOT NULL,
        ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
        kind TEXT NOT NULL,
        message TEXT NOT NULL,
        reply TEXT NOT NULL,
        wall_ms REAL NOT NULL,
        cpu_ms REAL NOT NULL,
        action TEXT NOT NULL,
        audit INTEGER NOT NULL,
        item TEXT NOT NULL,
        gap_before INTEGER NOT NULL,
        gap_after INTEGER NOT NULL,
        PRIMARY KEY (turn, place)
    ) STRICT""",
    "CREATE INDEX steps_executor ON steps (executor)",
    """CREATE TABLE passings (
        turn TEXT NOT NULL REFERENCES turns (id),
        place INTEGER NOT NULL,
        src TEXT NOT NULL,
        src_version TEXT NOT NULL,
        dst TEXT NOT NULL,
        dst_version TEXT NOT NULL,
        how TEXT NOT NULL,
        src_step INTEGER NOT NULL,
        dst_step INTEGER NOT NULL,
        PRIMARY KEY (turn, place)
    ) STRICT""",
    """CREATE TABLE desired (
        turn TEXT NOT NULL REFERENCES turns (id),
        place INTEGER NOT NULL,
        name TEXT NOT NULL,
        source TEXT NOT NULL,
        source_version TEXT NOT NULL,
        signature TEXT NOT NULL,
        PRIMARY KEY (turn, place)
    ) STRICT""",
    """CREATE TABLE model_calls (
        turn TEXT NOT NULL REFERENCES turns (id),
        place INTEGER NOT NULL,
        purpose TEXT NOT NULL,
        model TEXT NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        usd REAL NOT NULL,
        wall_ms REAL NOT NULL,
        error TEXT NOT NULL,
        PRIMARY KEY (turn, place)
    ) STRICT""",
)

_BESIDE = (
    # Turns that go on, or whose process died; written by `medium`.
    """CREATE TABLE open_turns (
        id TEXT PRIMARY KEY,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        text_digest TEXT NOT NULL,
        conversation TEXT NOT NULL,
        channel TEXT NOT NULL,
        sender TEXT NOT NULL,
        ts TEXT NOT NULL
    ) STRICT""",
    # What the owner thought of an answer; written by `feedback`. Only a note may be blanked, when a turn is forgotten.
    """CREATE TABLE feedback (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        turn TEXT NOT NULL REFERENCES turns (id),
        good INTEGER NOT NULL CHECK (good IN (0, 1)),
        note TEXT NOT NULL,
        ts TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX feedback_turn ON feedback (turn, id)",
    """CREATE TRIGGER feedback_stays BEFORE UPDATE ON feedback
        WHEN NEW.note <> '' OR OLD.id <> NEW.id OR OLD.turn <> NEW.turn OR OLD.good <> NEW.good OR OLD.ts <> NEW.ts
        BEGIN SELECT RAISE(ABORT, 'feedback is only ever added'); END""",
    "CREATE TRIGGER feedback_never_goes BEFORE DELETE ON feedback"
    " BEGIN SELECT RAISE(ABORT, 'feedback is only ever added'); END",
    # What was acknowledged by whoever projects turns: everything up to `upto`, and single ones beyond; written by
    # `projections`.
    "CREATE TABLE projections (name TEXT PRIMARY KEY, upto INTEGER NOT NULL) STRICT",
    """CREATE TABLE projected (
        name TEXT NOT NULL REFERENCES projections (name),
        seq INTEGER NOT NULL REFERENCES turns (seq),
        PRIMARY KEY (name, seq)
    ) STRICT, WITHOUT ROWID""",
    # What may belong into long memory; written by `retention`. `put` says when it went to the owner.
    """CREATE TABLE proposals (
        key TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        evidence TEXT NOT NULL,
        ts TEXT NOT NULL,
        put TEXT
    ) STRICT""",
)

MIGRATIONS = (
    Migration("0001_turns", (*_TURNS, *_PARTS, *_BESIDE)),
    # Wishes are worked in together with passings now, under another name; whoever is gone must not be waited for.
    Migration(
        "0002_one_projection",
        ("DELETE FROM projected WHERE name = 'wishes'", "DELETE FROM projections WHERE name = 'wishes'"),
    ),
    # What language models were sent; written by `medium_rows`.
    Migration(
        "0003_contexts",
        (
            """CREATE TABLE contexts (
                turn TEXT NOT NULL REFERENCES turns (id),
                place INTEGER NOT NULL,
                task TEXT NOT NULL,
                system TEXT NOT NULL,
                body TEXT NOT NULL,
                record TEXT NOT NULL,
                PRIMARY KEY (turn, place)
            ) STRICT""",
        ),
    ),
)
