"""Whom a face speaks to: the daemon where one runs, else a workspace opened in this process.

Both give the same thing, a generator of events. Each request looks for the daemon anew, so a conversation goes on when
the daemon starts or ends meanwhile.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from metnos.api.client import connect
from metnos.app import App
from metnos.cli import Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import note
from metnos.cli.telling import Turn
from metnos.core.errors import UsageError
from metnos.law.principal import Channel
from metnos.turn.request import is_anothers

Speak = Callable[[str, bool], Turn]

_RECENT = 500  # turns to look back for the last one at a terminal


@contextlib.contextmanager
def speaker(choice: Choice, conversation: str) -> Iterator[Speak]:
    """Gives a function that takes a request, and whether to only rehearse it, and returns its turn."""
    workspace = choice.workspace()
    opened: list[App] = []

    def alone() -> App:
        if not opened:
            opened.append(open_app(choice))
        return opened[0]

    def speak(text: str, dry_run: bool) -> Turn:
        client = connect(workspace)
        if client is not None:
            return client.ask(text, cwd=Path.cwd(), conversation=conversation, dry_run=dry_run, told=note)
        turns = alone().turns
        asked = turns.request(
            text, principal=person.principal(), cwd=Path.cwd(), conversation=conversation, dry_run=dry_run
        )
        return turns.run(asked)

    if connect(workspace) is None:
        alone()  # now, so that what is wrong with the workspace is said before anybody types
    try:
        yield speak
    finally:
        for app in opened:
            app.close()


def last_conversation(choice: Choice) -> str:
    """The conversation that was spoken in last, at a terminal."""
    newest = open_app(choice).medium.newest(_RECENT)
    for glance in newest:
        if (
            glance.channel in (Channel.TERMINAL, Channel.SCRIPT)
            and glance.conversation
            and not is_anothers(glance.conversation)
        ):
            return glance.conversation
    raise UsageError("there is no conversation to go on with", fix="Begin one: leave --continue away.")
