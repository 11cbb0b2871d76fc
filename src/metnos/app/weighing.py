"""What it takes for something learnt to be kept: the weights of the settings, and fitting them for the owner."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from metnos.core.canon import canonical_json, sha256_hex
from metnos.grimoire.admission import Weights
from metnos.grimoire.fitting import Fitted, Fitting
from metnos.law.audit_line import Entry

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.store.db import Database

KEPT, DROPPED = "memory weights kept", "memory weights dropped"


def fitting(app: "App", db: "Database") -> Fitting:
    """The weights in force; those that the owner set are theirs, and all others can be fitted."""
    given = app.settings.memory.admission.model_dump()
    own = {name: value for name, value in given.items() if app.loaded.origin(f"memory.admission.{name}") != "default"}
    return Fitting(db, app.clock, Weights(**given), own)


def fit(app: "App", *, keep: bool) -> Fitted:
    """Fit weights from what became of facts; they count from now on if they are to be kept and enough is known."""
    place = fitting(app, app.grimoire.db)
    found = place.fit()
    if keep and found.is_enough:
        app.refuse_halted()
        digest = sha256_hex(canonical_json(asdict(found.after)))
        with app.audit.act(Entry(KEPT, {}, {"weights": digest}, {"good": found.good, "bad": found.bad})):
            place.keep(found.after)
    return found


def drop(app: "App") -> bool:
    """Go back to the settings; says whether anything else counted."""
    app.refuse_halted()
    with app.audit.act(Entry(DROPPED)):
        return fitting(app, app.grimoire.db).drop()
