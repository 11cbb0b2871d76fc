"""Codes and secrets for others, made, listed and ended at the terminal."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from metnos import app
from metnos.cli import cli
from metnos.core.workspace import Workspace
from metnos.law.principal import Autonomy, Channel

pytestmark = pytest.mark.usefixtures("typist")


def said(workspace: Workspace, *line: str, fails: bool = False) -> str:
    done = CliRunner().invoke(cli, ["--workspace", str(workspace.root), "device", *line])
    assert (done.exception is not None) == fails, done.output
    return str(done.exception) if fails else done.output


def test_a_code_lets_a_browser_in_with_the_level_that_was_said(workspace: Workspace) -> None:
    code = json.loads(said(workspace, "pair", "--level", "read_only", "--name", "phone", "--json"))["code"]
    device, _ = app.App.open(workspace).pairing.redeem(code, Channel.WEB)
    assert (device.level, device.name) == (Autonomy.READ_ONLY, "phone")
    listed = said(workspace, "list")
    assert "phone" in listed
    assert "read_only" in listed


def test_a_secret_for_a_program_works_and_is_shown_once(workspace: Workspace) -> None:
    made = json.loads(said(workspace, "token", "--name", "script", "--json"))
    pairing = app.App.open(workspace).pairing
    assert pairing.by_secret(made["secret"], Channel.API) is not None
    assert made["secret"] not in said(workspace, "list", "--json")
    assert "Ended" in said(workspace, "revoke", made["id"][-6:])
    assert pairing.by_secret(made["secret"], Channel.API) is None
    assert "Nobody but this terminal" in said(workspace, "list")


def test_in_words_it_says_what_to_do_with_it(workspace: Workspace) -> None:
    assert "/pair CODE" in said(workspace, "pair", "--channel", "telegram")
    assert "open the page /pair" in said(workspace, "pair")
    assert "Bearer" in said(workspace, "token")


def test_what_makes_no_sense_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    assert "at most 60 minutes" in said(workspace, "pair", "--minutes", "90", fails=True)
    assert "at most 365 days" in said(workspace, "token", "--days", "9999", fails=True)
    assert "no device" in said(workspace, "revoke", "nothing", fails=True)
