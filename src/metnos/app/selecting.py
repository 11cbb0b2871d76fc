"""Selection in a workspace: who is hidden from planners, who is asked about, and who goes.

Rules: a pass is safe to repeat at any point. Hiding takes nothing from the library. An executor is archived when the
owner said so, or when it was in quarantine for so long that nobody will miss it; it is revoked by the owner alone, who
has to say so twice, because that is final. What is archived or revoked keeps its files. Of one executor there is one
question at a time whether to archive it. What another was made to take the place of is offered, and never just goes.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from metnos.app import learning, worth
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.core.errors import InboxError
from metnos.executors import fitness, index
from metnos.executors.fitness_rules import Why
from metnos.executors.selection import Hidden
from metnos.executors.signature import Origin
from metnos.executors.state import USABLE, State
from metnos.grimoire.activity import Activity
from metnos.law.audit_line import Entry
from metnos.law.inbox import Item
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.night.jobs import Done
from metnos.night.notices import News
from metnos.synt.proposals import State as Born

if TYPE_CHECKING:
    from metnos.app.house import App

DORMANCY, EXTINCTION = "dormancy", "extinction"
KINDS = (DORMANCY, EXTINCTION)
HIDES, SHOWS = "selection hides", "selection shows"
_ROOM, _REPLACED = "room", "replaced"
_ASKER = Principal(Channel.NIGHT, "selection", Autonomy.READ_ONLY)
_HOURS = 30 * 24.0  # nothing is lost by thinking about it
_MOST = 3  # executors that are offered to be archived for one that has no room
_LET_GO = "the owner let it go"
WORDS: dict[str, str] = {
    Why.UNFIT: "it mostly failed lately, in everything that it was used for",
    Why.UNPROVEN: "it was used often enough, and nobody could tell whether it was any good",
    Why.DORMANT: "it was not used for a long time",
}


# -- at night


def job(app: "App") -> Done:
    """Settle what everything is worth, hide and show, ask what there is to ask, and let go what nobody missed."""
    now = app.clock.now()
    settled = worth.settle(app)
    active = Activity.until(app.medium.db, now).days_after
    judged = app.selection.judge(now, active)
    for each in judged.hidden:
        names = {"name": each.name, "why": each.why}
        app.audit.append(Entry(HIDES, names, {"executor": each.digest}))
    for name in judged.shown:
        app.audit.append(Entry(SHOWS, {"name": name}))
    asked = _ask_dormant(app) + len(make_room(app, most=1) if is_full(app) else ()) + offer_replaced(app)
    for entry in judged.extinct:
        _let_die_out(app, entry)
    if judged.extinct:
        learning.follow_executors(app)
    counts = {
        "settled": settled,
        "hidden": len(judged.hidden),
        "shown": len(judged.shown),
        "questions": asked,
        "died out": len(judged.extinct),
        "forgotten": fitness.forget(app.catalog.db, now - timedelta(days=app.selection.rules.keep_days)),
    }
    news = (*map(_told, judged.hidden), *map(_died_out, judged.extinct))
    return Done("", {name: count for name, count in counts.items() if count}, news)


def _told(each: Hidden) -> News:
    said = f"{each.name} is not offered to planners any more: {WORDS[each.why]}. See: metnos executor show {each.name}"
    return News("selection", said, once=f"hidden {each.name} {each.digest[:12]} {each.why}")


def _died_out(entry: index.Entry) -> News:
    said = f"{entry.name} was in quarantine for long, and is archived now. See: metnos inbox list"
    return News("selection", said, once=f"extinct {entry.name} {entry.digest[:12]}")


# -- what the owner decides about


def make_room(app: "App", most: int = _MOST) -> list[Item]:
    """Ask whether to archive what was not used for longest, so that something new has room; returns the questions."""
    found = index.longest_unused(app.catalog.db)[:most]
    asked = (ask(app, entry, _ROOM, f"Archive {entry.name} to make room for new executors") for entry in found)
    return [item for item in asked if item is not None]


def offer_replaced(app: "App") -> int:
    """Ask whether to archive what a living executor was made to do the work of, once for each; returns how many."""
    asked = 0
    for proposal in app.growing.proposals.all((Born.ACTIVE,)):
        heir = index.current(app.catalog.db, proposal.name) if proposal.need.instead else None
        if heir is None or heir.digest != proposal.digest or heir.state not in USABLE:
            continue
        because = f"{heir.name} was made to do what {' and '.join(proposal.need.instead)} do"
        for name in proposal.need.instead:
            entry = index.current(app.catalog.db, name)
            if entry is not None and entry.state in USABLE and entry.origin is not Origin.BUILTIN:
                title = f"Archive {name}: {heir.name} does its work"
                asked += ask(app, entry, _REPLACED, title, because=because, standing=heir.digest) is not None
    return asked


def is_full(app: "App") -> bool:
    """Whether there are as many executors that are not built in as there may be."""
    return len(index.active_synthesised(app.catalog.db)) >= app.settings.executors.active > 0


def _ask_dormant(app: "App") -> int:
    hidden = [each.name for each in app.selection.hidden().values() if each.why is Why.DORMANT]
    entries = (index.current(app.catalog.db, name) for name in hidden)
    asked = [ask(app, entry, DORMANCY, f"Archive {entry.name}") for entry in entries if entry is not None]
    return sum(item is not None for item in asked)


def ask(
    app: "App",
    entry: index.Entry,
    about: str,
    title: str,
    *,
    because: str = "",
    standing: str = "",
    by: Principal = _ASKER,
) -> Item | None:
    """Ask once whether to archive an executor as it is; nothing if the owner was asked before, or is being asked.

    A question rests on its not being used, and is void once it is; unless a ``standing`` says on what else it rests.
    """
    last = app.selection.last(entry)
    stands = standing or to_text(last)
    if app.selection.was_asked(entry.name, about, stands) or _is_asked(app, entry.name):
        return None
    body: dict[str, Json] = {
        "name": entry.name,
        "version": entry.version,
        **({} if standing else {"last": to_text(last)}),
        **({"because": because} if because else {}),
        "digest": entry.digest,
        "then": "It is put away, and its files stay. To bring it back: metnos executor enable " + entry.name,
    }
    digest = sha256_hex(canonical_json([DORMANCY, entry.name, entry.digest, stands]))
    said = title if because else f"{title}: not used since {last.astimezone():%Y-%m-%d}"
    item = app.inbox.ask(DORMANCY, said, body, digest, asked_by=by, hours=_HOURS)
    app.selection.asked(entry.name, about, stands, app.clock.now())
    return item


def _is_asked(app: "App", name: str) -> bool:
    return any(item.body.get("name") == name for item in app.inbox.open(DORMANCY))


def _let_die_out(app: "App", entry: index.Entry) -> None:
    """Archive what was in quarantine for long. The question comes first: what is archived is not looked at again."""
    days = app.selection.rules.extinct_days
    body: dict[str, Json] = {
        "name": entry.name,
        "version": entry.version,
        "quarantined": to_text(entry.ts),
        "because": entry.reason,
        "digest": entry.digest,
        "then": "Its code can never be signed again, under whatever name. Its files stay, to be looked at.",
    }
    digest = sha256_hex(canonical_json([EXTINCTION, entry.name, entry.digest, to_text(entry.ts)]))
    title = f"Revoke {entry.name} for good: it was in quarantine on {days} days on which you were there"
    app.inbox.ask(EXTINCTION, title, body, digest, asked_by=_ASKER, hours=_HOURS, needs_yes=2)
    app.catalog.change(entry.name, State.ARCHIVED, f"in quarantine for {days} days: {entry.reason}")


def answered(app: "App", item: Item) -> str:
    """Do what a yes of the owner allows, once, whoever else tries; says what was done."""
    if app.inbox.take(item.digest, item.needs_yes) is None:
        raise InboxError(f"question {item.id} was used already")
    name, digest = str(item.body["name"]), str(item.body["digest"])
    entry = index.current(app.catalog.db, name)
    if entry is None or entry.digest != digest:
        return f"{name} is another version by now, so it stays."
    if item.kind == EXTINCTION:
        return _revoke(app, entry)
    last = to_text(app.selection.last(entry))
    if entry.state not in USABLE or item.body.get("last", last) != last:
        return f"{name} was used or changed since you were asked, so it stays."
    app.catalog.change(name, State.ARCHIVED, _LET_GO)
    learning.follow_executors(app)
    # Something may have waited for the room.
    return " ".join([f"{name} is archived. To bring it back: metnos executor enable {name}", *app.growing.carry_out()])


def _revoke(app: "App", entry: index.Entry) -> str:
    if entry.state not in (State.ARCHIVED, State.QUARANTINE):
        return f"{entry.name} is {entry.state} again, so it stays."
    app.catalog.change(entry.name, State.REVOKED, "it died out: in quarantine for long, and the owner let it go")
    learning.follow_executors(app)
    return f"{entry.name} is revoked. Its files stay, to be looked at."
