"""The same workspace at the terminal: what a command prints as JSON, to hold the API against."""

import json
import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner

from api.http.served import Client
from metnos.cli import Choice


def typed(page: Client, monkeypatch: pytest.MonkeyPatch, command: click.Command, *words: str) -> Any:
    """What a command says about the workspace that is served, by the same clock."""
    for name, module in list(sys.modules.items()):
        if name.startswith("metnos.cli.") and hasattr(module, "open_app"):
            monkeypatch.setattr(module, "open_app", lambda _: page.app)
    done = CliRunner().invoke(command, [*words, "--json"], obj=Choice(str(page.app.workspace.root)))
    assert done.exit_code in (0, 1), (done.output, done.exception)
    return json.loads(done.stdout)
