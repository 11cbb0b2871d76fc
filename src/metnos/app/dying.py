"""The steps of a death, put together from the parts of a workspace: `retiring` takes them.

Rules: what decides what the testament says is stored by the step that found it, and every later step goes by that. From
the first step on nothing acts any more: everything is halted, and no turn is begun. What a person said leaves the house
only if the owner released it; a model is asked only about what is fit to be told, at home or where the owner allowed
it, with the money that was kept for this and at most one question. With no money, no model and a damaged memory there
is a testament all the same, and what cannot be held against all that was said here is not in it. The webhook is the
owner's own setting, and is told nothing but names and numbers.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.app import estate, importing, inheriting, turning
from metnos.context.fence import fence
from metnos.core import files
from metnos.core.canon import Json, sha256_hex
from metnos.core.clock import from_text, to_text
from metnos.core.errors import ExecutorError, InboxError, ModelError, StoreError, TestamentError, TestamentTooLarge
from metnos.core.sign import Signer
from metnos.law.principal import Autonomy, Channel, Principal, of_account
from metnos.life import legacy, reflection, testament_file, webhook
from metnos.life import testament_lines as lines
from metnos.life.cause import Cause
from metnos.life.reflection import Material
from metnos.life.testament import MOST_ANCESTORS, Bone, Category, Testament
from metnos.life.thanatopsis import Death, Phase, Step, given_up
from metnos.mnestome import proto
from metnos.models.budget import Budget, Meter
from metnos.models.chat import Chat, Message, Prompt
from metnos.night.notices import News, Notices
from metnos.night.reminders import File
from metnos.synt import bundle
from metnos.synt.proposals import OPEN, Proposals

if TYPE_CHECKING:
    from metnos.app.house import App

RETIRED = "this agent is retired, and nothing acts any more; metnos life status says where its testament is"
HANDED_BACK = "the agent that asked this was retired"
_LEARN_S = 60.0  # of CPU for the last consolidation: what is not learnt by then is lost
_TOKENS = 20_000  # of the one question to a model; its price is held to the reserve by the account
_CLOCKS = Principal(Channel.NIGHT, "life", Autonomy.READ_ONLY)
_WISHES = 8


def steps(app: "App") -> list[Step]:
    """All of them, in their order."""

    def step(name: str, phase: Phase, says: str, act: Any, *, vital: bool = False) -> Step:
        return Step(name, phase, says, partial(act, app), vital)

    return [
        step("accept", Phase.ACCEPTANCE, "accepting: from here on nothing acts any more", _accept),
        step("count", Phase.ACCEPTANCE, "counting what is open", _count),
        step("finish", Phase.SETTLE, "handing back what is open", _finish),
        step("revoke", Phase.SETTLE, "taking back what was allowed in advance", _revoke),
        step("learn", Phase.SETTLE, "learning from the last days", _learn),
        step("gather", Phase.REFLECT, "choosing what crosses", _gather),
        step("reflect", Phase.REFLECT, "looking back", _reflect),
        step("executors", Phase.LEGACY, "packing the executors", _executors),
        step("compose", Phase.LEGACY, "writing and scanning the testament", _compose, vital=True),
        step("leave", Phase.LEGACY, "leaving it", _leave, vital=True),
        step("tell", Phase.LEGACY, "telling those who want to know", _tell),
    ]


# -- acceptance


def _accept(app: "App", _death: Death) -> Json:
    app.halts.halt(RETIRED, for_good=True)
    return {}


def _count(app: "App", _death: Death) -> Json:
    return {"open": open_work(app), "wished": _wished(app)}


def open_work(app: "App") -> dict[str, int]:
    found = {
        "questions": len(app.inbox.waiting()),
        "proposals": len(Proposals(app.synt_db, app.clock).all(OPEN)),
        "reminders": len(File(app.workspace.notes).reminders()),
        "requests": len(app.medium.interrupted()),
    }
    return {kind: count for kind, count in found.items() if count}


def _wished(app: "App") -> list[str]:
    """Executors that were missing again and again. Their names are of the closed vocabulary, and say no more."""
    names = dict.fromkeys(each.dst for each in proto.recurring(app.catalog.db, app.clock.now()))
    return list(names)[:_WISHES]


# -- settling


def _finish(app: "App", death: Death) -> Json:
    try:
        turning.settle(app)  # which may ask something, too
    finally:
        _hand_back(app, death)  # also what a memory that cannot be read asked before
    return {}


def _hand_back(app: "App", death: Death) -> None:
    by = _who(death)
    for item in app.inbox.waiting():
        try:
            app.inbox.refuse(item.id, by, HANDED_BACK)
        except InboxError:
            continue  # not this one's to answer: it ends by itself, and nothing it asks for can happen any more
    told = [f"{kind} ({count})" for kind, count in sorted((death.done["count"] or {}).get("open", {}).items())]
    if told:
        text = f"this agent is retired and hands back: {', '.join(told)}. See metnos inbox list --all, metnos synt list"
        Notices(app.night_db, app.clock).tell([News("life", text, once=f"handed back {death.id}")])


def _who(death: Death) -> Principal:
    """Who ended it; the owner did so in person, maybe in another process than this one."""
    return of_account(Channel.TERMINAL) if death.cause is Cause.OWNER else _CLOCKS


def _revoke(app: "App", death: Death) -> Json:
    by = _who(death)
    names = sorted({grant.executor for grant in app.grants.active()})
    return {"grants": sum(len(app.grants.end_of(name, by)) for name in names)}


def _learn(app: "App", _death: Death) -> Json:
    app.grimoire.catch_up()
    app.grimoire.learn(_LEARN_S)
    inheriting.settle(app)
    return {}


# -- reflecting


def _gather(app: "App", death: Death) -> Json:
    whole = estate.estate(app, death.died, death.wishes.release)
    last = legacy.ending(death.cause, estate.profile_name(app), whole.key, death.died)
    whole = replace(whole, facts=[*whole.facts, last]) if last else whole
    gathered, life = legacy.gather(whole), estate.lived(app, death.died)
    common = whole.known.all_common
    confused, dreamt = (
        {each: count for each, count in found.items() if common(each)}
        for found in (legacy.unsettled(whole.facts), legacy.dreamt(whole.facts))
    )
    return {
        **lines.body_out(gathered),
        "released": list(gathered.released),
        "dropped": dict(gathered.dropped),
        "why": dict(gathered.why),
        "born": to_text(life.born),
        "ticks": life.ticks,
        "lived": {"bytes": life.bytes_, "episodes": life.episodes, "facts": life.facts, "mnests": life.mnests},
        "surprising": list(life.surprising),
        "confused": confused,
        "dreamt": dreamt,
    }


def _gathered(death: Death) -> dict[str, Any]:
    """What was gathered; nothing at all if gathering was given up: then the testament says so little."""
    empty: dict[str, Any] = {name: [] for name in lines.BODY}
    found: dict[str, Any] = death.done["gather"] or empty
    return found


def _material(death: Death) -> Material:
    found, open_ = _gathered(death), death.done["count"] or {}
    return Material(
        cause=death.cause,
        ticks=found.get("ticks", 0),
        entries=lines.body_in(found)["entries"],
        surprising=found.get("surprising", ()),
        confused=found.get("confused", {}),
        dreamt=found.get("dreamt", {}),
        wished=open_.get("wished", ()),
        open_work=open_.get("open", {}),
        kept_back=sum(found.get("dropped", {}).values()),
    )


def _reflect(app: "App", death: Death) -> Json:
    material = _material(death)
    extracted = reflection.extract(material)
    try:
        said = _thought(app, material, extracted)
    except (ModelError, ValueError):
        said = None  # what was extracted is enough
    found = said or extracted
    return {
        "by": "model" if said else "extraction",
        "reflection": {str(each): list(found[each]) for each in Category},
    }


def _thought(
    app: "App", material: Material, extracted: dict[Category, tuple[str, ...]]
) -> dict[Category, tuple[str, ...]] | None:
    """What a model says in its last words; nothing if there is none. Raises `ModelError` or ``ValueError``."""
    chat = model(app)
    if chat is None:
        return None
    text = fence(reflection.notes(material, extracted), "notes about a life", 12_000)
    prompt = Prompt(
        reflection.INSTRUCTION, (Message("user", text),), reflection.schema(), max_tokens=reflection.ANSWER_TOKENS
    )
    return reflection.read(chat.ask(prompt).text, extracted, estate.known(app))


def model(app: "App") -> Chat | None:
    """The model of the last reflection: the best there is, with the money that was kept for it."""
    meter = Meter(Budget(_TOKENS, app.living.account.reserve or app.settings.models.turn_usd))
    chat = app.models.metered("wise", meter, use="death")
    wanted = app.settings.memory.think
    allowed = chat is not None and wanted != "off" and (wanted == "on" or not chat.outside)
    return chat if allowed else None


# -- legacy


def _executors(app: "App", _death: Death) -> Json:
    drafts, known = [], estate.known(app)
    for name in estate.executors(app):
        try:
            drafts.append(importing.packable(app, name))
        except ExecutorError:
            continue  # changed just now, or not whole: not to be vouched for
    fit, kept_back = legacy.fit_executors(drafts, known, partial(estate.private, app, frozenset()))
    packed = bundle.pack(fit[: bundle.MOST_EXECUTORS], app.seat.signer).decode() if fit else ""
    return {"bundle": packed, "kept_back": kept_back}


def _compose(app: "App", death: Death) -> Json:
    raw, left_out = _scanned(app, death)
    # Nothing dies silent: what is told without a word of anybody's needs no scan, and is still a testament.
    raw = raw or testament_file.pack(_bare(app, death), b"", app.seat.signer)
    return {"testament": raw.decode(), "sha256": sha256_hex(raw), "bytes": len(raw), "left_out": left_out}


def _scanned(app: "App", death: Death) -> tuple[bytes, str]:
    """The testament, as a scan of the whole lets it out, and why something was left out of it: the executors, or all
    of it, and then there are no bytes."""
    executors, left_out = str((death.done["executors"] or {}).get("bundle", "")).encode(), ""
    private = partial(estate.private, app, frozenset(death.wishes.release))
    for packed in dict.fromkeys((executors, b"")):
        try:
            released = _gathered(death).get("released", ())
            clean = legacy.composed(_testament(app, death), estate.known(app), private, released)
            if packed:
                return testament_file.pack(clean, packed, app.seat.signer), left_out
            raw, lost = _packed(clean, app.seat.signer)
            return raw, f"{lost} lessons, because all of them are too much to read" if lost else left_out
        except Exception as error:  # noqa: BLE001 -- a border: it reads all that was ever said, and that may be damaged
            left_out = left_out or given_up(error)
    return b"", left_out


def _packed(clean: Testament, signer: Signer) -> tuple[bytes, int]:
    """The testament with about as many of its entries as it can hold, the best first; and how many it cannot."""
    kept = clean
    while True:
        try:
            return testament_file.pack(kept, b"", signer), len(clean.entries) - len(kept.entries)
        except TestamentTooLarge:
            if not kept.entries:
                raise
        entries = kept.entries[: len(kept.entries) // 2]
        ids = {each.id for each in entries}
        links = tuple(each for each in kept.links if {each.src, each.dst} <= ids)
        kept = replace(kept, entries=entries, links=links)


def _testament(app: "App", death: Death) -> Testament:
    said, material = death.done["reflect"], _material(death)
    told = said.get("reflection") or {str(each): lines_ for each, lines_ in reflection.extract(material).items()}
    return replace(
        _bare(app, death),
        reflection={each: tuple(told[str(each)]) for each in Category},
        reflected_by=said.get("by", "extraction"),
        habits=estate.habits(app),
        **lines.body_in(_gathered(death)),
    )


def _bare(app: "App", death: Death) -> Testament:
    """What can be told of a life without a word that anybody said: names of the house, digests and numbers."""
    found, line = _gathered(death), inheriting.lineage(app)
    return Testament(
        id=death.id,
        born=from_text(found["born"]) if "born" in found else death.died,
        died=death.died,
        cause=death.cause,
        generation=line.generation(),
        ticks=found.get("ticks", 0),
        profile=estate.profile_name(app),
        reflection=dict.fromkeys(Category, (reflection.NOTHING,)),
        reflected_by="extraction",
        lived=found.get("lived", {}),
        ancestors=line.ancestors()[:MOST_ANCESTORS],
        bones=_bones(found),
    )


def _bones(found: dict[str, Any]) -> tuple[Bone, ...]:
    """Names of the closed vocabulary, and weights."""
    alone: dict[str, Any] = {name: found[name] if name == "bones" else [] for name in lines.BODY}
    try:
        bones: tuple[Bone, ...] = lines.body_in(alone)["bones"]
    except ValueError:
        return ()
    return bones


def left(death: Death) -> bytes:
    """What a death that came so far leaves: the bytes of its testament."""
    return str(death.done["compose"]["testament"]).encode()


def leave(death: Death, target: Path) -> None:
    """Put the testament there, if it is not there already."""
    raw, again = left(death), "Leave it elsewhere: metnos life retire --resume --to FILE"
    try:
        if not files.create(target, raw, mode=files.PRIVATE_FILE) and not _is_it(target, raw):
            raise TestamentError(f"{target} is there already, and is another file", fix=again)
    except OSError as error:
        raise TestamentError(f"{target} cannot be written: {error.strerror}", fix=again) from error


def _leave(app: "App", death: Death) -> Json:
    target = Path(death.wishes.to)
    leave(death, target)
    news = News("life", f"this agent was retired; its testament is {target}", once=f"retired {death.id}")
    try:
        Notices(app.night_db, app.clock).tell([news])
    except StoreError as error:  # it was left, whoever can be told of it
        return {"untold": given_up(error)}
    return {}


def _is_it(target: Path, raw: bytes) -> bool:
    try:
        return testament_file.read(target) == raw
    except TestamentError:
        return False  # no ordinary file: reading a pipe would wait for ever


def _tell(app: "App", death: Death) -> Json:
    address = app.settings.life.webhook
    if not address:
        return {"told": False}
    made = death.done["compose"]
    news: dict[str, Json] = {
        "event": "death",
        "agent": app.seat.signer.public,
        "cause": str(death.cause),
        "died": to_text(death.died),
        "generation": inheriting.lineage(app).generation(),
        "testament": made["sha256"],
        "bytes": made["bytes"],
    }
    webhook.tell(address, news)
    return {"told": True}
