"""Taking turns in tests: run one to its end, with the owner's answers given beforehand."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from metnos.app import App
from metnos.grimoire.trace import Trace
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.turn.events import Answer, Answered, Event, Planned, Spoken, Typed, Wanted
from metnos.turn.loop import Turn

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


@dataclass
class Taken:
    """A turn that was taken: everything it told, what it asked, and its trace."""

    events: list[Event] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)
    trace: Trace | None = None

    @property
    def ended(self) -> Answered:
        last = self.events[-1]
        assert isinstance(last, Answered)
        return last


def take(
    app: App,
    text: str,
    answers: Sequence[Answer | None] = (),
    *,
    cwd: Path | None = None,
    conversation: str = "",
    dry_run: bool = False,
    principal: Principal = OWNER,
    gone: Path | None = None,
) -> Taken:
    """Ask for something and follow it to the end. Whatever is asked beyond ``answers`` is left for later.

    ``gone`` is what somebody else removes when it is planned and not yet done.
    """
    request = app.turns.request(
        text, principal=principal, cwd=cwd or Path.home(), conversation=conversation, dry_run=dry_run
    )
    return follow(app, app.turns.run(request), answers, gone)


def spoken(wanted: Wanted, answer: Answer | None) -> Spoken | None:
    """The answer as a person gives it, who types the name where a plain yes is not enough."""
    return Typed(wanted.word) if wanted.word and answer is Answer.YES else answer


def follow(app: App, turn: Turn, answers: Sequence[Answer | None] = (), gone: Path | None = None) -> Taken:
    taken, waiting = Taken(), list(answers)
    sent: Spoken | None = None
    while True:
        try:
            event = turn.send(sent)
        except StopIteration:
            break
        sent = None
        taken.events.append(event)
        if isinstance(event, Planned) and gone is not None and gone.exists():
            shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        if isinstance(event, Wanted):
            taken.wanted.append(event)
            sent = spoken(event, waiting.pop(0)) if waiting else None
    taken.trace = app.medium.load(taken.ended.turn)
    return taken
