"""The tables of Thanatopsis: the one death of an agent, and what each of its steps came to."""

from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0003_thanatopsis",
        (
            # Written by `thanatopsis`, like the one below. One row at most: an agent dies once.
            """CREATE TABLE death (
                one INTEGER PRIMARY KEY CHECK (one = 1),
                id TEXT NOT NULL,
                cause TEXT NOT NULL CHECK (cause IN ('owner', 'economic', 'epistemic', 'stochastic')),
                died TEXT NOT NULL,
                wishes TEXT NOT NULL,
                ended TEXT
            ) STRICT""",
            # ``result`` is JSON. A step whose ``failed`` says why was tried and given up, and never came to anything.
            """CREATE TABLE death_steps (
                name TEXT PRIMARY KEY,
                ts TEXT NOT NULL,
                result TEXT NOT NULL,
                failed TEXT NOT NULL DEFAULT ''
            ) STRICT""",
            # What was done stays done: a step that ran twice could come to something else.
            """CREATE TRIGGER death_steps_once BEFORE UPDATE ON death_steps
                BEGIN SELECT RAISE(ABORT, 'a step of a death is taken once'); END""",
        ),
    ),
)
