"""What the owner sees of fast paths, and does about them by hand.

Rules: nothing here answers or learns. What is switched by hand is in the audit, and is an event of the path with its
reason. Forms of requests are shown in the words in which they were first asked, never as stems.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.app import paths
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.fastpath import cover
from metnos.fastpath.heard import Heard
from metnos.fastpath.log import Event, Log
from metnos.fastpath.mask import mask
from metnos.fastpath.records import FastPath, State
from metnos.grimoire.trace import Kept, Trace
from metnos.law.audit_line import Entry
from metnos.law.principal import Principal
from metnos.turn.scratch import Scratch
from metnos.turn.shortcut import NO_TURN, Shortcuts

if TYPE_CHECKING:
    from metnos.app.house import App

DEMOTED = "fast path demoted"
RESTORED = "fast path restored"


# -- by hand


def demote(app: "App", path: FastPath) -> bool:
    """Switch a path off, as the owner wishes; says whether it was on."""
    return _switch(app, path, State.DEMOTED, DEMOTED, "you switched it off")


def restore(app: "App", path: FastPath) -> bool:
    """Let a path that was demoted predict again; says whether it was demoted. What an executor covers stays off."""
    covering = cover.covered(path.tools, paths.covers(app))
    if covering:
        raise UsageError(
            f"{covering} does all of it in one step, so this path has nothing to do",
            fix=f"See: metnos executor show {covering}",
        )
    return path.state is State.DEMOTED and _switch(app, path, State.SHADOW, RESTORED, "you switched it on again")


def _switch(app: "App", path: FastPath, state: State, kind: str, reason: str) -> bool:
    held = app.fast.path(path.id)
    if held is None or held[1].state is state:
        return False
    with app.audit.act(Entry(kind, {"path": path.id})):
        return held[0].move(path.id, state, reason, app.clock.now())


# -- explaining


def reading(trace: Trace) -> str:
    """A request without its particulars, in the owner's own words; nothing of one that is not kept."""
    heard = Heard.from_data(trace.text, trace.slots, trace.asked) if trace.kept is Kept.WHOLE else None
    return mask(trace.text, heard.slots) if heard else ""


def spelled(app: "App", path: str, form: str) -> str:
    """A form of a path as it was first asked, particulars apart; the form itself where that is not known any more."""
    held = app.fast.path(path)
    forms = held[0].forms(path) if held else []
    return next((each.said for each in forms if each.canonical == form), form)


def explain(app: "App", text: str, principal: Principal, cwd: Path) -> dict[str, Any]:
    """What fast paths say about a request, without doing anything."""
    asked = app.turns.request(text, principal=principal, cwd=cwd)
    scratch = Scratch(replace(asked, id=NO_TURN))
    scratch.tools = app.toolbox.kit().tools
    app.turns.recall(scratch)
    shortcuts = Shortcuts(app.fast, app.settings.fastpath)
    found = shortcuts.exact(scratch) or shortcuts.alike(scratch)
    heard = scratch.heard
    said = {"form": heard.form, "said": mask(heard.text, heard.slots)} if heard else {"form": "", "said": ""}
    told = [found.data() | {"said": spelled(app, found.path.id, found.form)}] if found else []
    return said | {"found": told}


# -- for programs


def find(app: "App", part: str) -> tuple[Log, FastPath]:
    """The one path whose id begins so."""
    found = [(log, path) for log in app.fast.logs for path in log.paths() if path.id.startswith(part.lower())]
    if len(found) == 1 and part:
        return found[0]
    what = f"{len(found)} fast paths begin so" if found else "there is no such fast path"
    raise UsageError(f"{what}: {part!r}", fix="See: metnos fastpath list")


def data(log: Log, path: FastPath) -> dict[str, Any]:
    """A path as data."""
    return {
        "path": path.id,
        "state": str(path.state),
        "reason": path.reason,
        "executors": [{"name": mark.name, "version": mark.version} for mark in path.marks],
        "forms": [{"form": form.canonical, "said": form.said, "uses": form.uses} for form in log.forms(path.id)],
        "passes": path.passes,
        "agreed": path.agreed,
        "disagreed": path.disagreed,
        "hits": path.hits,
        "wrong": path.wrong,
        "plan_ms": path.plan_ms,
        "plan_usd": path.plan_usd,
    }


def event_data(event: Event) -> dict[str, Any]:
    """What happened to a path once, as data."""
    return {
        "ts": to_text(event.ts),
        "kind": event.kind,
        "turn": event.turn,
        "probability": event.probability,
        "saved_ms": event.saved_ms,
        "saved_usd": event.saved_usd,
        "reason": event.reason,
    }
