"""What commands print: tables and colours on a terminal, plain aligned text in a pipe, JSON when asked for.

Rules: nothing that comes from outside is ever read as markup; a pipe gets whole lines and whole tables, never cut or
wrapped to a width. A terminal breaks between words; a table that is too wide for it loses its least important columns,
and says which, before an id or a number is broken.
"""

import json
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO, TypeVar

import click

from metnos.cli.live import columns as columns_of
from metnos.core.errors import UsageError
from metnos.core.records import Check, Level

COLOURS = {Level.GREEN: "green", Level.YELLOW: "yellow", Level.RED: "red"}
MARKS = {Level.GREEN: "✓", Level.YELLOW: "!", Level.RED: "✗"}

_NARROW = 30  # columns; below this, wrapping does more harm than good
_PROSE = 14  # columns that a cell of several words gets at least before a whole column is left out
_WHOLE = 20  # columns: so little is broken only where nothing else helps
_WORD = 26  # columns: a longer word, such as a path, may be broken
_GAP = 2  # between two columns
_SHORT = 8  # the last letters of an id are the ones that differ

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """The ``--json`` that every command which lists something has."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def print_json(data: Any) -> None:
    """Readable as it is, but for what a terminal could obey: that stands escaped, which JSON reads the same."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    click.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    styles: Mapping[int, str] | None = None,
    drop: Sequence[str] = (),
) -> None:
    """Rows under headings: drawn on a terminal, aligned in a pipe. ``styles`` colours whole rows by their index.

    ``drop`` names the columns that a narrow terminal can do without, the least important first.
    """
    columns = [inert(name) for name in columns]
    texts = [[inert(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _print_plain([list(columns), *texts])
        return
    from rich.console import Console  # a third of a second that a pipe need not pay
    from rich.table import Table
    from rich.text import Text

    width = columns_of(sys.stdout)
    shown = [columns, *texts]
    kept = fitting(shown, [columns.index(name) for name in drop if name in columns], width)
    whole = next((size for size in (_WHOLE, 1) if _least(shown, kept, size) <= width), 0)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
    for place in kept:
        table.add_column(columns[place], overflow="fold", no_wrap=_is_whole([row[place] for row in texts], whole))
    for index, row in enumerate(texts):
        style = (styles or {}).get(index, "")
        table.add_row(*(Text(row[place], style=style) for place in kept))
    Console(width=width).print(table)
    left = [name for place, name in enumerate(columns) if place not in kept and name]
    if left:
        click.secho(hanging(f"(no room for: {', '.join(left)}; a wider window or --json has all)", 0), dim=True)


def fitting(rows: Sequence[Sequence[str]], drop: Sequence[int], width: int) -> list[int]:
    """The columns that a terminal of this width has room for; only those in ``drop`` go, in that order."""
    kept = list(range(len(rows[0])))
    for place in drop:
        if _least(rows, kept) <= width:
            break
        kept.remove(place)
    return kept


def _least(rows: Sequence[Sequence[str]], kept: Sequence[int], whole: int = 1) -> int:
    """How wide a table of these columns is at least."""
    from rich.cells import cell_len

    total = _GAP * (len(kept) - 1)
    for place in kept:
        cells = [row[place] for row in rows]
        longest = max(map(cell_len, cells))
        word = max((cell_len(part) for cell in cells for part in cell.split()), default=0)
        broken = min(longest, max(_PROSE, min(word, _WORD)))
        total += longest if _is_whole(cells[1:], whole) else broken
    return total


def _is_whole(cells: Sequence[str], whole: int) -> bool:
    """Whether no cell is broken: single words never are, several not where they are as short as ``whole``."""
    from rich.cells import cell_len

    return whole > 0 and all(" " not in cell or cell_len(cell) <= whole for cell in cells)


def say(text: str, indent: int = 0, further: int = 0) -> None:
    """A paragraph: broken between words on a terminal, and what goes on stands below its beginning, or further in."""
    click.echo(" " * indent + wrapped(inert(text), sys.stdout, indent + further, indent))


def print_check(check: Check, width: int) -> None:
    """One line of the doctor, and a second one with what to type if something is to be done."""
    click.secho(f" {MARKS[check.level]} ", fg=COLOURS[check.level], bold=True, nl=False)
    click.secho(f"{check.name:<{width}}", bold=True, nl=False)
    click.echo(f"  {hanging(inert(check.found), width + 5)}")
    if check.fix:
        click.secho(f"   {'':<{width}}  → {hanging(inert(check.fix), width + 7)}", fg="cyan")


def short(key: str) -> str:
    """An id for a list: on a terminal its last letters, by which every command finds it again; whole in a pipe."""
    return key[-_SHORT:] if sys.stdout.isatty() else key


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
    click.secho(wrapped(f"note: {inert(text)}", sys.stderr), fg="yellow", err=True)


def inert(text: str) -> str:
    """Text from outside without what a terminal would obey: control characters are shown as their number."""
    return "".join(char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text)


def hanging(text: str, indent: int) -> str:
    """On a terminal, long text goes on below its own beginning; a pipe gets it in one line."""
    return wrapped(text, sys.stdout, indent)


def wrapped(text: str, stream: TextIO, indent: int = 0, first: int | None = None) -> str:
    """The same on another stream; ``first`` columns are taken before the first line, ``indent`` before the others."""
    columns, taken = columns_of(stream), " " * (indent if first is None else first)
    if not stream.isatty() or columns - indent < _NARROW:
        return text
    lines = textwrap.wrap(
        text,
        columns,
        initial_indent=taken,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).removeprefix(taken)


def _print_plain(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())
