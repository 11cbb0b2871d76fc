"""What turns teach about executors: what each call was worth, and what the owner said of it later.

Rules: reads closed turns, feedback and undos; everything can be done again at any time and counts once.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from metnos.executors import fitness, fitness_rules, index
from metnos.executors.fitness_rules import Said
from metnos.grimoire.trace import Trace

if TYPE_CHECKING:
    from metnos.app.house import App


def catch_up(app: "App", again: int) -> int:
    """Work every turn in that was not worked in yet, and what was said of turns since; returns how many turns."""
    db, rules = app.catalog.db, app.selection.rules
    offered = app.medium.pending(fitness.PROJECTION, again=again)
    todo = fitness.unapplied(db, offered)
    for turn in todo:
        trace = app.medium.load(turn)
        fitness.record(db, turn, trace.closed, goal_of(trace), trace.steps, rules)
    app.medium.applied(fitness.PROJECTION, *offered)
    settle(app)
    return len(todo)


def goal_of(trace: Trace) -> str:
    """What a turn was for, as a class of goals: what its plan ends with, or what was done of it."""
    planned = [str(step.get("executor", "")) for step in trace.plan.get("steps") or () if isinstance(step, dict)]
    return fitness_rules.goal_of(planned or [step.executor for step in trace.steps])


def told(app: "App", name: str) -> dict[str, Any]:
    """What an executor is worth in the version that is in force, goal by goal, and why it is hidden if it is."""
    entry = index.current(app.catalog.db, name)
    if entry is None:
        return {"fitness": [], "hidden": ""}
    found = fitness.of(app.catalog.db, name, entry.digest, app.clock.now(), app.selection.rules)
    hidden = app.selection.hidden().get(name)
    return {
        "fitness": [
            {"goal": each.goal, "fitness": round(each.value, 4), "uses": each.uses, "signals": each.signals}
            for each in found
        ],
        "hidden": str(hidden.why) if hidden is not None and hidden.digest == entry.digest else "",
    }


def settle(app: "App") -> int:
    """Let what the owner said and took back since change what calls were worth; returns how many changed.

    What a critic said stays, and counts where nobody else did.
    """
    said = {turn: Said(undone=True) for turn in app.undo.undone_turns()}
    said |= {turn: Said(owner=True, undone=turn in said) for turn in app.medium.liked()}
    said |= {turn: Said(owner=False, undone=turn in said) for turn in app.medium.disliked()}
    # What was done before a yes that came later is a turn of its own, and part of the same answer.
    said = {first: said[turn] for turn, first in app.medium.first_of(list(said)).items()} | said
    known_since = app.clock.now() - timedelta(days=app.settings.policy.undo_days - 1)
    return fitness.settle(app.catalog.db, said, app.selection.rules, known_since)
