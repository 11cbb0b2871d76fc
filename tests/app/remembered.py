"""Workspaces that remember something, for what is done with it: made once, and copied for each test."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from copying import copy_folder
from grimoire.episodes_made import embedded
from metnos.app import App, found, remembering
from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.workspace import Workspace
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.trace import Trace
from metnos.law.principal import Autonomy, Channel, Principal
from support import START
from turn.fasting import fill
from turn.scripted import Said, Scripted, reopened
from turn.turning import Taken, take


class Embedder:
    """The same text always has the same vector, and with another model another one.

    Of so many dimensions no two texts are alike by chance: some of them name the minute in which a file was made.
    """

    def __init__(self, model: str = "small") -> None:
        self.space = Space(model, "1", "p", 256)

    def embed(self, texts: Sequence[str]) -> Any:
        return embedded([f"{self.space.model} {text}" for text in texts], self.space.dim)


ASKED = "find the PDFs"
ANSWERED = "~/papers"
LINE = 'For requests of the form "find <files>": find_files with path "~/papers".'
PROGRAM = Principal(Channel.API, "reader", Autonomy.FULL)
FRIEND = Principal(Channel.TELEGRAM, "friend", Autonomy.FULL)


def quiet(app: App, *replies: Said, **settings: str) -> tuple[App, Scripted]:
    """The workspace at the level `full`; without a model unless it is given something to say."""
    chosen = {"policy__autonomy": "full", "turn__planner": "model" if replies else "router"}
    return reopened(app, *replies, model=bool(replies), **(chosen | settings))


def answer(app: App, clock: MovableClock, times: int = 3, folder: str = ANSWERED, **more: Principal) -> list[Taken]:
    """Ask for the PDFs, be asked back where, and say where; a day apart."""
    taken = []
    for number in range(times):
        talk = f"{clock.now():%m%d}-{number}"
        assert take(app, ASKED, conversation=talk, **more).ended.state == "question"
        taken.append(take(app, folder, conversation=talk, **more))
        clock.move(timedelta(days=1))
    return taken


def taught(template: Workspace, folder: Path) -> Workspace:
    """A workspace whose owner answered the same three times, and whose curator has seen it."""
    made = Workspace(folder / "workspace")
    copy_folder(template.root, made.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        fill(folder)
        clock = MovableClock(START - timedelta(days=3))
        first = App.open(made, clock)
        app, _ = quiet(first)
        answer(app, clock)
        remembering.curate(app, now=True)
        first.close()
        app.close()
    return made


def copied(made: Workspace, blank: Workspace, clock: MovableClock, home: Path) -> Iterator[App]:
    """Such a workspace, for one test."""
    fill(home)
    copy_folder(made.root, blank.root)
    app = App.open(blank, clock)
    app.__dict__["embedder"] = None  # loading one takes longer than all the rest
    yield app
    app.close()


def same_agent(one: App, other: Workspace) -> App:
    """A fresh workspace of the very agent that ``one`` is of."""
    copy_folder(one.workspace.keys, other.keys)
    found(other, one.clock)
    return App.open(other, one.clock)


def done(app: App, text: str, **more: Principal) -> Trace:
    """A request on its own."""
    trace = take(app, text, **more).trace
    assert trace is not None
    return trace


def known(app: App, *kinds: Kind) -> list[Fact]:
    """Facts of these kinds, however they stand."""
    return app.grimoire.facts.find(kinds=kinds, standings=tuple(Standing), count=-1)


def the_folder(app: App) -> Fact:
    """The fact that says where such files are looked for."""
    (found,) = [fact for fact in known(app, Kind.PROCEDURAL) if "path" in fact.data["prefer"]["args"]]
    return found
