"""One step of a turn: run through the one door, and if the owner must be asked, ask.

Rules: nothing here decides what may happen; it passes the policy's question on to the face and the owner's answer back
to the inbox. An answer counts for the question that was shown. An executor that calls others may stop more than once,
for each of them that must be asked about. Whoever cannot answer (a program, another executor) is not asked: the
question waits in the inbox.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from metnos.core.clock import to_text
from metnos.core.errors import AuditError, ExecutorError, ExecutorFailed, LawError, SandboxError, Waiting
from metnos.executors import whole, words
from metnos.executors.call import Call, asked
from metnos.executors.catalog import Catalog
from metnos.executors.outcome import Outcome
from metnos.executors.run import Runner
from metnos.grimoire.trace import State
from metnos.law.capability import Capability
from metnos.law.grants import MAX_DAYS, Grants
from metnos.law.inbox import Inbox, Item
from metnos.law.inbox import State as Question
from metnos.law.levels import asks_anew
from metnos.law.need import PATHS
from metnos.law.principal import Channel, Principal
from metnos.turn.events import Answer, Spoken, StepDone, StepStarted, Wanted

_ALWAYS_DAYS = min(365, MAX_DAYS)  # a year: long enough to be no bother, short enough to be thought about again
_NOT_ALWAYS = frozenset({Capability.SHELL_EXEC})  # a program may do anything with what it is given


@dataclass(frozen=True, slots=True)
class Door:
    """What acting needs."""

    runner: Runner
    catalog: Catalog
    inbox: Inbox
    grants: Grants
    home: Path


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended: with an outcome, or without one and why. ``item`` is the question it rested on."""

    state: State
    outcome: Outcome | None
    message: str = ""
    kind: str = ""
    fix: str = ""
    item: str = ""
    preview: tuple[str, ...] = ()


Acting = Generator[StepStarted | Wanted, Spoken | None, Ended]
Target = tuple[Capability, str, bool]  # of an "always": a folder or a host, and whether things are sent there


def act(door: Door, call: Call, number: int, of: int, *, dry_run: bool, language: str = "en") -> Acting:
    """Make one call; yields what the face shows, returns how it ended."""
    yield StepStarted(number, of, call.name, title(call))
    try:
        if dry_run and (call.tainted or not _only_looks(door, call)):
            ended = _rehearse(door, call)
        else:
            ended = yield from _run(door, call, number, language)
    except AuditError:
        raise  # it may have been done all the same: this is no refusal, and nothing to go on after
    except (LawError, ExecutorError, SandboxError) as error:
        # Nothing was done; what says so is the error itself.
        state = State.REFUSED if isinstance(error, LawError) else State.FAILED
        kind = error.kind if isinstance(error, ExecutorFailed) else "not_permitted"
        ended = Ended(state, None, error.what, kind, error.fix)
    return ended


def title(call: Call) -> str:
    """What a call is pointed at, in a few words."""
    shown = []
    for name, value in call.args.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            shown.append(f"{name} {_short(str(value))}")
        elif isinstance(value, list) and value:
            first = value[0] if isinstance(value[0], str) else f"{len(value)}"
            more = f" and {len(value) - 1} more" if isinstance(value[0], str) and len(value) > 1 else ""
            shown.append(f"{name} {_short(first)}{more}")
    return ", ".join(shown[:3])


def _short(text: str, most: int = 48) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _run(door: Door, call: Call, number: int, language: str) -> Generator[Wanted, Spoken | None, Ended]:
    item: Item | None = None
    while True:
        try:
            return _from_outcome(door.runner.run(call), item.id if item else "")
        except Waiting as waiting:
            again, item = item, door.inbox.find(waiting.item)
            if again is not None and not _goes_on(again, item):
                # What is there has changed since the question, so that it is another one now.
                return Ended(State.WAITING, door.runner.so_far(item), waiting.what, item=item.id)
        answered = yield from ask(door, call, number, item, language)
        if answered is not None:
            return answered
        call = replace(call, resumes=item.id)


def _goes_on(before: Item, now: Item) -> bool:
    """Whether a question is about a later part of the same call: more was done of it than at the one before."""
    parts = [len(item.body.get(whole.KEY, {}).get("parts", ())) for item in (before, now)]
    return parts[1] > parts[0]


def ask(
    door: Door, call: Call, number: int, item: Item, language: str = "en"
) -> Generator[Wanted, Spoken | None, Ended | None]:
    """Ask until there are enough yeses. Returns nothing when the act may be tried, else how the step ended."""
    done = door.runner.so_far(item)
    waits = Ended(State.WAITING, done, item.title, item=item.id)
    part = asked(item) if whole.KEY in item.body else call
    who = call.principal
    if not who.may_answer_to(item.asked_by, item.needs_yes, act=True):
        if (
            who.channel is Channel.SCRIPT
        ):  # its face says where the question waits; whatever it answers counts for nothing
            yield replace(_wanted(door, part, number, item, ()), language=language)
        return waits
    while item.yes_count < item.needs_yes and item.state is Question.WAITING:
        # Once: an answer is to what was shown. A program shows what it asked for, and allows nothing for good.
        targets = _targets(door, part, item) if who.may_answer else ()
        answer = yield replace(_wanted(door, part, number, item, targets), language=language)
        if answer is Answer.NO:
            door.inbox.refuse(item.id, who, "refused when asked")
            left = f"what was done before stays (to take it back: metnos undo {done.action})" if done else ""
            said = f"you said no; {left or 'nothing was done'}"
            return Ended(State.REFUSED, done, said, "not_permitted", item=item.id)
        if answer not in (Answer.YES, Answer.ALWAYS):
            return waits
        item = door.inbox.approve(item.id, who, seen=item.yes_count)
        if answer is Answer.ALWAYS:
            _grant(door, part, targets, by=who)
    return None


def _wanted(door: Door, call: Call, number: int, item: Item, targets: Sequence[Target]) -> Wanted:
    manifest = door.catalog.get(call.name).manifest
    return Wanted(
        item=item.id,
        number=number,
        executor=call.name,
        title=item.title,
        lines=tuple(str(line) for line in item.body.get("preview", ())),
        reversal=words.effect(manifest),
        why=tuple(door.runner.explain(call, item)),
        yes=item.yes_count,
        needs=item.needs_yes,
        always=_always_words(call.name, targets),
        expires=to_text(item.expires_at),
    )


def _targets(door: Door, call: Call, item: Item) -> Sequence[Target]:
    """What an "always" would be about: the folders that are changed, or are to be made, and the hosts spoken to.

    Nothing at all if any need is of a kind for which there is no "always", or would open a whole home or root.
    """
    if item.needs_yes > 1 or call.tainted:
        return ()
    home = door.home.resolve()
    broad = {str(folder) for folder in (home, *home.parents)}
    found: list[Target] = []
    for need in door.runner.needs(call, item):
        if need.capability in _NOT_ALWAYS or need.target == "*" or asks_anew(need):
            return ()
        if need.capability is Capability.FS_WRITE:
            path = Path(need.target)
            found.append((need.capability, str(path.parent if path.is_file() else path), False))
        elif need.capability is Capability.NET_HTTP:
            found.append((need.capability, need.target, need.sends))
        elif need.capability in (Capability.MODEL_CHAT, Capability.MCP_CALL):
            found.append((need.capability, need.target, False))
    whole = any(capability in PATHS and target in broad for capability, target, _ in found)
    return () if whole else tuple(dict.fromkeys(found))


def _always_words(executor: str, targets: Sequence[Target]) -> str:
    if not targets:
        return ""
    verbs = {(Capability.FS_WRITE, False): "change what is in", (Capability.NET_HTTP, False): "fetch from",
             (Capability.NET_HTTP, True): "send to"}  # fmt: skip
    listed = "; ".join(f"{verbs.get((capability, sends), 'use')} {target}" for capability, target, sends in targets)
    return f"{executor} may, for a year and without asking: {listed}"


def _grant(door: Door, call: Call, targets: Sequence[Target], *, by: Principal) -> None:
    for capability, target, sending in targets:
        door.grants.grant(call.name, capability, target, days=_ALWAYS_DAYS, by=by, reason="always", sending=sending)


def _only_looks(door: Door, call: Call) -> bool:
    """Whether a dry run may really make this call, or there would be nothing to go on with."""
    return door.catalog.get(call.name).manifest.is_quiet


def _rehearse(door: Door, call: Call) -> Ended:
    outcome, preview = door.runner.preview(call)
    state = State.REHEARSED if outcome.ok else State.FAILED
    return Ended(state, outcome, outcome.message, outcome.kind, preview=preview.lines)


def _from_outcome(outcome: Outcome, item: str = "") -> Ended:
    if not outcome.ok:
        return Ended(State.FAILED, outcome, outcome.message, outcome.kind, item=item)
    failed = int(outcome.reply.get("failed", 0))
    state = State.PARTLY if failed else State.DONE
    message = f"{failed} failed" if failed else ""
    return Ended(state, outcome, message, item=item)


def done(ended: Ended, executor: str, number: int) -> StepDone:
    """What a face shows of a step that ended."""
    outcome = ended.outcome
    count = int(outcome.reply.get("count", 0)) if outcome else 0
    return StepDone(
        number=number,
        executor=executor,
        ok=ended.state in (State.DONE, State.PARTLY, State.REHEARSED),
        message=ended.message,
        count=count,
        wall_ms=outcome.wall_ms if outcome else 0.0,
        action=outcome.action if outcome else "",
    )
