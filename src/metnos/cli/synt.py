"""``metnos synt``: new executors, from a need to what waits for your yes."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, note, print_json, print_table, say, short
from metnos.cli.stopping import Stopping
from metnos.cli.synt_thinking import introspect
from metnos.core.clock import to_text
from metnos.core.errors import NotTrusted, UsageError
from metnos.executors import words
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Example, Need, Way
from metnos.synt.proposals import Birth, Proposal, State

if TYPE_CHECKING:
    from metnos.app.growing import Growing
    from metnos.executors.catalog import Look

_STATES = {
    State.WEIGHED: "thought of",
    State.DIRECTION: "waits for your yes to the direction",
    State.COMMISSIONED: "to be made",
    State.DRAFTED: "waits for your yes",
    State.ACTIVE: "lives",
    State.REFUSED: "refused",
    State.ABANDONED: "given up",
}
_LONGEST = 1000
_WHY = 120  # characters of a reason, while something is being made


@click.group()
def synt() -> None:
    """Have new executors made, and see what became of them."""


synt.add_command(introspect)


@synt.command()
@click.argument("need", nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="Make and examine it, show everything, and keep nothing.")
@click.option(
    "--example",
    "examples",
    multiple=True,
    metavar="JSON",
    help='What must come of what: {"args": {...}, "entries": [...]}. May be given several times.',
)
@json_option
@click.pass_obj
def draft(choice: Choice, need: tuple[str, ...], dry_run: bool, examples: tuple[str, ...], as_json: bool) -> int:
    """Have an executor made for a NEED, in your own words. It lives only after you said yes to it."""
    text = " ".join(" ".join(need).split())
    if not text:
        raise UsageError("there is no need", fix='Say what is missing: metnos synt draft "sort version numbers"')
    if len(text) > _LONGEST:
        raise UsageError(f"that is too long for one need: {len(text)} characters", fix="Say it in a few sentences.")
    growing = open_app(choice).growing
    wanted = Need(text, Way.OWNER, examples=tuple(_example(each) for each in examples))
    if dry_run:
        with Stopping() as stop:
            made = growing.draft(wanted, _progress, stop=stop)
        _tell_made(made, as_json)
        return FINE if made.green else FAILED
    growing.model()  # what cannot be made is not kept as a promise
    return _make(growing, growing.propose(wanted, "the owner asked for it"), as_json)


@synt.command()
@click.argument("proposal")
@json_option
@click.pass_obj
def make(choice: Choice, proposal: str, as_json: bool) -> int:
    """Make what you agreed to, now instead of by night. Ctrl-C stops it between two stages; nothing is lost then."""
    growing = open_app(choice).growing
    return _make(growing, growing.proposals.find(proposal), as_json)


@synt.command(name="list")
@click.option("--all", "everything", is_flag=True, help="Also what lives, was refused or was given up.")
@json_option
@click.pass_obj
def list_(choice: Choice, everything: bool, as_json: bool) -> None:
    """List what is on its way."""
    found = [each for each in open_app(choice).growing.proposals.all() if everything or each.is_open]
    if as_json:
        print_json([_data(each) for each in found])
    elif found:
        rows = [
            (short(each.id), _STATES[each.state], each.name or "-", each.need.way, each.need.text) for each in found
        ]
        print_table(("id", "state", "name", "came by", "need"), rows, drop=("came by", "name"))
    else:
        click.echo("Nothing is on its way." + ("" if everything else " What was: metnos synt list --all"))


@synt.command()
@click.argument("proposal")
@json_option
@click.pass_obj
def show(choice: Choice, proposal: str, as_json: bool) -> None:
    """Show one proposal whole: why, how it went, the code. PROPOSAL is its id, or the executor's name."""
    growing = open_app(choice).growing
    found = growing.proposals.find(proposal)
    events = growing.proposals.events(found.id)
    versions = growing.proposals.versions(found.name) if found.name else []
    look = _look(growing, found.name)
    if as_json:
        history = [{"at": to_text(each.ts), "state": each.state, "why": each.reason} for each in events]
        lived = [{"version": each.version, "digest": each.digest, "at": to_text(each.since)} for each in versions]
        print_json(_data(found) | {"history": history, "versions": lived})
        return
    click.secho(inert(found.need.text), bold=True)
    rows: list[tuple[str, Any]] = [("id", found.id), ("state", _STATES[found.state]), ("came by", found.need.way)]
    rows += [("name", found.name)] if found.name else []
    rows += [("because", found.need.evidence.says)] if found.need.evidence.says else []
    rows += [("broke", each) for each in found.need.evidence.failures]
    rows += [("refused because", each) for each in found.need.refused]
    rows += [(f"{each.ts.astimezone():%Y-%m-%d %H:%M}", f"{_STATES[each.state]}: {each.reason}") for each in events]
    rows += [(f"version {each.version}", _lived(each, look)) for each in versions]
    print_table(("what", "is"), rows)
    _show_checks(found.checks)
    if found.draft:
        _show_files(found.draft)
    _what_next(found, growing)


@synt.command()
@click.argument("name")
@click.argument("version", default="")
@click.pass_obj
def rollback(choice: Choice, name: str, version: str) -> None:
    """Put an earlier VERSION of an executor back, by default the one before. Only a person can.

    It comes back as it was when another took its place: if it was in quarantine, or switched off, it is so again.
    """
    app = open_app(choice)
    person.confirm("put a version back", f"Put {version or 'the version before'} of {name} back?", name)
    lives = app.growing.roll_back(name, version)
    back = lives.executor
    click.echo(f"{name} {back.version} is back in the place of {lives.before}.")
    if not back.usable:
        state = words.STATES[back.state]
        say(f"It is {state}, as it was: {back.reason}. To use it all the same: metnos executor enable {name}")
    if lives.ended:
        say(f"What you had allowed {name} for good was for {lives.before}, and ended: metnos policy grants")


# -- shown


def _make(growing: "Growing", proposal: Proposal, as_json: bool) -> int:
    with Stopping() as stop:
        made = growing.make(proposal, _progress, stop)
    if as_json:
        print_json(_data(made))
    elif made.state is State.DRAFTED:
        say(f"{made.name} passed every gate. See it and decide: metnos inbox show {made.activation}")
    elif made.state is State.ACTIVE:
        say(f"{made.name} lives now.")
    elif made.state is State.COMMISSIONED:
        say(f"It was stopped, and is still to be made: metnos synt make {short(made.id)}")
    else:
        say(f"It was given up: {inert(made.reason)}")
        _show_checks(made.checks)
    return FINE if made.state in (State.DRAFTED, State.ACTIVE) else FAILED


def _look(growing: "Growing", name: str) -> "Look | None":
    try:
        return growing.app.catalog.look(name) if name else None
    except NotTrusted:
        return None


def _lived(birth: Birth, look: "Look | None") -> str:
    """Since when a version lives or lived, and whether it is the one that is there now."""
    now = look is not None and look.executor is not None and look.executor.digest == birth.digest
    there = f", the one that is there: {words.STATES[look.state]}" if now and look is not None else ""
    return f"born {birth.since.astimezone():%Y-%m-%d}{there}"


def _what_next(found: Proposal, growing: "Growing") -> None:
    """What the owner can type now."""
    waits = {State.DIRECTION: found.direction, State.DRAFTED: found.activation}.get(found.state)
    if growing.births.is_agreed(found):
        note(f"You said yes, and it does not live yet: metnos synt make {short(found.id)}")
    elif waits:
        note(f"Your answer is wanted: metnos inbox show {waits}")
    elif found.state is State.COMMISSIONED:
        note(f"The night makes it. Now: metnos synt make {short(found.id)}")
    elif found.state is State.ACTIVE and len(growing.proposals.versions(found.name)) > 1:
        note(f"To put the version before back: metnos synt rollback {found.name}")


def _tell_made(made: Made, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "green": made.green,
                "abandoned": made.abandoned,
                "stage": made.stage,
                "rejections": made.rejections,
                "checks": [{"gate": each.gate, "problem": each.problem} for each in made.checks],
                "files": {name: text.decode() for name, text in made.draft.contents().items()} if made.draft else {},
                "usage": dict(made.usage),
            }
        )
        return
    _show_checks(made.checks)
    if made.draft:
        _show_files(made.draft)
    say("It passed every gate. Nothing was kept." if made.green else f"It was given up: {inert(made.abandoned)}")


def _show_checks(checks: tuple[Check, ...]) -> None:
    for each in checks:
        mark = click.style("✓", fg="green") if each.passed else click.style("✗", fg="red")
        click.echo(f" {mark} {inert(each.gate)}{': ' + inert(each.problem) if each.problem else ''}")


def _show_files(draft: Draft) -> None:
    for name, content in draft.contents().items():
        click.secho(f"\n{draft.name}/{name}", bold=True)
        click.echo(inert_lines(content.decode()))


def inert_lines(text: str) -> str:
    """A text of several lines without anything that a terminal would obey."""
    return "\n".join(inert(line) for line in text.splitlines())


def _progress(stage: str, what: str) -> None:
    if sys.stderr.isatty():
        note(f"{stage} …" if not what else f"{stage} again, because {inert(what)[:_WHY]} …")


def _example(text: str) -> Example:
    fix = 'Write it like {"args": {"texts": ["a b"]}, "entries": [{"text": "a b", "title": "A B"}]}.'
    try:
        said = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the example is no JSON: {error}", fix=fix) from error
    if not isinstance(said, dict) or not isinstance(said.get("args"), dict) or set(said) - {"args", "entries", "error"}:
        raise UsageError("an example has args, and entries or an error", fix=fix)
    entries = said.get("entries", [])
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise UsageError("the entries of an example are a list of objects", fix=fix)
    return Example(said["args"], tuple(entries), str(said.get("error", "")))


def _data(each: Proposal) -> dict[str, Any]:
    return {
        "id": each.id,
        "state": each.state,
        "way": each.need.way,
        "name": each.name,
        "need": each.need.text,
        "reason": each.reason,
        "evidence": {"says": each.need.evidence.says, "turns": list(each.need.evidence.turns)},
        "direction": each.direction,
        "activation": each.activation,
        "digest": each.digest,
        "checks": [{"gate": check.gate, "problem": check.problem} for check in each.checks],
        "files": {name: text.decode() for name, text in each.draft.contents().items()} if each.draft else {},
    }
