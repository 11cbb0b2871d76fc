"""``metnos synt introspect``: what Metnos would propose by itself, and why the rest does not reach you."""

from typing import Any

import click

from metnos.app import introspecting
from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, note, print_json, print_table, say
from metnos.night.vaglio import Judged


@click.command()
@json_option
@click.pass_obj
def introspect(choice: Choice, as_json: bool) -> None:
    """Show what Metnos would propose tonight, with scores and reasons. Asks nothing and keeps nothing.

    A score says how much it serves the ends in TELOS.md, how much speaks for it, and how little asking would bother
    you. What stands between “ and ” may be words of your requests, or of a language model.
    """
    tonight = introspecting.look(open_app(choice))
    if as_json:
        ends = [{"weight": end.weight, "end": end.text} for end in tonight.telos.ends]
        found = [_data(each) for each in tonight.judged]
        print_json({"ends": ends, "notes": list(tonight.telos.notes), "findings": found})
        return
    for wrong in tonight.telos.notes:
        note(wrong)
    if not tonight.judged:
        click.echo("Nothing was found that is missing, broken or one too many.")
        return
    rows = [(each.finding.kind, each.score.verdict, _scored(each), _about(each)) for each in tonight.judged]
    print_table(("found", "verdict", "score", "about"), rows, drop=("score",))
    for each in tonight.judged:
        click.echo()
        click.secho(inert(_about(each)), bold=True)
        for line in (each.finding.says, *_because(each)):
            say(inert(line), indent=2, further=2)


def _about(each: Judged) -> str:
    need = each.finding.need
    if need is not None:
        return need.text
    return f"archive {each.finding.archive}" if each.finding.archive else "-"


def _scored(each: Judged) -> str:
    return f"{each.score.score:.2f}" if each.finding.need is not None and not each.finding.dropped else "-"


def _because(each: Judged) -> list[str]:
    score = each.score
    lines = [f"{score.verdict}: {score.reason}"]
    if score.end:
        lines.append(f"serves: {score.end}")
        lines.append(f"worth {score.worth:.2f}, support {score.support:.2f}, bother {score.bother:.2f}")
    return lines


def _data(each: Judged) -> dict[str, Any]:
    need, score = each.finding.need, each.score
    evidence = need.evidence if need is not None else None
    return {
        "kind": each.finding.kind,
        "verdict": score.verdict,
        "reason": score.reason,
        "score": round(score.score, 4),
        "worth": round(score.worth, 4),
        "support": round(score.support, 4),
        "bother": round(score.bother, 4),
        "end": score.end,
        "says": each.finding.says,
        "need": need.text if need is not None else "",
        "name": need.name if need is not None else "",
        "way": need.way if need is not None else "",
        "archive": each.finding.archive,
        "uses": evidence.uses if evidence else 0,
        "days": evidence.days if evidence else 0,
        "saved_ms": evidence.saved_ms if evidence else 0.0,
        "saved_usd": evidence.saved_usd if evidence else 0.0,
        "turns": list(evidence.turns) if evidence else [],
    }
