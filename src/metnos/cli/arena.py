"""``metnos arena``: which executors are worth what, goal by goal."""

from pathlib import Path

import click

from metnos.app import App, arena_plot
from metnos.app import arena as arenas
from metnos.app.arena import Arena, Fighter, Place
from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, note, print_json, print_table, say
from metnos.core.errors import UsageError
from metnos.executors import fitness

_STYLES = {Place.FIT: "green", Place.UNFIT: "red", Place.HIDDEN: "yellow", Place.QUARANTINED: "red"}
_EMPTY = (
    "Nothing was done yet. Whenever an executor does a step of what you asked for, it is noted here how much nearer the"
    " goal came."
)


@click.command()
@click.argument("goal", nargs=-1)
@click.option("--svg", metavar="FILE", help="Also draw it into FILE.")
@json_option
@click.pass_obj
def arena(choice: Choice, goal: tuple[str, ...], svg: str | None, as_json: bool) -> None:
    """See which executors bring a goal nearer, and which do not.

    GOAL is what you want done, in a few words, such as `move files`; without it, all kinds of goals are listed. Fitness
    is the sum of what each use was worth: 1 for a step that went well, less for a slow one, below nothing for a failure
    or a bad word of yours. What is long ago counts less and less.
    """
    app = open_app(choice)
    if not goal:
        _list(app, svg, as_json)
        return
    found = arenas.find(app, " ".join(goal))
    shown = arenas.enter(app, found[0])
    if svg:
        _draw(shown, Path(svg))
    if as_json:
        print_json(arenas.data(shown) | {"also": found[1:]})
        return
    _show(shown)
    if found[1:]:
        say(f"Also like it: {', '.join(found[1:])}")


def _list(app: App, svg: str | None, as_json: bool) -> None:
    if svg:
        raise UsageError("a picture is of one goal", fix="Name it: metnos arena GOAL --svg FILE")
    found = fitness.goals(app.catalog.db)
    if as_json:
        print_json(arenas.goals(app))
    elif found:
        print_table(("goal", "turns", "executors"), [(goal, *numbers) for goal, numbers in found.items()])
    else:
        say(_EMPTY)


def _show(shown: Arena) -> None:
    click.secho(inert(shown.goal), bold=True)
    rows = [
        (each.name, _figure(each), each.uses, each.signals, each.strikes, each.place, each.origin, each.why)
        for each in shown.fighters
    ]
    styles = {place: _STYLES[each.place] for place, each in enumerate(shown.fighters) if each.place in _STYLES}
    head = ("executor", "fitness", "uses", "trials", "strikes", "state", "from", "why")
    print_table(head, rows, styles, drop=("from", "why", "strikes", "trials"))
    for name, state in shown.proposals:
        say(f"Proposed: {name} ({state}). See: metnos inbox list")


def _figure(each: Fighter) -> str:
    return f"{each.fitness:+.2f}" if each.signals else "none"


def _draw(shown: Arena, path: Path) -> None:
    try:
        path.write_text(arena_plot.svg(shown), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", fix="Name another file.") from error
    note(f"drawn into {path}")
