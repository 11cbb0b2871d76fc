"""Who serves a workspace: a lock that the kernel holds, and the socket beside it.

Rules: one process at a time; the lock goes with the process, however it ends, so there is no stale one. The folder is
closed to others, and so is the socket. A path too long for a socket's address is gone through the folder's descriptor.
"""

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from metnos.core import files
from metnos.core.errors import DaemonError
from metnos.core.workspace import Workspace

LOCK = "serve.lock"
SOCKET = "metnos.sock"
_LONGEST_ADDRESS = 107  # bytes: what the kernel takes, less the zero at the end
_WAITING = 64  # clients that may knock at once


class Lock:
    """Held as long as this process serves."""

    def __init__(self, workspace: Workspace) -> None:
        self._path = workspace.run / LOCK
        _open_folder(workspace.run)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(self._path, flags, files.PRIVATE_FILE)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            said = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise _taken(workspace, said) from error
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def still_ours(self) -> bool:
        """Whether the workspace is still where it was: it may have been restored or removed under us."""
        try:
            now = self._path.stat(follow_symlinks=False)
        except OSError:
            return False
        held = os.fstat(self._descriptor)
        return (now.st_dev, now.st_ino) == (held.st_dev, held.st_ino)

    def release(self) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def listen(workspace: Workspace) -> socket.socket:
    """The socket that clients find. Only for whoever holds the lock: a socket that lies there is a dead one's."""
    (workspace.run / SOCKET).unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _address(workspace.run) as address:
            server.bind(address)
        (workspace.run / SOCKET).chmod(files.PRIVATE_FILE)
        server.listen(_WAITING)
    except BaseException:
        server.close()
        raise
    return server


def dial(workspace: Workspace, patience_s: float) -> socket.socket | None:
    """A connection to whoever serves the workspace; nothing if nobody does."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(patience_s)
    try:
        with _address(workspace.run) as address:
            client.connect(address)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        client.close()
        return None
    except BlockingIOError as error:  # more knock than may wait
        client.close()
        raise DaemonError("the daemon has too many clients", fix="Try again in a moment.") from error
    except OSError as error:
        client.close()
        raise DaemonError(
            f"the daemon cannot be reached: {error.strerror or error}", fix="metnos serve --status"
        ) from error
    return client


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    path = folder / SOCKET
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield str(path)
        return
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)


def _open_folder(folder: Path) -> None:
    files.private_folder(folder)
    status = folder.stat(follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise DaemonError(f"{folder} is not a folder of this account's own", fix="Move it away.")
    folder.chmod(files.PRIVATE_FOLDER)


def _taken(workspace: Workspace, pid: str) -> DaemonError:
    who = f"process {pid}" if pid.isdigit() else "another process"
    return DaemonError(
        f"{who} serves the workspace {workspace.root} already",
        fix="It is one for each workspace. To end that one: metnos serve --stop",
    )
