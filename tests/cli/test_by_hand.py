"""The table of what is done by hand in docs/policy.md: nothing is missing in it, and it says what happens."""

import re
from collections import Counter

import click
import pytest

import metnos
from cli.test_cli import every_command
from cli.warm import metnos as typed
from metnos.app import App
from metnos.law.audit_log import backwards
from support import ROOT

_SECTION = (ROOT / "docs/policy.md").read_text().split("## By hand\n")[1].split("\n## ")[0]
_ROWS = [re.split(r" ?\| ?", line)[1:5] for line in _SECTION.splitlines() if line.startswith("| `")]
_NAME = re.compile(r"`([A-Za-z][A-Za-z._]*(?: [a-z-]+)*)`")

# How a script would type what only a person may. What needs something to be there first has tests of its own.
_LINES = {
    "memory move": "lance",
    "memory forget": "the spare key",
    "synt rollback": "find_files",
    "config set": "policy.autonomy full",
    "model use": "main gpt --url https://api.example.org/v1",
    "model key": "cloud",
    "telegram token": "",
    "telegram pair": "",
    "policy grant": "* fs.read / --days 1",
    "policy clock": "--set-right",
    "device pair": "",
    "device token": "",
    "executor enable": "find_files",
    "executor revoke": "find_files",
    "doctor": "--pin",
    "life retire": "",
    "mcp add": "notes -- /bin/true",
}


def _rows_of(word: str) -> dict[str, list[str]]:
    return {name: row for row in _ROWS for name in _NAME.findall(row[0]) if row[1].startswith(word)}


def _public() -> list[str]:
    """Every method of the objects of the library."""
    return [
        f"{kind.__name__}.{name}"
        for kind in (metnos.Agent, metnos.Grimoire, metnos.Mnestome)
        for name, found in vars(kind).items()
        if not name.startswith("_") and not isinstance(found, classmethod | property)
    ]


def test_every_command_and_every_method_stands_in_it_once() -> None:
    commands = [" ".join(path) for path, command in every_command() if not isinstance(command, click.Group)]
    groups = {"mnestome graph"}  # shows something by itself, too
    harmless = _SECTION.split("<!-- harmless -->")[1]
    told = Counter(_NAME.findall(" ".join(row[0] for row in _ROWS)) + _NAME.findall(harmless))
    inside = {name for name in commands for group in groups if name.startswith(f"{group} ")}
    assert {*told} == ({*commands, *_public()} - inside) | groups
    assert {name: count for name, count in told.items() if count > 1} == {}


@pytest.mark.parametrize("name", sorted(_LINES))
def test_a_script_does_not_do_what_is_a_person_s(equipped: App, name: str) -> None:
    assert name in _rows_of("person")
    equipped.grimoire.add("The spare key is under the mat.")
    equipped.audit.close()
    before = [line.kind for line in backwards(equipped.workspace.audit)]
    ran = typed("--workspace", str(equipped.workspace.root), *name.split(), *_LINES[name].split(), stdin="yes\n" * 3)
    assert (ran.code, "only a person may" in ran.err) == (1, True), ran
    assert [line.kind for line in backwards(equipped.workspace.audit)] == before


@pytest.mark.parametrize(
    "line",
    [
        "synt draft sort version numbers",
        "memory learn",
        "memory dream",
        "memory reembed --again",
        "memory fit --default",
        "ager run",
        "executor run show_time",
        "jobs run curator",
    ],
)
def test_what_is_refused_while_everything_is_halted(equipped: App, line: str) -> None:
    equipped.halts.halt("smoke")
    ran = typed("--workspace", str(equipped.workspace.root), *line.split())
    assert (ran.code, "smoke" in ran.err + ran.out) == (1, True), ran
