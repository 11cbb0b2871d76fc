"""What the inside of the sandbox looks like: bubblewrap's walls around the zygote, and the walls around one call.

Rules: a call sees the system's libraries, the standard library of one Python and the packages that its manifest names,
all read-only, a small private /tmp and what it may read, at the same paths as outside; no /proc, no device but
/dev/null, no network, no environment, no program; process, IPC, host-name and mount spaces of its own. What is shown
is listed: nothing comes in because it lies beside something else.
As root, nothing foreign ever runs as uid 0: files of root are shown through an id-mapped mount to an unprivileged uid;
as an ordinary user everything happens in a user namespace. Pure but for looking at which system folders there are: it
builds a command line and values, and runs nothing.
"""

import math
import os
import resource
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metnos.core.errors import SandboxError
from metnos.sandbox import seccomp
from metnos.sandbox.inside import kernel
from metnos.sandbox.interpreter import Python
from metnos.sandbox.shared_objects import needed_beside

UNPRIVILEGED = 65534
LIBRARIES = "/metnos/site"
KIT = "/metnos/kit"  # our own library for executors lies in it, under the name they import
INSTALL = "sudo apt-get install -y bubblewrap"
_HOST = "/host"
_ROOTS = tuple(Path("/") / name for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin"))
_SYSTEM = Path("/usr")
# Shared libraries and the rules of time zones. The rest of /usr is programs and their data, or, in /usr/local, the
# owner's; a call that names programs gets _PROGRAMS_DATA besides.
_SYSTEM_PARTS = tuple(_SYSTEM / name for name in ("lib", "lib32", "lib64", "libx32", "share/zoneinfo"))
_PROGRAMS_DATA = _SYSTEM / "share"
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime")
_COVERED = ("modules", "systemd", "python3*/*-packages")  # in a folder of libraries: forbidden, or not declared
_TMP_BYTES = 64 << 20
_PROCESSES = 64
_BWRAPS = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
_SYSTEM_PROGRAMS = ("/usr", "/bin", "/sbin", "/nix/store", "/gnu/store")
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
            "beside": [] if "hiding" in without else list(_beside(self.programs)),
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


def find_bwrap(named: str) -> Path:
    """The bubblewrap program by its real path, or an error that says how to get it.

    It builds the walls, so it must be the system's own: it and every folder above it belong to root, and no other
    account can put anything in its place.
    """
    # PATH is not searched: a bwrap that a home provides could be anything.
    for candidate in map(Path, (named,) if named else _BWRAPS):
        if not (os.access(candidate, os.X_OK) and candidate.is_file()):
            continue
        program = candidate.resolve()
        if is_the_systems(program):
            return program
        fix = "metnos config set sandbox.bwrap ''" if named else INSTALL
        raise SandboxError(
            f"{candidate} is not used as bubblewrap, because others than root could change or replace it", fix=fix
        )
    if named:
        fix = "metnos config set sandbox.bwrap ''"
        raise SandboxError(f"`sandbox.bwrap` names {named}, which is no program", fix=fix)
    raise SandboxError("bubblewrap is not installed, so nothing can be run safely", fix=INSTALL)


def is_the_systems(program: Path) -> bool:
    """True if this real path names a bubblewrap of the system's, and only root can change it or what it is called."""
    if not program.name.startswith("bwrap") or not any(program.is_relative_to(folder) for folder in _SYSTEM_PROGRAMS):
        return False
    return stat.S_ISREG(program.lstat().st_mode) and all(_is_roots(path) for path in (program, *program.parents))


def _is_roots(path: Path) -> bool:
    status = path.lstat()
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX  # there none but root moves what is root's
    if status.st_uid != 0 or (status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not sticky):
        return False
    return os.getuid() == 0 or bool(sticky) or not os.access(path, os.W_OK)  # an access list can say more than the mode


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
    for link, target in _links(without):
        line += ["--symlink", target, link]
    for path in (python.program, *map(Path, _system(python, without))):
        line += ["--ro-bind", str(path.resolve()), str(path)]
    line += ["--ro-bind", str(Path(__file__).with_name("kit")), f"{KIT}/metnos_kit"]
    line += ["--dir", LIBRARIES, "--dev-bind", "/dev/null", "/dev/null", "--dir", "/new", "--chdir", "/"]
    return [*line, "--", str(python.program), "-I", "-S", "-B", "-c"]


def config(python: Python, *, as_root: bool, warm: bool, without: frozenset[str] = NOTHING) -> dict[str, Any]:
    """What a zygote needs to know to build the walls around a child."""
    read_only = 0 if "read-only" in without else kernel.READ_ONLY
    spaces = {"ipc": kernel.NEW_IPC, "pid": kernel.NEW_PIDS}
    return {
        "uid": UNPRIVILEGED if as_root and "uid" not in without else None,
        "map_owners": as_root and "uid" not in without,
        "system": [*_system(python, without), f"{KIT}/metnos_kit"],
        "links": [list(link) for link in _links(without)],
        "hidden": [] if "hiding" in without else _hidden(python),
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


def _folders(without: frozenset[str]) -> tuple[Path, ...]:
    """Folders of the system that may be shown, if they are there."""
    if "hiding" in without:
        return (*_ROOTS, _SYSTEM)
    return (*(path for path in _ROOTS if path.name.startswith("lib")), *_SYSTEM_PARTS)


def _links(without: frozenset[str]) -> list[tuple[str, str]]:
    """Most systems have /lib as a link to /usr/lib, and some /usr/lib64 as one to /usr/lib."""
    paths = dict.fromkeys((*_ROOTS, *_folders(without)))
    return [(str(path), str(path.readlink())) for path in paths if path.is_symlink()]


def _system(python: Python, without: frozenset[str]) -> list[str]:
    """What every call sees of the machine, a folder before what is in it."""
    found = [path for path in _folders(without) if path.is_dir() and not path.is_symlink()]
    beside = [path for path in python.shown if not any(path.is_relative_to(folder) for folder in found)]
    return [*sorted(map(str, (*found, *beside))), *(path for path in _SYSTEM_FILES if Path(path).exists())]


def _hidden(python: Python) -> list[str]:
    """Folders in what is shown that are covered: what is forbidden, and packages that no manifest named."""
    places = [path for path in (*_folders(NOTHING), *python.folders) if path.is_dir() and not path.is_symlink()]
    found = {path for place in places for pattern in _COVERED for path in place.glob(pattern)}
    found |= {path for folder in python.folders for path in folder.glob("*-packages")}
    return sorted(str(path) for path in found if path.is_dir() and not path.is_symlink())


def _beside(programs: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What named programs need beside them: the system's data for programs, and libraries of their own."""
    if not programs:
        return
    if _PROGRAMS_DATA.is_dir():
        yield str(_PROGRAMS_DATA), str(_PROGRAMS_DATA)
    for program in map(Path, programs):
        folder = program.parent.parent / "lib"
        if not any(folder.is_relative_to(shown) for shown in (*_ROOTS, *_SYSTEM_PARTS)):
            for library in needed_beside([program], folder):
                yield str(library.resolve()), str(library)


def _calls(without: frozenset[str]) -> frozenset[str]:
    return frozenset(name.removeprefix("call ") for name in without if name.startswith("call "))
