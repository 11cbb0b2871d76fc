"""Attacks on other processes by signal, on siblings, and on what Metnos itself holds: environment, memory, /proc."""

import contextlib
import marshal
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from escape import outside, weaken
from escape.world import PATIENCE_S, Attack, Scene, said
from metnos.executors.outcome import Outcome
from metnos.sandbox.pool import Broker, Job
from metnos.sandbox.profile import Walls

FAMILY = "processes"
KILL = """
def run(args, ctx):
    return say(*tried(lambda: os.kill(@pid@, 9), lambda: call(234, @pid@, @pid@, 9)))
"""
# The control signals one process and not all: all would be everybody's on this machine.
KILL_ALL = """
def run(args, ctx):
    return say(*tried(lambda: os.kill(-1, 9), lambda: os.kill(0, 15), lambda: call(62, -1, 19)))
"""
KILL_PARENT = """
def run(args, ctx):
    return say(os.getppid(), *tried(lambda: os.kill(os.getppid() or 1, 9), lambda: os.kill(1, 9)))
"""
PIDFD_KILL = """
def run(args, ctx):
    zygote = ctx._talk._socket.getsockopt(1, 77)
    return say(call(424, zygote, 9, None, 0))
"""
ENVIRONMENT = """
def run(args, ctx):
    block = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found, at = [], 0
    while block and block[at]:
        found.append(block[at])
        at += 1
    return say(dict(os.environ), found, *tried(lambda: slurp("/proc/self/environ"), lambda: slurp("/proc/1/environ")))
"""
PROC = """
def run(args, ctx):
    return say(*tried(lambda: slurp("/proc/@pid@/environ"), lambda: slurp("/proc/@pid@/cmdline"),
                      lambda: os.listdir("/proc")))
"""
SYS = """
def run(args, ctx):
    return say(*tried(lambda: "kernel " + slurp("/sys/kernel/notes").hex()[:8], lambda: os.listdir("/sys/class/net")))
"""
SHARED = """
def run(args, ctx):
    _libc.shmat.restype = ctypes.c_void_p
    at = call(30, @shm@, 0, 0o10000)
    return say(ctypes.string_at(at, 32) if at > 0 else at)
"""
SIBLING_TMP = """
def run(args, ctx):
    found = []
    for folder, _, names in os.walk("/tmp"):
        found += tried(*[lambda name=name: slurp(os.path.join(folder, name)) for name in names])
    return say(*found)
"""
DIG = """
import gc

def run(args, ctx):
    gc.unfreeze()
    wanted = "@secret@"[:16]
    found = []
    for each in gc.get_objects():
        if isinstance(each, dict):
            found += [str(value) for value in each.values() if isinstance(value, (str, bytes, list)) and
                      wanted in str(value)[:4000]]
        elif isinstance(each, (list, tuple)):
            found += [str(value) for value in each if isinstance(value, (str, bytes)) and wanted in str(value)[:4000]]
    return say(*[word for word in found if "def run" not in word][:5])
"""


@contextlib.contextmanager
def sibling(scene: Scene) -> Iterator[None]:
    """Another call of the same runner, which writes its own secret and lasts as long as the attack."""
    source = (
        "def run(args, ctx):\n    with open('/tmp/secret', 'w') as file:\n        file.write('@secret@')\n"
        "    open('@box@/met').read()\n    return say(1)"
    )
    os.mkfifo(scene.box / "met")
    (scene.box / "met").chmod(0o644)
    name = scene.world.sign(Attack("sibling", FAMILY, "", source, capabilities='fs.read = ["@box@/**"]'), scene)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(scene.world.call, scene.world.runner, name)
        line = outside.meet(scene.box / "met", threading.Event())
        try:
            yield
        finally:
            os.close(line)
        assert running.result().ok, "the sibling suffered"


def _innocent(scene: Scene, body: str, broker: Broker) -> None:
    """A call in the pool that was attacked."""
    code = marshal.dumps(
        compile(f"def run(args, ctx):\n    {body}\n    return {{'entries': []}}", "executor.py", "exec")
    )
    context = {"dry_run": False, "limit": 10, "workspace": "", "utc_offset_s": 0, "now": 0.0}
    scene.pool.run(Job(code, {}, context, Walls(wall_s=PATIENCE_S)), broker)


def _parent_died(scene: Scene, _: Outcome) -> str:
    """The warm parent of the pool that was attacked makes no more children. A cold call's own ends with it."""
    zygote = scene.pool._zygote
    for _ in range(2 if zygote is not None else 0):  # one child may have been made before
        _innocent(scene, "pass", lambda *_: None)
    return "" if scene.pool._zygote is zygote else "the warm parent died"


def _lives_on(scene: Scene, _: Outcome) -> str:
    """While another call runs, which was begun when this one was over, there are more children than that call's."""
    zygote, left = scene.pool._zygote, [0]
    if zygote is None:
        return ""

    def count(*_: object) -> dict[str, object]:
        deadline = time.monotonic() + (0 if scene.is_control else PATIENCE_S)
        while (seen := len(_descendants(zygote.pid))) > 1 and time.monotonic() < deadline:
            time.sleep(0.002)
        left[0] = seen - 1
        return {"value": 0}

    _innocent(scene, "ctx.trash('/x')", count)
    return f"{left[0]} children are left" if left[0] else ""


def _descendants(init: int) -> list[str]:
    """The children of bubblewrap's first process: the zygote's."""

    def children(pid: str) -> list[str]:
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return []

    direct = children(str(init))
    return [each for one in direct for each in children(one)] or direct


OUTLIVE = """
def run(args, ctx):
    os._exit = lambda code: time.sleep(600)
    return say("bye")
"""

ATTACKS = (
    # Namespace of its own, and Landlock's scope for signals.
    Attack("kill", FAMILY, "no process outside can be signalled", KILL, setup=outside.process, escaped=outside.died,
           without="pid, landlock"),
    Attack("kill all", FAMILY, "all that it can signal is itself", KILL_ALL, setup=outside.process,
           escaped=outside.died, without="pid, landlock",
           control={"os.kill(-1, 9)": "os.kill(@pid@, 9)", "os.kill(0, 15)": "0", "call(62, -1, 19)": "0"}),
    # Namespace, uid and Landlock.
    Attack("kill the parent", FAMILY, "the warm parent lives on", KILL_PARENT, escaped=_parent_died,
           without="pid, landlock, uid", warm_control=True, control={", lambda: os.kill(1, 9)": ""}),
    # The kernel hands out a descriptor for the zygote; using it needs a call, root's uid, and Landlock to agree.
    Attack("kill by descriptor", FAMILY, "the warm parent lives on", PIDFD_KILL, escaped=_parent_died,
           without="pid, landlock, uid", weaken=weaken.no_filter, warm_control=True),
    Attack("outlive the call", FAMILY, "a child is ended when its call is over", OUTLIVE, escaped=_lives_on,
           weaken=weaken.lets_live, warm_control=True),
    # Bubblewrap is started with nothing, and the child forgets what it has.
    Attack("environment", FAMILY, "nothing of the environment comes along", ENVIRONMENT,
           setup=outside.environment, without="environment"),
    # Out of sight, and Landlock's rule that nobody looks into processes outside.
    Attack("/proc", FAMILY, "no process outside can be looked at", PROC, setup=outside.process, without="landlock",
           weaken=weaken.show("/proc"), only_root="control"),
    Attack("/sys", FAMILY, "the kernel's tree is not there", SYS, escaped=said("kernel "), weaken=weaken.show("/sys")),
    # Namespace and filter.
    Attack("shared memory", FAMILY, "memory that others share is not there", SHARED, setup=outside.shared_memory,
           without="ipc", weaken=weaken.no_filter),
    Attack("sibling's files", FAMILY, "another call's /tmp is another", SIBLING_TMP, setup=sibling,
           weaken=weaken.show_sibling),
    Attack("memory", FAMILY, "the interpreter holds nothing of Metnos or of other calls", DIG, setup=sibling,
           weaken=weaken.planted),
)  # fmt: skip
