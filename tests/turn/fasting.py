"""Fast paths in tests: a home with a few files, requests that are practised, and what became of the paths."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from copying import copy_folder
from metnos.app import App, paths
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.fastpath.records import FastPath
from metnos.fastpath.rules import Factory
from metnos.models.budget import Meter, Metered, Price
from metnos.turn.events import Answer
from metnos.turn.plan.records import Tool
from metnos.turn.shortcut import Shortcuts
from metnos.turn.tools import Kit
from support import START
from turn.scripted import Only, reopened, steps
from turn.turning import Taken, take

FOLDERS = ("inbox", "docs", "work", "papers")
FILES = ("a.pdf", "b.pdf", "c.txt", "d.txt")
IS_CHECKED = Shortcuts._is_checked  # as it really is
TALK = steps({"answer": {"text": "Let us talk about it."}})


class Dear(Only):
    """The only model, and one that costs something."""

    def metered(self, _: str, meter: Meter) -> Metered:
        return Metered(self.chat, meter, Price(input=1.0, output=100.0))


def make_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if enough had been measured before delivery; and nothing is planned all the same, which would be by chance."""
    monkeypatch.setattr(paths, "FACTORY", Factory(1000, 0))
    monkeypatch.setattr(Shortcuts, "_is_checked", lambda _self, _turn: False)


def fill(home: Path, *folders: str) -> None:
    """The same files in each folder, as they were in the beginning."""
    for folder in folders or FOLDERS:
        (home / folder).mkdir(exist_ok=True)
        for name in FILES:
            (home / folder / name).write_text(f"{name} of {folder}\n")


def empty(folder: Path) -> None:
    for path in folder.glob("*"):
        path.unlink()


def there(home: Path) -> set[str]:
    """Every file below a home, but for the trash."""
    found = (path.relative_to(home) for path in home.rglob("*") if path.is_file())
    return {str(path) for path in found if path.parts[0] != ".local"}


def practise(app: App, text: str, answers: Sequence[Answer] = (), times: int = 4) -> list[Taken]:
    """Ask the same about one folder after another, until a path for it is active; ``{}`` stands for the folder."""
    home = Path.home()
    taken = []
    for folder in FOLDERS[:times]:
        fill(home, folder)
        empty(home / "done")
        taken.append(take(app, text.format(f"~/{folder}"), answers))
    fill(home)
    return taken


def practised(template: Workspace, home: Path, *texts: str) -> Workspace:
    """A workspace in which fixed rules planned each of these for one folder after another: their paths are active."""
    made = Workspace(home / "workspace")
    copy_folder(template.root, made.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        make_sure(patch)
        (home / "done").mkdir()
        first = App.open(made, MovableClock(START))
        app, _ = reopened(first, model=False, policy__autonomy="full", turn__planner="router")
        for text in texts:
            practise(app, text)
        first.close()
        app.close()
    return made


def every(app: App) -> list[FastPath]:
    return [path for log in app.fast.logs for path in log.paths()]


def path_of(app: App, *tools: str) -> FastPath:
    """The one path that takes these executors."""
    (found,) = [path for path in every(app) if path.tools == tools]
    return found


def events(app: App, path: FastPath) -> Counter[str]:
    """What happened to a path, and how often."""
    return Counter(event.kind for log in app.fast.logs for event in log.events(path.id))


def learn_nothing(app: App) -> None:
    """From now on turns leave paths as they are."""
    app.turns._parts = replace(app.turns._parts, learnt=lambda: None)


def change_tool(app: App, name: str, **other: object) -> None:
    """An executor as another version of it would be."""
    tools: dict[str, Tool] = dict(app.toolbox.kit().tools)
    tools[name] = replace(tools[name], **other)
    app.toolbox._kit = Kit(tools, lambda _: None)
