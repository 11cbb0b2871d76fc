"""The probe's own program: tries to reach what it must not, and says what it got.

Runs outside as a control, under ``python -I -S``, and inside as any executor does. It reports what it *reached*;
judging that is the parent's work.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any


def read_anywhere(paths: list[str], needle: str) -> list[str]:
    """Which of these files can be read and hold the needle."""
    reached = []
    for path in paths:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if needle.encode() in file.read(1 << 20):
                reached.append(path)
    return reached


def environment(needle: str) -> list[str]:
    """Where the needle shows in an environment: our own, or any process's through /proc."""
    reached = [f"variable {name}" for name, value in os.environ.items() if needle in value]
    with contextlib.suppress(OSError):
        environments = [f"/proc/{name}/environ" for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
        reached += read_anywhere(environments, needle)
    return reached


def network(port: int) -> list[str]:
    """What answers: the parent's listener on either loopback, and any interface that is not loopback."""
    reached = []
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(2)
            sock.connect((host, port))
            reached.append(f"{host}:{port}")
    return reached + [f"interface {name}" for _, name in _interfaces() if name != "lo"]


def unix_socket(path: str) -> list[str]:
    """Whether the parent's socket file, or its abstract twin, can be connected to."""
    reached = []
    for address in (path, "\0" + path):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect(address)
            reached.append("abstract socket" if address.startswith("\0") else path)
    return reached


def writing(places: list[str]) -> list[str]:
    """Where a file can be left."""
    reached = []
    for place in places:
        path = f"{place}/metnos-probe-{os.getpid()}"
        with contextlib.suppress(OSError):
            with open(path, "x", encoding="ascii"):
                reached.append(place)
            os.unlink(path)  # noqa: PTH108 -- standard library strings throughout
    return reached


def _interfaces() -> Iterator[tuple[int, str]]:
    with contextlib.suppress(OSError):
        yield from socket.if_nameindex()


def reach(asked: dict[str, Any]) -> dict[str, list[str]]:
    """Everything that was asked for, and what of it could be reached."""
    canary = asked["canary"]
    tricks = [canary, f"/proc/self/root{canary}", f"/proc/1/root{canary}", f"/tmp/../{canary}", f"//{canary}"]  # noqa: S108
    tries = {
        "file": lambda: read_anywhere(tricks, asked["secret"]),
        "environment": lambda: environment(asked["secret"]),
        "network": lambda: network(asked["port"]) + unix_socket(asked["socket"]),
        "writing": lambda: writing(["/", "/usr", "/etc", asked["folder"]]),
        "uid": lambda: [] if os.getuid() else ["uid 0"],
    }
    return {what: tries[what]() for what in asked["what"]}


def run(args: dict[str, Any], _: object) -> dict[str, Any]:
    """As an executor."""
    return {"entries": [reach(args)]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(reach(json.loads(sys.argv[1]))) + "\n")
