"""The tools of a moment."""

from pathlib import Path

from executors.samples import write_sample
from metnos.app import App
from metnos.executors.fitness_rules import Rules
from metnos.executors.selection import Selection
from metnos.executors.state import State
from metnos.turn.tools import Toolbox
from signing import sign


def toolbox(app: App, tmp_path: Path) -> Toolbox:
    return Toolbox(app.catalog, lambda: None, tmp_path / "vectors.npz")


def test_the_kit_is_made_once(equipped: App, tmp_path: Path) -> None:
    box = toolbox(equipped, tmp_path)
    assert box.kit() is box.kit()
    assert len(box.kit().tools) == 50
    assert box.kit().by_meaning() is None


def test_what_is_hidden_is_known_and_not_shown_except_in_a_turn_that_explores(equipped: App, tmp_path: Path) -> None:
    write_sample(equipped.workspace.executors, "sample_lines")
    sign(equipped, "sample_lines", "a test")
    chosen = Selection(equipped.catalog.db, Rules(explore=0.5))
    box = Toolbox(equipped.catalog, lambda: None, tmp_path / "vectors.npz", chosen)
    assert "sample_lines" in box.kit().shown
    chosen.judge(equipped.clock.now(), lambda _since: 90)
    assert "sample_lines" in box.kit().tools
    kits = {turn: box.kit(turn) for turn in (f"01TURN{number}" for number in range(20))}
    seen = {turn for turn, kit in kits.items() if "sample_lines" in kit.shown}
    assert 0 < len(seen) < 20
    assert all(kit.explored == ("sample_lines" if turn in seen else "") for turn, kit in kits.items())
    assert all(box.kit(turn) is kit for turn, kit in kits.items())
    for kit in (box.kit(), box.kit(min(seen))):
        ranked = {each.tool.name for each in kit.by_words.rank("sample some lines")}
        assert ("sample_lines" in ranked) is (kit.explored == "sample_lines")


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
