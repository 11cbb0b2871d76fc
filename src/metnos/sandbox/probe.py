"""Proves the sandbox by trying to get out of it.

Rules: a canary file, a process with a canary in its environment and listening sockets are set up outside; the same
program then tries to reach them twice, outside as a control and inside through the real profile. The sandbox holds only
if the control reached everything (otherwise the probe itself is broken) and the inside reached nothing. Whatever goes
wrong, the verdict is red.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from metnos.core import files
from metnos.core.errors import SandboxError
from metnos.core.records import Check
from metnos.sandbox.profile import INSTALL, UNPRIVILEGED, Profile, command, find_bwrap, this_python

NAME = "sandbox"
_PROGRAM = "/metnos/reach.py"
_VARIABLE = "METNOS_PROBE_CANARY"
_LIMITS = {"RLIMIT_AS": 256 << 20, "RLIMIT_CPU": 5, "RLIMIT_FSIZE": 1 << 20, "RLIMIT_NOFILE": 64, "RLIMIT_CORE": 0}
# What the control must reach, or the probe proves nothing. As root it reaches the rest too.
_CONTROL = ("file", "environment", "network", "writing")
_USERNS = (
    "Allow unprivileged user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    " kernel.apparmor_restrict_unprivileged_userns=0"
)

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
    program = find_bwrap(bwrap)
    python = this_python()
    reach = Path(__file__).with_name("reach.py")
    with _canaries() as asked:
        question = json.dumps(asked)
        control = _ask([sys.executable, "-I", "-S", str(reach), question], timeout_s)
        unproven = [what for what in _CONTROL if not control[what]]
        if unproven:
            raise SandboxError(f"the probe proves nothing: outside it could not reach {', '.join(unproven)} either")
        as_root = os.getuid() == 0
        line = command(program, Profile(read_only=((reach, _PROGRAM),)), python, as_root=as_root)
        uid = str(UNPRIVILEGED) if as_root else "-"
        inside = _ask([*line, uid, json.dumps(_LIMITS), _PROGRAM, question], timeout_s)
    if inside.keys() != control.keys():
        raise SandboxError("the sandbox probe answered another question than it was asked", fix="Try again.")
    return inside


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


def _ask(line: list[str], timeout_s: float) -> Reached:
    try:
        # The environment that bubblewrap itself is started with is readable inside as /proc/1/environ: it gets none.
        done = subprocess.run(
            line, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False, cwd="/"
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"the sandbox probe did not end within {timeout_s:g} seconds", fix="Try again.") from error
    except OSError as error:
        raise SandboxError(f"the sandbox could not be started: {error.strerror}", fix=INSTALL) from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        detail = said[-1] if said else f"exit code {done.returncode}"
        fix = _USERNS if "namespace" in detail or "uid map" in detail else INSTALL
        raise SandboxError(f"the sandbox could not be started: {detail}", fix=fix)
    try:
        reached = json.loads(done.stdout)
        return {what: [str(place) for place in places] for what, places in reached.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise SandboxError("the sandbox probe gave no readable answer", fix="Try again.") from error
