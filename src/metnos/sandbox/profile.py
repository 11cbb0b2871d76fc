"""What the inside of the sandbox looks like: bubblewrap's walls around the zygote, and the walls around one call.

Rules: a call sees the system's libraries and one Python, all read-only, a small private /tmp and what it may read, at
the same paths as outside; no /proc, no device but /dev/null, no network, no environment, no program; process, IPC,
host-name and mount spaces of its own. As root, nothing foreign ever runs as uid 0: files of root are shown through an
id-mapped mount to an unprivileged uid; as an ordinary user everything happens in a user namespace. Pure but for looking
at which system folders there are: it builds a command line and values, and runs nothing.
"""

import math
import os
import resource
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from metnos.core.errors import SandboxError
from metnos.sandbox import seccomp
from metnos.sandbox.inside import kernel

UNPRIVILEGED = 65534
LIBRARIES = "/metnos/site"
KIT = "/metnos/kit"  # our own library for executors lies in it, under the name they import
INSTALL = "sudo apt-get install -y bubblewrap"
_HOST = "/host"
_SYSTEM_FOLDERS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime")
# Where programs lie. An executor sees none of them but those that its manifest names.
_PROGRAM_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/usr/libexec")
_TMP_BYTES = 64 << 20
_PROCESSES = 64
# A pool can be built without some of its walls. Nothing but the escape suite does, to show what each wall is for.
NOTHING: frozenset[str] = frozenset()

# Ready-made in a warm parent, so that no call pays for importing them.
PRELOAD = (
    "base64", "bisect", "calendar", "collections", "csv", "datetime", "decimal", "difflib", "fnmatch", "functools",
    "gzip", "hashlib", "heapq", "html", "html.parser", "io", "itertools", "json", "math", "mimetypes", "operator",
    "pathlib", "random", "re", "shutil", "sqlite3", "stat", "statistics", "string", "struct", "tarfile", "tempfile",
    "textwrap", "time", "tomllib", "unicodedata", "urllib.parse", "xml.etree.ElementTree", "zipfile", "zlib",
    "zoneinfo",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter that runs inside: its program and the folder it needs beyond /usr, if any."""

    program: Path
    prefix: Path | None


@dataclass(frozen=True, slots=True)
class Walls:
    """What one call gets to see and to use. Paths are canonical."""

    binds: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # there, and empty: the places where something may be put
    masks: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    cpu_s: float = 5.0
    ram_mb: int = 256
    wall_s: float = 30.0
    output_bytes: int = 8 << 20

    def as_job(self, without: frozenset[str]) -> dict[str, Any]:
        return {
            "binds": sorted(set(self.binds)),  # a folder comes before what is in it
            "folders": list(self.folders),
            "masks": list(self.masks),
            "programs": list(self.programs),
            "limits": {
                getattr(resource, name): value
                for name, value in self._limits().items()
                if f"limit {name}" not in without
            },
            "filter": seccomp.seal(programs=bool(self.programs), allowing=_calls(without)),
        }

    def _limits(self) -> dict[str, int]:
        return {
            "RLIMIT_AS": self.ram_mb << 20,
            "RLIMIT_CPU": math.ceil(self.cpu_s) + 1,  # the kernel counts by ticks, and ends some a second early
            "RLIMIT_FSIZE": _TMP_BYTES,
            "RLIMIT_NOFILE": 64,
            "RLIMIT_NPROC": _PROCESSES,
            "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
        }


@cache
def this_python() -> Python:
    """The interpreter below any virtual environment, by its real path."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    prefix = Path(sys.base_prefix).resolve()
    return Python(program, None if prefix.is_relative_to("/usr") else prefix)


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


def command(bwrap: Path, python: Python, *, as_root: bool, info: int, without: frozenset[str] = NOTHING) -> list[str]:
    """The command line that starts a zygote; the code it is to boot with may follow."""
    spaces = [f"--unshare-{space}" for space in ("ipc", "pid", "net", "uts", "cgroup-try") if space not in without]
    line = [str(bwrap), *spaces, "--new-session", "--info-fd", str(info), "--cap-drop", "ALL"]
    # As root the zygote drops the uid of each child and ends it, and reaches folders to bind that it does not own.
    rights = ["SYS_ADMIN", *(("SETUID", "SETGID", "DAC_READ_SEARCH", "KILL") if as_root else ())]
    for right in rights:
        line += ["--cap-add", f"CAP_{right}"]
    line += [] if as_root else ["--unshare-user"]
    line += ["--ro-bind" if "read-only" not in without else "--bind", "/", _HOST]
    if as_root:
        line += ["--bind", "/proc", f"{_HOST}/proc"]  # to write the id map of its mounts
    line += ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        path = Path("/") / name
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    binds = [(path, path) for path in _SYSTEM_FILES if Path(path).exists()]
    if python.prefix is not None:
        binds.append((str(python.prefix), str(python.prefix)))
    site = Path(sysconfig.get_path("purelib"))
    binds += [(str(site), LIBRARIES)] if site.is_dir() else []
    binds.append((str(Path(__file__).with_name("kit")), f"{KIT}/metnos_kit"))
    for outside, inside in binds:
        line += ["--ro-bind", outside, inside]
    if (site / "metnos").is_dir():
        line += ["--tmpfs", f"{LIBRARIES}/metnos"]  # none of its business
    line += ["--dir", LIBRARIES, "--dev-bind", "/dev/null", "/dev/null", "--dir", "/new", "--chdir", "/"]
    return [*line, "--", str(python.program), "-I", "-S", "-B", "-c"]


def config(python: Python, *, as_root: bool, warm: bool, without: frozenset[str] = NOTHING) -> dict[str, Any]:
    """What a zygote needs to know to build the walls around a child."""
    roots = [Path("/") / name for name in _SYSTEM_FOLDERS]
    system = ["/usr", *(str(path) for path in roots if path.is_dir() and not path.is_symlink())]
    system += [path for path in _SYSTEM_FILES if Path(path).exists()]
    hidden = list(_PROGRAM_FOLDERS)
    if python.prefix is not None:
        system.append(str(python.prefix))
        hidden.append(str(python.prefix / "bin"))
    read_only = 0 if "read-only" in without else kernel.READ_ONLY
    spaces = {"ipc": kernel.NEW_IPC, "pid": kernel.NEW_PIDS}
    return {
        "uid": UNPRIVILEGED if as_root and "uid" not in without else None,
        "map_owners": as_root and "uid" not in without,
        "system": [*system, LIBRARIES, f"{KIT}/metnos_kit"],
        "links": [[str(path), str(path.readlink())] for path in roots if path.is_symlink()],
        "hidden": [] if "hiding" in without else hidden,
        "preload": list(PRELOAD) if warm else [],
        "tmp_bytes": _TMP_BYTES if "tmp" not in without else _TMP_BYTES << 4,
        "namespaces": kernel.NEW_MOUNTS | sum(flag for space, flag in spaces.items() if space not in without),
        "data_flags": read_only | kernel.NO_SETUID | kernel.NO_DEVICES | kernel.NO_PROGRAMS,
        "root_flags": read_only | kernel.NO_SETUID | kernel.NO_DEVICES,
        "new_root": "root" not in without,
        "drop_rights": "rights" not in without,
        "leave_keyring": "keyring" not in without,
        "landlock": "landlock" not in without,
        "filter": seccomp.base(_calls(without)),
        "clear_environment": "environment" not in without,
        "close_descriptors": "descriptors" not in without,
    }


def _calls(without: frozenset[str]) -> frozenset[str]:
    return frozenset(name.removeprefix("call ") for name in without if name.startswith("call "))
