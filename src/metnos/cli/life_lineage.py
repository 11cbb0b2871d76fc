"""``metnos life lineage``: whom this agent comes from, what it inherited, and how far it went its own way."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import counted, json_option, print_json, print_table, say, short
from metnos.core.clock import to_text

if TYPE_CHECKING:
    from metnos.app import App
    from metnos.app.inheriting import Standing
    from metnos.life.lineage import Grave, Heirloom, Origins

_SELF = "this agent"
_LINES = 2  # of each category of a reflection


@click.command()
@click.option("--graveyard", is_flag=True, help="Also what the predecessor said at its end.")
@click.option("--heirlooms", is_flag=True, help="Also every entry that was inherited, and what became of it.")
@json_option
@click.pass_obj
def lineage(choice: Choice, graveyard: bool, heirlooms: bool, as_json: bool) -> None:
    """See whom this agent comes from, what became of its inheritance, and how far it went its own way."""
    from metnos.app import inheriting

    app = open_app(choice)
    line = inheriting.lineage(app)
    origins, standing, listed = line.origins(), inheriting.standing(app), line.heirlooms()
    if as_json:
        print_json(_data(app, origins, standing, listed))
        return
    print_table(
        ("generation", "key", "lived", "ticks", "ended by", "testament"), _rows(app, origins), drop=("ticks", "key")
    )
    if origins is None:
        click.echo("\nThe first of its line: it inherited from nobody.")
        return
    _tell(origins, standing, listed)
    if graveyard:
        _stone(origins.graves[0])
    if heirlooms:
        click.echo()
        print_table(("entry", "kind", "became", "deaths", "held", "believed", "here", "fact"),
                    [_heirloom(each) for each in listed], drop=("entry", "fact"))  # fmt: skip


def _rows(app: "App", origins: "Origins | None") -> list[tuple[object, ...]]:
    own = app.seat.signer.public
    rows: list[tuple[object, ...]] = [(origins.generation if origins else 0, f"{own[:16]}…", _SELF, "", "", "")]
    for grave in origins.graves if origins else ():
        lived = f"{grave.born:%Y-%m-%d} to {grave.died:%Y-%m-%d}" if grave.born and grave.died else ""
        ticks = grave.ticks if grave.born else ""
        rows.append((grave.generation, f"{grave.key[:16]}…", lived, ticks, grave.cause, f"{grave.testament[:16]}…"))
    return rows


def _tell(origins: "Origins", standing: "Standing", listed: "list[Heirloom]") -> None:
    became, shares = Counter(each.state for each in listed), standing.shares
    click.echo()
    say(
        f"Inherited {counted(shares.inherited, 'fact')} on {origins.taken:%Y-%m-%d}"
        f" ({', '.join(f'{count} {state}' for state, count in sorted(became.items())) or 'nothing was left'})."
    )
    say(
        f"Of these {shares.earned} were earned by own experience, {shares.refuted} refuted, {shares.faded} faded;"
        f" {shares.own} facts are its own. {shares.own_share:.0%} of what it believes it found or proved itself."
    )
    say(f"Divergence from its predecessor: {standing.divergence:.2f} (0: the same, 1: nothing in common).")
    if standing.is_copy:
        say("So far it is little more than its predecessor over again.")
    if origins.ended is None:
        say("Not all of it has come in: type `metnos init --from TESTAMENT` again, with the same file.")


def _stone(grave: "Grave") -> None:
    """What the predecessor said at its end."""
    click.echo()
    for category, said in (grave.said or {}).items():
        if said:
            click.secho(f"{category[:1].upper()}{category[1:]}", bold=True)
            for line in said[:_LINES]:
                say(f"- {line}", 2, 2)


def _heirloom(each: "Heirloom") -> tuple[object, ...]:
    became = f"{each.state}, earned" if each.earned else str(each.state)
    why = f" ({each.reason})" if each.reason and not each.fact else ""
    fact = short(each.fact) if each.fact else ""
    return each.entry, each.kind, became + why, each.generation, each.held, f"{each.believed:.2f}", \
        f"{each.confidence:.2f}", fact  # fmt: skip


def _data(app: "App", origins: "Origins | None", standing: "Standing", listed: "list[Heirloom]") -> dict[str, Any]:
    shares = standing.shares
    return {
        "key": app.seat.signer.public,
        "generation": origins.generation if origins else 0,
        "testament": origins.testament if origins else None,
        "inherited_at": to_text(origins.taken) if origins else None,
        "complete": origins is None or origins.ended is not None,
        "divergence": round(standing.divergence, 4),
        "own_share": round(shares.own_share, 4),
        "facts": {name: getattr(shares, name) for name in ("inherited", "earned", "refuted", "faded", "own")},
        "graveyard": [_grave(each) for each in origins.graves] if origins else [],
        "heirlooms": [_listed(each) for each in listed],
    }


def _grave(grave: "Grave") -> dict[str, Any]:
    return {
        "generation": grave.generation,
        "key": grave.key,
        "testament": grave.testament,
        "born": to_text(grave.born) if grave.born else None,
        "died": to_text(grave.died) if grave.died else None,
        "cause": grave.cause,
        "profile": grave.profile,
        "ticks": grave.ticks,
        "reflection": {category: list(said) for category, said in (grave.said or {}).items()},
    }


def _listed(each: "Heirloom") -> dict[str, Any]:
    return {
        "entry": each.entry,
        "kind": str(each.kind),
        "became": str(each.state),
        "reason": each.reason,
        "fact": each.fact or None,
        "generation": each.generation,
        "held": each.held,
        "believed": round(each.believed, 4),
        "confidence": round(each.confidence, 4),
        "earned": to_text(each.earned) if each.earned else None,
    }
