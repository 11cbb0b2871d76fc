"""Proves the sandbox by trying to get out of it.

Rules: a canary file, a process with a canary in its environment and listening sockets are set up outside; the same
program then tries to reach them twice, outside as a control and inside through the real profile. The sandbox holds only
if the control reached everything (otherwise the probe itself is broken) and the inside reached nothing. Whatever goes
wrong, the verdict is red.
"""

import contextlib
import json
import marshal
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metnos.core import files
from metnos.core.errors import SandboxError
from metnos.core.records import Check
from metnos.sandbox.pool import Job, Pool
from metnos.sandbox.profile import INSTALL, Walls

NAME = "sandbox"
_VARIABLE = "METNOS_PROBE_CANARY"
# What the control must reach, or the probe proves nothing. As root it reaches the rest too.
_CONTROL = ("file", "environment", "network", "writing")
_QUIET = ("file", "environment", "writing", "uid")
_CONTEXT = {"dry_run": True, "limit": 1, "workspace": "", "utc_offset_s": 0, "now": 0.0}

Reached = dict[str, list[str]]


def check(bwrap: str, timeout_s: float) -> Check:
    """One line for the doctor: does the sandbox hold?"""
    try:
        inside = probe(bwrap, timeout_s)
    except SandboxError as error:
        return Check.red(NAME, error.what, error.fix or INSTALL)
    except OSError as error:
        return Check.red(
            NAME, f"the probe could not be set up: {error.strerror or error}", "Check TMPDIR and the disk."
        )
    escaped = [f"{what}: {', '.join(where)}" for what, where in inside.items() if where]
    if escaped:
        return Check.red(
            NAME, f"the sandbox does not hold ({'; '.join(escaped)})", "Update bubblewrap, then try again."
        )
    return Check.green(
        NAME,
        "a program inside could not reach a canary file, the environment or the network, nor write outside its /tmp;"
        " the same program outside could",
    )


def probe(bwrap: str, timeout_s: float) -> Reached:
    """What a program inside the sandbox could reach that it must not. Raises if nothing can be said."""
    source = Path(__file__).with_name("reach.py")
    code = marshal.dumps(compile(source.read_bytes(), "executor.py", "exec"))
    pool = Pool(bwrap, warm=0, timeout_s=timeout_s)
    with contextlib.closing(pool), _canaries() as asked:
        control = _ask([sys.executable, "-I", "-S", str(source)], {**asked, "what": [*_QUIET, "network"]}, timeout_s)
        unproven = [what for what in _CONTROL if not control[what]]
        if unproven:
            raise SandboxError(f"the probe proves nothing: outside it could not reach {', '.join(unproven)} either")
        inside = _inside(pool, code, {**asked, "what": list(_QUIET)}, timeout_s)
        # On its own and last: a kernel without the filter's answers may end whoever asks for a socket.
        return inside | _inside(pool, code, {**asked, "what": ["network"]}, timeout_s)


def _inside(pool: Pool, code: bytes, asked: dict[str, Any], timeout_s: float) -> Reached:
    """What the same program reaches in the sandbox that executors run in."""
    ended = pool.run(Job(code, asked, _CONTEXT, Walls(wall_s=timeout_s)), _refuse)
    if ended.hostile:
        return {what: [] for what in asked["what"]}
    try:
        (reached,) = (ended.message or {})["reply"]["entries"]
        if set(reached) != set(asked["what"]):
            raise SandboxError("the sandbox probe answered another question than it was asked", fix="Try again.")
        return {what: [str(place) for place in places] for what, places in reached.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SandboxError(f"the sandbox probe gave no readable answer: {ended}", fix="Try again.") from error


def _refuse(message: dict[str, Any], _: int | None) -> Any:
    return {"failed": True, "kind": "not_permitted", "message": str(message.get("op"))}


@contextlib.contextmanager
def _canaries() -> Iterator[dict[str, str | int]]:
    """Things outside that must stay out of reach."""
    secret = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="metnos-probe-") as folder, contextlib.ExitStack() as stack:
        canary = Path(folder) / "canary"
        files.replace(canary, secret.encode(), mode=0o644)
        Path(folder).chmod(0o755)  # only the walls may keep it out of reach, not its mode
        address = str(Path(folder) / "socket")
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for name in (address, "\0" + address):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            unix.bind(name)
            unix.listen()
        stack.enter_context(_process_with_secret(secret))
        yield {
            "canary": str(canary),
            "secret": secret,  # so that the probe knows it when it sees it
            "port": listener.getsockname()[1],
            "socket": address,
            "folder": folder,
        }


@contextlib.contextmanager
def _process_with_secret(secret: str) -> Iterator[None]:
    """Another process whose environment holds the secret, for as long as this lasts."""
    waiting = [sys.executable, "-I", "-S", "-c", "import os, sys; os.close(1); sys.stdin.read()"]
    with subprocess.Popen(waiting, env={_VARIABLE: secret}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdout is not None:
            process.stdout.read()  # it closes its output once it runs
        try:
            yield
        finally:
            process.kill()


def _ask(line: list[str], asked: dict[str, Any], timeout_s: float) -> Reached:
    try:
        done = subprocess.run(
            [*line, json.dumps(asked)],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=True,
            cwd="/",
        )
        reached = json.loads(done.stdout)
        return {what: [str(place) for place in places] for what, places in reached.items()}
    except (subprocess.SubprocessError, OSError, ValueError, AttributeError, TypeError) as error:
        raise SandboxError(f"the sandbox probe could not be run outside: {error}", fix="Try again.") from error
