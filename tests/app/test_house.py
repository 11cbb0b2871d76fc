"""The composition root: what it opened, it lets go of."""

import contextlib
from pathlib import Path

from metnos import app
from metnos.law.principal import Autonomy, Channel, Principal

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


def held(folder: Path) -> set[Path]:
    """The files below a folder that this process holds open."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one of this listing is gone again
            found.add(link.readlink())
    return {path for path in found if path.is_relative_to(folder)}


def test_a_closed_app_holds_no_file_open_and_works_again_when_asked(equipped: app.App) -> None:
    request = equipped.turns.request("what time is it", principal=OWNER, cwd=equipped.workspace.root)
    list(equipped.turns.run(request))
    _ = equipped.night_db, equipped.undo
    assert held(equipped.workspace.root)
    equipped.close()
    assert held(equipped.workspace.root) == set()
    assert equipped.medium.load(request.id)
