"""What follows from an attack (Law 3): the attacker is revoked for good, who reaches too far is quarantined, and who
merely fails is neither. The audit says so."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from escape.world import Attack, World, open_world
from metnos.core.errors import NotTrusted
from metnos.executors.outcome import Breach, Outcome
from metnos.executors.run import RAN
from metnos.executors.state import State
from signing import sign

BOX = 'fs.read = ["@box@/**"]'


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with open_world() as world:
        yield world


def run(world: World, body: str, *, cold: bool = False, **more: str) -> Outcome:
    source = f"def run(args, ctx):\n    {body}"
    attack = Attack("x", "law 3", "", source, **more)  # type: ignore[arg-type]
    return world.attempt(attack, cold=cold)[1]


def kinds(world: World, name: str) -> list[str]:
    """The audit's lines about one executor, the oldest first, intents left out."""
    lines = [
        line
        for line in world.app.audit.newest()
        if name in (line.entry.names.get("executor"), line.entry.names.get("name"))
        and line.entry.names.get("phase") != "intent"
    ]
    return [f"{line.kind}, {line.entry.names.get('phase', '')}".rstrip(", ") for line in lines[::-1]]


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("call(101, 0, 0, 0, 0)", id="ptrace"),
        pytest.param("call(425, 1, None)", id="io_uring"),
        pytest.param("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", id="a packet socket"),
        pytest.param("call(165, b'x', b'/tmp', b'tmpfs', 0, 0)", id="mount"),
        pytest.param("return say(*tried(lambda: slurp('@workspace@/.keys/agent.key')))", id="the keys"),
        pytest.param("return say(*tried(lambda: os.listdir('@workspace@/.audit')))", id="the audit"),
        pytest.param("return say(*tried(lambda: slurp('@workspace@/.law/law.db')))", id="the law"),
        pytest.param("return say(*tried(lambda: slurp('/proc/self/root/etc/passwd')))", id="the way out"),
    ],
)
def test_an_attack_is_revoked_for_good(world: World, body: str, cold: bool) -> None:
    outcome = run(world, body, cold=cold)
    name = outcome.executor
    assert outcome.breach is Breach.REVOKE
    assert not outcome.ok
    assert not outcome.reply
    assert world.app.catalog.look(name).state is State.REVOKED
    assert kinds(world, name)[-2:] == [f"{RAN}, failed", "executor revoked, done"]
    with pytest.raises(NotTrusted, match="revoked"):
        world.call(world.runner, name)
    with pytest.raises(NotTrusted):
        sign(world.app, name, "again")
    with pytest.raises(NotTrusted):
        sign(world.app, _under_another_name(world, name), "again")


def _under_another_name(world: World, name: str) -> str:
    """The same code, in a folder and with a manifest of another name."""
    other = next(world._names)
    old, new = (world.workspace.executors / each for each in (name, other))
    new.mkdir()
    for file in ("executor.py", "tests.toml"):
        shutil.copy(old / file, new / file)
    text = (old / "manifest.toml").read_text()
    (new / "manifest.toml").write_text(text.replace(f'name = "{name}"', f'name = "{other}"'))
    return other


@pytest.mark.parametrize(
    ("body", "more"),
    [
        pytest.param("slurp('/home/x')", {}, id="a path"),
        pytest.param(
            "return say(*tried(lambda: os.listdir('@outside@')))", {"capabilities": BOX}, id="a folder beside"
        ),
        pytest.param("ctx.http('GET', 'http://127.0.0.1/')", {}, id="the network"),
        pytest.param("ctx.call('read_files', {})", {}, id="an executor"),
        pytest.param("ctx.chat('x')", {}, id="the model"),
        pytest.param("ctx.system('processes')", {}, id="the machine"),
        pytest.param("ctx.write('@box@/new', 'x')", {"capabilities": BOX}, id="a change, of a producer"),
        pytest.param(
            "ctx.write('@outside@/new', 'x')",
            {"capabilities": 'fs.write = ["@box@/**"]', "reversal": "remove_created"},
            id="a change elsewhere",
        ),
        pytest.param(
            "ctx.trash('@box@/seen.txt')",
            {"capabilities": 'fs.write = ["@box@/**"]', "reversal": "remove_created"},
            id="a change of another kind",
        ),
        pytest.param("ctx._ask('sudo', {})", {}, id="an unknown question"),
    ],
)
def test_what_was_not_declared_is_quarantine(world: World, body: str, more: dict[str, str]) -> None:
    outcome = run(world, body, **more)
    name = outcome.executor
    assert (outcome.breach, outcome.ok, outcome.kind) == (Breach.QUARANTINE, False, "not_permitted")
    assert world.app.catalog.look(name).state is State.QUARANTINE
    assert kinds(world, name)[-2:] == [f"{RAN}, failed", "executor quarantined, done"]
    with pytest.raises(NotTrusted, match="quarantine"):
        world.call(world.runner, name)
    sign(world.app, name, "looked at it, and it is right")  # unlike the revoked, it can come back
    assert world.app.catalog.look(name).state is State.ACTIVE


@pytest.mark.parametrize(
    ("body", "more"),
    [
        pytest.param("ctx.fail('not_found', 'no')", {}, id="a failure"),
        pytest.param("raise ValueError", {}, id="a crash"),
        pytest.param("slurp('@box@/missing')", {"capabilities": BOX}, id="a missing file"),
        pytest.param("return say(*tried(lambda: slurp('/proc/cpuinfo'), lambda: os.listdir('/sys')))", {}, id="a look"),
        pytest.param("return say(*tried(lambda: os.listdir('/'), lambda: os.listdir('/tmp')))", {}, id="its own root"),
        pytest.param("return say(*tried(lambda: slurp('/etc/localtime'), lambda: os.fork()))", {}, id="a fork"),
        pytest.param(
            "return say(*tried(lambda: socket.socket(socket.AF_UNIX), lambda: socket.socket()))", {}, id="sockets"
        ),
        pytest.param(
            "return say(*tried(lambda: ctx.write('@box@/.bashrc', 'x')))",
            {"capabilities": 'fs.write = ["@box@/**"]', "reversal": "remove_created"},
            id="a change that a law forbids",
        ),
        pytest.param("return {KEY: [1]}", {}, id="a wrong reply"),
        pytest.param("time.sleep(600)", {"quotas": "wall_s = 0.3"}, id="too long"),
    ],
)
def test_an_honest_failure_is_neither(world: World, body: str, more: dict[str, str]) -> None:
    outcome = run(world, body, **more)
    assert outcome.breach is Breach.NONE
    assert world.app.catalog.look(outcome.executor).state is State.ACTIVE
    assert kinds(world, outcome.executor)[-1] == f"{RAN}, {'done' if outcome.ok else 'failed'}"


def test_what_was_revoked_stays_so_when_the_index_is_attacked() -> None:
    """An executor that may write the whole workspace cannot make it forget what was revoked."""
    with open_world() as world:
        name = run(world, "call(101, 0, 0, 0, 0)").executor
        before = world.workspace.mnest_db.read_bytes()[:100]
        body = "return say(*tried(lambda: ctx.write('@workspace@/.mnestome/mnest.sqlite', 'x', overwrite=True)))"
        run(world, body, capabilities='fs.write = ["@around@/**"]', reversal="restore_content")
        assert world.workspace.mnest_db.read_bytes()[:100] == before
        assert world.app.catalog.look(name).state is State.REVOKED


def test_the_attackers_folder_stays_as_evidence(world: World) -> None:
    outcome = run(world, "call(101, 0, 0, 0, 0)")
    assert Path(world.workspace.executors / outcome.executor / "executor.py").exists()
