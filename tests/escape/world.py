"""The world around an attack: a real workspace with its App, a box that the executor may see, and canaries that it may
not. An attack is data; `World.run` signs its code into the catalog and makes the call through the one door."""

import contextlib
import itertools
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from metnos import app
from metnos.core.workspace import Workspace
from metnos.executors import vocabulary
from metnos.executors.outcome import Outcome
from metnos.executors.run import Call, Runner
from metnos.executors.state import State
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.sandbox import process
from metnos.sandbox.pool import Ended, Pool
from signing import sign

ME = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
PATIENCE_S = 120
SETTINGS = """\
[executors]
births = 10000
active = 10000
strikes = 100
warm = 1
wall_s = 60
cpu_s = 30
[policy]
autonomy = "full"
[audit]
checkpoint_every = 10000
"""
# What every attack finds ready: kernel calls by number, and a reply of whatever it wants to say.
PRELUDE = """\
import ctypes
import json
import os
import socket
import struct
import sys
import time

_libc = ctypes.CDLL(None, use_errno=True)


def call(number, *words):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    _libc.syscall.restype = ctypes.c_long
    got = _libc.syscall(ctypes.c_long(number), *words)
    return got if got >= 0 else -ctypes.get_errno()


def say(*words):
    return {KEY: [{"said": str(word)} for word in words]}


def tried(*ways):
    got = []
    for way in ways:
        try:
            got.append(way())
        except Exception as error:
            got.append(repr(error))
    return got


def slurp(path):
    with open(path, "rb") as file:
        return file.read(1 << 16)


def frame(message, length=None):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!I", len(body) if length is None else length) + body


"""
MANIFEST = """\
name = "{name}"
version = "1.0.0"
purpose = "Attack."
kind = "{kind}"
reversal = "{reversal}"
{top}
[args]
{args}
[output]
type = "object"
[output.properties.said]
type = "string"
[capabilities]
{capabilities}
[quotas]
{quotas}
[[examples]]
say = "attack"
args = {{}}
"""


@dataclass
class Scene:
    """The surroundings of one run: fresh folders, a fresh secret, and what the set-up left for the judgement."""

    root: Path
    workspace: Path
    secret: str
    pool: Pool
    inherited: Path
    world: "World"
    is_control: bool = False
    kept: dict[str, Any] = field(default_factory=dict)

    def inherit(self) -> None:
        """Put the secret where a descriptor that Metnos holds open leads."""
        self.inherited.write_text(self.secret)

    @property
    def box(self) -> Path:
        """Bound into the sandbox when the capabilities say so."""
        return self.root / "box"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    @property
    def canary(self) -> Path:
        return self.outside / "canary"

    def facts(self) -> dict[str, str]:
        """What the code is told, so that no attack fails for want of knowledge."""
        known = {"box": self.box, "outside": self.outside, "canary": self.canary, "secret": self.secret}
        return {
            key: str(value)
            for key, value in {
                **known,
                "workspace": self.workspace,
                "around": self.workspace.parent,
                **self.kept,
            }.items()
            if isinstance(value, str | int | Path)
        }


def came_out(scene: Scene, outcome: Outcome) -> str:
    """Everything that left the sandbox, also what was thrown away after a breach: the walls are judged alone."""
    last = [ended.message for ended in scene.kept.get("ended", ())]
    return json.dumps([dict(outcome.reply), outcome.log, outcome.message, last])


def leaked(scene: Scene, outcome: Outcome) -> str:
    """The judgement of most attacks: the canary's content is in what came out."""
    came = came_out(scene, outcome)
    return f"the secret came out: {came[:300]}" if scene.secret in came else ""


def changed(scene: Scene, _: Outcome) -> str:
    """The canary is not what it was."""
    there = scene.canary.read_text() if scene.canary.exists() else "nothing"
    return "" if there == scene.secret else f"the canary became {there[:80]!r}"


def appeared(name: str) -> Callable[[Scene, Outcome], str]:
    def judge(scene: Scene, _: Outcome) -> str:
        return f"{name} was made outside" if os.path.lexists(scene.root / name) else ""

    return judge


def said(word: str) -> Callable[[Scene, Outcome], str]:
    """For what has no effect outside but an answer that only a success gives."""

    def judge(scene: Scene, outcome: Outcome) -> str:
        came = came_out(scene, outcome)
        return f"it got {word}: {came[:300]}" if word in came else ""

    return judge


@contextlib.contextmanager
def nothing(_: Scene) -> Iterator[None]:
    yield


@dataclass(frozen=True)
class Attack:
    """One attack. ``without`` and ``weaken`` are what the control run lacks; there the same code must succeed."""

    name: str
    family: str
    holds: str
    source: str
    escaped: Callable[[Scene, Outcome], str] = leaked
    without: str = ""  # names of walls, separated by commas
    weaken: Callable[[pytest.MonkeyPatch, Scene], object] | None = None
    setup: Callable[[Scene], contextlib.AbstractContextManager[Any]] = nothing
    capabilities: str = ""
    quotas: str = ""
    args: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    top: str = ""
    reversal: str = "nothing"
    control: Mapping[str, str] = field(default_factory=dict)  # words of the source that differ in the control
    warm_control: bool = False
    no_control: str = ""  # why none can be made
    only_root: Literal["", "control", "scene"] = ""  # what an ordinary user could not make: no control, or no attack

    def walls(self) -> frozenset[str]:
        return frozenset(word.strip() for word in self.without.split(",") if word.strip())


class World:
    """One workspace, and a runner for each set of missing walls."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = Workspace(root / "agent")
        app.found(self.workspace)
        self.workspace.settings.write_text(SETTINGS)
        self.app = app.App.open(self.workspace)
        used = set(self.app.catalog.names())
        words = vocabulary.load()
        names = ("_".join(parts) for parts in itertools.product(words.verbs, words.objects, words.qualifiers))
        self._names = (name for name in names if name not in used)
        # What a careless library would leave behind in the Metnos process, from before the first sandbox on.
        (root / "held").mkdir()
        self._held = os.open(root / "held", os.O_RDONLY)
        os.set_inheritable(self._held, True)
        self.runner = self.app.runner
        self._numbers = itertools.count()

    def close(self) -> None:
        self.app.close()
        os.close(self._held)

    @contextlib.contextmanager
    def weak(self, attack: Attack, scene: Scene) -> Iterator[Runner]:
        """The same runner over a pool that lacks some walls."""
        pool = Pool(warm=1 if attack.warm_control else 0, without=attack.walls())
        scene.pool = pool
        try:
            yield Runner(replace(self.runner._parts, pool=pool))
        finally:
            pool.close()

    def scene(self) -> Scene:
        """Fresh surroundings, passable for all: only the walls may keep the canary out of reach."""
        root = self.root / f"scene-{next(self._numbers)}"
        pool = self.runner._parts.pool
        scene = Scene(root, self.workspace.root, secrets.token_hex(16), pool, self.root / "held" / "canary", self)
        for folder in (root, scene.box, scene.outside):
            folder.mkdir()
            folder.chmod(0o755)
        scene.canary.write_text(scene.secret)
        scene.canary.chmod(0o644)
        (scene.box / "seen.txt").write_text("seen")
        return scene

    def sign(self, attack: Attack, scene: Scene, *, cold: bool = False, control: bool = False, name: str = "") -> str:
        """Put the attack into the catalog under a name of its own; returns the name."""
        name = name or next(self._names)
        kind = "producer" if attack.reversal == "nothing" else "mutator"
        facts = scene.facts()
        source = f"KEY = {'entries' if kind == 'producer' else 'results'!r}\n{PRELUDE}\n{attack.source}\n"
        if control:
            for word, other in attack.control.items():
                assert word in source
                source = source.replace(word, other)
        # Revoked code is refused for good, so each run's code differs.
        source = fill(source, facts) + f"\n# {name}\n"
        manifest = MANIFEST.format(
            name=name, kind=kind, reversal=attack.reversal, top=attack.top, args=attack.args,
            capabilities=attack.capabilities, quotas=attack.quotas,
        )  # fmt: skip
        folder = self.workspace.executors / name
        folder.mkdir()
        (folder / "manifest.toml").write_text(fill(manifest, facts))
        (folder / "executor.py").write_text(source)
        (folder / "tests.toml").write_text('[[test]]\nname = "none"\nargs = {}\nexpect = {}\n')
        sign(self.app, name, "attack", state=State.SEED if cold else State.ACTIVE)
        return name

    def call(self, runner: Runner, name: str, given: Mapping[str, Any] | None = None) -> Outcome:
        """Make a call in a thread of its own, so that one that never ends fails alone."""
        with ThreadPoolExecutor(1) as threads:
            made = threads.submit(runner.run, Call(name, given or {}, ME, Path("/")))
            try:
                return made.result(PATIENCE_S)
            except FutureTimeout:
                for running in self.app.halts.running.all():  # the sandboxes of this workspace: its thread comes free
                    process.end(running.pid, running.started)
                made.exception()
                raise AssertionError(f"the call did not end within {PATIENCE_S} seconds") from None

    def attempt(self, attack: Attack, *, cold: bool) -> tuple[Scene, Outcome, str]:
        """The attack against everything we have."""
        scene = self.scene()
        with attack.setup(scene), watching(scene):
            name = self.sign(attack, scene, cold=cold)
            outcome = self.call(self.runner, name, _given(attack, scene))
            return scene, outcome, attack.escaped(scene, outcome)

    def control(self, attack: Attack) -> tuple[Outcome, str]:
        """The attack where the defence that it is about is missing."""
        scene = self.scene()
        scene.is_control = True
        with (
            pytest.MonkeyPatch.context() as patch,
            attack.setup(scene),
            self.weak(attack, scene) as runner,
            watching(scene),
        ):
            if attack.weaken is not None:
                attack.weaken(patch, scene)
            name = self.sign(attack, scene, control=True)
            outcome = self.call(runner, name, _given(attack, scene))
            return outcome, attack.escaped(scene, outcome)


@contextlib.contextmanager
def watching(scene: Scene) -> Iterator[None]:
    """Keep how each call in the pool ended."""
    real, seen = Pool.run, scene.kept.setdefault("ended", [])

    def run(self: Pool, *args: Any, **more: Any) -> Ended:
        ended = real(self, *args, **more)
        seen.append(ended)
        return ended

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "run", run)
        yield


def fill(text: str, facts: Mapping[str, str]) -> str:
    for key, value in facts.items():
        text = text.replace(f"@{key}@", value)
    return text


def _given(attack: Attack, scene: Scene) -> dict[str, Any]:
    facts = scene.facts()
    return {key: fill(value, facts) if isinstance(value, str) else value for key, value in attack.given.items()}


@contextlib.contextmanager
def open_world() -> Iterator[World]:
    """A world in a folder of its own, with a home of its own."""
    root = Path(tempfile.mkdtemp(prefix="metnos-escape-", dir="/var/tmp"))  # not /tmp, of which it has its own
    root.chmod(0o755)
    (root / "home").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("METNOS_", "XDG_")):
                patch.delenv(name)
        patch.setenv("HOME", str(root / "home"))
        world = World(root)
        try:
            yield world
        finally:
            world.close()
            shutil.rmtree(root)
