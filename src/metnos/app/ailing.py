"""What the doctor says of a life: whether it goes on, ended well, or was left in between.

Rules: reads and changes nothing. One finding at a time, the gravest first. Throws of the dice are not checked here:
there may be a hundred thousand of them (`metnos life dice`).
"""

from typing import TYPE_CHECKING

from metnos.app import dying, inheriting, living, retired
from metnos.core import files
from metnos.core.errors import MetnosError, TestamentError
from metnos.core.records import Check
from metnos.life import testament_file
from metnos.life.thanatopsis import Death

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.app.house import App

_NAME = "life"
_AGAIN = "metnos life retire --to FILE"  # its bytes are in the store


def check(app: "App") -> Check:
    """How it is with this life."""
    try:
        death = retired.thanatopsis(app).death()
        if death is None:
            return _alive(app)
        return _dying(app, death) if death.ended is None else _dead(death)
    except MetnosError as error:
        return Check.red(_NAME, error.what, error.fix or "metnos life status")


def _dying(app: "App", death: Death) -> Check:
    since = f"{death.died:%Y-%m-%d}"
    with files.held(app.workspace.memory / retired.LOCK) as free:
        if not free:
            return Check.yellow(_NAME, f"it is being retired just now, since {since}", "metnos life status")
    return Check.red(
        _NAME, f"retiring it began on {since} and was interrupted: it takes no requests", "metnos life retire --resume"
    )


def _dead(death: Death) -> Check:
    path = retired.left_at(death)
    if not path.exists():
        return Check.red(_NAME, f"it was retired, and its testament is not there any more: {path}", _AGAIN)
    if not _is_whole(path, death):
        return Check.red(_NAME, f"it was retired, and {path} is not what it left", _AGAIN)
    return Check.green(_NAME, f"retired on {death.died:%Y-%m-%d}; its testament is whole: {path}")


def _is_whole(path: "Path", death: Death) -> bool:
    try:
        return testament_file.read(path) == dying.left(death)
    except TestamentError:
        return False


def _alive(app: "App") -> Check:
    terms, account, vitality = app.living.terms, app.living.account, app.living.vitality
    money = terms.economic and terms.balance_usd > 0
    if money and terms.balance_usd <= account.reserve:
        found = f"there is nothing to live on: of ${terms.balance_usd:.2f}, ${account.reserve:.2f} are kept for its end"
        return Check.red(_NAME, found, "metnos config set life.balance_usd 20")
    if cause := vitality.cause():
        return Check.yellow(_NAME, f"it is at its end: {living.ENDS[cause]}", "metnos life retire")
    origins = inheriting.lineage(app).origins()
    if origins is not None and origins.ended is None:
        return Check.yellow(_NAME, "not all that it inherits has come in", "metnos init --from TESTAMENT")
    if app.living.profile.beats and not money:
        found = "it lives by itself without a bound to what it spends, so nothing is kept for its end"
        return Check.yellow(_NAME, found, "metnos config set life.balance_usd 20")
    last = vitality.last()
    now = f"vitality {last.vitality if last else 1.0:.2f} after {last.tick if last else 0} ticks"
    return Check.green(_NAME, f"{vitality.phase()}: {now}")
