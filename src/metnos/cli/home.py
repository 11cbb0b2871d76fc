"""``metnos`` alone: on a terminal the chat, and before the first one the first screen; elsewhere the first screen.

The first screen makes the workspace if there is none, checks it, shows the Laws, and says what to do next.
"""

import os
import shutil
import sys

import click

from metnos import __version__, app
from metnos.cli import FAILED, FINE, Choice
from metnos.cli.doctor import summary
from metnos.cli.opening import open_app
from metnos.cli.output import hanging, print_check
from metnos.core.records import Level

_NEXT = (
    ("metnos", "talk to it, on a terminal"),
    ("metnos open", "see its web page"),
    ('metnos ask "how full are the disks?"', "ask for one thing, in your own words"),
    ("metnos executor list", "see what Metnos can do"),
    ("metnos inbox list", "answer what waits for your yes"),
    ("metnos undo --list", "see what was changed, and take it back"),
    ("metnos audit tail", "see what was recorded, line by line"),
    ("metnos --help", "list all commands"),
)
_WIDTH = max(len(command) for command, _ in _NEXT) + 2


@click.command()
@click.pass_obj
def home(choice: Choice) -> int:
    """The chat, or the first screen."""
    workspace = choice.workspace()
    talks = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    if talks and workspace.exists():
        return _talk(choice)
    if not first_screen(choice):
        return FAILED
    if not talks:
        _show_next()
    _show_path()
    return _talk(choice) if talks else FINE


def first_screen(choice: Choice, *, quiet: bool = False) -> bool:
    """Make the workspace if there is none, check it, and show the Laws; whether all is well enough to go on."""
    workspace = choice.workspace()
    say = (lambda *_, **__: None) if quiet else click.secho
    say(f"Metnos {__version__}", bold=True)
    if not workspace.exists():
        say(f"First start: making a workspace at {workspace.root}")
        app.found(workspace)
    say("Checking that everything is well ...\n")
    checks = []
    for check in app.examine(workspace):
        checks.append(check)
        if check.level is not Level.GREEN and not quiet:
            print_check(check, len(check.name))
    say(f" {summary(checks)}\n")
    if any(check.level is Level.RED for check in checks):
        return False
    if not quiet:
        _show_laws(choice)
    return True


def _talk(choice: Choice) -> int:
    from metnos.cli.chat import chat  # heavy, and the first screen alone does not need them
    from metnos.cli.notices import fetching

    return chat(choice, fetching(open_app(choice)))


def _show_next() -> None:
    click.secho("Next", bold=True)
    for command, what in _NEXT:
        click.echo(f"  {command:<{_WIDTH}}{what}")
    click.echo()


def _show_path() -> None:
    if shutil.which("metnos") is None:
        # Started by `make run`: the program lies in an environment that the shell does not know.
        program = os.path.relpath(sys.argv[0])
        click.echo(f"Here `metnos` is {program}; `pipx install .` puts it on your PATH.\n")


def _show_laws(choice: Choice) -> None:
    opened = open_app(choice)
    click.secho("The Laws this agent is bound by", bold=True)
    for law in opened.constitution.laws:
        sentence = law.text.partition(". ")[0].rstrip(".")
        click.echo(f"  {law.number}  {law.name + ':':<21}{hanging(sentence, 26)}.")
    click.echo(f"  {hanging(f'They stand in {opened.workspace.soul}; no command changes them.', 2)}\n")
