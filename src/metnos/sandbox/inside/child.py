"""One call inside the walls: waits for its job, confines itself, runs the executor, answers, ends.

The channel to the outside is a stream of frames: a length of four bytes, then JSON from here, marshalled values from
outside. What is said here is never believed outside, only judged.
"""

from __future__ import annotations

import _json
import _socket
import marshal
import os
import struct
import sys
import time

from metnos.sandbox.inside import context, walls

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing it would double the time of a cold start
    from typing import Any

CHANNEL = 3
_MOST_LOG = 16_000
_MOST_TRIPS = 16
_NOTHING = marshal.dumps(compile("def run(args, ctx):\n    return {}\n", "executor.py", "exec"))
_AGENTS_OWN = (".audit", ".law", ".keys", ".mnestome")  # folders of a workspace, wherever that is


def _no_data(value: object) -> None:
    raise TypeError(f"a {type(value).__name__} is not plain data")


# The encoder below the json module, which takes as long to import as the interpreter takes to start.
_ENCODE = _json.make_encoder(None, _no_data, _json.encode_basestring_ascii, None, ":", ",", False, False, False)


class Channel:
    """The one way out: questions to the broker, and the reply."""

    def __init__(self, descriptor: int) -> None:
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, descriptor)

    def say(self, message: dict[str, Any], descriptor: int | None = None) -> None:
        body = "".join(_ENCODE(message, 0)).encode()
        frame = struct.pack("!I", len(body)) + body
        if descriptor is not None:
            rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", descriptor))
            sent = self._socket.sendmsg([frame], [rights])
            frame = frame[sent:]
        view = memoryview(frame)
        while view:
            view = view[self._socket.send(view) :]

    def hear(self) -> Any:
        (length,) = struct.unpack("!I", self._read(4))
        return marshal.loads(self._read(length))

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = self._socket.recv(min(length, 1 << 20))
            if not part:
                os._exit(0)  # nobody listens any more
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


class Log:
    """What an executor prints: kept for its author, up to a limit, and never read by a program."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += str(text)[: _MOST_LOG - len(self.text)]
        return len(text)

    def flush(self) -> None:
        """Nothing waits to be written."""


def serve(channel: int, config: dict[str, Any], owners: int | None) -> None:
    """The whole life of a child, from its fork to its end."""
    talk = Channel(_keep(channel, config))
    try:
        rules = walls.prepare(config)
        _touch()
        job = talk.hear()
        walls.confine(config, job["walls"], owners, rules)
        if owners is not None:
            os.close(owners)
        if config["clear_environment"]:
            os.environ.clear()
    except BaseException as error:
        talk.say({"op": "unsafe", "message": f"{type(error).__name__}: {error}"[:500]})
        os._exit(1)
    talk.say({"op": "begun"})
    _perform(talk, job)
    os._exit(0)


def _touch() -> None:
    """Go through the motions once, while nobody waits: the first use of a page that was forked costs a copy of it."""
    nothing = Nowhere()
    facts = {"dry_run": False, "limit": 0, "workspace": "", "utc_offset_s": 0, "now": 0.0}
    job = {"python": "/", "libraries": [], "seen": ["/"], "context": facts, "args": {}, "code": _NOTHING}
    _perform(nothing, job, rehearsal=True)


class Nowhere:
    """A channel that leads nowhere."""

    def say(self, message: dict[str, Any], _: int | None = None) -> None:
        "".join(_ENCODE(message, 0)).encode()

    def hear(self) -> Any:
        return {}


def _keep(channel: int, config: dict[str, Any]) -> int:
    """Close every descriptor but the channel and the zygote's id map; the standard three lead nowhere."""
    os.dup2(channel, CHANNEL, inheritable=False)
    if config["close_descriptors"]:
        os.closerange(config["last_descriptor"] + 1, 1 << 20)
    nowhere = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
    return CHANNEL


def _perform(talk: Channel | Nowhere, job: dict[str, Any], *, rehearsal: bool = False) -> None:
    log = Log()
    sys.stdout = sys.stderr = log
    sys.path[:] = [path for path in sys.path if path.startswith(job["python"])] + job["libraries"]
    if not rehearsal:
        _set_tripwire(talk, tuple(job["seen"]), tuple(job["shown"]))
    ctx = context.Context(talk, job["context"])
    try:
        namespace: dict[str, Any] = {"__name__": "executor", "__builtins__": __builtins__}
        exec(marshal.loads(job["code"]), namespace)  # noqa: S102 -- the one place where foreign code runs
        reply = namespace["run"](job["args"], ctx)
        message = {"op": "result", "reply": reply, "log": log.text, "cpu_ms": _cpu_ms()}
    except context.Failure as error:
        message = {"op": "failed", "kind": error.kind, "message": error.message[:2000], "log": log.text}
    except MemoryError:
        message = _crash("MemoryError", "it needs more memory than it may use")
    except BaseException as error:
        message = _crash(type(error).__name__, str(error)) | {"where": _where(error), "log": log.text}
    try:
        talk.say(message)
    except (TypeError, ValueError, RecursionError) as error:
        talk.say(_crash(type(error).__name__, f"the reply is not plain data: {error}"))


def _crash(error: str, message: str) -> dict[str, Any]:
    return {"op": "crashed", "error": error, "message": message[:2000], "where": []}


def _where(error: BaseException) -> list[str]:
    """The lines of the executor's own code that led there."""
    lines = []
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "executor.py":
            lines.append(f"line {step.tb_lineno} in {step.tb_frame.f_code.co_name}")
        step = step.tb_next
    return lines[-8:]


def _cpu_ms() -> float:
    return round(time.process_time() * 1000, 3)


def _set_tripwire(talk: Channel | Nowhere, seen: tuple[str, ...], shown: tuple[str, ...]) -> None:
    """Tell the outside when the code reaches for what is not there for it. The walls hold without this.

    ``seen`` is what every executor has, ``shown`` what this call may read.
    """
    told: set[str] = set()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
            arguments = ("/network",)
        elif event not in ("open", "os.listdir", "os.scandir", "os.chdir"):
            return
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or len(told) >= _MOST_TRIPS:
            return
        full = os.path.normpath(os.path.join("/tmp", path))
        if full in told or _is_ordinary(full, event, seen, shown):
            return
        told.add(full)
        talk.say({"op": "reached", "path": full[:1000]})

    sys.addaudithook(watch)


def _is_ordinary(path: str, event: str, seen: tuple[str, ...], shown: tuple[str, ...]) -> bool:
    folders = path.split("/")[:-1]
    if f"{path}/".startswith(shown):
        # Whoever walks through a folder meets the agent's own ones, finds them empty and goes on. Only who knows what
        # lies in there can open it.
        return event != "open" or not any(name in folders for name in _AGENTS_OWN)
    if any(name in path.split("/") for name in _AGENTS_OWN):
        return False
    return path == "/" or f"{path}/".startswith(seen)
