"""``metnos life beat``: let an agent that lives by itself beat, by hand."""

import threading

import click

from metnos.app import beating
from metnos.cli import FAILED, FINE, Choice
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json
from metnos.life.heartbeat import Beaten
from metnos.life.heartbeat_rules import Beat

_DOES = {Beat.GAMMA: "captured", Beat.THETA: "deliberated", Beat.DELTA: "consolidated"}
_COUNTS = {
    "blocks": "blocks read",
    "skipped": "blocks left out",
    "events": "events",
    "remembered": "remembered",
    "thoughts": "thought about",
    "foretold": "foretellings scored",
    "judged": "judged",
    "verified": "verified",
    "clusters": "groups",
    "facts_admitted": "new facts",
    "facts_merged": "facts made surer",
}


@click.command()
@click.option("-n", "count", default=1, show_default=True, type=click.IntRange(1, 100_000), help="How many heartbeats.")
@click.option("--every", type=click.FloatRange(0, 86_400), help="Seconds between two. Default: the profile's.")
@click.option(
    "--now",
    "kinds",
    multiple=True,
    type=click.Choice([str(each) for each in Beat]),
    help="Also this, whether or not it is due: gamma captures, theta deliberates, delta consolidates.",
)
@json_option
@click.pass_obj
def beat(choice: Choice, count: int, every: float | None, kinds: tuple[str, ...], as_json: bool) -> int:
    """Let an agent that lives by itself beat: capture, deliberate, consolidate, as each is due.

    The daemon does this by itself in a profile such as golem; this is for whoever wants to watch, or runs no daemon.
    """
    app = open_app(choice)
    heart = beating.require(app)
    pause = app.living.profile.rates.gamma if every is None else every
    done, also = list[Beaten](), tuple(Beat(each) for each in kinds)
    for number in range(count):
        if number:
            threading.Event().wait(pause)
        found = heart.beat(also=also)
        if found is None:
            click.echo("Another process lets it beat just now.", err=True)
            return FAILED
        if not found:
            app.refuse_halted()
        done += found
        if not as_json:
            _show(found)
        if heart.is_dead():
            break
    if as_json:
        print_json([beating.data(each) for each in done])
    elif heart.is_dead():
        click.echo(f"Its life is over. It left a testament: {inert(heart.testament())}")
    return FAILED if any(each.message for each in done) else FINE


def _show(done: list[Beaten]) -> None:
    if not done:
        click.echo("Nothing is due.")
    for each in done:
        counts = ", ".join(f"{_COUNTS.get(name, name)} {number}" for name, number in each.counts.items())
        said = f"failed: {inert(each.message)}" if each.message else counts or "nothing new"
        click.echo(f"{each.kind} {each.number} ({_DOES[each.kind]}): {said}")
