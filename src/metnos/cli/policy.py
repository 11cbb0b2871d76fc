"""``metnos policy``: what may happen, why, and what you allowed in advance."""

from datetime import datetime, timedelta
from pathlib import Path

import click

from metnos.app.cataloguing import grant_data, grant_words
from metnos.cli import FAILED, FINE, Choice, arguments, person
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json, print_table
from metnos.core.canon import canonical_path
from metnos.core.clock import to_text
from metnos.core.settings import home_folder
from metnos.executors.run import Call
from metnos.law import levels
from metnos.law.capability import Capability
from metnos.law.grants import ANY, MAX_DAYS
from metnos.law.levels import Verdict
from metnos.law.need import PATHS
from metnos.turn.named import typed_paths

_COLUMNS = ("use", "what it means", "read_only", "supervised", "full")


@click.group()
def policy() -> None:
    """See what may happen and why, and allow things in advance."""


@policy.command()
@json_option
def table(as_json: bool) -> None:
    """Show what each level of autonomy allows, asks and refuses."""
    if as_json:
        print_json([dict(zip(_COLUMNS, row, strict=True)) for row in levels.rows()])
    else:
        print_table(_COLUMNS, levels.rows())


@policy.command()
@click.option("--set-right", is_flag=True, help="Take the machine's clock for right. Asks for a typed word.")
@json_option
@click.pass_obj
def clock(choice: Choice, set_right: bool, as_json: bool) -> None:
    """Show the clock by which grants, questions and devices end.

    It never goes back. If the machine's clock once stood in the future by mistake, this one still does: set it right.
    """
    steady = open_app(choice).steady
    told, ahead = steady.now(), max(0, round(steady.ahead().total_seconds()))
    if set_right:
        click.echo(f"The machine's clock says {told - timedelta(seconds=ahead):%Y-%m-%d %H:%M} UTC.")
        click.echo("Grants and devices that ended too early will be valid again.")
        person.confirm("set this clock right", "Is that the right time?", "right")
        steady.set_right()
        told, ahead = steady.now(), 0
    if as_json:
        print_json({"told": to_text(told), "ahead_s": ahead})
        return
    click.echo(f"{told:%Y-%m-%d %H:%M} UTC, {f'{ahead:,} seconds ahead of' if ahead else 'as on'} the machine's clock")


@policy.command(context_settings={"ignore_unknown_options": True})
@click.argument("executor")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@json_option
@click.pass_obj
def check(choice: Choice, executor: str, args: tuple[str, ...], as_json: bool) -> int:
    """Show what each step would say about EXECUTOR with these ARGS, without doing it.

    Exits with 1 if it would be refused.
    """
    app = open_app(choice)
    values = arguments.parse(app.catalog.get(executor).manifest, args)
    typed = typed_paths(values.values(), Path.cwd(), app.door.home)
    steps = app.runner.explain(Call(executor, values, person.principal(), Path.cwd(), named=typed))
    if as_json:
        print_json([{"step": step, "verdict": verdict, "words": words} for step, verdict, words in steps])
    else:
        print_table(
            ("step", "verdict", "why"), [(step, Verdict(verdict).words, words) for step, verdict, words in steps]
        )
    return FAILED if steps[-1][1] == Verdict.REFUSE else FINE


@policy.command()
@click.argument("executor")
@click.argument("capability", type=click.Choice([str(each) for each in Capability]))
@click.argument("target")
@click.option("--days", required=True, type=float, help=f"How long it holds, at most {MAX_DAYS} days.")
@click.option("--reason", default="", help="Why; kept with the grant.")
@click.option("--sending", is_flag=True, help="For a host: also allow sending to it, not only fetching from it.")
@click.pass_obj
def grant(choice: Choice, executor: str, capability: str, target: str, days: float, reason: str, sending: bool) -> None:
    """Allow in advance what would be asked each time. Only a person can.

    EXECUTOR is a name, or '*' for all. TARGET is a folder with everything below it, a host or *.example.org, or a
    program. A grant never lifts a refusal, spares no second yes and opens no forbidden path.
    """
    wanted = Capability(capability)
    if wanted in PATHS or wanted is Capability.SHELL_EXEC:
        target = str(canonical_path(target, cwd=Path.cwd(), home=home_folder()))
    grants_ = open_app(choice).grants
    who, more = "every executor" if executor == ANY else executor, ", sending included" if sending else ""
    by = person.confirm("give a grant", f"Allow {who} {capability} for {target}{more}, for {days:g} days, unasked?")
    made = grants_.grant(executor, wanted, target, days=days, by=by, reason=reason, sending=sending)
    click.echo(f"Granted until {_moment(made.expires)}: {inert(grant_words(made))}")
    click.echo(f"To take it back: metnos policy revoke {made.id}")


@policy.command()
@click.argument("grant_id", metavar="ID")
@click.pass_obj
def revoke(choice: Choice, grant_id: str) -> None:
    """Take a grant back; the beginning of its ID is enough."""
    ended = open_app(choice).grants.revoke(grant_id, person.principal())
    click.echo(f"Revoked: {inert(grant_words(ended))}")


@policy.command()
@json_option
@click.pass_obj
def grants(choice: Choice, as_json: bool) -> None:
    """List the grants that hold now."""
    active = open_app(choice).grants.active()
    if as_json:
        print_json([grant_data(each) for each in active])
    elif active:
        rows = [
            (each.id, grant_words(each), f"{each.expires.astimezone():%Y-%m-%d %H:%M}", each.reason) for each in active
        ]
        print_table(("id", "grant", "until", "reason"), rows)
    else:
        click.echo("No grant holds.")


def _moment(when: datetime) -> str:
    return f"{when.astimezone():%Y-%m-%d %H:%M}"
