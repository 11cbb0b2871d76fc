"""Run by `test_zygote`, as an ordinary user and as root: the pool at work, and a representative set of attacks on it.

Standard library and the sandbox alone, so that the system's own Python can run it. Prints one line of JSON: what each
attack got, with all walls and without the ones that it is about (``whole``), and on kernels that have less of Landlock,
or none (``older``).
"""

import contextlib
import json
import marshal
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metnos.sandbox import probe, seccomp, zygote
from metnos.sandbox.interpreter import this_python
from metnos.sandbox.pool import Job, Pool
from metnos.sandbox.profile import Walls

CONTEXT = {"dry_run": False, "limit": 10, "workspace": "", "utc_offset_s": 0, "now": 0.0}
PRELUDE = """
import ctypes, os, signal, socket, struct, time
def call(number, *words):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    got = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *words)
    return got if got >= 0 else -ctypes.get_errno()
def slurp(path):
    with open(path) as file:
        return file.read()
def leave():
    # a file in any folder but /tmp, made writable first if that can be done
    for at, folders, _ in os.walk("/"):
        folders[:] = [name for name in folders if at != "/" or name != "tmp"][: 0 if at.count("/") > 4 else None]
        for way in (lambda: os.chmod(at, 0o777), lambda: open(at + "/leak", "w").close()):
            try:
                way()
            except OSError:
                pass
        if os.path.exists(at + "/leak"):
            return "name=" + at
def hog(waits):
    reader, writer = os.pipe()
    for _ in range(4):
        if os.fork() == 0:
            mine = bytearray(40 << 20)
            os.write(writer, b"x")
            signal.pause()
    had = 0
    while had < 4:
        had += len(os.read(reader, 9))
    if waits:
        signal.pause()
    return "had all"
def run(args, ctx):
    return {"entries": [str(attack(args))]}
"""
# name: (what it does, what of its answer means success, the walls without which it succeeds)
ATTACKS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "file": ("slurp(args['canary'])", "SECRET", ("show",)),
    # The zygote's own root has no /tmp for a child to start in.
    "host": ("slurp('/host' + args['canary'])", "SECRET", ("no control",)),
    "masked": ("slurp(args['box'] + '/.ssh/key')", "SECRET", ("masks",)),
    "change": ("open(args['box'] + '/new', 'w')", "name=", ("read-only", "landlock")),
    "truncate": ("os.truncate(args['box'] + '/seen', 0)", "None", ("read-only", "landlock")),
    "environment": ("dict(os.environ)", "SECRET", ("environment",)),
    "network": ("socket.create_connection(('127.0.0.1', args['port']))", "fd=", ("net", "landlock", "filter")),
    "abstract": ("(lambda s: s.connect_ex('\\0' + args['name']))(socket.socket(socket.AF_UNIX))", "0",
                 ("net", "landlock", "filter")),
    # From another user namespace nobody outside can be traced, whatever walls are missing.
    "ptrace": ("call(101, 0x4206, args['pid'], 0, 0)", "0", ("no control",)),
    "kill": ("os.kill(args['pid'], 0)", "None", ("pid", "landlock")),
    "unshare": ("call(272, 0x10000000)", "0", ("call unshare",)),
    "mount": ("call(165, b't', b'/tmp', b'tmpfs', 0, 0)", "0", ("call mount", "rights", "landlock")),
    "fork": ("os.fork() or os._exit(0)", "", ("call fork",)),
    "program": ("os.execv('/usr/bin/true', ['true'])", "GONE", ("hiding", "landlock", "call execve")),
    "memory": ("len(__import__('mmap').mmap(-1, 1 << 30))", "1073741824", ("limit RLIMIT_AS",)),
    "root": ("open('/leak', 'w')", "name=", ("read-only", "landlock")),
    "anywhere": ("leave()", "name=", ("read-only", "landlock")),
    "forked memory": ("hog(args['waits'])", "had all", ("limit memory",)),
    "lease": ("call(72, os.open('/tmp', os.O_RDONLY), 1 << 32 | 1026, 1)", "0", ("call fcntl",)),
    "peer": ("socket.socket(fileno=os.dup(3)).getsockopt(1, 77)", "", ("call getsockopt",)),
    "other packages": ("os.listdir('/usr/local')", "[", ("hiding",)),
}  # fmt: skip

# What Landlock would stop too.
SECOND_OPINION = {name for name, (_, _, missing) in ATTACKS.items() if "landlock" in missing}
SECOND_OPINION |= {"file", "host", "masked", "ptrace"}


@contextlib.contextmanager
def weakened(missing: tuple[str, ...]) -> Iterator[None]:
    """Without the filter, if that is among what is missing."""
    real = seccomp.base, seccomp.seal
    if "filter" in missing:
        seccomp.base = seccomp.seal = lambda *_, **__: b""  # type: ignore[assignment]
    yield
    seccomp.base, seccomp.seal = real


def attempt(name: str, known: dict[str, Any], missing: tuple[str, ...], warm: Pool | None) -> str:
    """What an attack got, in a child of the warm pool or else in a sandbox of its own."""
    body, wins, _ = ATTACKS[name]
    code = marshal.dumps(compile(f"{PRELUDE}\ndef attack(args):\n    return {body}\n", "executor.py", "exec"))
    box = known["box"]
    walls = Walls(
        binds=(box, str(Path(known["canary"]).parent)) if "show" in missing else (box,),
        masks=() if "masks" in missing else (f"{box}/.ssh",),
        wall_s=60.0,
        ram_mb=128 if name == "forked memory" else 256,
        programs=(str(this_python().program),) if name == "forked memory" else (),
    )
    job = Job(code, {**known, "waits": not missing}, CONTEXT, walls)
    if warm is not None:
        ended = warm.run(job, lambda *_: {"value": 0})
    else:
        with weakened(missing), contextlib.closing(Pool(warm=0, without=frozenset(missing))) as pool:
            ended = pool.run(job, lambda *_: {"value": 0})
    if ended.message is None:
        return "GONE" if wins == "GONE" and not ended.hostile else f"ended by {ended.signal}"
    if "reply" not in ended.message:
        return f"no: {ended.message['error']}"
    said = str(ended.message["reply"]["entries"][0]).replace(known["secret"], "SECRET")
    won = (wins in said) if wins in ("SECRET", "name=", "fd=", "[") else (said == wins or (not wins and said.isdigit()))
    return "won" if won else f"no: {said[:80]}"


def main() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, contextlib.ExitStack() as stack:
        root = Path(folder)
        box, out = root / "box", root / "outside"
        (box / ".ssh").mkdir(parents=True)
        out.mkdir()
        secret = "canary-of-an-ordinary-user"
        for path in (out / "canary", box / ".ssh" / "key", box / "seen"):
            path.write_text(secret)
        os.environ["ESCAPE_CANARY"] = secret
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0escape-{os.getpid()}")
        abstract.listen()
        stack.enter_context(probe._process_with_secret(secret))
        known = {
            "canary": str(out / "canary"), "box": str(box), "secret": secret, "port": listener.getsockname()[1],
            "name": f"escape-{os.getpid()}", "pid": _child(),
        }  # fmt: skip
        asked = {"whole": whole, "older": older}
        print(json.dumps({"uid": os.getuid(), **{name: asked[name](known) for name in sys.argv[1:]}}))  # noqa: T201


def whole(known: dict[str, Any]) -> dict[str, Any]:
    """Each attack warm, cold, and without the walls that it is about."""
    got = {}
    with contextlib.closing(Pool(warm=1)) as pool:
        for name, (_, _, missing) in ATTACKS.items():
            got[name] = [attempt(name, known, (), warm) for warm in (pool, None)]
            if "no control" not in missing:
                got[name].append(attempt(name, known, missing, None))
    return {"probe": probe.probe("", 30), "got": got}


def older(known: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Each attack where Landlock is switched off, and on kernels with older versions of it or none."""
    got, real = {}, zygote._compiled()
    text = Path(zygote.__file__).with_name("inside").joinpath("kernel.py").read_text()
    asks = "return _call(_LANDLOCK_CREATE, None, 0, ask_version)"
    assert asks in text
    for version in (None, 0, 1, 3, 4):
        code = marshal.dumps(compile(text.replace(asks, f"return {version}"), "<inside/kernel>", "exec"))
        changed = tuple((name, packed if version is None or name != "kernel" else code) for name, packed in real)
        zygote._compiled = lambda changed=changed: changed  # type: ignore[assignment]
        off = frozenset({"landlock"}) if version is None else frozenset[str]()
        with contextlib.closing(Pool(warm=1, without=off)) as pool:
            got[f"version {version}"] = {name: attempt(name, known, (), pool) for name in sorted(SECOND_OPINION)}
    zygote._compiled = lambda: real  # type: ignore[assignment]
    return got


def _child() -> int:
    return int(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[0])


if __name__ == "__main__":
    sys.exit(main())
