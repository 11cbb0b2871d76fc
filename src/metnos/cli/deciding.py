"""The two questions about new executors, shown so that somebody can decide who has never read a line about Metnos.

Rules: what speaks for it comes first, then what it may do and may never do, how it was tried, the code, and at the end
what to type. Everything that comes from a request, a model or another instance is text and never obeyed.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

from metnos.cli.output import inert, say, short, wrapped
from metnos.core.clock import to_text
from metnos.law.inbox import DIRECTION, Item, State, Yes

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_CODE = "executor.py"
_CHECKS = {  # what else was looked at, in words; what only says that it is well written is not worth a line
    "static gate": "nothing in its code that no executor may do",
    "capabilities used": "it uses nothing that it does not declare",
    "capabilities declared": "and declares nothing that it does not use",
    "description: words": "what it says of itself is what its code does",
    "candour": "it does not look whether it is being tried",
    "likeness": "nothing that you have does the same",
    "equality": "it does what the sequence did, on every run that was recorded",
    "mutation": "its tests notice mistakes that are put into its code",
}
_TOLD = frozenset(
    {"name", "version", "purpose", "why", "turns", "failures", "may", "effect", "never", "tests", "instead", "cost",
     "before", "version before", "state before", "changes", "difference", "difference of tests", "checks", "files",
     "proposal", "way", "direction", "need", "evidence", "uses", "days", "saved seconds"}
)  # fmt: skip
_WAYS = {
    "direct": "Metnos thought of it, because something was missing again and again.",
    "indirect": "Metnos thought of it, because a sequence is used again and again.",
    "repair": "Metnos thought of it, because an executor that it made keeps failing.",
    "external": "A request of yours could not be finished without it.",
    "owner": "You asked for it.",
    "imported": "It was brought from elsewhere.",
}


def describe(item: Item, yeses: Iterable[Yes]) -> None:
    """One question about a direction or about a new executor, whole."""
    click.secho(inert(item.title), bold=True)
    body = item.body
    _part("Why", _why(body))
    _part("What broke", body.get("failures", ()))
    if item.kind == DIRECTION:
        _part("What a yes means", _DIRECTION)
    else:
        _activation(body)
    _part("Also", (f"{name}: {_plain(value)}" for name, value in body.items() if name not in _TOLD))
    _stands(item, yeses)


def difference(text: str, title: str) -> None:
    """A unified difference, coloured on a terminal."""
    if not text:
        return
    _head(title)
    for line in text.splitlines():
        click.secho(inert(line), fg=_COLOURS.get(line[:1]))


def _activation(body: Mapping[str, Any]) -> None:
    before = body.get("version before", "")
    if before:
        _part(f"Compared with {before}, which is {body.get('state before', '')}", body.get("changes", ()))
        _part("What does not come along", _UNTRUSTED)
    else:
        _part("What changes", body.get("changes", ()))
    _part("What it may do", (*body.get("may", ()), f"It {body['effect']}." if body.get("effect") else ""))
    _part("What it may never do", body.get("never", ()))
    _part("What it would do the work of", (f"{name}: you are asked later whether to put it away"
                                           for name in body.get("instead", ())))  # fmt: skip
    _tests(body)
    _part("What making it took", (body.get("cost", ""),))
    difference(str(body.get("difference", "")), "What changed of its code")
    difference(str(body.get("difference of tests", "")), "What changed of its tests")
    files = dict(body.get("files", {}))
    if not body.get("difference") and _CODE in files:
        _head("Its code")
        click.echo("\n".join(inert(line) for line in str(files[_CODE]).splitlines()))


def _tests(body: Mapping[str, Any]) -> None:
    tests = [each for each in body.get("tests", ()) if isinstance(each, Mapping)]
    if not tests:
        return
    good = sum(bool(each.get("passed")) for each in tests)
    _head(f"How it was tried: {good} of {len(tests)} tests passed, in a sandbox")
    for each in tests:
        mark = click.style("✓", fg="green") if each.get("passed") else click.style("✗", fg="red")
        line = inert(f"{each.get('name', '')}: {each.get('given', '')} → {each.get('expected', '')}")
        click.echo(f"  {mark} {wrapped(line, sys.stdout, 6, 4)}")
    for gate in body.get("checks", ()):
        if gate in _CHECKS:
            click.echo(f"  {click.style('✓', fg='green')} {wrapped(_CHECKS[gate], sys.stdout, 6, 4)}")


def _why(body: Mapping[str, Any]) -> Iterable[str]:
    said = body.get("why", ())
    yield _WAYS.get(str(body.get("way", "")), "")
    yield str(body.get("evidence", ""))
    yield from [said] if isinstance(said, str) else map(str, said)
    if body.get("saved seconds"):
        yield f"It would have saved about {body['saved seconds']:g} seconds of planning."
    if body.get("turns"):
        yield f"The requests behind it (metnos why ID): {', '.join(short(str(turn)) for turn in body['turns'])}"


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


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


_DIRECTION = (
    "Metnos makes it, tries it in a sandbox, and shows you what came out.",
    "Nothing of it runs for you before you say yes to that, too.",
)
_UNTRUSTED = (
    "Strikes, fitness and what you allowed the old version for good: the new one starts without.",
    "The old version is kept, and one command puts it back as it is.",
)


def _typed(item: Item) -> tuple[tuple[str, str], ...]:
    """What the owner can type now, each with what comes of it."""
    key = short(item.id)
    yes, no = f"metnos inbox approve {key}", f"metnos inbox refuse {key}"
    if item.kind == DIRECTION:
        return ((yes, "yes"), (no, "no"))
    return (
        (yes, "let it live"),
        (f'{no} --reason "..."', "have another made that heeds your reason"),
        (no, "no, and none at all"),
        (f"metnos inbox edit {key}", "change its code yourself; it is tried again"),
        (f"metnos inbox show {key} --json", "everything, with all its files"),
    )
