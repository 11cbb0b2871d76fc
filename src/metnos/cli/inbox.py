"""``metnos inbox``: answer what Metnos asks before it acts."""

import json
from typing import Any

import click

from metnos.app import App, answering
from metnos.app.answering import GROWING
from metnos.cli import FAILED, FINE, Choice, asking, deciding, person
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json, print_table, short
from metnos.cli.telling import Telling, Turn, follow
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.law.inbox import ADOPTION, Item, State, Yes
from metnos.law.principal import Principal
from metnos.synt.proposals import State as Stand

_NEWEST = 50
_INTERNAL = ("preview", "effects", "principal", "turn", "now", "purpose", "executor", "files", "direction", "proposal",
             "above", "whole", "wants")  # fmt: skip


@click.group(invoke_without_command=True)
@click.pass_context
def inbox(context: click.Context) -> None:
    """Answer what Metnos asks before it acts.

    Alone, it lists what waits.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, everything=False, as_json=False)


@inbox.command(name="list")
@click.option("--all", "everything", is_flag=True, help=f"Also what is answered: the newest {_NEWEST}.")
@json_option
@click.pass_obj
def list_(choice: Choice, everything: bool, as_json: bool) -> None:
    """List the questions that wait for your answer."""
    box = open_app(choice).inbox
    items = box.newest(_NEWEST)[::-1] if everything else box.waiting()
    if as_json:
        print_json([_data(item) for item in items])
    elif items:
        rows = [(short(item.id), item.state, item.kind, _progress(item), _until(item), _asks(item)) for item in items]
        print_table(("id", "state", "kind", "yes", "until", "question"), rows, drop=("kind", "yes", "until", "state"))
    else:
        click.echo("Nothing waits for you.")


@inbox.command()
@click.argument("item_id", metavar="ID")
@json_option
@click.pass_obj
def show(choice: Choice, item_id: str, as_json: bool) -> None:
    """Show one question whole; the last letters of its ID are enough."""
    box = open_app(choice).inbox
    item = box.find(item_id)
    yeses = box.yeses(item.id)
    if as_json:
        print_json(_data(item) | {"yeses": [{"by": yes.by, "at": to_text(yes.ts)} for yes in yeses]})
        return
    _tell(item, yeses, asks=True)


@inbox.command()
@click.argument("item_id", metavar="ID")
@click.pass_obj
def approve(choice: Choice, item_id: str) -> int:
    """Show a question and say yes to it. Only a person can, at a terminal.

    An act is then done at once; one that cannot be taken back needs a second yes. What would live is named in full.
    """
    app = open_app(choice)
    found = app.inbox.find(item_id)
    by = person.require("answer a question")
    if found.state is State.WAITING:
        _tell(found, app.inbox.yeses(found.id), asks=False)
        by = person.confirm("say yes to it", f"\n{found.title.removesuffix('.')}?", found.word or person.YES)
    item = app.inbox.approve(found.id, by, seen=found.yes_count, typed=found.word)
    if item.state is State.WAITING:
        click.echo(f"{inert(item.title)}: yes {item.yes_count} of {item.needs_yes}. This cannot be taken back.")
        click.echo(f"If you are sure, say it again: metnos inbox approve {item.id}")
        return FINE
    click.echo(f"Approved: {inert(item.title)}")
    try:
        return _carry_out(app, item, by)
    finally:
        app.close()


@inbox.command()
@click.argument("item_id", metavar="ID")
@click.option("--reason", default="", help="Why not; kept with the question.")
@click.pass_obj
def refuse(choice: Choice, item_id: str, reason: str) -> None:
    """Say no to a question, or take a yes back that was not used yet."""
    app = open_app(choice)
    by = person.require("answer a question")
    item, proposal = answering.refuse(app, app.inbox.find(item_id), by, reason)
    click.echo(f"Refused: {inert(item.title)}")
    if proposal is not None and proposal.is_open:
        click.echo(f"It is made again with that in mind: metnos synt make {short(proposal.id)}")
    elif proposal is not None and proposal.state is Stand.ABANDONED:
        click.echo(f"It is given up: {inert(proposal.reason)}")


@inbox.command()
@click.argument("item_id", metavar="ID")
@click.option("--args", "text", metavar="JSON", help="The new arguments, or words. Default: edit them in $EDITOR.")
@click.pass_obj
def edit(choice: Choice, item_id: str, text: str | None) -> None:
    """Change what waits for you: an act's arguments, an executor's code, a line's words. It is a new question then."""
    app = open_app(choice)
    item = app.inbox.find(item_id)
    new = _EDITS[answering.require_editable(item)](app, item, text)
    if new is None:
        click.echo("Nothing was changed.")
    else:
        click.echo(f"This is a new question now: metnos inbox show {new.id}")


def _tell(item: Item, yeses: list[Yes], *, asks: bool) -> None:
    """A question, whole; with ``asks`` also what to type to answer it."""
    if item.kind in (*GROWING, ADOPTION):
        deciding.describe(item, yeses, asks=asks)
        return
    _describe(item, yeses)
    if asks and item.state is State.WAITING:
        click.secho(f"\nmetnos inbox approve {item.id}", fg="cyan")


def _edit_text(app: App, item: Item, text: str | None) -> Item | None:
    words = text if text is not None else click.edit(str(item.body.get("text", "")))
    return answering.edit_text(app, item, words, _editor()) if words and words.strip() else None


def _edit_code(app: App, item: Item, _text: str | None) -> Item | None:
    """Let the owner change the code; what comes of it passes every gate again."""
    code = app.growing.code_of(item)
    changed = click.edit(code, extension=".py")
    return None if changed in (None, code) else answering.edit_code(app, item, str(changed), _editor())


def _edit_args(app: App, item: Item, text: str | None) -> Item | None:
    if text is None:
        text = click.edit(json.dumps(item.body.get("args", {}), indent=2, ensure_ascii=False), extension=".json")
    return None if text is None else answering.edit_args(app, item, _arguments(text), _editor())


_EDITS = {answering.TEXT: _edit_text, answering.CODE: _edit_code, answering.ARGS: _edit_args}


def _editor() -> Principal:
    return person.require("change a question")


def _carry_out(app: App, item: Item, by: Principal) -> int:
    """Do what was approved, and show what came of it."""
    carried = answering.carry_out(app, item, by)
    if carried.said:
        click.echo(carried.said)
    if carried.outcome is not None:
        from metnos.cli.executor import show_outcome  # only a call by itself has one

        return int(show_outcome(carried.outcome) or FINE)
    return FINE if carried.turn is None else _go_on(app, carried.turn)


def _go_on(app: App, turn: Turn) -> int:
    """Follow a turn that waited for this answer to its end."""
    with Telling(streams=False) as telling:
        ended = follow(turn, telling, lambda wanted: asking.ask(wanted, app.settings.turn.prompt_s))
        telling.answer(ended.text)
    return FINE if ended.state in ("done", "partly") else FAILED


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the arguments are no JSON: {error}", fix="Nothing was changed. Try again.") from error
    if not isinstance(found, dict):
        raise UsageError("the arguments are no JSON object", fix='Write them like {"path": "..."}.')
    return found


def _describe(item: Item, yeses: list[Yes]) -> None:
    click.secho(inert(item.title), bold=True)
    rows = [
        ("id", item.id),
        ("about", item.kind),
        ("state", item.state),
        ("yes", _progress(item)),
        ("asked", f"{to_text(item.asked_at)} by {item.asked_by}"),
        ("until", to_text(item.expires_at)),
        *((f"yes {yes.number}", f"{to_text(yes.ts)} by {yes.by}") for yes in yeses),
        *([("answer", f"{item.answered_by}: {item.reason}")] if item.reason else []),
        *((key, _text(item.body[key])) for key in item.body if key not in _INTERNAL),
    ]
    print_table(("field", "value"), rows)
    for name, text in dict(item.body.get("files", {})).items():
        click.secho(f"\n{inert(name)}", bold=True)
        click.echo("\n".join(inert(line) for line in str(text).splitlines()))
    if item.body.get("preview"):
        click.secho("\nWhat it would do", bold=True)
        for line in item.body["preview"]:
            click.echo(f"  {inert(str(line))}")


def _data(item: Item) -> dict[str, Any]:
    times = {name: getattr(item, name) for name in ("asked_at", "expires_at", "answered_at")}
    plain = (
        "id",
        "kind",
        "title",
        "state",
        "digest",
        "needs_yes",
        "yes_count",
        "asked_by",
        "answered_by",
        "reason",
        "body",
    )
    return {name: getattr(item, name) for name in plain} | {
        name: to_text(moment) if moment else None for name, moment in times.items()
    }


def _progress(item: Item) -> str:
    return f"{item.yes_count} of {item.needs_yes}"


def _asks(item: Item) -> str:
    """What it is about: of an act what it would change first, because the same executor asks for many."""
    name, first = item.body.get("executor"), next(iter(item.body.get("preview") or ()), "")
    more = sum(not str(effect[0]).endswith(" along") for effect in item.body.get("effects") or ()) - 1
    return f"{name}: {first}{f', and {more} more' * (more > 0)}" if name and first else item.title


def _until(item: Item) -> str:
    return f"{item.expires_at.astimezone():%Y-%m-%d %H:%M}"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
