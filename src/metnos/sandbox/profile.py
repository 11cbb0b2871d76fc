"""The bubblewrap profile: what the inside of the sandbox looks like.

Rules: a root that holds the system's libraries and one Python, all read-only, and a small private /tmp; no /proc, no
/dev, no network, no environment; process, IPC and host-name spaces of its own; it dies with its parent. As root,
bubblewrap only builds the walls and keeps just the rights to change its uid, which `inside.py` does before anything
else runs, so that nothing foreign ever runs as uid 0; as an ordinary user everything happens in a user namespace.
Pure but for looking at which system folders there are: it builds a command line and runs nothing.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from metnos.core.errors import SandboxError

INSIDE = "/metnos/inside.py"
UNPRIVILEGED = 65534
_SYSTEM_FOLDERS = ("bin", "lib", "lib32", "lib64", "libx32")
_TMP_BYTES = 16 << 20
INSTALL = "sudo apt-get install -y bubblewrap"


@dataclass(frozen=True, slots=True)
class Profile:
    """What one sandbox gets to see: read-only files by the path they have inside."""

    read_only: tuple[tuple[Path, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter that runs inside: its program and the folder it needs beyond /usr, if any."""

    program: Path
    prefix: Path | None


def this_python() -> Python:
    """The interpreter below any virtual environment, by its real path."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    prefix = Path(sys.base_prefix).resolve()
    return Python(program, None if prefix.is_relative_to("/usr") and prefix != Path("/usr/local") else prefix)


def find_bwrap(named: str) -> Path:
    """The bubblewrap program, or an error that says how to get it."""
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named)
        raise SandboxError(
            f"`sandbox.bwrap` names {named}, which is no program", fix="metnos config set sandbox.bwrap ''"
        )
    # PATH is searched by hand and only in system folders: a bwrap that a home provides could be anything.
    for folder in ("/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"):
        candidate = Path(folder) / "bwrap"
        if os.access(candidate, os.X_OK):
            return candidate
    raise SandboxError("bubblewrap is not installed, so nothing can be run safely", fix=INSTALL)


def command(bwrap: Path, profile: Profile, python: Python, *, as_root: bool) -> list[str]:
    """The command line that runs `inside.py` in the sandbox; its program and arguments may follow."""
    line = [str(bwrap), "--die-with-parent", "--new-session"]
    line += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    line += ["--cap-drop", "ALL"]
    line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if as_root else ["--unshare-user"]
    line += ["--hostname", "sandbox", "--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        path = Path("/") / name
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    binds = [(Path(__file__).with_name("inside.py"), INSIDE), *profile.read_only]
    if python.prefix is not None:
        binds.append((python.prefix, str(python.prefix)))
    if Path("/etc/ld.so.cache").exists():
        binds.append((Path("/etc/ld.so.cache"), "/etc/ld.so.cache"))
    for folder in sorted({parent for _, inside in binds for parent in Path(inside).parents[:-1]}):
        # Left to itself, bubblewrap run by root makes these for root alone, and the unprivileged uid cannot pass.
        line += ["--perms", "0755", "--dir", str(folder)]
    for outside, inside in binds:
        line += ["--ro-bind", str(outside), inside]
    line += ["--perms", "1777", "--size", str(_TMP_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp", "--remount-ro", "/"]  # noqa: S108 -- the sandbox's own
    return [*line, "--", str(python.program), "-I", "-S", INSIDE]
