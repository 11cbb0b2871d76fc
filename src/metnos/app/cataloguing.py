"""Executors as faces show them: in a list, one of them whole, and what the owner allowed it. Changes nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from metnos.app import learning, worth
from metnos.core.clock import to_text
from metnos.executors import fitness, folder, index, journal, words
from metnos.executors.catalog import Look
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.law.grants import ANY, Grant
from metnos.mnestome import graph
from metnos.mnestome.mnest import Mnest

if TYPE_CHECKING:
    from metnos.app.house import App

_DAY = timedelta(days=1)
_NEIGHBOURS = 8
_JOURNAL = 50


@dataclass(frozen=True, slots=True)
class Standing:
    """What an executor is worth in the version that is in force: the sum over all goals, none if nobody could tell."""

    fitness: float | None
    uses: int
    strikes: int
    last_used: datetime | None
    hidden: str


@dataclass(frozen=True, slots=True)
class Described:
    """What an executor may do, what a call leaves behind, and what it may call and never did."""

    may: tuple[str, ...]
    effect: str
    never_called: tuple[str, ...]


def data(look: Look) -> dict[str, Any]:
    """An executor in a list."""
    plain = {name: str(getattr(look, name)) for name in ("name", "state", "version", "origin", "purpose", "reason")}
    return plain | {"problems": list(look.problems), "kind": look.executor.manifest.kind.value if look.executor else ""}


def told(app: "App", look: Look) -> dict[str, Any]:
    """One executor with its manifest and what it is worth."""
    manifest = look.executor.manifest.model_dump(mode="json") if look.executor else None
    return data(look) | {"manifest": manifest, **worth.told(app, look.name)}


def standing(app: "App", name: str) -> Standing:
    """How an executor stands."""
    db, now = app.catalog.db, app.clock.now()
    entry = index.current(db, name)
    if entry is None:
        return Standing(None, 0, 0, None, "")
    found = fitness.of(db, name, entry.digest, now, app.selection.rules)
    hidden = app.selection.hidden().get(name)
    known = [each.value for each in found if each.signals]
    return Standing(
        fitness=sum(known) if known else None,
        uses=sum(each.uses for each in found),
        strikes=index.strikes_since(db, name, max(now - _DAY, entry.loaded_at)),  # of this version
        last_used=index.last_use(db, name),
        hidden=str(hidden.why) if hidden is not None and hidden.digest == entry.digest else "",
    )


def files(app: "App", name: str) -> dict[str, str]:
    """What is in its folder, as text, whether or not it is as it was signed."""
    content = app.catalog.judge(name).content
    return {} if content is None else {
        each: content.files[each].decode("utf-8", "replace") for each in folder.SIGNED if each in content.files
    }  # fmt: skip


def signature_words(look: Look) -> str:
    """Whether it is what somebody answered for."""
    if look.state is State.DRAFT:
        return "nobody signed it yet"
    if look.problems:
        return f"it is not as it was signed: {'; '.join(look.problems)}"
    return "every byte is as it was signed, by this agent's key"


def is_signed(look: Look) -> bool:
    return look.state is not State.DRAFT and not look.problems


def described(app: "App", look: Look) -> Described:
    """What it may do and what that means, in sentences; nothing of one that cannot be read."""
    if look.executor is None:
        return Described((), "", ())
    manifest = look.executor.manifest
    never = tuple(called for _, called in learning.unused_calls(app, look.name))
    return Described(tuple(words.capabilities(manifest)), words.effect(manifest), never)


def neighbours(app: "App", name: str) -> list[Mnest]:
    """What feeds it and then what it feeds, each the strongest first."""
    db, now = app.catalog.db, app.clock.now()
    before = graph.top_k_incoming(db, name, _NEIGHBOURS, now)
    return [*before, *graph.top_k_outgoing(db, name, _NEIGHBOURS, now)]


def use_words(line: journal.Line) -> str:
    """One use in words."""
    how = "went well" if line.ok else f"failed ({line.kind or 'failed'})"
    return f"{how}, {line.wall_ms} ms"


def uses(app: "App", name: str) -> list[journal.Line]:
    """Its last uses, the newest first."""
    return journal.read(app.workspace.executors / name)[: -_JOURNAL - 1 : -1]


def is_builtin(look: Look) -> bool:
    return look.origin is Origin.BUILTIN


# -- what was allowed in advance


def grant_words(given: Grant) -> str:
    who = "any executor" if given.executor == ANY else given.executor
    return f"{who} may {given.capability} {given.target}{', sending too' if given.sending else ''}"


def grant_data(given: Grant) -> dict[str, object]:
    plain = ("id", "executor", "capability", "target", "sending", "reason", "granted_by")
    return {name: getattr(given, name) for name in plain} | {
        "created": to_text(given.created),
        "expires": to_text(given.expires),
    }
