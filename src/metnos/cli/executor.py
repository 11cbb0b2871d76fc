"""``metnos executor``: see, run, switch and sign executors."""

import json
import shlex
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import click

from metnos.app import App, cataloguing, learning, selecting, worth
from metnos.app import panic as panicking
from metnos.cli import FAILED, FINE, Choice, arguments, person
from metnos.cli.asking import ask
from metnos.cli.executor_making import new, rebuild, sign, test_
from metnos.cli.executor_sharing import SHARING
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert, json_option, note, print_json, print_table
from metnos.core.errors import InboxError, UsageError, Waiting
from metnos.executors import words
from metnos.executors.catalog import Look
from metnos.executors.outcome import Outcome
from metnos.executors.run import Call
from metnos.executors.state import State
from metnos.grimoire.trace import State as Standing
from metnos.turn import act
from metnos.turn.events import Spoken, Wanted
from metnos.turn.named import typed_paths

_WIDEST = 60
_COLUMNS = 7


@click.group()
def executor() -> None:
    """See, run, switch and sign executors."""


@executor.command(name="list")
@click.option("--state", type=click.Choice([each.value for each in State]), help="Only those in this state.")
@json_option
@click.pass_obj
def list_(choice: Choice, state: str | None, as_json: bool) -> None:
    """List every executor: what it is for, its state and where it comes from."""
    looks = [look for look in open_app(choice).catalog.rows() if state in (None, look.state.value)]
    if as_json:
        print_json([cataloguing.data(look) for look in looks])
        return
    rows = [(each.name, each.state, each.version, each.origin, _about(each)) for each in looks]
    print_table(("name", "state", "version", "from", "purpose"), rows, _styles(looks), ("from", "version", "state"))


@executor.command()
@click.argument("name")
@click.option("--code", is_flag=True, help="Also its code.")
@json_option
@click.pass_obj
def show(choice: Choice, name: str, code: bool, as_json: bool) -> None:
    """Show what one executor takes, gives and may do."""
    app = open_app(choice)
    look = app.catalog.look(name)
    if as_json:
        print_json(cataloguing.told(app, look))
        return
    click.secho(f"{look.name} {look.version}", bold=True, nl=False)
    click.echo(f"  {inert(look.purpose)}")
    rows: list[tuple[str, object]] = [("state", f"{look.state}{f', {look.reason}' if look.reason else ''}")]
    rows += [("from", look.origin), *(("problem", problem) for problem in look.problems)]
    if look.executor:
        rows += words.describe(look.executor.manifest)
        rows += [("never did", f"call {called}") for _, called in learning.unused_calls(app, name)]
        rows += _worth(app, name)
    print_table(("", ""), rows)
    if look.executor:
        _show_arguments(look)
    if code and look.executor:
        click.echo(inert(look.executor.source))


@executor.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[--ARGUMENT VALUE]...")
@click.option("--args", "given", metavar="JSON", help="All arguments at once; - reads them from standard input.")
@click.option("--dry-run", is_flag=True, help="Only show what it would change.")
@json_option
@click.pass_obj
def run(choice: Choice, name: str, args: tuple[str, ...], given: str | None, dry_run: bool, as_json: bool) -> int:
    """Run an executor NAME with its arguments as options.

    `metnos executor run NAME --help` lists them. What needs your approval is asked on a terminal, and otherwise waits
    in the inbox. Exits with 1 if it failed and with 3 if it waits.
    """
    if name in ("--help", "-h"):
        click.echo(click.get_current_context().get_help())
        return FINE
    app = open_app(choice)
    found = app.catalog.look(name)
    if found.executor is not None and set(args) & {"--help", "-h"}:
        _show_arguments(found)
        return FINE
    manifest = app.catalog.get(name).manifest
    values = arguments.parse(manifest, args) | _json_arguments(given)
    typed = typed_paths(values.values(), Path.cwd(), app.door.home)
    call = Call(name, values, person.principal(), Path.cwd(), now=app.clock.now(), named=typed)
    try:
        if dry_run:
            return _show_preview(app, call, as_json)
        return show_outcome(_run_or_ask(app, call), as_json=as_json)
    finally:
        app.close()


@executor.command()
@click.argument("name")
@click.option("--reason", default="switched on by the owner", help="Why; kept with the executor.")
@click.pass_obj
def enable(choice: Choice, name: str, reason: str) -> None:
    """Make an executor usable again that was disabled, archived or put into quarantine. Only a person can."""
    look = open_app(choice).catalog.look(name)
    person.confirm("switch an executor on", f"{name} is {words.STATES[look.state]}: {look.reason}. Switch it on?")
    _change(choice, name, State.ACTIVE, reason)


@executor.command()
@click.argument("name")
@click.option("--reason", default="switched off by the owner", help="Why; kept with the executor.")
@click.pass_obj
def disable(choice: Choice, name: str, reason: str) -> None:
    """Switch an executor off."""
    _change(choice, name, State.DISABLED, reason)


@executor.command()
@click.argument("name")
@click.option("--reason", default="archived by the owner", help="Why; kept with the executor.")
@click.pass_obj
def archive(choice: Choice, name: str, reason: str) -> None:
    """Put an executor away that you do not need now. Its files stay, and `enable` brings it back."""
    _change(choice, name, State.ARCHIVED, reason)


@executor.command()
@click.argument("name")
@click.option("--reason", default="quarantined by the owner", help="Why; kept with the executor.")
@click.pass_obj
def quarantine(choice: Choice, name: str, reason: str) -> None:
    """Put an executor where it cannot run, and keep what is known about it."""
    _change(choice, name, State.QUARANTINE, reason)


@executor.command()
@click.argument("name")
@click.option("--reason", default="revoked by the owner", help="Why; kept with the executor.")
@click.pass_obj
def revoke(choice: Choice, name: str, reason: str) -> None:
    """Cancel an executor for good: the same code can never be signed again. Only a person can."""
    person.confirm("revoke an executor", f"Revoking {name} cannot be taken back. Revoke it?", name)
    _change(choice, name, State.REVOKED, reason)


@executor.command()
@json_option
@click.pass_obj
def verify(choice: Choice, as_json: bool) -> int:
    """Check every executor against its signature, and quarantine what was changed. Exits with 1 if any was."""
    app = open_app(choice)
    restored = app.installed.restored
    for name in restored:
        note(f"{name} was not as it was shipped; it was quarantined, and put back from the package")
    wrong = app.catalog.verify_all()
    count = len(app.catalog.names())
    if as_json:
        print_json({"checked": count, "wrong": [cataloguing.data(look) for look in wrong], "restored": list(restored)})
    elif wrong:
        print_table(("name", "state", "wrong"), [(look.name, look.state, "; ".join(look.problems)) for look in wrong])
    else:
        click.echo(f"{counted(count, 'executor')}, each as it was signed")
    return FAILED if wrong or restored else FINE


@executor.command()
@click.option("--reason", default="panic", help="Why; kept with everything that it stops.")
@click.option("--lift", is_flag=True, help="Let things happen again. Executors stay off until you enable them.")
@click.pass_obj
def panic(choice: Choice, reason: str, lift: bool) -> None:
    """Stop everything that runs, at once, and switch off every executor that is not built in."""
    if lift:
        app = open_app(choice)
        halt = app.halts.halted()
        if halt is None:
            click.echo("Nothing is halted.")
            return
        app.halts.lift(person.confirm("lift a halt", f"{halt.why}. Let things happen again?"))
        click.echo("Things may happen again.")
        return
    stopped = panicking.panic(choice.workspace(), reason)
    off = ", ".join(stopped.disabled) or "none"
    click.echo(f"Halted. Sandboxes stopped: {stopped.ended}. Executors disabled: {off}.")
    for problem in stopped.problems:
        note(problem)
    click.echo("Nothing runs until you say so: metnos executor panic --lift")


for command in (new, test_, sign, rebuild, *SHARING):
    executor.add_command(command)


def show_outcome(outcome: Outcome, *, as_json: bool = False) -> int:
    """Print how a call ended; returns the exit code."""
    if as_json:
        said = {name: getattr(outcome, name) for name in ("ok", "kind", "message", "action")}
        print_json(said | dict(outcome.reply))
        return FINE if outcome.ok else FAILED
    if not outcome.ok:
        click.secho("failed: ", fg="red", bold=True, err=True, nl=False)
        click.echo(inert(f"{outcome.message} ({outcome.kind})"), err=True)
        for line in outcome.where:
            click.echo(f"  {inert(line)}", err=True)
        return FAILED
    reply = outcome.reply
    items = reply.get("entries", reply.get("results", []))
    _print_items(items)
    for failure in reply["failures"]:
        note(f"{_cell(failure['item'])}: {failure['message']} ({failure['kind']})")
    if reply.get("left_out"):
        note(f"left out {reply['left_out']} hidden places; name one to look in it")
    more = f" of {reply['total']}" if reply["truncated"] else ""
    failed = f", {reply['failed']} failed" if reply["failed"] else ""
    click.secho(f"{reply['count']}{more}{failed}", dim=True, err=True)
    if outcome.action:
        click.secho(f"To take it back: metnos undo {outcome.action}", fg="cyan", err=True)
    return FINE if not reply["failed"] or items else FAILED


def _run_or_ask(app: App, call: Call) -> Outcome:
    """Run it; on a terminal, a question is asked right there, and an approval used at once."""
    try:
        return app.runner.run(call)
    except Waiting as waiting:
        asked = act.ask(app.door, call, 1, app.inbox.find(waiting.item))
        ended = _answered(asked, app.settings.turn.prompt_s)
        if ended is None:
            return app.runner.run(call)
        if ended.state is Standing.WAITING:
            raise
        raise InboxError("not done: you said no") from None


def _answered(asked: Generator[Wanted, Spoken | None, act.Ended | None], seconds: float) -> act.Ended | None:
    """Put the questions to whoever is at the terminal."""
    answer: Spoken | None = None
    while True:
        try:
            answer = ask(asked.send(answer), seconds)
        except StopIteration as end:
            ended: act.Ended | None = end.value
            return ended


def _show_preview(app: App, call: Call, as_json: bool) -> int:
    outcome, preview = app.runner.preview(call)
    if as_json:
        print_json({"ok": outcome.ok, "message": outcome.message, "effects": preview.effects, "preview": preview.lines})
    elif not outcome.ok:
        return show_outcome(outcome)
    else:
        for line in preview.lines or ("nothing would change",):
            click.echo(inert(line))
    return FINE if outcome.ok else FAILED


def _show_arguments(look: Look) -> None:
    if look.executor is None:
        return
    manifest = look.executor.manifest
    click.secho("\nArguments", bold=True)
    print_table(("option", "value", "meaning"), arguments.describe(manifest))
    click.secho("\nExamples", bold=True)
    for example in manifest.examples:
        click.echo(f"  {inert(example.say)}")
        written = shlex.quote(json.dumps(example.args, ensure_ascii=False))
        click.echo(f"    metnos executor run {manifest.name} --args {inert(written)}")


def _worth(app: App, name: str) -> list[tuple[str, object]]:
    """What an executor is worth, goal by goal, and whether planners see it."""
    told = worth.told(app, name)
    rows: list[tuple[str, object]] = []
    if told["hidden"]:
        why = selecting.WORDS[told["hidden"]]
        rows.append(("hidden", f"planners do not see it: {why}. It runs by name, and now and then is tried again"))
    for each in told["fitness"]:
        value = f"{each['fitness']:+.2f}" if each["signals"] else "not known"
        rows.append(("fitness", f"{value} for: {each['goal'] or 'what has no name'} ({counted(each['uses'], 'use')})"))
    return rows


def _change(choice: Choice, name: str, state: State, reason: str) -> None:
    before = open_app(choice).catalog.change(name, state, reason)
    click.echo(f"{name}: {before} → {state}")


def _json_arguments(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise UsageError(f"--args is no JSON: {error}", fix="""Write it like --args '{"path": "~"}'""") from error
    if not isinstance(found, dict):
        raise UsageError("--args is no JSON object", fix="""Write it like --args '{"path": "~"}'""")
    return found


def _print_items(items: list[Any]) -> None:
    if not items:
        return
    columns = list(dict.fromkeys(key for item in items[:50] for key in item))[:_COLUMNS]
    if len(items) == 1 and any(isinstance(value, str) and "\n" in value for value in items[0].values()):
        for key, value in items[0].items():
            click.secho(f"{key}: ", bold=True, nl=False)
            click.echo(inert(_cell(value, whole=True)))
        return
    print_table(columns, [[_cell(item.get(column, "")) for column in columns] for item in items])


def _cell(value: Any, *, whole: bool = False) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if whole or not sys.stdout.isatty():
        return text if whole else text.replace("\n", "\\n")
    line = text.replace("\n", " ")
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def _about(look: Look) -> str:
    return look.purpose or "; ".join(look.problems)


def _styles(looks: list[Look]) -> dict[int, str]:
    usable = (State.ACTIVE, State.SEED)
    return {index: "red" if look.problems else "dim" for index, look in enumerate(looks) if look.state not in usable}
