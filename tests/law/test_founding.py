import random
import stat
from pathlib import Path

import pytest

from killing import killed_after
from metnos import app
from metnos.core.clock import MovableClock, SystemClock
from metnos.core.errors import KeyFileError, WorkspaceError
from metnos.core.records import Level
from metnos.core.sections import Settings
from metnos.core.workspace import LONG_MEMORY, Workspace
from metnos.law import founding
from suite import Repeat
from support import at_once, kinds


def content(workspace: Workspace) -> dict[str, bytes]:
    """Everything but the databases, whose side files come and go."""
    files = (path for path in workspace.root.rglob("*") if path.is_file() and ".db" not in path.name)
    return {str(path.relative_to(workspace.root)): path.read_bytes() for path in files}


def test_everything_is_made_and_closed_to_others(blank: Workspace, clock: MovableClock) -> None:
    made = founding.found(blank, Settings(), clock)
    assert made == [".keys/agent.key", *LONG_MEMORY, "metnos.toml"]
    for path in [blank.root, *blank.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert kinds(blank) == ["key installed", "workspace created", "own code pinned", "constitution pinned"]


def test_again_changes_nothing(workspace: Workspace, clock: MovableClock) -> None:
    before = content(workspace)
    assert founding.found(workspace, Settings(), clock) == []
    assert content(workspace) == before


def test_what_the_owner_wrote_stays(workspace: Workspace, clock: MovableClock) -> None:
    (workspace.root / "USER.md").write_text("mine")
    (workspace.root / "MEMORY.md").unlink()
    assert founding.found(workspace, Settings(), clock) == ["MEMORY.md"]
    assert (workspace.root / "USER.md").read_text() == "mine"


def test_a_lost_key_is_made_anew_and_said(workspace: Workspace, clock: MovableClock) -> None:
    workspace.secret_key.unlink()
    with pytest.raises(KeyFileError, match="missing"):
        app.App.open(workspace, clock)
    workspace.public_key.unlink()
    founding.found(workspace, Settings(), clock)
    assert kinds(workspace)[-3:] == ["key installed", "own code pinned", "constitution pinned"]
    assert app.verify_audit(workspace).sound


@pytest.mark.parametrize("every", [1, 2, 3])
def test_checkpoints_as_often_as_can_be_are_no_trouble(blank: Workspace, clock: MovableClock, every: int) -> None:
    blank.root.mkdir()
    blank.settings.write_text(f"[audit]\ncheckpoint_every = {every}\n")
    founding.found(blank, Settings(), clock)
    assert app.verify_audit(blank).sound


def test_every_template_explains_itself(workspace: Workspace) -> None:
    for name in LONG_MEMORY:
        assert "<!--" in (workspace.root / name).read_text(), name


def test_a_file_in_its_place_and_a_folder_that_cannot_be_made(tmp_path: Path, clock: MovableClock) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(WorkspaceError, match="is a file"):
        founding.found(Workspace(tmp_path / "file"), Settings(), clock)
    with pytest.raises(WorkspaceError, match="cannot be made"):
        founding.found(Workspace(tmp_path / "file" / "below"), Settings(), clock)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.slow
def test_many_at_once_found_one_workspace(blank: Workspace) -> None:
    at_once([lambda: founding.found(blank, Settings(), SystemClock())] * 6)
    assert sorted(kinds(blank)) == ["constitution pinned", "key installed", "own code pinned", "workspace created"]
    assert app.verify_audit(blank).sound


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_at_any_moment_it_can_be_finished(tmp_path: Path, repeat: Repeat) -> None:
    chance = random.Random(6)
    for attempt in repeat("kills of a founding", suite=5, soak=100):
        workspace = Workspace(tmp_path / f"workspace-{attempt}")
        killed_after(
            chance.random() * 0.04, lambda workspace=workspace: founding.found(workspace, Settings(), SystemClock())
        )
        founding.found(workspace, Settings(), SystemClock())
        assert app.App.open(workspace).constitution.laws
        assert app.verify_audit(workspace).sound
        found = set(kinds(workspace)) - {"audit recovered"}
        assert found == {"workspace created", "key installed", "own code pinned", "constitution pinned"}


class TestPrivacy:
    def test_green_when_complete_and_closed(self, workspace: Workspace) -> None:
        (found,) = founding.check_privacy(workspace)
        assert found.level is Level.GREEN

    def test_red_with_the_fix_when_others_can_read_a_folder(self, workspace: Workspace) -> None:
        workspace.keys.chmod(0o755)
        (found,) = founding.check_privacy(workspace)
        assert (found.level, found.fix) == (Level.RED, f"chmod go-rwx {workspace.keys}")

    def test_yellow_when_others_can_list_the_top(self, workspace: Workspace) -> None:
        workspace.root.chmod(0o755)
        (found,) = founding.check_privacy(workspace)
        assert (found.level, found.fix) == (Level.YELLOW, f"chmod go-rwx {workspace.root}")

    def test_red_when_something_is_missing(self, workspace: Workspace) -> None:
        (workspace.root / "TELOS.md").unlink()
        (found,) = founding.check_privacy(workspace)
        assert (found.level, found.fix) == (Level.RED, "metnos init")
        assert "TELOS.md" in found.found
