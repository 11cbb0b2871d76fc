"""What an owner does with the memory as a whole: forget, pin, count, move to another engine or embedder."""

import contextlib
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.app import adjusting, sight
from metnos.core import files
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.core.errors import ModelError, Refused, StoreBusy, TurnError, UsageError
from metnos.grimoire import appraisal, episodes_move, poison, reembed, retention
from metnos.grimoire.affect import Pad
from metnos.grimoire.consent import waits
from metnos.grimoire.episode import Episode, Mark
from metnos.grimoire.exchange import Exchange
from metnos.grimoire.exchange_taking import Taken
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts_rows import Which
from metnos.grimoire.forget import Forgetting, Forgotten, Plan, Says, holds
from metnos.grimoire.reports import Reports
from metnos.grimoire.strings import strings
from metnos.grimoire.tiers import KIND, Tiers
from metnos.law.audit_line import Entry
from metnos.law.inbox import Item
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.mnestome import proto
from metnos.night.jobs import Stop, never
from metnos.store.compact import compact

if TYPE_CHECKING:
    from metnos.app.house import App

FORGOTTEN = "memory forgotten"
MOVED = "memory moved"
RESTORED = "playbook restored"
ENGINE = "memory.engine"
TAKEN_IN = "memory taken in"
CURATOR = Principal(Channel.NIGHT, "curator", Autonomy.READ_ONLY)

_TYPED = re.compile(r"(?m)^(?=# )")  # where an entry of the chat's history begins; what was typed begins with a +
_TEXTS = 256  # that are embedded between two looks whether to stop
_PART = 1 << 20  # characters that are looked at together

Progress = Callable[[int, int], None]


def _quiet(_done: int, _of: int) -> None:
    """For whoever does not watch."""


# -- long memory


def tiers(app: "App") -> Tiers:
    """The way into long memory."""
    return Tiers(
        app.workspace,
        app.inbox,
        app.audit,
        app.grimoire.db,
        app.clock,
        app.grimoire.playbook,
        lambda text: poison.screen(text).reason,
    )


def apply(app: "App", item: Item, by: Principal) -> None:
    """Do what the owner agreed to: write the line, or let the fact count. ``by`` said so."""
    tiers(app).apply(item, partial(app.grimoire.facts.agreed, by=by))


def restore_playbook(app: "App", version: int, by: Principal) -> None:
    """Put a version of PLAYBOOK.md back. Only a person may."""
    app.refuse_halted()
    names = {"channel": by.channel, "sender": by.sender}
    with app.audit.act(Entry(RESTORED, names, counts={"version": version})):
        problem = app.grimoire.playbook.restore(version, by).problem
        if problem:
            raise UsageError(problem)


def ask_consent(app: "App", most: int = 3) -> int:
    """Put facts about the owner or the household before them, a few at a time; drop for good what they did not want."""
    way, facts = tiers(app), app.grimoire.facts
    facts.unwanted(way.refused(known=True))
    facts.remove(way.refused())
    asked = 0
    waiting = [fact for fact in facts.find(standings=(Standing.QUARANTINED,), count=200) if waits(fact)]
    unwanted = [fact.id for fact in waiting if facts.is_unwanted(fact)]  # the same under another name
    facts.remove(unwanted)
    for fact in waiting:
        if asked < most and fact.id not in unwanted:
            asked += way.consent(fact, "it was learnt from what you did", asked_by=CURATOR) is not None
    return asked


# -- forgetting


def forgetting(app: "App") -> Forgetting:
    grimoire = app.grimoire
    return Forgetting(
        grimoire.episodes,
        grimoire.facts,
        grimoire.playbook,
        app.workspace.root,
        app.clock,
        saying=partial(retention.saying, app.medium.db),
        turns=partial(_forget_turns, app),
        questions=partial(_forget_questions, app),
    )


def refuse_forgetting(app: "App", by: Principal) -> None:
    """Raise unless ``by`` may forget for good, which only a person may."""
    if not by.may_answer:
        raise Refused(
            f"{by} may not forget for good: a person has to", fix="Type at a terminal: metnos memory forget WORDS"
        )
    app.refuse_halted()


def forget(app: "App", plan: Plan, by: Principal, told_by: str = "") -> Forgotten:
    """Take out what a plan names. The audit says that it happened and who did it, and never what it was.

    Only a person may; ``told_by`` is the name of an MCP client, which takes out what it told itself, and nothing else.
    """
    if told_by and by.channel is Channel.MCP and _told_all(app, plan, told_by):
        app.refuse_halted()
    else:
        refuse_forgetting(app, by)
    digest = sha256_hex(canonical_json([*plan.episodes, *plan.facts]))
    names = {"channel": by.channel, "sender": by.sender}
    counts = {"episodes": len(plan.episodes), "facts": len(plan.facts)}
    with app.audit.act(Entry(FORGOTTEN, names, {"ids": digest}, counts)):
        reembed.forgotten(app.workspace.memory, "episodes", plan.episodes)
        reembed.forgotten(app.workspace.memory, "facts", plan.facts)
        app.medium.unmention([*plan.episodes, *plan.facts])
        sight.forget_words(app)
        gone = forgetting(app).forget(plan)
        app.living.fitness.forget(plan.episodes, plan.facts)
        _compact(app)
        return replace(gone, typed=_forget_typed(app, holds(plan.query)))


def _told_all(app: "App", plan: Plan, sender: str) -> bool:
    """Whether all that would go was told by this sender, or learnt from that alone."""
    found = app.grimoire.episodes.get(plan.episodes)
    return bool(found) and all(each.kind == "note" and each.sender == sender for each in found)


def _compact(app: "App") -> None:
    """Write anew what held it: pages that SQLite splits and joins may keep a copy of what was in them."""
    space = app.workspace
    for path in (space.grimoire_db, space.medium_db, space.mnest_db, space.multi_tool_db, space.synt_db):
        if path.exists():
            with contextlib.suppress(StoreBusy):  # somebody is reading: the log was emptied, and the next one gets it
                compact(path)


def _forget_turns(app: "App", sources: Collection[str]) -> int:
    gone = 0
    for source in sources:
        try:
            turn = app.medium.load(source).id
        except TurnError:
            continue  # a note, or something that was brought in
        gone += app.medium.redact(turn)
        forget_traces(app, turn)
    return gone


def forget_traces(app: "App", turn: str) -> None:
    """Take out the words that mnests and fast paths have from a turn only: wishes, and forms of requests."""
    proto.forget_turn(app.catalog.db, turn)
    for each in app.fast.logs:
        each.forget_turn(turn, app.clock.now())
    app.growing.forget_turn(turn)


def _forget_questions(app: "App", memories: Collection[str], says: Says) -> int:
    named = set(memories)

    def touches(item: Item) -> bool:
        about = {str(item.body.get("fact", "")), *map(str, item.body.get("evidence", ()))}
        return bool(named & about) or _is_said(item, says)  # a diff shows the lines around it too

    gone = tiers(app).forget(touches, says, app.inbox.erase)
    for item in app.inbox.newest(-1):
        if item.kind != KIND and _is_said(item, says):
            app.inbox.erase(item.id)
            gone += 1
    if gone:
        retention.empty_log(app.seat.db)
    return gone


def _is_said(item: Item, says: Says) -> bool:
    return any(map(says, (item.title, item.reason, *strings(item.body))))


def _forget_typed(app: "App", says: Says) -> int:
    """Take what was typed in the chat out of what the arrow keys bring back; how many lines of it."""
    path = app.workspace.history
    if not path.exists():
        return 0
    typed = _TYPED.split(path.read_text(encoding="utf-8", errors="surrogateescape"))
    kept = [each for each in typed if not says(each.replace("\n+", "\n"))]
    if len(kept) < len(typed):
        content = "".join(kept).encode("utf-8", "surrogateescape")
        files.replace(path, content, mode=files.PRIVATE_FILE)
    return len(typed) - len(kept)


def still_says(app: "App", words: str) -> list[str]:
    """The files of the workspace that hold these words: after forgetting, the owner's own and what undo needs."""
    wanted, root = words.casefold(), app.workspace.root
    paths = (path for path in sorted(root.rglob("*")) if app.workspace.executors not in path.parents)
    return [str(path.relative_to(root)) for path in paths if wanted and path.is_file() and _has(path, wanted)]


def _has(path: Path, words: str) -> bool:
    before = ""
    with path.open(encoding="utf-8", errors="ignore") as file:
        while part := file.read(_PART):
            if words in before + (text := part.casefold()):
                return True
            before = text[-len(words) :]
    return False


# -- out and in again


def export(app: "App", target: Path, progress: Progress = _quiet, stop: Stop = never) -> dict[str, int]:
    """Everything that is remembered, in one file; nothing, and no file, if it was stopped."""
    return _exchange(app).export(target, progress, stop)


def take_in(app: "App", source: Path, progress: Progress = _quiet, stop: Stop = never) -> Taken:
    """What such a file holds, as far as it is not there. One that another agent signed, or nobody, steers nothing."""
    app.refuse_halted()
    exchange = _exchange(app)
    survey = exchange.survey(source)
    origin = survey.origin
    names = {"whose": "own" if origin.own else origin.sender}
    with app.audit.act(Entry(TAKEN_IN, names, {"file": origin.digest})):
        return exchange.take_in(source, progress, stop, survey)


def _exchange(app: "App") -> Exchange:
    grimoire = app.grimoire
    return Exchange(grimoire.episodes, grimoire.facts, grimoire.playbook.history, app.clock, app.seat.signer)


# -- one memory


def pin(app: "App", found: Episode | Fact, *, pinned: bool) -> None:
    """Keep it from fading, or let it fade again."""
    if isinstance(found, Episode):
        app.grimoire.episodes.mark([Mark(found.id, pinned=pinned)])
    else:
        app.grimoire.facts.put(replace(found, pinned=pinned))


def stats(app: "App") -> dict[str, Any]:
    """How much is remembered, and how the memory is."""
    grimoire = app.grimoire
    mood, facts = grimoire.mood.now(), grimoire.facts
    last = {kind: Reports(grimoire.db, app.clock).latest(kind, 1) for kind in ("curator", "dream")}
    found: dict[str, Any] = {
        "episodes": grimoire.episodes.count(),
        "engine": app.settings.memory.engine,
        **{f"facts: {kind}": number for kind in Kind if (number := facts.count(Which(kinds=(kind,))))},
        "facts in quarantine": facts.count(Which(standings=(Standing.QUARANTINED,))),
        "patterns refused": facts.immune.count(),
        "lines in the playbook": len(grimoire.playbook.lines()),
        "mood": f"{feeling(mood)} ({mood.pleasure:+.2f}, {mood.arousal:+.2f}, {mood.dominance:+.2f})",
        "embedder": (grimoire.health.last() or {}).get("state", "not checked yet"),
    }
    return found | {f"last {kind}": to_text(each[0].ts) for kind, each in last.items() if each}


def feeling(pad: Pad) -> str:
    """A feeling in words; one that is too faint to be called anything has none."""
    found = appraisal.emotion(pad)
    return "even" if found is None else f"{appraisal.octant(pad)}, {found}"


# -- another engine, another embedder


def move(
    app: "App", engine: str, by: Principal, progress: Progress = _quiet, stop: Stop = never
) -> episodes_move.Moved:
    """Keep episodes in another engine from now on; if it was stopped, once more goes on. Only a person may."""
    app.refuse_halted()
    adjusting.refuse(app, ENGINE, engine, by)  # before anything is moved
    app.grimoire.episodes.close()
    with app.audit.act(Entry(MOVED, {"engine": engine})):
        moved = episodes_move.move(app.workspace.episodes, engine, app.clock, tell=progress, stop=stop)
        if moved.done:
            app.set_setting(ENGINE, engine, by)
    return moved


def embed_anew(app: "App", progress: Progress = _quiet, stop: Stop = never, *, again: bool) -> reembed.Moved:
    """Embed everything with the embedder of the settings; nothing changes before all of it is done.

    If it was stopped, ``switched`` is false, and once more goes on. Where it is the one that made what is there, and
    has not drifted, only what has no vector yet is embedded.
    """
    app.refuse_halted()
    embedder = app.embedder
    if embedder is None:
        raise ModelError("there is no embedder", kind="none", fix="Choose one: metnos config set embed.kind builtin")
    grimoire = app.grimoire
    moved = reembed.reembed(
        app.workspace.memory,
        grimoire.vectored,
        embedder,
        app.clock,
        again=again or not grimoire.health.writable(),
        progress=progress,
        stop=stop,
    )
    if not moved.switched:
        return moved
    if moved.of:
        grimoire.health.keep(embedder)
        Reports(grimoire.db, app.clock).add("migration", {"space": asdict(embedder.space), "embedded": moved.embedded})
    done, of = 0, sum(len(store.missing(sys.maxsize)) for store in grimoire.vectored.values())
    while done < of and not stop() and (more := grimoire.embed_missing(embedder, _TEXTS)):
        done += more
        progress(min(done, of), of)
    return replace(moved, done=done, of=of, embedded=moved.embedded + done, switched=done >= of)
