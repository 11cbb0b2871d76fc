"""Asking for a passphrase: from the terminal, or from a file that is the owner's alone."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from metnos.core.errors import KeyFileError

Command = TypeVar("Command", bound=Callable[..., Any])


def passphrase_option(command: Command) -> Command:
    """The ``--passphrase-file`` of both commands that seal or open keys."""
    kind = click.Path(path_type=Path, dir_okay=False, exists=True)
    return click.option("--passphrase-file", type=kind, help="Read the passphrase from this file's first line.")(
        command
    )


def read_passphrase(file: Path | None, *, confirm: bool) -> str:
    if file is None:
        if not sys.stdin.isatty():
            raise click.UsageError("there is no terminal to ask for the passphrase: use --passphrase-file")
        answer: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
        return answer
    if file.stat().st_mode & 0o077:
        raise KeyFileError(f"others can read the passphrase in {file}", fix=f"chmod 600 {file}")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(
            f"the passphrase in {file} cannot be read", fix="Put it on the first line, as text."
        ) from error
    return (text.splitlines() or [""])[0]
