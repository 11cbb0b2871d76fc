"""What turns teach: passings and wishes to the mnestome, requests and plans to the fast paths, utility to executors.

Rules: everything here reads closed turns and can be done again at any time; what is applied is marked where it is
applied. A turn that is recorded is over, also when what learns is busy or its disk full: the next one catches up.
"""

import contextlib
from typing import TYPE_CHECKING

from metnos.app import paths, worth
from metnos.core.errors import StoreError
from metnos.executors import fitness, index
from metnos.fastpath import cover, log
from metnos.law.audit_line import Entry
from metnos.law.principal import Principal
from metnos.mnestome import ager, graph, record, seeds, states
from metnos.mnestome.rules import Rules
from metnos.mnestome.states import Standing

if TYPE_CHECKING:
    from metnos.app.house import App

FORGOTTEN = "turn forgotten"

_FOLLOWED = "executors followed"
AGAIN = 16  # turns that a power cut may have taken out of the mnestome again, which syncs less often than the traces


def catch_up(app: "App") -> int:
    """Work every turn in that was not worked in yet; returns how many."""
    follow_executors(app)
    done, db, rules = 0, app.catalog.db, mnest_rules(app)
    offered = app.medium.pending(record.PROJECTION, again=AGAIN)
    for turn in record.unapplied(db, offered):
        done += record.record_turn(db, app.medium.facts(turn), rules)
    app.medium.applied(record.PROJECTION, *offered)
    done = max(done, paths.catch_up(app, AGAIN))
    paths.hold_against(app)
    done = max(done, worth.catch_up(app, AGAIN))
    done = max(done, app.living.catch_up())  # before the memory, which learns the sooner the less life is left
    return max(done, app.grimoire.catch_up())


def offer_again(app: "App") -> None:
    """What learns has lost its files: every turn is offered to it anew."""
    for projection in (record.PROJECTION, log.PROJECTION, fitness.PROJECTION):
        app.medium.offer_again(projection)


def forget_turn(app: "App", turn: str, by: Principal) -> None:
    """Take out what was said and found in a turn, and the words that what learns has from it: wishes, forms of
    requests, its episode and its lessons. Only a person may. What was cut short is brought to its end."""
    from metnos.app import keeping  # which most turns have no need of

    keeping.refuse_forgetting(app, by)
    with app.audit.act(Entry(FORGOTTEN, {"turn": turn, "channel": by.channel, "sender": by.sender})):
        app.medium.redact(turn)
        keeping.forget_traces(app, turn)
        plan = keeping.forgetting(app).plan(ids=[turn])
        if not plan.is_empty:
            keeping.forget(app, plan, by)


def catch_up_or_later(app: "App") -> None:
    with contextlib.suppress(StoreError):
        catch_up(app)


def mnest_rules(app: "App") -> Rules:
    """The mnests' numbers, with the owner's own."""
    return Rules(lambdas=app.settings.mnestome.lambdas)


def follow_executors(app: "App") -> int:
    """Let the mnestome follow what became of executors, and plant what may be expected of new ones.

    Nothing is done while the index of executors is what it was the last time.
    """
    db, now, mark = app.catalog.db, app.clock.now(), str(app.catalog.mark())
    if ager.fact(db, _FOLLOWED) == mark:
        return 0
    from metnos.app import inheriting  # seldom needed, and it brings the gates along

    entries = index.all_current(db)
    standings = {entry.name: Standing(entry.version, str(entry.state)) for entry in entries}
    changed = states.reconcile(db, standings, now, app.past, mnest_rules(app))
    versions = {name: each.version for name, each in standings.items() if not each.gone}
    changed += seeds.plant(db, [*seeds.declared(declared_calls(app), versions), *seeds.documented(versions)], now)
    changed += inheriting.plant(app, versions)
    cover.demote_covered(app.fast.logs[1], paths.covers(app), now)
    ager.set_fact(db, _FOLLOWED, mark)
    return changed


def declared_calls(app: "App") -> dict[str, tuple[str, ...]]:
    """Which other executors each may call, as its manifest says."""
    return {each.name: tuple(each.manifest.capabilities.executor.call) for each in app.catalog.usable()}


def unused_calls(app: "App", name: str | None = None) -> list[tuple[str, str]]:
    """Calls that manifests declare and that never happened, of all executors or of one: (caller, called)."""
    if name is None:
        return graph.unused_calls(app.catalog.db, declared_calls(app), app.past)
    found = app.catalog.look(name).executor if name in app.catalog.names() else None
    calls = found.manifest.capabilities.executor.call if found else ()
    return graph.unused_calls(app.catalog.db, {name: calls}, app.past)
