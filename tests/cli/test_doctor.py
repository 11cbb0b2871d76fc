"""The program with code that the owner did not pin: what it still does, and how the owner pins."""

import shutil
from pathlib import Path

import pytest

import support
from metnos.cli import FAILED, FINE, WRONG_USAGE
from metnos.core.workspace import Workspace
from metnos.law.own_code import PACKAGE, measure
from metnos.law.own_pin import CHANGED, LETTERS, PINNED
from support import Say, kinds, on_a_terminal


def test_only_a_terminal_pins(root: Path, say: Say) -> None:
    assert say("doctor", "--pin").code == FAILED
    assert say("doctor", "--pin", "--json").code == WRONG_USAGE
    assert say("doctor", "--pin", "--yes").code == WRONG_USAGE
    assert kinds(Workspace(root)).count(PINNED) == 1


@pytest.mark.slow
def test_changed_code_acts_only_when_it_is_pinned(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the package is replaced, as an executor at the level *full* once could."""
    package = tmp_path / "code" / "metnos"
    shutil.copytree(PACKAGE, package)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    levels = package / "law" / "levels.py"
    levels.write_text(levels.read_text() + "# changed\n")
    workspace, call = Workspace(root), ("executor", "run", "find_files", "--path", "~", "--json")
    refused = support.metnos(*call)
    assert refused.code == FAILED
    assert "law/levels.py was changed" in refused.err
    assert kinds(workspace).count(CHANGED) == 1
    typed = on_a_terminal("doctor", "--pin", typed=f"{measure(package).digest[:LETTERS]}\n")
    assert typed.code == FINE
    assert "law/levels.py was changed" in typed.out
    assert kinds(workspace)[-1] == PINNED
    assert support.metnos(*call).code == FINE
