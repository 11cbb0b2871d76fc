"""Whether a process sits at a terminal where a person can type, by the kernel's word.

Rules: its standard input is the terminal that controls it, so that the kernel delivers keys to it and Ctrl-C ends it;
a pipe, a file, /dev/null and the terminal of somebody else are none. Whatever cannot be found out is a no. Does not
guarantee that a person types: a program of the same account can make a terminal of its own and type into it.
"""

import os
import stat
from pathlib import Path

CONTROLLING = "/dev/tty"
_ANY = os.makedev(5, 0)  # /dev/tty itself, which is whatever terminal controls whoever opens it


def is_at_terminal(pid: int | None = None) -> bool:
    """Whether this process, or that one, has the terminal that controls it as its standard input."""
    process = Path("/proc", "self" if pid is None else str(pid))
    if pid is not None and pid <= 0:  # of a process that cannot be seen from here
        return False
    try:
        controls = _device((process / "stat").read_text(encoding="utf-8", errors="replace"))
        given = (process / "fd/0").stat()
    except (OSError, ValueError, IndexError):
        return False
    return controls != 0 and stat.S_ISCHR(given.st_mode) and given.st_rdev in (controls, _ANY)


def _device(line: str) -> int:
    """The device number of the controlling terminal in a line of /proc/PID/stat; 0 if there is none."""
    coded = int(line.rpartition(")")[2].split()[4]) & 0xFFFFFFFF  # behind the name, which may hold anything
    major, minor = (coded >> 8) & 0xFFF, (coded & 0xFF) | ((coded >> 12) & 0xFFF00)
    return os.makedev(major, minor) if coded else 0
