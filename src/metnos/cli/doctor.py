"""``metnos doctor``: is everything well?"""

from dataclasses import asdict

import click

from metnos import app
from metnos.cli import FAILED, FINE, Choice
from metnos.cli.output import json_option, print_check, print_json
from metnos.core.records import Check, Level

_WIDTH = 12


@click.command()
@json_option
@click.pass_obj
def doctor(choice: Choice, as_json: bool) -> int:
    """Check that everything Metnos needs is well, sandbox included.

    Green is fine, yellow works with a limit, red must be mended; below each that is not green stands what to type. The
    sandbox is proven by a program that really tries to get out. Exits with 1 if anything is red.
    """
    checks = []
    for check in app.examine(choice.workspace()):
        checks.append(check)
        if not as_json:
            print_check(check, _WIDTH)
    failed = any(check.level is Level.RED for check in checks)
    if as_json:
        print_json({"well": not failed, "checks": [asdict(check) for check in checks]})
    else:
        click.echo(f"\n{summary(checks)}")
    return FAILED if failed else FINE


def summary(checks: list[Check]) -> str:
    """How many checks came out how, in one sentence."""
    reds = sum(check.level is Level.RED for check in checks)
    yellows = sum(check.level is Level.YELLOW for check in checks)
    if reds:
        return f"{reds} of {len(checks)} checks need mending: type what stands behind the arrow."
    if yellows:
        return f"All is well; {yellows} of {len(checks)} checks could be better."
    return f"All is well: {len(checks)} checks."
