"""The program in a process of its own, without the second that loading it takes: one that has loaded it makes copies.

What starts is a process like any other, with a session, files, an environment and signals of its own, and it is a child
of the process that asked for it. How long the real program takes to start, and what it loads, is tested with itself.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from metnos.law import own_pin
from metnos.law.own_code import PACKAGE
from metnos.models import embed_builtin
from support import Ran

TESTS = Path(__file__).parents[1]
PATIENCE_S = 120.0
_LONGEST = 1 << 18  # of a request
# What commands load when they run, besides our own modules; and of ours what needs a large library and few commands.
_LATER = (
    "uvicorn.protocols.http.httptools_impl", "uvicorn.lifespan.on", "prompt_toolkit", "prompt_toolkit.shortcuts",
    "cli.scripted", "cli.halting",
)  # fmt: skip
_NEVER = ("metnos.__main__", "metnos.api.mcp", "metnos.api.telegram", "metnos.models.faults", "metnos.models.wire")
_LINES: list[socket.socket] = []  # to the process that makes copies
_DOORS: list[str] = []  # where a command of a shell finds it
_ALONE = threading.Lock()
_STARTED: "list[Started]" = []  # by this test


@dataclass
class Started:
    """A process that was started, and its exit code once it ended."""

    pid: int
    code: int | None = None

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, seconds: float = PATIENCE_S) -> int:
        found = self._look(seconds)
        assert found is not None, f"process {self.pid} did not end"
        return found

    def send_signal(self, number: int) -> None:
        assert self.poll() is None
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def _look(self, seconds: float) -> int | None:
        if self.code is None:
            watched = os.pidfd_open(self.pid)
            try:
                if select.select([watched], [], [], seconds)[0]:
                    self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            finally:
                os.close(watched)
        return self.code


@contextlib.contextmanager
def loaded() -> Iterator[None]:
    """Have the program loaded as long as this lasts."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, door, tempfile.TemporaryDirectory() as folder:
        door.bind(f"{folder}/door")
        _DOORS.append(f"{folder}/door")
        door.listen()
        write_command(Path(folder))
        kept = [theirs.fileno(), door.fileno()]
        line = [sys.executable, __file__, folder, *map(str, kept)]
        places = {"PYTHONPATH": str(TESTS), "OPENBLAS_NUM_THREADS": "1"}  # a copy has no other threads
        with subprocess.Popen(
            line, pass_fds=kept, env=os.environ | places, stdin=subprocess.DEVNULL, start_new_session=True
        ) as server:
            theirs.close()
            _LINES.append(ours)
            try:
                yield
            finally:
                _LINES.remove(ours)
                _DOORS.clear()
                server.kill()


def start(
    arguments: Sequence[str],
    files: Sequence[int],
    environment: Mapping[str, str] = os.environ,
    *,
    program: str = "metnos.cli",
    on_terminal: bool = False,
) -> Started:
    """Start ``main`` of a module with these descriptors as its input, output and errors."""
    asked = {
        "arguments": list(arguments),
        "program": program,
        "environment": dict(environment),
        "folder": str(Path.cwd()),
        "on_terminal": on_terminal,
    }
    (line,) = _LINES
    with _ALONE:
        socket.send_fds(line, [json.dumps(asked).encode()], files)
        return remember(Started(int(line.recv(100))))


def await_end(pid: int) -> None:
    """Wait for the end of a process that somebody else started."""
    watched = os.pidfd_open(pid)
    try:
        assert select.select([watched], [], [], PATIENCE_S)[0], f"process {pid} did not end"
    finally:
        os.close(watched)


def remember(started: Started) -> Started:
    """Have a process ended with the test that started it."""
    _STARTED.append(started)
    return started


def end_all() -> None:
    """End whatever still runs."""
    while _STARTED:
        _STARTED.pop().kill()


def metnos(*arguments: str, stdin: str = "", **variables: str) -> Ran:
    """One command, as `support.metnos` does it."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        code = start(arguments, [given.fileno(), out.fileno(), err.fileno()], os.environ | variables).wait()
        out.seek(0)
        err.seek(0)
        return Ran(code, out.read().decode(), err.read().decode())


_COMMAND = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
    line.connect({door!r})
    asked = {{"arguments": sys.argv[1:], "program": "metnos.cli", "environment": dict(os.environ),
             "folder": os.getcwd(), "on_terminal": False}}
    socket.send_fds(line, [json.dumps(asked).encode()], [0, 1, 2])
    sys.exit(int(line.recv(100)))
"""


def write_command(folder: Path) -> None:
    """Put a `metnos` for a shell into a folder: whoever calls it gets a copy of the loaded program."""
    (door,) = _DOORS
    path = folder / "metnos"
    path.write_text(_COMMAND.format(python=sys.executable, door=door), encoding="utf-8")
    path.chmod(0o755)


# -- the process that makes copies


def _serve(line: socket.socket, door: socket.socket) -> None:
    """Make a copy for each request."""
    while True:
        ready, _, _ = select.select([line, door], [], [])
        if door in ready:
            _answer(door)
        if line in ready and not _copy(line):
            return


def _copy(line: socket.socket) -> bool:
    """Make a copy whose parent is whoever asked; whether anyone still asks."""
    asked, files, _, _ = socket.recv_fds(line, _LONGEST, 3)
    if not asked:
        return False
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        if child := os.fork():
            os.write(writing, str(child).encode())
            os._exit(0)  # so that whoever asked becomes the parent of the child
        _become(json.loads(asked), files)
    os.waitpid(between, 0)
    line.send(os.read(reading, 100))
    for descriptor in (reading, writing, *files):
        os.close(descriptor)
    return True


def _answer(door: socket.socket) -> None:
    """Make a copy for a command of a shell, which waits for its exit code."""
    caller, _ = door.accept()
    with caller:
        if between := os.fork():
            os.waitpid(between, 0)
            return
        if os.fork():
            os._exit(0)
        asked, files, _, _ = socket.recv_fds(caller, _LONGEST, 3)
        if child := os.fork():
            caller.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
            os._exit(0)
        _become(json.loads(asked), files)


def _become(asked: dict[str, Any], files: list[int]) -> NoReturn:
    """Run the program, and end as the interpreter does, but for taking apart all that is loaded."""
    os.setsid()
    for target, descriptor in enumerate(files):
        os.dup2(descriptor, target)
    os.closerange(3, 1024)
    if asked["on_terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    os.chdir(asked["folder"])
    sys.stdin = sys.__stdin__ = _stream(0, "r")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", errors="backslashreplace", line_buffering=True)  # type: ignore[misc]
    sys.argv = ["metnos", *asked["arguments"]]
    code = 1
    try:
        code = int(importlib.import_module(asked["program"]).main())
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


def _stream(descriptor: int, mode: str, **how: Any) -> io.TextIOWrapper:
    """A standard stream, as the interpreter makes it."""
    raw = io.FileIO(descriptor, mode, closefd=False)
    binary = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(binary, "utf-8", **({"line_buffering": os.isatty(descriptor)} | how))


class _Loaded(subprocess.Popen):  # type: ignore[type-arg]
    """Whoever starts the program gets a copy of it, too."""

    command = ""

    def __init__(self, line: Sequence[str], *arguments: Any, **named: Any) -> None:
        starts = list(line[:4]) == [sys.executable, "-P", "-m", "metnos"]
        super().__init__([self.command, *line[4:]] if starts else line, *arguments, **named)


def _load(folder: str) -> None:
    for each in pkgutil.walk_packages(importlib.import_module("metnos").__path__, "metnos."):
        if not each.name.startswith(_NEVER):
            importlib.import_module(each.name)
    for name in _LATER:
        importlib.import_module(name)
    embed_builtin.Builtin().embed(["something"])  # takes longer to load than all the rest
    _Loaded.command = f"{folder}/metnos"
    subprocess.Popen = _Loaded  # type: ignore[misc]
    own_pin.see(PACKAGE)  # a copy has it measured
    gc.freeze()


if __name__ == "__main__":
    _load(sys.argv[1])
    _serve(*(socket.socket(fileno=int(each)) for each in sys.argv[2:]))
