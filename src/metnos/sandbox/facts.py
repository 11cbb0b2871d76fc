"""Facts about this machine for executors: its processes, its disks, itself. The outside half of ``ctx.system``.

Rules: read from /proc and `statvfs` alone, no program is started; of a process only its program's name is told, never
its arguments or its environment, which may hold secrets; what vanishes while it is looked at is left out; a disk on the
network that does not answer is left out, not waited for. Sizes are bytes unless the key says otherwise, times are
ISO 8601 in UTC. Does not guarantee one moment: each fact is read on its own.
"""

import os
import pwd
import queue
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from metnos.core.canon import Json
from metnos.core.errors import ExecutorFailed

Fact = dict[str, Json]

_PROC = Path("/proc")
_STATES = {
    "R": "running",
    "S": "sleeping",
    "D": "waiting for a disk",
    "T": "stopped",
    "t": "traced",
    "Z": "ended, not collected",
    "I": "idle",
    "X": "ended",
}
_COMM_LENGTH = 15  # the kernel cuts names to it
# Not marked as backed by a device in /proc/filesystems, and real all the same.
_OWN_DISKS = frozenset(("zfs", "btrfs", "bcachefs"))
_NETWORK = frozenset(("nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "fuse.sshfs", "fuse.glusterfs"))
# Backed by a device and nothing that can fill up: images, packages.
_IMAGES = frozenset(("squashfs", "iso9660", "udf", "erofs", "cramfs", "romfs"))
_NETWORK_WAIT_S = 1.0


def facts(what: str, proc: Path = _PROC) -> list[Fact]:
    """The facts of one kind: ``processes``, ``disks`` or ``host`` (a list of one)."""
    readers: dict[str, Callable[[Path], list[Fact]]] = {"processes": _processes, "disks": _disks, "host": _host}
    if what not in readers:
        raise ExecutorFailed(
            f"there are no facts called {what!r}", kind="invalid", fix=f"Ask for: {', '.join(readers)}."
        )
    try:
        return readers[what](proc)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise ExecutorFailed(f"this machine's {what} cannot be read", kind="unavailable") from error


# -- processes


def _processes(proc: Path) -> list[Fact]:
    booted = _booted(proc)
    found = []
    for folder in sorted((each for each in proc.iterdir() if each.name.isdecimal()), key=lambda each: int(each.name)):
        try:
            found.append(_process(folder, booted))
        except (OSError, ValueError, IndexError):  # it has ended meanwhile
            continue
    return found


def _process(folder: Path, booted: float) -> Fact:
    """One process, from its ``stat`` line: pid (name) state and then numbers; a name may hold parentheses itself."""
    line = (folder / "stat").read_bytes().decode("utf-8", "replace")
    name, _, rest = line.partition("(")[2].rpartition(")")
    words = rest.split()
    ticks = os.sysconf("SC_CLK_TCK")
    return {
        "pid": int(folder.name),
        "name": _full_name(folder, name),
        "user": _user(folder.stat().st_uid),
        "cpu_s": round((int(words[11]) + int(words[12])) / ticks, 2),
        "memory_mb": round(max(0, int(words[21])) * os.sysconf("SC_PAGE_SIZE") / 1e6, 1),
        "started": _moment(booted + int(words[19]) / ticks),
        "state": _STATES.get(words[0], words[0]),
    }


def _full_name(folder: Path, name: str) -> str:
    """The program's name, whole where the kernel has cut it; never from the command line, which programs rewrite."""
    if len(name.encode()) < _COMM_LENGTH:
        return name
    try:
        program = (folder / "exe").readlink().name.removesuffix(" (deleted)")
    except OSError:  # another user's
        return name
    return program.encode("utf-8", "replace").decode() if program.startswith(name) else name


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


# -- disks


def _disks(proc: Path) -> list[Fact]:
    """Every real file system once, by the shortest of the places where it is mounted."""
    real = _real_types(proc)
    seen: dict[tuple[str, str], tuple[str, str, str]] = {}
    for device, mount, kind in _mounts(proc):
        if kind in real or kind in _NETWORK or (kind == "overlay" and mount == "/"):
            held = seen.get((device, kind))
            if held is None or len(mount) < len(held[1]):
                seen[device, kind] = (device, mount, kind)
    found = []
    for device, mount, kind in sorted(seen.values(), key=lambda each: each[1]):
        if kind not in _NETWORK and Path(mount).is_file():  # containers have single files mounted
            continue
        space = _space(mount, patient=kind not in _NETWORK)
        if space is not None and space.f_blocks:
            unit = space.f_frsize
            fact: Fact = {
                "mount": mount,
                "device": device,
                "type": kind,
                "total": space.f_blocks * unit,
                "used": (space.f_blocks - space.f_bfree) * unit,
                "free": space.f_bavail * unit,
            }
            found.append(fact)
    return found


def _real_types(proc: Path) -> frozenset[str]:
    lines = (proc / "filesystems").read_text(encoding="utf-8").splitlines()
    backed = {line.strip() for line in lines if not line.startswith("nodev")}
    return frozenset(backed | _OWN_DISKS) - _IMAGES


def _mounts(proc: Path) -> Iterator[tuple[str, str, str]]:
    text = (proc / "self" / "mounts").read_bytes().decode("utf-8", "replace")
    for line in text.splitlines():
        words = [_unescape(word) for word in line.split(" ")]
        if len(words) >= 3:
            yield words[0], words[1], words[2]


def _unescape(word: str) -> str:
    """The kernel writes spaces and the like as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)


def _space(mount: str, *, patient: bool) -> os.statvfs_result | None:
    if patient:
        return _statvfs(mount)
    answers: queue.SimpleQueue[os.statvfs_result | None] = queue.SimpleQueue()
    # A server that is gone holds whoever asks for ever, so somebody is sent who can be left behind.
    threading.Thread(target=lambda: answers.put(_statvfs(mount)), name="metnos-disk", daemon=True).start()
    try:
        return answers.get(timeout=_NETWORK_WAIT_S)
    except queue.Empty:
        return None


def _statvfs(mount: str) -> os.statvfs_result | None:
    try:
        return os.statvfs(mount)
    except OSError:
        return None


# -- the machine


def _host(proc: Path) -> list[Fact]:
    memory = dict(_memory(proc))
    system = os.uname()
    load = (proc / "loadavg").read_text(encoding="ascii").split()
    return [
        {
            "name": system.nodename,
            "system": _system(system.sysname),
            "kernel": system.release,
            "machine": system.machine,
            "cpus": os.cpu_count() or 1,
            "cpu": _cpu(proc),
            "memory_total": memory["MemTotal"],
            "memory_free": memory.get("MemAvailable", memory["MemFree"]),
            "swap_total": memory.get("SwapTotal", 0),
            "swap_free": memory.get("SwapFree", 0),
            "uptime_s": int(float((proc / "uptime").read_text(encoding="ascii").split()[0])),
            "started": _moment(_booted(proc)),
            "load_1": float(load[0]),
            "load_5": float(load[1]),
            "load_15": float(load[2]),
        }
    ]


def _memory(proc: Path) -> Iterator[tuple[str, int]]:
    for line in (proc / "meminfo").read_text(encoding="ascii", errors="replace").splitlines():
        name, _, rest = line.partition(":")
        if rest.endswith(" kB"):
            yield name, int(rest.split()[0]) * 1024


def _system(otherwise: str) -> str:
    """The distribution's own name for itself."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.MULTILINE)
        if found:
            return found[1].strip()
    return otherwise


def _cpu(proc: Path) -> str:
    text = (proc / "cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^(?:model name|Model|Hardware|cpu)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _booted(proc: Path) -> float:
    """When the machine was started, in seconds since 1970."""
    text = (proc / "stat").read_text(encoding="ascii")
    found = re.search(r"^btime (\d+)$", text, re.MULTILINE)
    if found is None:
        raise ValueError("no btime")
    return float(found[1])


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
