"""``metnos`` alone on a terminal: talking to it.

Rules: an interrupt at the prompt gives the line up, one during a turn cancels the turn, and neither ends the chat; an
error is said, and the chat goes on. What begins with a slash is a command of the terminal, never a request.
"""

import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metnos.cli import COMMANDS, FINE, Choice, cli, show_error
from metnos.cli.asking import ask
from metnos.cli.output import inert
from metnos.cli.speaking import Speak, speaker
from metnos.cli.telling import Telling, follow
from metnos.core import files
from metnos.core.errors import MetnosError, UsageError
from metnos.core.ids import UlidMaker
from metnos.core.settings import load
from metnos.core.workspace import Workspace

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings

Notices = Callable[[], list[str]]
Read = Callable[[], str]

_HELP = (
    ("/dry TEXT", "show what TEXT would do, and do nothing"),
    ("/undo", "take back the last change"),
    ("/why", "see how the last answer came about"),
    ("/inbox", "see what waits for your yes"),
    ("/new", "begin a new conversation"),
    ("/help", "show this"),
    ("/quit", "leave; so does Ctrl-D"),
)
_WIDTH = max(len(name) for name, _ in _HELP) + 2
_ELSEWHERE = frozenset({"ask", "serve", "completion"})  # they make no sense inside a chat
# What people type without a stroke, and can mean nothing else.
_MEANT = {"quit": "/quit", "exit": "/quit", "esci": "/quit", "undo": "/undo", "annulla": "/undo"}
_COMMAND = re.compile(r"/([a-z]*)(?:\s+(.*))?", re.DOTALL)
_HISTORY_BYTES = 1 << 20  # more of the past than anybody scrolls back to
_POLL_S = 20.0  # how often an idle prompt looks whether there is something to tell


def chat(choice: Choice, notices: Notices = list) -> int:
    """Talk until the owner leaves."""
    click.secho("Metnos", bold=True, nl=False)
    click.echo(": say what you want. /help shows what else there is, Ctrl-D leaves.")
    workspace = choice.workspace()
    read = _reader(workspace, notices)
    seconds = load(workspace.settings).settings.turn.prompt_s
    while True:
        with speaker(choice, UlidMaker()()) as speak:
            if not Conversation(choice, speak, seconds).go_on(read):
                return FINE
        click.echo("A new conversation: what was said before is not in it.")


class Conversation:
    """One conversation: reads, runs, shows."""

    def __init__(self, choice: Choice, speak: Speak, seconds: float) -> None:
        self._choice = choice
        self._speak = speak
        self._seconds = seconds
        self._turn = ""

    def go_on(self, read: Read) -> bool:
        """Take one line after the other; returns whether a new conversation is wanted."""
        while True:
            try:
                text = read().strip()
            except EOFError:
                return False
            except KeyboardInterrupt:
                continue
            text = _MEANT.get(text.casefold(), text)
            if text in ("/new", "/quit"):
                return text == "/new"
            if text:
                self._try(text)
                click.echo()

    def _try(self, text: str) -> None:
        """Take a line; whatever goes wrong is said, and the chat goes on."""
        try:
            self.take(text)
        except click.ClickException as error:
            error.show()
        except MetnosError as error:
            show_error(error)
        except OSError as error:
            show_error(MetnosError(f"the system refused: {error.strerror or error}"))
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)

    def take(self, text: str) -> None:
        """One line that the owner typed."""
        command = _COMMAND.fullmatch(text)
        if command is None or (not _is_command(command[1]) and Path(f"/{command[1]}").exists()):
            self._ask(text, dry_run=False)
            return
        name, rest = command[1], (command[2] or "").strip()
        if name == "dry":
            if not rest:
                raise UsageError("nothing to rehearse", fix="Write it behind: /dry move a.txt to b.txt")
            self._ask(rest, dry_run=True)
        elif name == "help":
            _show_help()
        elif _is_command(name):
            self._run(name, rest)
        else:
            raise UsageError(f"there is no /{name}", fix="See what there is: /help")

    def _ask(self, text: str, *, dry_run: bool) -> None:
        with Telling(streams=True) as telling:
            ended = follow(self._speak(text, dry_run), telling, partial(ask, seconds=self._seconds))
            telling.finish(ended, "/")
        self._turn = ended.turn

    def _run(self, name: str, rest: str) -> None:
        """A command of ``metnos``, as if typed into the shell."""
        try:
            words = shlex.split(rest)
        except ValueError as error:
            raise UsageError(f"this cannot be read: {error}", fix="Close the quotes.") from error
        command = cli.get_command(click.Context(cli), name)
        if not words and isinstance(command, click.Group) and "list" in command.commands:
            words = ["list"]
        if not words and name == "why" and self._turn:
            words = [self._turn]
        line = ["--workspace", str(self._choice.workspace().root), name, *words]
        try:
            cli.main(line, prog_name="metnos", standalone_mode=False)
        except click.Abort:
            click.echo(err=True)


def _is_command(name: str) -> bool:
    return name in {"dry", "help"} or (name in COMMANDS and name not in _ELSEWHERE)


def _show_help() -> None:
    click.echo("Say what you want in your own words: find the PDFs in ~/Documents that are larger than 1 MB")
    for name, what in _HELP:
        click.echo(f"  {name:<{_WIDTH}}{what}")
    click.echo("Other commands of `metnos` work too: /doctor, /executor list, /policy table …")
    click.echo("Alt-Enter, or a \\ at its end, continues a line. Ctrl-C stops what goes on.")


# -- the prompt


def _reader(workspace: Workspace, notices: Notices) -> Read:
    """What reads a request: with a history, over several lines, and telling what there is to tell before and while."""
    session = _session(workspace)

    def read() -> str:
        _tell(_news(notices))
        return session.prompt(pre_run=lambda: _watch(session, notices))

    return read


def _session(workspace: Workspace) -> "PromptSession[str]":
    from prompt_toolkit import PromptSession  # a quarter of a second that only a chat pays
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.shortcuts import CompleteStyle

    names = ["dry", "help", "new", "quit", *(name for name in COMMANDS if name not in _ELSEWHERE)]
    return PromptSession(
        "> ",
        multiline=True,
        prompt_continuation="  ",
        key_bindings=_keys(),
        history=FileHistory(str(_history(workspace))),
        completer=WordCompleter([f"/{name}" for name in names], sentence=True),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
        reserve_space_for_menu=0,
    )


def _keys() -> "KeyBindings":
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _history(workspace: Workspace) -> Path:
    """The file of what was typed: the owner's alone, and bounded."""
    path = workspace.history
    files.create(path, b"", mode=files.PRIVATE_FILE)
    content = path.read_bytes()
    if len(content) > _HISTORY_BYTES:
        _, _, kept = content[-_HISTORY_BYTES // 2 :].partition(b"\n\n")  # an entry begins behind an empty line
        files.replace(path, kept, mode=files.PRIVATE_FILE)
    return path


def _watch(session: "PromptSession[str]", notices: Notices) -> None:
    """While nobody types, look now and then for something to tell, and tell it above the prompt."""
    import asyncio

    from prompt_toolkit.application import run_in_terminal

    async def watch() -> None:
        while True:
            await asyncio.sleep(_POLL_S)
            found = _news(notices)
            if found:
                await run_in_terminal(partial(_tell, found))

    session.app.create_background_task(watch())


def _news(notices: Notices) -> list[str]:
    """What there is to tell. What cannot be read now is told later: it must not stand between the owner and a chat."""
    try:
        return notices()
    except MetnosError:
        return []


def _tell(found: list[str]) -> None:
    for text in found:
        click.secho(f"• {inert(' '.join(text.split()))}", fg="yellow")
