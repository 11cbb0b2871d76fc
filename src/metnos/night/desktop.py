"""Telling the owner on the desktop, where there is one.

Rules: never fails and never waits long; what does not come up here still waits among the notices. The words come from
files, so the desktop gets them as plain text and the program as no option.
"""

import html
import subprocess
from collections.abc import Sequence
from pathlib import Path

from metnos.night.notices import Notice

_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin")  # as for bubblewrap: never from a home
_PATIENCE_S = 5.0
_MOST = 3  # at once; the rest is counted


def find() -> Path | None:
    """The program that shows notifications, if the system has one."""
    return next((path for path in (Path(folder) / "notify-send" for folder in _FOLDERS) if path.is_file()), None)


def show(notices: Sequence[Notice], program: Path | None) -> int:
    """Bring notices up; how many came up."""
    if program is None:
        return 0
    shown, rest = notices[:_MOST], len(notices) - _MOST
    lines = [notice.text for notice in shown] + ([f"… and {rest} more"] if rest > 0 else [])
    count = 0
    for text in lines:
        plain = "".join(char if char.isprintable() else " " for char in text)
        # The body may be read as markup.
        line = [str(program), "--app-name=Metnos", "--", "Metnos", html.escape(plain, quote=False)]
        try:
            quiet = subprocess.DEVNULL
            done = subprocess.run(
                line, stdin=quiet, stdout=quiet, stderr=quiet, timeout=_PATIENCE_S, check=False, cwd="/"
            )
        except (OSError, subprocess.SubprocessError, ValueError):
            return count  # no desktop answers: the others would only wait for it too
        if done.returncode:
            return count
        count += 1
    return count
