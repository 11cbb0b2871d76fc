"""``metnos mnestome``: what Metnos would have needed and does not have."""

from datetime import datetime
from typing import Any

import click

from metnos.cli import Choice
from metnos.cli.live import clip
from metnos.cli.opening import open_app
from metnos.cli.output import json_option, print_json, print_table
from metnos.core.clock import to_text
from metnos.mnestome import proto as protos
from metnos.mnestome.proto import Proto

_SUMMARY = 80  # columns


@click.group()
def mnestome() -> None:
    """See what was wished for and could not be done."""


@mnestome.command(name="proto")
@json_option
@click.pass_obj
def proto_(choice: Choice, as_json: bool) -> None:
    """List the executors that were wished for and do not exist, the last wish first.

    Each time a request needs one the wish gains weight, and it fades when it is not needed. Those that come back often
    are worth making.
    """
    app = open_app(choice)
    now = app.clock.now()
    found = protos.protos(app.catalog.db)
    often = {each.id for each in protos.recurring(app.catalog.db, now)}
    if as_json:
        print_json([_data(each, now, each.id in often) for each in found])
    elif found:
        rows = [
            (each.name, each.source, each.uses, f"{each.at(now):.2f}", "yes" if each.id in often else "",
             f"{each.used.astimezone():%Y-%m-%d %H:%M}", clip(" ".join(each.summary.split()), _SUMMARY))
            for each in found
        ]  # fmt: skip
        print_table(("name", "from", "uses", "weight", "often", "last", "what it should do"), rows)
    else:
        click.echo("Nothing was wished for that does not exist.")


def _data(each: Proto, now: datetime, often: bool) -> dict[str, Any]:
    return {
        "id": each.id,
        "name": each.name,
        "from": each.source,
        "from_version": each.source_version,
        "uses": each.uses,
        "weight": round(each.at(now), 4),
        "recurring": often,
        "first": to_text(each.first),
        "last": to_text(each.used),
        "tags": list(each.tags),
        "signature": dict(each.signature),
    }
