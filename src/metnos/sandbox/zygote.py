"""A zygote seen from outside: starts it in bubblewrap, feeds it our code, takes children from it.

Rules: it is started with an empty environment and one descriptor, its line; our code reaches it compiled, over that
line, so that nothing of Metnos lies inside. When the line closes, it and all its children end.
"""

import contextlib
import json
import marshal
import os
import signal
import socket
import subprocess
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO

from metnos.core.descriptors import has_input
from metnos.core.errors import SandboxError
from metnos.sandbox import profile
from metnos.sandbox.channel import Channel, Closed, take_child
from metnos.sandbox.interpreter import this_python

_MODULES = ("kernel", "walls", "context", "child", "zygote")
_PACKAGE = "metnos.sandbox.inside"
# Runs first: makes modules out of what comes over the line, until the configuration comes.
_BOOT = f"""
import _socket, marshal, sys
Module = type(sys)
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, 0)
for name in ("metnos", "metnos.sandbox", "{_PACKAGE}"):
    sys.modules[name] = Module(name)
    sys.modules[name].__path__ = []
while True:
    name, packed = marshal.loads(line.recv(1 << 20))
    if not name:
        break
    module = Module("{_PACKAGE}." + name)
    sys.modules[module.__name__] = module
    setattr(sys.modules["{_PACKAGE}"], name, module)
    exec(marshal.loads(packed), module.__dict__)
line.detach()
sys.modules["{_PACKAGE}.zygote"].main(packed)
"""
_USERNS = (
    "Allow unprivileged user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    " kernel.apparmor_restrict_unprivileged_userns=0"
)
_LINE_BYTES = 1 << 20
_PATIENCE_S = 2.0


class Zygote:
    """One running warm parent."""

    def __init__(self, bwrap: str, *, warm: bool, timeout_s: float, without: frozenset[str] = profile.NOTHING) -> None:
        as_root = os.getuid() == 0
        python = this_python()
        program = profile.find_bwrap(bwrap)
        self._lock = threading.Lock()
        self._over = False
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LINE_BYTES)
        self._line.settimeout(timeout_s)
        info_reader, info_writer = os.pipe()
        with os.fdopen(info_reader, "rb") as info:
            try:
                command = profile.command(program, python, as_root=as_root, info=info_writer, without=without)
                self._process = self._spawn([*command, _BOOT], theirs, info_writer, without)
            except BaseException:
                self._line.close()
                raise
            finally:
                theirs.close()
                os.close(info_writer)
            try:
                self.pid = _init_pid(info, timeout_s)
                self._feed(marshal.dumps(profile.config(python, as_root=as_root, warm=warm, without=without)))
            except BaseException:
                self.close()
                raise

    def fork(self) -> None:
        """Ask for one more child; `take` waits for it."""
        self._send(b"F")

    def take(self) -> Channel:
        try:
            return take_child(self._line)
        except (Closed, OSError) as error:
            raise SandboxError("the sandbox's warm parent is gone", fix="Try again.") from error

    def kill(self, number: int) -> None:
        """End one child, if it still lives."""
        with contextlib.suppress(SandboxError):
            self._send(b"K%d" % number)

    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Kill it and every child. What is left of it waits to be collected by `close`."""
        self._over = True
        self._line.close()
        if not self.pid:
            _kill_with_children(self._process)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End it and every child, and leave nothing."""
        if not self._over:  # a number that was killed once may be another's by now
            self.end()
        try:
            self._process.wait(_PATIENCE_S)  # it reaps what was killed, and ends
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    # -- starting

    def _spawn(
        self, command: list[str], line: socket.socket, info: int, without: frozenset[str]
    ) -> "subprocess.Popen[bytes]":
        self.pid = 0
        try:
            return subprocess.Popen(
                command,
                stdin=line.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[info] if "descriptors" not in without else [],
                close_fds="descriptors" not in without,
                # What bubblewrap itself is started with would be readable inside.
                env=None if "environment" in without else {},
                cwd="/",
            )
        except OSError as error:
            raise SandboxError(f"the sandbox could not be started: {error.strerror}", fix=profile.INSTALL) from error

    def _feed(self, config: bytes) -> None:
        try:
            for name, code in _compiled():
                self._line.send(marshal.dumps((name, code)))
            self._line.send(marshal.dumps(("", config)))
            answer = self._line.recv(600)
        except TimeoutError as error:
            raise SandboxError("the sandbox did not start in time", fix="Try again.") from error
        except OSError:
            answer = b""
        if answer != b"R":
            said = answer[1:].decode(errors="replace") or self._last_words()
            fix = _USERNS if "namespace" in said or "uid map" in said else profile.INSTALL
            raise SandboxError(f"the sandbox could not be started: {said}", fix=fix)

    def _last_words(self) -> str:
        self._line.close()
        if self._process.stderr is None:
            return "no reason given"
        lines = self._process.stderr.read(4000).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.wait()}"

    def _send(self, message: bytes) -> None:
        with self._lock:
            try:
                self._line.send(message)
            except OSError as error:
                raise SandboxError("the sandbox's warm parent is gone", fix="Try again.") from error


def _kill_with_children(process: "subprocess.Popen[bytes]") -> None:
    """Kill bubblewrap before it said what it started: a child that is hardly begun would outlive it and wait for ever.

    It is stopped first, so that it starts nothing more while its children are looked up.
    """
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(child), signal.SIGKILL)
    process.kill()


def _init_pid(info: IO[bytes], timeout_s: float) -> int:
    """The process whose end is the end of everything inside; 0 if bubblewrap ended before it said so."""
    said = b""
    deadline = time.monotonic() + timeout_s
    while not said.rstrip().endswith(b"}"):
        if not has_input(info.fileno(), deadline - time.monotonic()):
            raise SandboxError("the sandbox did not start in time", fix="Try again.")
        part = os.read(info.fileno(), 4096)
        said += part
        if not part:
            break
    if not said:
        return 0
    try:
        return int(json.loads(said)["child-pid"])
    except (ValueError, KeyError, TypeError) as error:
        raise SandboxError("bubblewrap did not say what it started", fix=profile.INSTALL) from error


@cache
def _compiled() -> tuple[tuple[str, bytes], ...]:
    """Our own code that runs inside, ready to be sent."""
    folder = Path(__file__).with_name("inside")
    return tuple(
        (name, marshal.dumps(compile((folder / f"{name}.py").read_bytes(), f"<inside/{name}>", "exec")))
        for name in _MODULES
    )
