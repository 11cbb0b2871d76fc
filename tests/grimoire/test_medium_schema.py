from pathlib import Path

from metnos.grimoire.medium_schema import MIGRATIONS
from metnos.store.db import Database

TABLES = {
    "conversations", "contexts", "desired", "feedback", "messages", "migrations", "model_calls", "open_turns",
    "passings", "projected", "projections", "proposals", "sqlite_sequence", "steps", "summaries", "turns",
}  # fmt: skip


def test_from_blank_and_again(tmp_path: Path) -> None:
    for _ in range(2):
        db = Database(tmp_path / "medium.db", MIGRATIONS)
        assert {name for (name,) in db.query("SELECT name FROM sqlite_master WHERE type = 'table'")} == TABLES
        assert db.problems() == []
        db.close()
