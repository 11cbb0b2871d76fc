"""``metnos mnestome snapshot|export``: the graph as it was in a month, and the graph for other programs."""

from collections import Counter
from enum import StrEnum
from pathlib import Path

import click

from metnos.api.lock import Lock
from metnos.app import App, ageing
from metnos.app.mnests import data, opened
from metnos.cli import Choice
from metnos.cli.mnests import EMPTY, WORDS, print_mnests
from metnos.cli.opening import open_app
from metnos.cli.output import confirm, counted, json_option, note, print_json, print_table
from metnos.core import files
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.mnestome import export as formats
from metnos.mnestome import lists, picture
from metnos.mnestome.export import Graph
from metnos.mnestome.rules import State

_SHOWN = 20  # mnests of a month


class Format(StrEnum):
    """What the graph can be written as."""

    GRAPHML = "graphml"
    JSON = "json"
    DOT = "dot"
    HTML = "html"


@click.command()
@click.option("--month", metavar="YYYY-MM", help="The month to show. Without it, the months are listed.")
@click.option("--restore", is_flag=True, help="Put the mnestome of that month back; what is there now is kept aside.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def snapshot(choice: Choice, month: str | None, restore: bool, yes: bool, as_json: bool) -> None:
    """Show the mnestome as it was in a month, or put it back.

    The first night of each month keeps one, for ever. Putting one back changes mnests only: executors, permissions and
    memory stay, and what you did since then is worked in again.
    """
    if restore and month is None:
        raise UsageError("--restore needs to know what to put back", fix="Say --month YYYY-MM.")
    app = open_app(choice)
    if month is None:
        _list_months(app, as_json)
    elif restore:
        _restore(app, month, yes, as_json)
    else:
        _show_month(app, month, as_json)


@click.command()
@click.option("--format", "form", required=True, type=click.Choice([each.value for each in Format]),
              help="html is a page to look at; graphml and dot are for graph programs.")  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write. Default: print it."
)
@click.option("--replace", is_flag=True, help="Write over that file if it is there.")
@click.option("--month", metavar="YYYY-MM", help="As it was in this month.")
@click.option("--superseded", is_flag=True, help="Also what was superseded.")
@click.pass_obj
def export(choice: Choice, form: str, output: Path | None, replace: bool, month: str | None, superseded: bool) -> None:
    """Write the graph for other programs, or as a page to look at.

    The page is one file that needs nothing else and fetches nothing. Names of executors and tags are in it: mind who
    sees it.
    """
    app = open_app(choice)
    with opened(app, month) as (db, now):
        found = lists.listing(db, now) + lists.listing(db, now, state=State.PROTO)
        found += lists.listing(db, now, state=State.SUPERSEDED) if superseded else []
        graph = formats.gather(found, now)
    if not graph.edges:
        note(EMPTY)
    text = _write(Format(form), graph)
    if output is None:
        click.echo(text, nl=False)
        return
    _save(output, text.encode(), replace)
    click.echo(f"{counted(len(graph.edges), 'mnest')} of {counted(len(graph.nodes), 'executor')}: {output.absolute()}")


def _write(form: Format, graph: Graph) -> str:
    match form:
        case Format.GRAPHML:
            return formats.to_graphml(graph)
        case Format.JSON:
            return formats.to_json(graph)
        case Format.DOT:
            return formats.to_dot(graph)
        case Format.HTML:
            return picture.to_html(graph)


def _save(output: Path, content: bytes, replace: bool) -> None:
    if not output.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {output.absolute().parent}", fix="Make it, or choose another place.")
    if replace:
        files.replace(output.absolute(), content, mode=files.PRIVATE_FILE)
    elif not files.create(output.absolute(), content, mode=files.PRIVATE_FILE):
        raise UsageError(f"{output} is there already", fix="Choose another name, or say --replace.")


# -- months


def _list_months(app: App, as_json: bool) -> None:
    found = ageing.snapshots(app).all()
    if as_json:
        print_json([{"month": each.month, "path": str(each.path), "bytes": each.size, "packed": each.packed}
                    for each in found])  # fmt: skip
    elif found:
        rows = [(each.month, f"{each.size:,} bytes", "packed" if each.packed else "") for each in found]
        print_table(("month", "size", ""), rows)
        click.echo(f"\nTo look at one: metnos mnestome snapshot --month {found[-1].month}")
    else:
        click.echo("There is no snapshot yet. The first night of each month makes one, and so does: metnos ager run")


def _show_month(app: App, month: str, as_json: bool) -> None:
    with opened(app, month) as (db, then):
        found = lists.listing(db, then)
        wishes = lists.listing(db, then, state=State.PROTO)
    counts = Counter(each.state for each in [*found, *wishes])
    if as_json:
        print_json({"month": month, "as_of": to_text(then), "counts": counts,
                    "mnests": [data(each, then) for each in [*found, *wishes]]})  # fmt: skip
        return
    said = ", ".join(f"{count} {WORDS.get(state, state)}" for state, count in counts.items()) or "nothing"
    click.echo(f"The mnestome of {month}, as of {then.astimezone():%Y-%m-%d %H:%M}: {said}\n")
    if found or wishes:
        print_mnests([*found, *wishes][:_SHOWN], then)
    if len(found) + len(wishes) > _SHOWN:
        click.echo(f"\nAll of it: metnos mnestome export --month {month} --format html --output {month}.html")


def _restore(app: App, month: str, yes: bool, as_json: bool) -> None:
    ageing.snapshots(app).find(month)
    if not yes:
        confirm(f"Put the mnestome of {month} in the place of the present one?")
    with Lock(app.workspace):  # while it is held no daemon works here, and none can start
        done = ageing.put_back(app, month, busy=lambda: False)
    if as_json:
        print_json({"month": done.month, "mnests": done.mnests, "events": done.events, "kept": str(done.aside)})
        return
    mnests, events = counted(done.mnests, "mnest"), counted(done.events, "event")
    click.echo(f"Put back: the mnestome of {done.month}, {mnests} and {events}.")
    click.echo(f"What was there before is kept at {done.aside}")
