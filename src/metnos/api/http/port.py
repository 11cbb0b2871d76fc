"""The port at which the page is, which stays the same.

Rules: a port that the owner set is that one or none. Otherwise the first start takes the usual one, or any that is free
where that is taken, and every later start the same again: a browser that knows the page by its address would else bring
its cookie to whoever took the port. 0, where the owner sets it, is any that is free, another one each time.
"""

import errno
import socket
from collections.abc import Callable
from pathlib import Path

from metnos.api.http.peer import account_name, listener
from metnos.core import files
from metnos.core.errors import DaemonError, SettingsError
from metnos.core.sections_outward import WebSettings

FILE = "port"  # in the folder of what belongs to the running daemon


def bind(settings: WebSettings, kept: Path | None, log: Callable[[str], None]) -> socket.socket:
    """A socket that listens. ``kept`` is where the port is remembered that was chosen here."""
    if kept is None or "port" in settings.model_fields_set:
        return _listening(settings.host, settings.port)
    remembered = _remembered(kept)
    try:
        door = _listening(settings.host, remembered or settings.port)
    except DaemonError as error:
        if remembered:
            raise
        door = _listening(settings.host, 0)
        log(f"{error.what}; from now on the page is at another port")
    if not remembered:
        files.private_folder(kept.parent)
        files.replace(kept, f"{door.getsockname()[1]}\n".encode(), mode=files.PRIVATE_FILE)
    return door


def _remembered(kept: Path) -> int:
    """The port that was chosen at the first start; 0 if there was none."""
    try:
        text = kept.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return 0
    return int(text) if text.isdecimal() and 0 < int(text) <= 65535 else 0


def _listening(host: str, port: int) -> socket.socket:
    # Named as TCP, because asyncio sends small answers at once only on sockets that say what they are (40 ms each).
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
        door.listen(256)
    except OSError as error:
        door.close()
        raise _refused(host, port, error) from error
    return door


def _refused(host: str, port: int, error: OSError) -> DaemonError | SettingsError:
    fix = f"Choose another port: metnos config set web.port {port + 1 if port < 65535 else port - 1}"
    if error.errno == errno.EADDRINUSE:
        uid = listener(host, port)
        who = "another program" if uid is None else f"a program of {account_name(uid)}"
        return DaemonError(f"port {port} is taken by {who}", fix=f"End that, or choose another one. {fix}")
    if error.errno == errno.EACCES:
        return DaemonError(f"your account may not have port {port}", fix=fix)
    return SettingsError(f"nothing can listen at {host}: {error.strerror}", fix="Change web.host.")
