"""Which tables each database of a workspace has."""

from collections.abc import Mapping
from pathlib import Path

from metnos.core.workspace import Workspace
from metnos.store.migrations import Migration

TELEGRAM = (
    Migration(
        "0001_updates",
        (
            """CREATE TABLE updates (
                bot INTEGER NOT NULL,
                id INTEGER NOT NULL,
                ts TEXT NOT NULL,
                PRIMARY KEY (bot, id)
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)


def of_mnestome() -> tuple[Migration, ...]:
    """``.mnestome/mnest.sqlite``: the index of executors, the mnestome, the fast paths' log, and who is worth what."""
    from metnos.executors import schema as executors  # as in `App`: what acts is loaded when it is needed
    from metnos.fastpath import schema as fastpath
    from metnos.mnestome import schema as mnestome

    return (*executors.MIGRATIONS, *mnestome.MIGRATIONS, *fastpath.MIGRATIONS_L1, *executors.FITNESS)


def of_workspace(workspace: Workspace) -> Mapping[Path, tuple[Migration, ...]]:
    """Every database that Metnos opens in a workspace, whether or not it is there."""
    from metnos.executors import undo_schema
    from metnos.fastpath import schema as fastpath
    from metnos.grimoire import episodes_schema, episodes_sqlite, medium_schema, memory_schema, reembed
    from metnos.law import audit
    from metnos.law import schema as law
    from metnos.life import schema as life
    from metnos.mnestome import past
    from metnos.mnestome.snapshot import PLAIN
    from metnos.night import schema as night
    from metnos.synt import schema as synt

    return {
        workspace.law_db: law.MIGRATIONS,
        workspace.audit_db: audit.MIGRATIONS,
        workspace.undo_db: undo_schema.MIGRATIONS,
        workspace.medium_db: medium_schema.MIGRATIONS,
        workspace.grimoire_db: memory_schema.MIGRATIONS,
        workspace.episodes / episodes_sqlite.FILE: episodes_schema.MIGRATIONS,
        workspace.memory / reembed.SIDE: reembed.MIGRATIONS,
        workspace.night_db: night.MIGRATIONS,
        workspace.synt_db: synt.MIGRATIONS,
        workspace.life_db: life.MIGRATIONS,
        workspace.telegram_db: TELEGRAM,
        workspace.mnest_db: of_mnestome(),
        workspace.multi_tool_db: fastpath.MIGRATIONS_L2,
        workspace.events_db: past.MIGRATIONS,
        **dict.fromkeys(workspace.snapshots.glob(f"*{PLAIN}"), of_mnestome()),
    }
