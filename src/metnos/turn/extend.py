"""Making what a turn lacks: offered to the owner, made while they wait, put before them, and used for their request.

Rules: two questions and one signature. A yes to the offer lets it be made and is worth nothing else; what lives is what
the owner named in full when they had seen its files, by the same question in the same inbox as everything that is born
(`metnos.synt.activation`). No answer to the offer makes nothing; anything but the name, or a no, leaves the question
about the files in the inbox, and the turn waits for it. What cannot be made, or is stopped, is given up with the
reason. What is made is an executor like any other: each step with it needs its permit.
"""

from collections.abc import Generator
from typing import Any, Protocol

from metnos.core.clock import to_text
from metnos.core.errors import AuditError, ExecutorError, LawError, MetnosError, SandboxError
from metnos.grimoire.trace import State
from metnos.law.inbox import Item
from metnos.law.inbox import State as Question
from metnos.law.principal import Principal
from metnos.synt.draft import Made
from metnos.synt.need import Need
from metnos.synt.proposals import Proposal
from metnos.synt.proposals import State as Stand
from metnos.turn import extend_rules
from metnos.turn.answer import words
from metnos.turn.events import BIRTH, OFFER, Answer, Event, Spoken, Thinking, Typed, Wanted
from metnos.turn.purse import Purse
from metnos.turn.scratch import Scratch
from metnos.turn.thinking import Face, beside

_STOPPED = "the turn was stopped while it was being made"
_TEST = "test: "  # how the names of gates begin that are birth tests
_REASON = 200  # characters of why it came to nothing, in an answer


class Maker(Protocol):
    """What makes executors, as a turn needs it."""

    def can(self) -> bool:
        """Whether anything could be made and live now: there is a model, and room."""
        ...

    def living(self, need: Need) -> str:
        """The name of what was made for this very request before, if it can be used."""
        ...

    def standing(self, need: Need) -> Item | None:
        """The question about what was made for this need before, if it is still open or its yes not carried out."""
        ...

    def tried(self, need: Need) -> str:
        """Why an earlier attempt came to nothing, if there was one."""
        ...

    def take_up(self, need: Need) -> Proposal: ...

    def draft(self, need: Need, purse: Purse, face: Face) -> Made:
        """Make it, in a thread: within its own budget and the turn's. Asks, keeps and signs nothing."""
        ...

    def put(self, proposal: Proposal, made: Made) -> Proposal:
        """Put it before the owner, or give it up if a gate refused it."""
        ...

    def drop(self, proposal: Proposal, reason: str) -> None: ...

    def question(self, proposal: Proposal) -> Item: ...

    def activate(self, item: Item, by: Principal, typed: str) -> str:
        """Take the name that was typed as a yes and do what it allows; returns the name of what lives."""
        ...

    def refuse(self, item: Item, by: Principal) -> None: ...


Extending = Generator[Event, Spoken | None, str]


def extend(maker: Maker | None, scratch: Scratch, purse: Purse | None) -> Extending:
    """Offer, make, ask; returns the name of what the request is to be planned with anew, or nothing."""
    if maker is None or purse is None or not extend_rules.lacks(scratch) or not maker.can():
        return ""
    need = extend_rules.need(scratch)
    story = scratch.story
    if before := maker.living(need):
        story |= {"name": before, "before": True}
        return before  # whoever planned overlooked it
    item = maker.standing(need)
    if item is None:
        answer = yield _offer(need, maker.tried(need), scratch.language)
        story["offer"] = str(answer or Answer.LATER)
        if answer is not Answer.YES:
            if answer is not Answer.NO:
                scratch.notes.append(words(scratch.language)["not_made"])
            return ""
        item = yield from _make(maker, need, scratch, purse)
    if item is None:
        return ""
    return (yield from _ask(maker, item, scratch))


def _make(maker: Maker, need: Need, scratch: Scratch, purse: Purse) -> Generator[Event, Spoken | None, Item | None]:
    """Make it and put it before the owner; returns the question, or nothing if it could not be made."""
    proposal = maker.take_up(need)
    scratch.story["proposal"] = proposal.id
    try:
        made = yield from beside(lambda face: maker.draft(need, purse, face))
        proposal = maker.put(proposal, made)
    except AuditError:
        raise  # then nothing else can be recorded either
    except MetnosError as error:  # nothing was signed; why it cannot go on is the owner's to know, and no crash
        maker.drop(proposal, error.what)
        _tell_failure(scratch, error.what, error.fix)
        return None
    except BaseException:
        maker.drop(proposal, _STOPPED)
        raise
    if proposal.state is not Stand.DRAFTED:
        _tell_failure(scratch, proposal.reason)
        return None
    return maker.question(proposal)


def _ask(maker: Maker, item: Item, scratch: Scratch) -> Extending:
    """Ask whether it may live. A yes that an earlier process could not carry out is not asked for again."""
    story, who, said = scratch.story, scratch.request.principal, words(scratch.language)
    name = str(item.body.get("name", ""))
    story |= {"name": name, "item": item.id}
    typed = ""
    if item.state is Question.WAITING:
        answer = yield _question(item, scratch.language)
        typed = answer.word if isinstance(answer, Typed) else ""
        said_yes = bool(typed) and typed == item.word
        story["answer"] = str(Answer.YES if said_yes else Answer.NO if answer is Answer.NO else Answer.LATER)
        if answer is Answer.NO:
            maker.refuse(item, who)
            scratch.notes.append(said["unwanted"].format(name))
            return ""
        if not said_yes:
            story["level"] = str(who.level)
            scratch.stop(State.WAITING, item.title, item=item.id)
            return ""
    try:
        lives = maker.activate(item, who, typed)
    except AuditError:
        raise  # it may live all the same: this is no refusal
    except (LawError, ExecutorError, SandboxError) as error:
        _tell_failure(scratch, error.what, error.fix)
        return ""
    story["lives"] = True
    return lives


def progress(stage: str, again: str, model: str) -> Thinking:
    """A stage of the making as a face shows it. At the gates no model is asked."""
    what = _STAGES.get(stage, stage)
    return Thinking(f"{what}, again" if again else what, "" if stage == "gates" else model)


_STAGES = {
    "naming": "making it: its name",
    "signature": "making it: what it takes and gives",
    "tests": "making it: cases that must hold",
    "description": "making it: what it is for",
    "code": "making it: the code",
    "gates": "trying it in the sandbox",
}


def _tell_failure(scratch: Scratch, reason: str, fix: str = "") -> None:
    line = " ".join(reason.split())
    line = line if len(line) <= _REASON else f"{line[: _REASON - 1]}…"
    scratch.story["failed"] = line
    scratch.notes.append(f"{words(scratch.language)['unmade']}: {line}" + (f"\n→ {fix}" if fix else ""))


def _offer(need: Need, tried: str, language: str) -> Wanted:
    said = words(language)
    lines = [said["offer_cost"], *([f"{said['tried']}: {tried}"] if tried else [])]
    return _wanted("", "", f"{said['offer']}: {need.text}", tuple(lines), about=OFFER, language=language)


def _question(item: Item, language: str) -> Wanted:
    """The question about the files as a face shows it: what an owner decides by, then every file."""
    body = item.body
    passed = [str(each) for each in body.get("checks", ())]
    tests = sum(each.startswith(_TEST) for each in passed)
    lines = [
        *(f"{head}: {_listed(body[key])}" for key, head in _SHOWN.items() if body.get(key)),
        f"It passed: {_listed([each for each in passed if not each.startswith(_TEST)])}, and {tests} tests",
        *(f"It may never {each}." for each in body.get("never", ())),
        *(line for name, text in dict(body.get("files", {})).items() for line in (f"  @@ {name}", *text.splitlines())),
    ]
    return _wanted(
        item.id,
        str(body.get("name", "")),
        item.title,
        tuple(lines),
        about=BIRTH,
        reversal=str(body.get("effect", "")),
        why=tuple((each, "passed", "") for each in passed),
        expires=to_text(item.expires_at),
        language=language,
        word=item.word,
    )


_SHOWN = {"purpose": "What for", "why": "Why", "may": "It may", "cost": "It took"}


def _wanted(item: str, executor: str, title: str, lines: tuple[str, ...], **more: Any) -> Wanted:
    plain: dict[str, Any] = {"number": 0, "reversal": "", "why": (), "yes": 0, "needs": 1, "always": "", "expires": ""}
    return Wanted(item=item, executor=executor, title=title, lines=lines, **(plain | more))


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
