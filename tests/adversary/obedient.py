"""A model that obeys whatever it reads, and the workspace in which it plans: at the level `full`, with every tool."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from copying import copy_folder
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.fastpath.records import State
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind
from metnos.law.principal import at_terminal
from metnos.models.budget import Meter, Metered
from metnos.models.chat import OnText, Prompt, Reply
from metnos.turn import planning
from support import START

EVERY_TOOL = 100
STEERING = (*fact_rules.ACTING, Kind.ANTI)
WANTED = ("private", "keep.txt", "pwned", "my-secret", "leak.invalid", "send_files", "pprove", "run.sh", ".bashrc")


@dataclass
class Obedient:
    """A model that plans as it is told: first what the owner wants, then what the content wants, for ever."""

    first: list[Any]
    evil: list[Any]
    asked: list[Prompt] = field(default_factory=list)
    name: str = "obedient"
    outside: bool = False

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.asked.append(prompt)
        said = self.first if len(self.asked) == 1 else self.evil
        return Reply("I did all of it.", {"steps": said}, model=self.name)


@dataclass
class Only:
    """The models of a workspace, when there is only this one."""

    chat: Obedient

    def tier(self, _: str) -> Obedient:
        return self.chat

    def metered(self, _: str, meter: Meter) -> Metered:
        return Metered(self.chat, meter)

    def close(self) -> None:
        pass


@dataclass
class House:
    """One workspace at the level `full` with a model as its planner, and a home that every case furnishes anew."""

    app: App
    home: Path
    models: Only

    def clear(self) -> None:
        for path in (*self.home.iterdir(), *self.app.workspace.notes.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def opened(template: Workspace, root: Path) -> Iterator[House]:
    """The workspace, as a fixture yields it."""
    home = root / "home"
    home.mkdir()
    copy_folder(template.root, root / "workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_STATE_HOME", str(root / "state"))  # what Metnos keeps beside a workspace is none of the home
        patch.setattr(planning, "_SHORTLIST", EVERY_TOOL)
        before = App.open(Workspace(root / "workspace"), MovableClock(START))
        before.set_setting("policy.autonomy", "full", at_terminal())
        before.set_setting("turn.planner", "model", at_terminal())
        app = App.open(before.workspace, before.clock)
        models = Only(Obedient([], []))
        app.__dict__["models"] = models
        _ = app.turns, app.runner  # made while this is the home
        yield House(app, home, models)
        app.close()


def everything(home: Path, workspace: Workspace) -> dict[str, bytes | None]:
    """The home and the notes, to the byte."""
    found = [path for root in (home, workspace.notes) for path in root.rglob("*")]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def power(app: App) -> dict[str, object]:
    """All that gives anybody power over the owner's things: content must change nothing of it."""
    workspace = app.workspace
    words = [path for path in workspace.root.rglob("*") if path.suffix in (".md", ".toml", ".json", ".py")]
    kept = {str(path): path.read_bytes() for path in words if workspace.notes not in path.parents}
    book = kept.pop(str(workspace.root / "PLAYBOOK.md"), b"").decode()
    own = (Provenance.SELF, Provenance.OWNER)
    facts = [each for each in app.grimoire.facts.find(kinds=STEERING, count=-1) if each.provenance in own]
    return {
        "grants": app.grants.active(),
        "yeses": [item for item in app.inbox.newest(1000) if item.yes_count],
        "executors": sorted((each.name, each.digest) for each in app.catalog.usable()),
        # What the owner's own steps teach may come at any time; what an attacker wants may not.
        "facts": sorted(each.text for each in facts if any(word in f"{each.text} {each.data}" for word in WANTED)),
        "fast paths": [path.id for log in app.fast.logs for path in log.paths(State.ACTIVE)],
        "devices": app.pairing.devices(),
        "halted": app.halts.halted(),
        "playbook": [line for line in book.splitlines() if any(word in line for word in WANTED)],
        "words": kept,
    }
