"""The terminal as a whole: what holds for every command."""

import importlib
import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import click
import pytest

import support
from cli.terminal import on_a_terminal
from cli.warm import metnos
from metnos.cli import COMMANDS, cli
from support import PROGRAM, Say
from tables import try_each


def every_command(
    group: click.Group = cli, prefix: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append(((*prefix, name), command))
        if isinstance(command, click.Group):
            found += every_command(command, (*prefix, name))
    return found


@try_each("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert command.name == name
    assert (command.help or "").split("\n\n")[0].strip() == COMMANDS[name][1]


@try_each(("path", "command"), every_command(), ids=lambda each: "-".join(each) if isinstance(each, tuple) else "")
def test_every_command_and_option_explains_itself(path: tuple[str, ...], command: click.Command) -> None:
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path}: {parameter.opts}"


def test_everything_that_lists_speaks_json() -> None:
    plain = [(path, command) for path, command in every_command() if not isinstance(command, click.Group)]
    without = {" ".join(path) for path, command in plain if not any("--json" in each.opts for each in command.params)}
    # These change one thing and say so in one line.
    assert without == {
        "config set", "config path", "completion", "executor new", "executor test", "executor sign", "executor rebuild",
        "executor enable", "executor disable", "executor archive", "executor quarantine", "executor revoke",
        "audit accept", "executor panic", "mcp confirm", "synt rollback",
        "inbox approve", "inbox refuse", "inbox edit", "policy grant", "policy revoke",
        "memory add", "memory pin", "memory propose", "memory export", "memory import", "memory move", "memory reembed",
        "turns forget", "feedback", "mnestome export", "model use", "model get", "model key", "model test",
        "device revoke", "telegram token", "mcp serve", "mcp add", "mcp remove", "service install", "service remove",
    }  # fmt: skip


def test_help_loads_nothing_heavy() -> None:
    line = [str(Path(PROGRAM).with_name("python")), "-X", "importtime", str(PROGRAM), "--help"]
    # Measuring coverage would load things of its own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    loaded = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "metnos.cli" in loaded
    assert not {"pydantic", "cryptography", "rich", "sqlite3", "tomlkit", "metnos.app"} & loaded


def test_help_and_version(say: Say) -> None:
    for ran in (support.metnos("--help"), say("-h")):
        assert ran.code == 0
        for name, (_, text) in COMMANDS.items():
            assert re.search(rf"^  {name} +{re.escape(text)}$", ran.out, re.MULTILINE)
    assert say("--version").out == say("version").out
    assert set(json.loads(say("version", "--json").out)) == {"metnos", "python", "sqlite"}


@pytest.mark.parametrize(
    "arguments",
    [
        "nonsense", "--nonsense", "audit", "audit show", "audit show zero", "audit tail -n 0", "config set x",
        "config set no.such 1", "config show no.such", "restore", "backup --passphrase-file /dev/null",
        "completion csh", "backup --with-keys",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("root")
def test_a_wrong_command_line_exits_with_2(arguments: str, say: Say) -> None:
    ran = say(*arguments.split())
    assert ran.code == 2
    assert ran.err or ran.out
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "arguments",
    ["audit tail", "audit show 1", "audit verify", "config set disk.need_free_mb 1", "backup"],
)
def test_without_a_workspace_it_says_how_to_make_one(arguments: str, say: Say) -> None:
    ran = say(*arguments.split())
    assert (ran.code, ran.out) == (1, "")
    assert "error: there is no workspace at " in ran.err
    assert "fix: Make one: metnos init" in ran.err


def test_the_shell_learns_how_it_ended() -> None:
    assert support.metnos("nonsense").code == 2
    ran = support.metnos("audit", "tail")
    assert (ran.code, ran.out) == (1, "")
    assert "error: there is no workspace at " in ran.err


@pytest.mark.usefixtures("root")
def test_a_reader_that_has_enough_is_no_error() -> None:
    ran = subprocess.run(
        f"{shlex.quote(str(PROGRAM))} config show | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0
    assert ran.stderr == ""


def test_a_reader_that_leaves_in_the_middle_is_no_error() -> None:
    with subprocess.Popen([str(PROGRAM), "doctor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        try:
            running.stdout.readline()
            running.stdout.close()
            errors = running.stderr.read()
            running.wait(120)
        finally:
            running.kill()
    assert (running.returncode, errors) == (0, b"")


@pytest.mark.usefixtures("root")
def test_an_interrupt_ends_with_130() -> None:
    with subprocess.Popen(
        [str(PROGRAM), "audit", "tail", "--follow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        try:
            running.stdout.readline()
            running.send_signal(signal.SIGINT)
            _, errors = running.communicate(timeout=120)
        finally:
            running.kill()
    assert running.returncode == 130
    assert b"Traceback" not in errors


@pytest.mark.slow
@pytest.mark.usefixtures("root")
def test_colours_on_a_terminal_and_none_elsewhere(say: Say) -> None:
    for arguments in (("doctor",), ("config", "show"), ("audit", "tail"), ("audit", "verify")):
        assert "\x1b[" in on_a_terminal(*arguments).out, arguments
        assert "\x1b[" not in say(*arguments).out, arguments
    assert "\x1b[" not in metnos().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, say: Say) -> None:
    ran = say("completion", shell)
    assert ran.code == 0, ran.err
    assert "_METNOS_COMPLETE" in ran.out


def test_completion_completes() -> None:
    ran = metnos(COMP_WORDS="metnos au", COMP_CWORD="1", _METNOS_COMPLETE="bash_complete")
    assert ran.out.strip() == "plain,audit"


def test_python_m_metnos_is_the_same() -> None:
    line = [str(Path(PROGRAM).with_name("python")), "-m", "metnos", "version"]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == metnos("version").out


def shell(after: str) -> subprocess.CompletedProcess[bytes]:
    line = f"{shlex.quote(str(PROGRAM))} config show {after}"
    return subprocess.run(line, shell=True, capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.usefixtures("root")
def test_odd_places_and_names_end_in_a_sentence(tmp_path: Path) -> None:
    """No input, file or permission ends in a traceback."""
    odd = [
        metnos("--workspace", os.fsdecode(b"/tmp/\xff-no-such"), "audit", "tail"),
        metnos("--workspace", "/dev/null/x", "audit", "tail"),
        metnos("--workspace", str(tmp_path / "[bold]x[/bold]\n\x1b[31m"), "doctor"),
        metnos("config", "show", HOME="/nonexistent", METNOS_HOME=""),
        support.metnos("doctor", LANG="C", LC_ALL="C", PYTHONUTF8="0"),
        metnos("audit", "tail", "-n", "99999999999999999999"),
        metnos("config", "set", "models.main.name", os.fsdecode(b"\xff")),
        metnos("doctor", TMPDIR="/nonexistent"),
    ]
    for ran in odd:
        assert "Traceback" not in ran.err, ran.err
        assert ran.code in (0, 1, 2)
    assert "\x1b[31m" not in odd[2].out
    assert "\x1b[31m" not in metnos("--workspace", str(tmp_path / "\x1b[31m"), "audit", "tail").err
    assert shell(">&-").returncode in (0, 1)
    full = shell(">/dev/full")
    assert (full.returncode, b"No space left" in full.stderr) == (1, True)


def test_pipes_and_folders_in_the_place_of_files_are_clear_errors(root: Path, say: Say) -> None:
    (root / "SOUL.md").unlink()
    os.mkfifo(root / "SOUL.md")
    (root / ".audit" / "2027-01.jsonl").mkdir()
    ran = say("doctor")
    assert ran.code == 1
    assert "is not a file" in ran.out
