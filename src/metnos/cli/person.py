"""Who types this command, and what only a person may say.

Rules: a person is at the terminal that controls this process, with its standard input; everything else is a script,
which asks as the owner does and answers nothing. What only a person may say is shown first and typed then: it is read
from that terminal itself, and what was typed before it was shown is thrown away. No option, setting or variable answers
in their place. Does not guarantee that a person types: a program of the same account can make a terminal of its own.
"""

import io
import os
import termios

import click

from metnos.cli.output import inert
from metnos.core.descriptors import has_input
from metnos.core.errors import Refused
from metnos.core.terminal import CONTROLLING, is_at_terminal
from metnos.law.principal import Channel, Principal, at_terminal, of_account

YES = "yes"
_LINE = 4096  # as much as a terminal hands over at once
_PATIENCE_S = 600.0  # for whoever reads what is asked


def principal() -> Principal:
    """The owner as they come by this command: in person, or by a script."""
    return at_terminal() if is_at_terminal() else of_account(Channel.SCRIPT)


def require(what: str) -> Principal:
    """The owner in person; raises `Refused` where no person can type. ``what`` is what only they may do."""
    found = principal()
    if not found.may_answer:
        raise Refused(
            f"only a person may {what}, and here is no terminal to type at",
            fix="Type this command at a terminal, without a pipe. There is no option for it.",
        )
    return found


def confirm(what: str, question: str, word: str = YES) -> Principal:
    """Have a person type ``word`` to ``question``; returns who said so. Raises `Refused` after anything else."""
    by = require(what)
    typed = read_line(f"{inert(question)} Type {inert(word)} to go on: ", _PATIENCE_S)
    if typed is None or typed.strip() != word:
        raise Refused("not confirmed: nothing was done", fix=f"To {what}, type exactly: {word}")
    return by


def read_line(prompt: str, seconds: float) -> str | None:
    """One line that is typed after the prompt was shown; nothing at the end of input, or when it takes too long."""
    with open_keys() as keys:
        source = keys.fileno()
        termios.tcflush(source, termios.TCIFLUSH)
        click.echo(prompt, err=True, nl=False)
        line = os.read(source, _LINE) if has_input(source, seconds) else b""
    if not line:
        click.echo(err=True)
        return None
    return line.decode(errors="replace")


def open_keys() -> io.FileIO:
    """The terminal that controls this process, to be read."""
    return io.FileIO(CONTROLLING, "r")
