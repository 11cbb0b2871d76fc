"""The two questions about new executors, shown so that somebody can decide who has never read a line about Metnos.

Rules: the parts and their order are `metnos.app.questions`'; at the end stands what to type. Everything that comes from
a request, a model or another instance is text and never obeyed.
"""

import sys
from collections.abc import Iterable
from typing import Any

import click

from metnos.app import questions
from metnos.app.questions import CODE, DIFF, PAIRS, TESTS, Part
from metnos.cli.output import inert, say, short, wrapped
from metnos.core.clock import to_text
from metnos.law.inbox import ADOPTION, DIRECTION, Item, State, Yes

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def describe(item: Item, yeses: Iterable[Yes], *, asks: bool = True) -> None:
    """One question about a direction or about a new executor, whole; with ``asks`` also what to type to answer it."""
    click.secho(inert(item.title), bold=True)
    turns = [short(str(turn)) for turn in item.body.get("turns", ())]
    behind = (f"The requests behind it (metnos why ID): {', '.join(turns)}",) if turns else ()
    found = questions.parts(item)
    if not found or found[0].title != "Why":
        _part("Why", behind)
    for part in found:
        _show(part, behind if part.title == "Why" else ())
    if asks or item.state is not State.WAITING:
        _stands(item, yeses)


def difference(text: str, title: str) -> None:
    """A unified difference, coloured on a terminal."""
    if text:
        _difference(text.splitlines(), title)


def _show(part: Part, more: tuple[str, ...]) -> None:
    if part.kind == DIFF:
        _difference(part.lines, part.title)
    elif part.kind == TESTS:
        _tests(part)
    elif part.kind == CODE:
        if not part.folded:
            _head("Its code")
            click.echo("\n".join(inert(line) for line in part.text.splitlines()))
    elif part.kind == PAIRS:
        _part(part.title, (f"{name}: {value}" for name, value in part.lines))
    else:
        _part(part.title, (*part.lines, *more))


def _difference(lines: Iterable[str], title: str) -> None:
    _head(title)
    for line in lines:
        click.secho(inert(line), fg=_COLOURS.get(line[:1]))


def _tests(part: Part) -> None:
    _head(part.title)
    for passed, line in part.lines:
        mark = click.style("✓", fg="green") if passed else click.style("✗", fg="red")
        click.echo(f"  {mark} {wrapped(inert(line), sys.stdout, 6, 4)}")


def _stands(item: Item, yeses: Iterable[Yes]) -> None:
    """How the question stands, and what to type."""
    if item.state is State.WAITING:
        end = f"{item.expires_at.astimezone():%Y-%m-%d %H:%M}"
        _head("What to type")
        for command, then in _typed(item):
            click.echo("  " + click.style(command, fg="cyan"))
            say(then, 6)
        say(f"No answer until {end} is no. Asked by {item.asked_by}.", 2, 2)
        return
    said = [f"It is {item.state}.", *(f"yes: {to_text(yes.ts)} by {yes.by}" for yes in yeses)]
    if item.reason:
        said.append(f"{item.answered_by}: {item.reason}")
    _part("Your answer", said)


def _part(title: str, lines: Iterable[Any]) -> None:
    """A heading with its lines; nothing where there are none."""
    shown = [str(line) for line in lines if line]
    if not shown:
        return
    _head(title)
    for line in dict.fromkeys(shown):
        say(line, 2, 2)


def _head(title: str) -> None:
    click.secho(f"\n{inert(title)}", bold=True)


def _typed(item: Item) -> tuple[tuple[str, str], ...]:
    """What the owner can type now, each with what comes of it."""
    key = short(item.id)
    yes, no = f"metnos inbox approve {key}", f"metnos inbox refuse {key}"
    if item.kind == DIRECTION:
        return ((yes, "yes"), (no, "no"))
    if item.kind == ADOPTION:
        return ((yes, f"sign it; you are asked to type {item.word}"), (no, "no"))
    return (
        (yes, f"let it live; you are asked to type {item.word}"),
        (f'{no} --reason "..."', "have another made that heeds your reason"),
        (no, "no, and none at all"),
        (f"metnos inbox edit {key}", "change its code yourself; it is tried again"),
        (f"metnos inbox show {key} --json", "everything, with all its files"),
    )
