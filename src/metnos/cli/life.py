"""``metnos life``: how alive this agent is, what it leaves, and whom it comes from."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from metnos.cli import FAILED, FINE, Choice, life_plot
from metnos.cli.life_beat import beat
from metnos.cli.life_lineage import lineage
from metnos.cli.life_retire import retire
from metnos.cli.live import columns
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert, json_option, note, print_json, print_table, say
from metnos.core.errors import UsageError

_POINTS = 600  # of the past: more than a terminal is wide, and enough for a drawing
_WIDEST = 100  # columns of the picture
_BESIDE = 16  # columns of its side
_CLOCKS = {"economic": "money", "epistemic": "knowledge", "stochastic": "age"}


@click.group()
def life() -> None:
    """See how alive this agent is; retire it; see whom it comes from."""


life.add_command(beat)
life.add_command(lineage)
life.add_command(retire)


@life.command()
@click.option("--svg", metavar="FILE", help="Also draw it into FILE.")
@json_option
@click.pass_obj
def status(choice: Choice, svg: str | None, as_json: bool) -> None:
    """See how alive this agent is, why, and what that changes.

    Vitality is the product of three clocks, each from 0 to 1: money (what is left to spend on language models),
    knowledge (how much of what it foretold came true) and age (the chance of having lived so long). The phase follows
    from it. Which clocks run is a matter of the profile; docs/life.md says more.
    """
    app = open_app(choice)
    app.living.catch_up()
    found = app.living.status(_POINTS)
    if svg:
        _draw(found, Path(svg))
    if as_json:
        print_json(found)
        return
    _show(found)


@life.command()
@json_option
@click.pass_obj
def dice(choice: Choice, as_json: bool) -> int:
    """Check every throw of the dice that could have ended this agent.

    A throw is made from the agent's signature over the number of the tick, so it cannot be chosen or thrown again, and
    anyone who has the agent's public key can check it.
    """
    app = open_app(choice)
    proof = app.living.vitality.prove()
    if as_json:
        print_json({"throws": proof.throws, "faults": list(proof.faults)})
    elif not proof.throws:
        say("No dice were thrown: in this profile age ends nobody.")
    elif proof.faults:
        say(f"{counted(len(proof.faults), 'throw')} of {proof.throws} cannot be trusted:")
        for fault in proof.faults:
            say(f"- {fault}", further=2)
    else:
        say(f"{counted(proof.throws, 'throw')}: every one was made by this agent's key, and obeyed.")
    return FAILED if proof.faults else FINE


def _show(found: Mapping[str, Any]) -> None:
    phase = str(found["phase"])
    first = "Retired" if found["retired"] else phase.capitalize()
    click.secho(first, fg=life_plot.COLOURS[phase], bold=True, nl=False)
    click.echo(f"  vitality {found['vitality']:.2f}, {_age(found)}, profile {inert(str(found['profile']))}")
    if found["next_phase"] != phase and not found["retired"]:
        say(f"With its next {found['tick_is']} it will be {found['next_phase']}.")
    if found["retired"]:
        say(f"Retired on {found['retired']['died'][:10]}. It left a testament: {found['retired']['testament']}")
    elif found["over"]:
        from metnos.app.living import ENDS

        click.secho(f"At its end: {ENDS[found['over']]}.", fg="red", bold=True)
        say("To let it end well, and leave what it learnt: metnos life retire")
    click.echo()
    _plot(found)
    rows = [
        (_CLOCKS[name], f"{clock['value']:.2f}" if clock["runs"] else "off", _why(name, found))
        for name, clock in found["clocks"].items()
    ]
    print_table(("clock", "value", "why"), rows)
    click.echo()
    effects = found["effects"]
    often, known = counted(effects["curator_every"], found["tick_is"]), counted(effects["shareable"], "fact")
    say(
        f"So a language model is shown {effects['context']:.0%} of what it could be, what happened is learnt from every"
        f" {often}, and what is at least {effects['share']:.0%} sure may be shared with other agents ({known} now)."
    )


def _age(found: Mapping[str, Any]) -> str:
    return f"{counted(found['tick'], found['tick_is'])} lived" if found["tick"] else "nothing lived yet"


def _why(name: str, found: Mapping[str, Any]) -> str:
    if name == "economic":
        money = found["money"]
        spent = f"${money['spent_usd']:.4f} spent"
        if not money["balance_usd"]:
            return f"{spent}, without a bound"
        kept = f"${money['reserve_usd']:.2f} more are kept for its end"
        return f"{spent} of ${money['balance_usd']:.2f}, ${money['left_usd']:.4f} left; {kept}"
    if name == "epistemic":
        known = found["knowledge"]
        if not known["foretold"]:
            return "nothing that it learnt was put to the test yet"
        return (
            f"{known['came_true']} of {known['foretold']} steps went as what it learnt foretold; newer ones count more"
        )
    age = found["age"]
    if not age["limit"]:
        return "it does not age"
    if not found["clocks"][name]["value"]:
        return f"its time is over; it could live for {age['limit']} at most"
    return (
        f"{found['tick']} of at most {age['limit']}; the last throw was {age['throw'] or 0:.4f}, and less than"
        f" {age['hazard']:.6f} would have ended it"
    )


def _plot(found: Mapping[str, Any]) -> None:
    if len(found["points"]) < 2:
        return
    fine = (sys.stdout.encoding or "").lower().startswith("utf")
    width = max(10, min(columns(sys.stdout) - _BESIDE, _WIDEST))
    drawn = life_plot.rows(found["points"], width, fine=fine)
    for row in drawn:
        click.echo(row.side + ("│" if fine else "|"), nl=False)
        click.echo("".join(click.style(cell.letter, fg=cell.colour) for cell in row.cells))
    first, last = str(found["points"][0]["tick"]), str(found["points"][-1]["tick"])
    between = " " * max(1, len(drawn[0].cells) - len(first) - len(last))
    click.echo(f"{found['tick_is']:>{len(drawn[0].side) - 1}}  {first}{between}{last}")
    click.echo()


def _draw(found: Mapping[str, Any], path: Path) -> None:
    from metnos.app import living_plot

    try:
        path.write_text(living_plot.picture(found), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", fix="Name another file.") from error
    note(f"drawn into {path}")
