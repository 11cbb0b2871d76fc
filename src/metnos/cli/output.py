"""What commands print: tables and colours on a terminal, plain aligned text in a pipe, JSON when asked for.

Rules: nothing that comes from outside is ever read as markup; a pipe gets whole lines, never cut or wrapped to a width.
"""

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from metnos.core.errors import UsageError
from metnos.core.records import Check, Level

COLOURS = {Level.GREEN: "green", Level.YELLOW: "yellow", Level.RED: "red"}
MARKS = {Level.GREEN: "✓", Level.YELLOW: "!", Level.RED: "✗"}

_NARROW = 30  # columns; below this, wrapping does more harm than good

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """The ``--json`` that every command which lists something has."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def print_json(data: Any) -> None:
    """Readable as it is, but for what a terminal could obey: that stands escaped, which JSON reads the same."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    click.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], styles: Mapping[int, str] | None = None
) -> None:
    """Rows under headings: drawn on a terminal, aligned in a pipe. ``styles`` colours whole rows by their index."""
    columns = [inert(name) for name in columns]
    texts = [[inert(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _print_plain([list(columns), *texts])
        return
    from rich.console import Console  # a third of a second that a pipe need not pay
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name, overflow="fold")
    for index, row in enumerate(texts):
        style = (styles or {}).get(index, "")
        table.add_row(*(Text(cell, style=style) for cell in row))
    Console().print(table)


def print_check(check: Check, width: int) -> None:
    """One line of the doctor, and a second one with what to type if something is to be done."""
    click.secho(f" {MARKS[check.level]} ", fg=COLOURS[check.level], bold=True, nl=False)
    click.secho(f"{check.name:<{width}}", bold=True, nl=False)
    click.echo(f"  {hanging(inert(check.found), width + 5)}")
    if check.fix:
        click.secho(f"   {'':<{width}}  → {hanging(inert(check.fix), width + 7)}", fg="cyan")


def counted(number: int, noun: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def confirm(question: str) -> None:
    """Go on only after a yes. Where nobody is there to be asked, say how to do it all the same."""
    if not sys.stdin.isatty():
        raise UsageError(f"nobody is there to be asked: {question}", fix="Say yes beforehand: --yes")
    click.confirm(question, abort=True)


def note(text: str) -> None:
    """Something worth knowing that is not the answer."""
    click.secho(f"note: {inert(text)}", fg="yellow", err=True)


def inert(text: str) -> str:
    """Text from outside without what a terminal would obey: control characters are shown as their number."""
    return "".join(char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text)


def hanging(text: str, indent: int) -> str:
    """On a terminal, long text goes on below its own beginning; a pipe gets it in one line."""
    columns = shutil.get_terminal_size().columns - indent
    if not sys.stdout.isatty() or columns < _NARROW:
        return text
    lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def _print_plain(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())
