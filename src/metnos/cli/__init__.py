"""The terminal: one file per command group.

Rules: a command is loaded when it is called, so ``metnos --help`` stays quick; the short help of each stands in the
table below, and a test holds it to the command's own. Exit codes: 0 fine, 1 the thing failed, 2 the command line is
wrong, 3 it waits for the owner's yes, 130 interrupted. Answers go to standard output, all else to standard error.
"""

import importlib
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metnos import __version__
from metnos.core.errors import MetnosError, UsageError, Waiting

if TYPE_CHECKING:
    from metnos.core.workspace import Workspace

FINE, FAILED, WRONG_USAGE, WAITS, INTERRUPTED = 0, 1, 2, 3, 130

# Name: where the command is, and what it does in a few words.
COMMANDS = {
    "open": ("metnos.cli.opening_page:open_", "Open the web page; starts Metnos if it does not run."),
    "ask": ("metnos.cli.ask:ask", "Ask for something in your own words, once."),
    "why": ("metnos.cli.why:why", "See how an answer came about: path, candidates, permits, costs."),
    "turns": ("metnos.cli.turns:turns", "List and show what was asked and done."),
    "feedback": ("metnos.cli.turns:feedback", "Say whether an answer was good or bad."),
    "init": ("metnos.cli.init:init", "Make a workspace, or what is missing of it."),
    "doctor": ("metnos.cli.doctor:doctor", "Check that everything Metnos needs is well, sandbox included."),
    "executor": ("metnos.cli.executor:executor", "See, run, switch and sign executors."),
    "synt": ("metnos.cli.synt:synt", "Have new executors made, and see what became of them."),
    "arena": ("metnos.cli.arena:arena", "See which executors bring a goal nearer, and which do not."),
    "inbox": ("metnos.cli.inbox:inbox", "Answer what Metnos asks before it acts."),
    "policy": ("metnos.cli.policy:policy", "See what may happen and why, and allow things in advance."),
    "undo": ("metnos.cli.undo:undo", "Take back what was done to files."),
    "redo": ("metnos.cli.undo:redo", "Do again what was undone."),
    "model": ("metnos.cli.model:model", "Find, fetch, choose and test language models."),
    "device": ("metnos.cli.device:device", "Let browsers, programs and messengers in, and end them."),
    "mcp": ("metnos.cli.mcp:mcp", "Serve MCP clients, and use tools of MCP servers."),
    "serve": ("metnos.cli.serve:serve", "Keep Metnos running: warm, reminding, working at night."),
    "telegram": ("metnos.cli.telegram:telegram", "Talk to Metnos through a Telegram bot of your own."),
    "service": ("metnos.cli.service:service", "Have systemd keep Metnos running."),
    "jobs": ("metnos.cli.jobs:jobs", "See and run what Metnos does by itself."),
    "mnestome": ("metnos.cli.mnestome:mnestome", "See what works together, what fades, and what was wished for."),
    "ager": ("metnos.cli.ager:ager", "Let the mnestome age."),
    "fastpath": ("metnos.cli.fastpath:fastpath", "See and switch off what was learnt from repeated requests."),
    "stats": ("metnos.cli.stats:stats", "See what was asked lately, and what fast paths saved."),
    "memory": ("metnos.cli.memory:memory", "See what is remembered; tell, pin and forget."),
    "life": ("metnos.cli.life:life", "See how alive this agent is; retire it; see whom it comes from."),
    "lab": ("metnos.cli.lab:lab", "Measure what generations gain by what they inherit."),
    "context": ("metnos.cli.context:context", "See exactly what a language model was sent."),
    "config": ("metnos.cli.config:config", "Show or change settings."),
    "audit": ("metnos.cli.audit:audit", "Read and prove the record of what was done."),
    "backup": ("metnos.cli.backup:backup", "Back up the whole workspace, also while it is in use."),
    "restore": ("metnos.cli.restore:restore", "Put a backup back."),
    "completion": ("metnos.cli.completion:completion", "Print the shell completion script."),
    "version": ("metnos.cli.version:version", "Print the version."),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What was said before the command."""

    named: str | None

    def workspace(self) -> "Workspace":
        from metnos.core.settings import find_workspace  # heavy, and --help does not need it

        return find_workspace(self.named)


class LazyGroup(click.Group):
    """A group that imports a command only when it runs, and lists it from the table alone."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 the thing failed, 2 the command line is wrong, 3 it waits for your approval."
    " Start with `metnos init`.",
)
@click.option(
    "--workspace",
    metavar="FOLDER",
    help="The workspace to use. Default: $METNOS_HOME, else ~/.local/share/metnos.",
)
@click.version_option(__version__, "--version", prog_name="metnos", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, workspace: str | None) -> int:
    """Metnos: a self-hosted agent that does, remembers, forgets and grows."""
    ctx.obj = Choice(workspace)
    ctx.color = _colour()
    if ctx.invoked_subcommand is None:
        from metnos.cli.home import home  # the first screen, or the chat; loaded only when it is shown

        return int(ctx.invoke(home))
    return FINE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    ours = sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name may be no text, and must not stop an answer
    try:
        code = cli.main(arguments, prog_name="metnos", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("\ninterrupted", err=True)
        return INTERRUPTED
    except MetnosError as error:
        return show_error(error)
    except SystemExit:
        # Click ends so when whoever reads us has enough, which is no failure, and puts another stream in place of ours.
        # It also ends so, but with ours in place, after it completed a line for the shell.
        if sys.stdout is not ours:
            _mute()
            return FINE
        raise
    except OSError as error:
        # A border: whatever the system refuses ends as a sentence and not as a traceback.
        where = f": {error.filename}" if error.filename else ""
        refused = f"the system refused: {error.strerror or error}{where}"
        show_error(MetnosError(refused, fix="Check who owns it, and the disk."))
        _mute()
        return FAILED
    return code if isinstance(code, int) else FINE


def _mute() -> None:
    """Send what is still in the buffer nowhere: Python would fail on it once more while it shuts down."""
    if sys.__stdout__ is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())


def show_error(error: MetnosError) -> int:
    """Print what went wrong and what to do; returns the exit code."""
    from metnos.cli.output import inert, wrapped  # only for a message, which may hold names from anywhere

    waits, colour = isinstance(error, Waiting), _colour()
    what, style = ("waits: ", "yellow") if waits else ("error: ", "red")
    click.secho(what, fg=style, bold=True, err=True, nl=False, color=colour)
    click.echo(wrapped(inert(error.what), sys.stderr, len(what)), err=True)
    if error.fix:
        click.secho("   to: " if waits else "  fix: ", fg="cyan", bold=True, err=True, nl=False, color=colour)
        click.echo(wrapped(inert(error.fix), sys.stderr, len(what)), err=True)
    return WAITS if waits else WRONG_USAGE if isinstance(error, UsageError) else FAILED


def _colour() -> bool | None:
    """No colours where NO_COLOR says so, which click does not look at; else as the stream allows."""
    from metnos.core.settings import variable  # heavy, and --help does not need it

    return False if variable("NO_COLOR") else None
