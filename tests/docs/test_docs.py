"""Documentation that fails when it is false."""

import re
from pathlib import Path

import click
import pytest

from metnos import app
from metnos.cli import cli
from metnos.core import errors, settings
from metnos.core.workspace import Workspace
from metnos.law.audit_verify import Wrong
from support import ROOT, tool
from tables import try_each

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("name", tool("docs").MADE)
def test_what_is_generated_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == tool("docs").MADE[name](), "run `make docs`"


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for key in list(settings.keys()):
        assert f"### `{key.name}`" in page
        assert key.variable in page


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    context = click.Context(cli)
    for name in cli.list_commands(context):
        assert f"## `metnos {name}`" in page


@try_each("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@try_each("page", PAGES, ids=lambda page: page.name)
def test_every_source_file_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|tests|tools|docs|bench)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name


def test_every_threat_names_the_test_that_tries_it() -> None:
    """That the files are there is shown above, for every page."""
    page = (ROOT / "docs" / "threats.md").read_text(encoding="utf-8")
    tried = page.partition("## What they try")[2].partition("\n## ")[0]
    rows = [line for line in tried.splitlines() if line.startswith("| ") and not line.startswith("| who ")]
    assert len(rows) > 30
    assert [row for row in rows if "`tests/" not in row.rsplit("|", 2)[1]] == []
    assert [number for number in range(1, 11) if f"| ASI{number:02} |" not in page] == []


@try_each("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    for words in re.findall(r"`metnos ([a-z]+(?: [a-z]+)?)", page.read_text(encoding="utf-8")):
        command: click.Command | None = cli
        for word in words.split():
            if isinstance(command, click.Group):
                command = command.get_command(click.Context(command), word)
                assert command is not None, f"metnos {words}"


def test_every_file_of_a_workspace_is_on_its_page(workspace: Workspace) -> None:
    page = (ROOT / "docs" / "workspace.md").read_text(encoding="utf-8")
    app.App.open(workspace)
    for path in workspace.root.rglob("*"):
        name = path.relative_to(workspace.root).as_posix()
        if path.is_file() and not name.endswith(("-wal", "-shm")):
            top = name.split("/")[0]
            assert f"`{name}`" in page or f"`{top}/`" in page or f"`{top}/YYYY-MM.jsonl`" in page, name
        elif path.is_dir():
            assert f"`{name}/" in page, name


def test_every_fault_of_the_audit_is_explained() -> None:
    page = (ROOT / "docs" / "workspace.md").read_text(encoding="utf-8")
    for wrong in Wrong:
        assert f"| {wrong} |" in page


def test_every_layer_is_in_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for package in (ROOT / "src" / "metnos").iterdir():
        if package.is_dir() and package.name != "__pycache__":
            assert f"`{package.name}`" in page


def test_every_module_says_what_it_is() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path
    assert errors.__doc__


def test_every_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## Unreleased" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
