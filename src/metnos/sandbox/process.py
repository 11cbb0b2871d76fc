"""Processes by number and start time together, because a number alone may belong to another by now."""

import contextlib
import os
import signal
from pathlib import Path

_START_FIELD = 19  # of /proc/PID/stat, counted behind the name


def start_time(pid: int) -> str:
    """When the kernel started a process, in its own reckoning; ``gone`` if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "gone"
    return text.rpartition(")")[2].split()[_START_FIELD]


def end(pid: int, started: str) -> bool:
    """Kill a process if it is still the one that was meant, and say whether it was."""
    if start_time(pid) != started:
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False
