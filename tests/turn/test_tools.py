"""The tools of a moment."""

from pathlib import Path

from metnos.app import App
from metnos.executors.state import State
from metnos.turn.tools import Toolbox


def toolbox(app: App, tmp_path: Path) -> Toolbox:
    return Toolbox(app.catalog, lambda: None, tmp_path / "vectors.npz")


def test_the_kit_is_made_once(equipped: App, tmp_path: Path) -> None:
    box = toolbox(equipped, tmp_path)
    assert box.kit() is box.kit()
    assert len(box.kit().tools) == 50
    assert box.kit().by_meaning() is None


def test_an_executor_that_is_switched_off_is_no_tool(equipped: App, tmp_path: Path) -> None:
    box = toolbox(equipped, tmp_path)
    assert "find_files" in box.kit().tools
    equipped.catalog.change("find_files", State.DISABLED, "test")
    assert "find_files" not in box.kit().tools


def test_what_a_tool_is_comes_from_its_manifest(equipped: App, tmp_path: Path) -> None:
    tools = toolbox(equipped, tmp_path).kit().tools
    assert tools["move_files"].mutates
    assert not tools["move_files"].quiet
    assert tools["find_files"].quiet
    assert not tools["get_pages"].quiet  # it tells somebody
    assert tools["find_files"].required == ("path",)
    assert tools["find_files"].result_key == "entries"
