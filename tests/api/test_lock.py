import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from metnos.api.lock import LOCK, SOCKET, Lock, dial, listen
from metnos.core.errors import DaemonError
from metnos.core.workspace import Workspace

HOLDS = """
import sys, time
from pathlib import Path
from metnos.api.lock import Lock, listen
from metnos.core.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
held, door = Lock(workspace), listen(workspace)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture(params=["short", "x" * 80 + "/" + "y" * 80])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Workspace:
    """One whose socket has an address, and one whose socket's path is too long for one."""
    workspace = Workspace(tmp_path / request.param)
    workspace.root.mkdir(parents=True)
    return workspace


def test_it_is_one_for_each_workspace_and_goes_with_its_process(place: Workspace) -> None:
    line = [sys.executable, "-c", HOLDS, str(place.root)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(DaemonError, match=f"process {other.pid} serves the workspace") as caught:
                Lock(place)
            assert "metnos serve --stop" in caught.value.fix
        finally:
            other.send_signal(signal.SIGKILL)
    assert (place.run / SOCKET).exists()
    assert dial(place, 60) is None  # a socket that nobody listens at
    with Lock(place), listen(place):
        assert (place.run / LOCK).read_text() == f"{os.getpid()}\n"
        found = dial(place, 60)
        assert found is not None
        found.close()
    Lock(place).release()


def test_everything_is_closed_to_others(place: Workspace) -> None:
    place.run.mkdir(mode=0o755)
    with Lock(place), listen(place):
        modes = [path.stat().st_mode & 0o777 for path in (place.run, place.run / LOCK, place.run / SOCKET)]
        assert modes == [0o700, 0o600, 0o600]


def test_nobody_there_is_no_error(place: Workspace) -> None:
    assert dial(place, 60) is None
    shutil.rmtree(place.root)
    assert dial(place, 60) is None


def test_a_way_that_leads_nowhere_is_an_error(place: Workspace) -> None:
    place.run.mkdir()
    (place.run / SOCKET).symlink_to(SOCKET)
    with pytest.raises(DaemonError, match="cannot be reached"):
        dial(place, 60)


def test_a_folder_that_is_another_is_noticed(place: Workspace) -> None:
    with Lock(place) as held:
        assert held.still_ours()
        place.run.rename(place.root / "aside")
        assert not held.still_ours()
        place.run.mkdir()
        (place.run / LOCK).touch()
        assert not held.still_ours()


def test_a_link_in_its_place_is_refused(place: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    place.run.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DaemonError, match="of this account's own"):
        Lock(place)
    assert list((tmp_path / "elsewhere").iterdir()) == []
