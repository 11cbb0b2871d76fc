"""Several daemons that start on one workspace at once: one of them serves it, also after that one was killed."""

import time
from pathlib import Path

from killing import Say, at_work, wait_for_a_word
from metnos.api.lock import Lock
from metnos.core.errors import DaemonError
from metnos.core.workspace import Workspace
from suite import Repeat

MANY = 4


def test_of_many_that_start_at_once_one_serves(tmp_path: Path, repeat: Repeat) -> None:
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir(parents=True)

    def serve(say: Say) -> None:
        try:
            with Lock(workspace):
                say("serves")
                time.sleep(600)  # until it is killed
        except DaemonError:
            say("refused")
            time.sleep(600)

    for _ in repeat("starts of four daemons on one workspace", suite=3, soak=300):
        with at_work(*[serve] * MANY) as workers:
            for worker in workers:
                wait_for_a_word(worker)
            said = [line for worker in workers for line in worker.kill()]
        assert sorted(said) == ["refused"] * (MANY - 1) + ["serves"]
    Lock(workspace).release()
