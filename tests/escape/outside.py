"""What is set up outside before an attack: listeners, processes with secrets, odd files in the box."""

import contextlib
import ctypes
import errno
import os
import select
import shutil
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from escape.world import PATIENCE_S, Scene, nothing
from metnos.executors.outcome import Outcome

Setup = Callable[[Scene], contextlib.AbstractContextManager[Any]]
NOBODY = 65534
LIBC = ctypes.CDLL(None, use_errno=True)


def made(make: Callable[[Scene], object]) -> Setup:
    """A set-up that needs no taking down."""

    @contextlib.contextmanager
    def setup(scene: Scene) -> Iterator[None]:
        make(scene)
        yield

    return setup


def secret_at(*names: str) -> Setup:
    """Files in the box that hold the secret."""

    def make(scene: Scene) -> None:
        for name in names:
            path = scene.box / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(scene.secret)

    return made(make)


# -- processes

_HOLDER = """
import ctypes, sys
secret = ctypes.create_string_buffer(sys.stdin.readline().strip().encode())
print(ctypes.addressof(secret), flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
"""


@contextlib.contextmanager
def process(scene: Scene) -> Iterator[None]:
    """A process of the sandbox's own uid outside, with the secret in its memory and its environment."""
    python = shutil.which("python3", path="/usr/bin") or "python3"
    who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(
        [python, "-S", "-c", _HOLDER], **who, cwd="/", text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"ESCAPE_CANARY": scene.secret},
    ) as holder:  # fmt: skip
        assert holder.stdin is not None
        assert holder.stdout is not None
        print(scene.secret, file=holder.stdin, flush=True)
        scene.kept.update(pid=holder.pid, address=int(holder.stdout.readline()), holder=holder)
        try:
            yield
        finally:
            holder.kill()


def died(scene: Scene, _: Outcome) -> str:
    """The process outside is gone, or answers no more."""
    holder = scene.kept["holder"]
    with contextlib.suppress(BrokenPipeError):
        os.write(holder.stdin.fileno(), b"there?\n")
    if not select.select([holder.stdout], [], [], PATIENCE_S)[0]:
        return "the process outside was stopped"
    return "" if holder.stdout.readline() == "there?\n" else "the process outside is gone"


# -- listeners


def listening(family: int, kind: int, address: Callable[[Scene], Any]) -> Setup:
    """Somebody who hears what is said, and answers nothing."""

    @contextlib.contextmanager
    def setup(scene: Scene) -> Iterator[None]:
        with socket.socket(family, kind) as server:
            server.bind(address(scene))
            path = address(scene)
            if family == socket.AF_UNIX and not path.startswith("\0"):
                Path(path).chmod(0o777)
            if kind == socket.SOCK_STREAM:
                server.listen()
            server.settimeout(0.05)
            scene.kept["server"] = server
            if family != socket.AF_UNIX:
                scene.kept["port"] = server.getsockname()[1]
            yield

    return setup


def contacted(scene: Scene, _: Outcome) -> str:
    server = scene.kept["server"]
    with contextlib.suppress(TimeoutError):
        if server.type == socket.SOCK_STREAM:
            taken, _peer = server.accept()
            taken.close()
            return "somebody connected"
        return f"somebody sent {server.recv(200)!r}"
    return ""


@contextlib.contextmanager
def web(scene: Scene) -> Iterator[None]:
    """A web server on two addresses of this machine that notes who asks; /to/X redirects to X."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.headers['Host'].partition(':')[0]}")
            goes = self.path.removeprefix("/to/") if self.path.startswith("/to/") else ""
            self.send_response(302 if goes else 200)
            if goes:
                self.send_header("Location", f"http://{goes}/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("0.0.0.0", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        scene.kept.update(port=server.server_address[1], asked=asked)
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def name_server(scene: Scene) -> Iterator[None]:
    """Somebody who is asked for names, and knows none."""
    asked: list[str] = []

    def answer() -> None:
        with contextlib.suppress(OSError):
            while True:
                question, peer = server.recvfrom(512)
                if not question:
                    break
                asked.append("a name")
                server.sendto(question[:2] + b"\x81\x83" + question[4:], peer)

    scene.kept["asked"] = asked
    address = ("127.0.0.1", 53)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        _bind(server, address)
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.sendto(b"", address)
            thread.join()


def _bind(server: socket.socket, address: Any) -> None:
    """Take a port that there is but one of; another test that has it is waited for."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            server.bind(address)
            return
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def asked_for(what: str) -> Callable[[Scene, Outcome], str]:
    return lambda scene, _: f"the server was asked: {scene.kept['asked']}" if what in scene.kept["asked"] else ""


# -- odd things


@contextlib.contextmanager
def shared_memory(scene: Scene) -> Iterator[None]:
    """A System V segment that everybody may read."""
    LIBC.shmat.restype = ctypes.c_void_p
    number = LIBC.shmget(0, 4096, 0o1666)
    assert number >= 0
    at = LIBC.shmat(number, None, 0)
    ctypes.memmove(at, scene.secret.encode(), 32)
    scene.kept["shm"] = number
    try:
        yield
    finally:
        LIBC.shmdt(ctypes.c_void_p(at))
        LIBC.shmctl(number, 0, None)


def handle(scene: Scene) -> None:
    """The canary's file handle, with which whoever has the right opens it past every path."""
    buffer = ctypes.create_string_buffer((128).to_bytes(4, "little") + bytes(132), 136)
    mount = ctypes.c_int()
    got = LIBC.name_to_handle_at(-100, os.fsencode(scene.canary), buffer, ctypes.byref(mount), 0)
    assert got == 0
    scene.kept["handle"] = buffer.raw.hex()


def device(scene: Scene) -> None:
    os.mknod(scene.box / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    (scene.box / "zero").chmod(0o666)


def make_pipe(scene: Scene) -> None:
    os.mkfifo(scene.box / "met")
    (scene.box / "met").chmod(0o644)


def meet(pipe: Path, over: threading.Event) -> int:
    """Wait until somebody inside has come to a named pipe and waits there; closing what this returns lets it go on."""
    deadline = time.monotonic() + PATIENCE_S
    while not over.is_set():
        assert time.monotonic() < deadline, "nobody came"
        with contextlib.suppress(OSError):
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.002)
    return -1


def meanwhile(act: Callable[[Scene], object], also: Setup = nothing, *, meeting: int = 1) -> Setup:
    """Something that happens outside while the attack waits for it at the pipe ``met`` in its box: when it comes there
    for the first time, or at a later ``meeting`` (what can take folders along is rehearsed before it runs)."""

    @contextlib.contextmanager
    def setup(scene: Scene) -> Iterator[None]:
        over = threading.Event()

        def play() -> None:
            for _ in range(1, meeting):
                line = meet(scene.box / "met", over)
                if line >= 0:
                    (scene.box / "met").unlink()  # a pipe of its own for each meeting
                    make_pipe(scene)
                    os.close(line)
            line = meet(scene.box / "met", over)
            if line >= 0:
                try:
                    act(scene)
                    happened.append(True)
                finally:
                    os.close(line)

        happened: list[bool] = []
        with also(scene):
            make_pipe(scene)
            thread = threading.Thread(target=play, daemon=True)
            thread.start()
            try:
                yield
            finally:
                over.set()
                thread.join()
            assert happened, "the attack never waited for what happens outside"

    return setup


@contextlib.contextmanager
def environment(scene: Scene) -> Iterator[None]:
    """The secret in the environment of Metnos itself."""
    os.environ["ESCAPE_CANARY"] = scene.secret
    try:
        yield
    finally:
        del os.environ["ESCAPE_CANARY"]
