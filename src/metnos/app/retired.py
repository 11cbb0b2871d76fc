"""Checks whether an agent was retired. Every turn does this first, so this module imports little."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.core.errors import TestamentError
from metnos.life.thanatopsis import Death, Thanatopsis

if TYPE_CHECKING:
    from metnos.app.house import App

LOCK = "dying.lock"


def thanatopsis(app: "App") -> Thanatopsis:
    return Thanatopsis(app.life_db, app.audit, app.clock, app.workspace.memory / LOCK)


def refuse_dead(app: "App") -> None:
    """Raise if this agent was retired, or is being so."""
    row = app.life_db.first("SELECT 1 FROM death")  # most live, and this is asked before every turn
    death = thanatopsis(app).death() if row is not None else None
    if death is None:
        return
    if death.ended is None:
        what = f"this agent is being retired since {death.died:%Y-%m-%d}, and takes no more requests"
        raise TestamentError(what, fix="If that was interrupted, finish it: metnos life retire --resume")
    path = left_at(death)
    raise TestamentError(
        f"this agent was retired on {death.died:%Y-%m-%d}, and takes no more requests; its testament: {path}",
        fix=f"Its successor is made by: metnos --workspace FOLDER init --from {shlex.quote(str(path))}",
    )


def left_at(death: Death) -> Path:
    """The path of the testament file, whether it is written already or not."""
    return Path(death.wishes.to)
