"""The systemd user unit of a workspace: its name and its text. Pure.

Rules: the unit says whose it is, for which workspace, and by a digest whether it is still as it was written. It is
hardened as far as the sandbox allows: bubblewrap makes user namespaces and mounts of its own, so nothing here may
restrict namespaces, and no option that needs a mount namespace of systemd's own is used.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metnos.core.canon import sha256_hex

_MARK = "# Made by `metnos service install`; remove it with `metnos service remove`."
_FOR = "# Workspace: "
_DIGEST = "# Digest of what follows: "
_PLAIN = re.compile(r"[A-Za-z0-9_./:@+=,-]+")
_SLUG = re.compile(r"[^A-Za-z0-9]+")

_UNIT = """\
[Unit]
Description=Metnos, a self-hosted agent ({title})
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
ExecStart={command}
{environment}
WorkingDirectory=~
Restart=on-failure
RestartSec=5
# A wrong command line does not get better by trying again.
RestartPreventExitStatus=2
# It ends what it has begun first, and is killed only if it does not come to an end.
KillSignal=SIGTERM
KillMode=mixed
TimeoutStopSec=30

# What it can do without. Namespaces stay allowed: executors run in bubblewrap, which makes its own.
{privileges}UMask=0077
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
LimitCORE=0
OOMPolicy=continue
# So that the kernel holds all programs of one call together to the memory of the call.
Delegate=memory

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """One service as it is to be."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a unit file says of itself. ``workspace`` is as it can be printed."""

    ours: bool
    workspace: str = ""
    unchanged: bool = False


def command_to_serve(workspace: Path, python: str) -> list[str]:
    """The command that serves a workspace. No file of the folder it is started in takes the place of a library."""
    return [python, "-P", "-m", "metnos", "--workspace", str(workspace), "serve"]


def unit(
    workspace: Path, python: str, environment: Mapping[str, str], *, default: bool, bwrap_is_setuid: bool = False
) -> Unit:
    """The unit that serves a workspace. ``default``: the workspace is the one that the terminal uses."""
    command = " ".join(_quoted(each, command=True) for each in command_to_serve(workspace, python))
    body = _UNIT.format(
        title=_escaped(printable(str(workspace))),
        command=command,
        environment="\n".join(f"Environment={_quoted(f'{name}={value}')}" for name, value in environment.items()),
        # A bubblewrap that is setuid needs the privilege that this would take away.
        privileges="" if bwrap_is_setuid else "NoNewPrivileges=yes\n",
    )
    head = (
        f"{_MARK}\n{_FOR}{printable(str(workspace))}\n{_DIGEST}{sha256_hex(body.encode('utf-8', 'surrogateescape'))}\n"
    )
    return Unit(name_of(workspace, default=default), head + body)


def name_of(workspace: Path, *, default: bool) -> str:
    """The unit's name: one for each workspace, and a plain one for the usual one."""
    if default:
        return "metnos.service"
    digest = sha256_hex(str(workspace).encode("utf-8", "surrogateescape"))[:8]
    slug = _SLUG.sub("-", workspace.name).strip("-").lower()[:32] or "workspace"
    return f"metnos-{slug}-{digest}.service"


def read(text: str) -> Found:
    """Whose a unit file is, and whether it is as we wrote it."""
    mark, *rest = text.split("\n", 3)
    if mark != _MARK or len(rest) < 3 or not rest[0].startswith(_FOR) or not rest[1].startswith(_DIGEST):
        return Found(False)
    digest = sha256_hex(rest[2].encode("utf-8", "surrogateescape"))
    return Found(True, rest[0].removeprefix(_FOR), rest[1].removeprefix(_DIGEST) == digest)


def _quoted(word: str, *, command: bool = False) -> str:
    """A word as systemd reads it back: specifiers, and in a command variables, are no such."""
    escaped = _escaped(word)
    if command:
        escaped = escaped.replace("$", "$$")
    if _PLAIN.fullmatch(escaped):
        return escaped
    return f'"{"".join(map(_character, escaped))}"'


def _character(char: str) -> str:
    """A character inside quotes: what cannot be seen is written as its number."""
    if char in '\\"':
        return f"\\{char}"
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is no text
        return f"\\x{number - 0xDC00:02x}"
    if not char.isprintable():
        return f"\\x{number:02x}" if number < 0x80 else f"\\U{number:08x}"
    return char


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
