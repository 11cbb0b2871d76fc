"""``metnos doctor``: is everything well?"""

from dataclasses import asdict

import click

from metnos import __version__, app
from metnos.cli import FAILED, FINE, Choice
from metnos.cli.output import counted, inert, json_option, print_check, print_json
from metnos.core.errors import UsageError
from metnos.core.records import Check, Level

_WIDTH = 12
_SHOWN = 40  # differences: nobody reads more before they type a word


@click.command()
@click.option("--deep", is_flag=True, help="Also compare compiled files, installed packages, Python and bubblewrap.")
@click.option("--pin", is_flag=True, help="Accept the code of Metnos as it is now, with a word that you type.")
@json_option
@click.pass_obj
def doctor(choice: Choice, deep: bool, pin: bool, as_json: bool) -> int:
    """Check that everything Metnos needs is well, sandbox included.

    Green is fine, yellow works with a limit, red must be mended; below each that is not green stands what to type. The
    sandbox is proven by a program that really tries to get out. Exits with 1 if anything is red.

    While the code of Metnos is not what this workspace has pinned, nothing acts. After an update, or after you changed
    it yourself, --pin shows what differs and asks for a word, on a terminal only.
    """
    if pin:
        if deep or as_json:
            raise UsageError("--pin goes with nothing else")
        return _pin(choice)
    checks = []
    for check in app.examine(choice.workspace(), deep=deep):
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


def _pin(choice: Choice) -> int:
    """Show what differs, ask for the word, and pin."""
    from metnos.cli import person  # only for a pin
    from metnos.law.own_code import PACKAGE

    what = "pin the code of Metnos"
    person.require(what)
    opened = app.App.open(choice.workspace())
    try:
        found = opened.own.look()
        if found.pin is not None and not found.differences:
            click.echo(f"The code of Metnos is what you pinned: {found.code.digest}")
            return FINE
        before = f"{found.pin.version}, pinned {found.pin.ts[:10]}" if found.pin else "never pinned here"
        click.echo(f"Metnos {__version__} at {inert(str(PACKAGE))}; before: {before}")
        lines = found.differences or found.unrecorded or tuple(found.code.files)
        for line in lines[:_SHOWN]:
            click.echo(f"  {inert(line)}")
        if len(lines) > _SHOWN:
            click.echo(f"  and {counted(len(lines) - _SHOWN, 'more file')}")
        if found.unrecorded:
            click.secho(f"{counted(len(found.unrecorded), 'file')} of it not as the package was installed!", fg="red")
        question = "Whatever this code does, Metnos will do. Pin it only if you changed or updated it yourself."
        by = person.confirm(what, question, found.word)
        pinned = opened.own.pin(found.word, by)
        click.echo(f"Pinned: {pinned.digest}")
        click.echo("A Metnos that is running must be started again: metnos serve --stop")
    finally:
        opened.close()
    return FINE
