"""Asking the owner at the terminal before something is done.

Rules: only a yes that was typed after the question was seen counts: what was typed before is thrown away, the second
yes for what cannot be taken back is a whole word, what would live is named in full, and anything that is no answer asks
again. It is read from the terminal that controls this process (`metnos.cli.person`). Nothing waits forever: no
answer in time, or an end of input, leaves the question in the inbox, and makes nothing of an offer. Whatever is shown
is inert and bounded, and says how much it leaves out. It is all on standard error, so that an answer can go into a
pipe.
"""

import sys
import textwrap
from typing import Any

import click

from metnos.cli import person
from metnos.cli.asking_words import words
from metnos.cli.live import columns, lasted
from metnos.cli.output import counted, inert
from metnos.core.clock import from_text
from metnos.turn.events import BIRTH, OFFER, Answer, Spoken, Typed, Wanted

_MOST_LINES = 40
_MOST_CHARACTERS = 400  # of one line
_NARROW = 20  # columns that a text gets at least
_STYLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("  +++", {"bold": True}),
    ("  ---", {"bold": True}),
    ("  @@", {"fg": "cyan"}),
    ("  +", {"fg": "green"}),
    ("  -", {"fg": "red"}),
)


def can_answer() -> bool:
    """Whether a person can read a question here and type."""
    return sys.stderr is not None and sys.stderr.isatty() and person.principal().may_answer


def ask(wanted: Wanted, seconds: float) -> Spoken:
    """Show what would happen and take the owner's answer; nobody there, or none in time, is `LATER`."""
    if not can_answer():
        return Answer.LATER
    said = words(wanted.language)
    _show(wanted, seconds)
    while True:
        line = person.read_line(_prompt(wanted), seconds)
        if line is None:
            click.echo(_wrapped(said.nobody_to_offer if wanted.about == OFFER else said.nobody), err=True)
            return Answer.LATER
        typed = line.strip().lower()
        answer = Typed(wanted.word) if wanted.word and line.strip() == wanted.word else _understand(wanted, typed)
        if answer is not None:
            return answer
        if typed in said.why and wanted.why:
            _show_why(wanted)
        elif typed in said.all:
            _show_lines(wanted.lines, said.all[-1], whole=True)
        else:
            _show_choices(wanted)


def _understand(wanted: Wanted, typed: str) -> Spoken | None:
    """The answer in what was typed. A second yes is the whole word: a finger that repeats itself is no decision."""
    said = words(wanted.language)
    if typed in said.yes and not wanted.word and (not wanted.yes or len(typed) > 1):
        return Answer.YES
    if typed in said.no:
        return Answer.NO
    if typed in said.later:
        return Answer.LATER
    return Answer.ALWAYS if typed in said.always and _may_always(wanted) else None


def _may_always(wanted: Wanted) -> bool:
    return bool(wanted.always) and not wanted.yes


def _prompt(wanted: Wanted) -> str:
    said = words(wanted.language)
    if wanted.yes:
        return f"{said.do_all_the_same} [{said.yes[-1]}/{said.no[0]}/{said.why[-1]}]: "
    asked = {OFFER: said.make_it, BIRTH: said.let_it_live}.get(wanted.about, said.do_this)
    always = f"/{said.always[-1]}" if _may_always(wanted) else ""
    yes = _one_line(wanted.word) if wanted.word else said.yes[0]
    why = f"/{said.why[-1]}" if wanted.why else ""
    return f"{asked} [{yes}/{said.no[0]}{always}{why}]: "


def _show_choices(wanted: Wanted) -> None:
    said = words(wanted.language)
    click.echo(_wrapped(said.choose), err=True)
    yes = _one_line(wanted.word) if wanted.word else said.yes[-1 if wanted.yes else 0]
    names = (yes, said.no[0], said.later[-1], said.always[-1], said.why[-1], said.all[-1])
    possible = (True, True, bool(wanted.item), _may_always(wanted), bool(wanted.why), _is_cut(wanted.lines))
    first = {OFFER: said.to_make, BIRTH: said.to_live}.get(wanted.about, said.meanings[:2])
    for name, what, can in zip(names, (*first, *said.meanings[2:]), possible, strict=True):
        if can:
            click.echo(f"  {name:<8}{what}", err=True)


# -- showing


def _show(wanted: Wanted, seconds: float) -> None:
    if wanted.yes:
        click.echo(f"Yes {wanted.yes} of {wanted.needs}: {_one_line(wanted.title)}", err=True)
        return
    click.secho(_one_line(wanted.title), bold=True, err=True)
    said = words(wanted.language)
    _show_lines(wanted.lines, said.all[-1], whole=False)
    if wanted.reversal:
        click.echo(_wrapped(f"It {_one_line(wanted.reversal)}."), err=True)
    if _may_always(wanted):
        always = said.if_always.format(always=said.always[-1], what=_one_line(wanted.always))
        click.echo(_wrapped(always), err=True)
    unanswered = said.not_answered if wanted.about == OFFER else said.unanswered
    waits = unanswered.format(seconds=lasted(seconds * 1000), until=_until(wanted.expires))
    click.secho(_wrapped(waits), dim=True, err=True)


def _show_lines(lines: tuple[str, ...], all_of_it: str, *, whole: bool) -> None:
    for line in lines if whole else lines[:_MOST_LINES]:
        style = next((style for start, style in _STYLES if line.startswith(start)), {})
        text = _one_line(line) if whole else _cut(_one_line(line))
        click.secho(f"  {text}", err=True, **style)
    if not whole and _is_cut(lines):
        more = len(lines) - _MOST_LINES
        what = f"… {counted(more, 'more line')}" if more > 0 else "… long lines are cut"
        click.secho(f"  {what}; type {all_of_it} to see everything", fg="yellow", err=True)


def _show_why(wanted: Wanted) -> None:
    click.secho(words(wanted.language).which_rules, bold=True, err=True)
    width = max((len(step) for step, _, _ in wanted.why), default=0)
    for step, verdict, reason in wanted.why:
        head = f"  {_one_line(step):<{width}}  {_one_line(verdict.replace('_', ' ')):<9}  "
        click.echo(head + _wrapped(_one_line(reason), len(head)), err=True)


def _is_cut(lines: tuple[str, ...]) -> bool:
    return len(lines) > _MOST_LINES or any(len(_one_line(line)) > _MOST_CHARACTERS for line in lines)


def _cut(text: str) -> str:
    left = len(text) - _MOST_CHARACTERS
    return f"{text[:_MOST_CHARACTERS]}… ({left:,} more characters)" if left > 0 else text


def _one_line(text: str) -> str:
    """Inert, and in one line: a line break in it could look like a question of ours."""
    return inert(text.replace("\n", "\\n"))


def _wrapped(text: str, indent: int = 2) -> str:
    """Broken between words where the terminal ends; what goes on is indented, so that it looks like no prompt."""
    width = max(columns(sys.stderr) - indent, _NARROW)
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def _until(expires: str) -> str:
    try:
        return f"{from_text(expires).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return _one_line(expires)
