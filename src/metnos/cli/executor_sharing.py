"""``metnos executor export|import``: give executors to another instance, and take them from one."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import FAILED, FINE, Choice
from metnos.cli.opening import open_app
from metnos.cli.output import counted, hanging, inert, json_option, note, print_json, say
from metnos.core.errors import UsageError

if TYPE_CHECKING:
    from metnos.app import App
    from metnos.app.importing import Brought, Source
    from metnos.app.skilled import Taken

SKILL = "SKILL.md"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--to", "target", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The new file.")
@json_option
@click.pass_obj
def export(choice: Choice, names: tuple[str, ...], target: Path, as_json: bool) -> None:
    """Write executors of your own into one signed file, for another instance of Metnos.

    It holds their manifests, code and birth tests. Birth tests can hold what was recorded on this machine: look at them
    before you give the file away.
    """
    from metnos.app import importing

    made = importing.export(open_app(choice), names, target)
    packed = [(draft.name, draft.read().version, importing.calls(draft)) for draft in made.drafts]
    if as_json:
        rows = [{"name": name, "version": version, "calls": list(called)} for name, version, called in packed]
        print_json({"file": str(target), "key": made.key, "digest": made.digest, "executors": rows,
                    "parts": list(made.parts)})  # fmt: skip
        return
    for name, version, called in packed:
        parts = f", which calls {', '.join(called)}" if called else ""
        click.echo(f"{name} {version}{parts}")
    click.echo(f"Written to {target}, signed with this agent's key: {made.key}")
    if made.parts:
        note(f"they call what is not in the file: {', '.join(made.parts)}. Export these too, or the other lacks them")
    note("birth tests are in it as they are; those of what Metnos made can hold words and paths of yours")


@click.command(name="import")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--again", is_flag=True, help="Also ask about what you refused before.")
@json_option
@click.pass_obj
def import_(choice: Choice, source: Path, again: bool, as_json: bool) -> int:
    """Take in what `metnos executor export` wrote, or a folder with a SKILL.md.

    Nothing of it is used at once. Executors pass every gate and wait in the inbox for your yes; then they are signed
    with this agent's own key. The texts of a skill wait there too, to be remembered; of its scripts only those go on,
    through the gates, that are executors. Exits with 1 if anything was refused.
    """
    app = open_app(choice)
    try:
        if source.name == SKILL and source.is_file():
            return _skill(app, source.parent, again, as_json)
        if source.is_dir():
            return _skill(app, source, again, as_json)
        return _bundle(app, source, again, as_json)
    finally:
        app.close()


def _bundle(app: "App", source: Path, again: bool, as_json: bool) -> int:
    from metnos.app import importing

    opened, whose = importing.open_bundle(app, source)
    if not as_json:
        _tell_key(whose)
    brought = _told(importing.take_in(app, opened.drafts, whose, again=again, progress=_progress), as_json)
    if as_json:
        print_json({"kind": "bundle", "digest": opened.digest, "key": opened.key, "known": whose.known,
                    "executors": [_data(each) for each in brought]})  # fmt: skip
    return _code(brought)


def _skill(app: "App", place: Path, again: bool, as_json: bool) -> int:
    from metnos.app import skilled
    from metnos.app.importing import Became

    if not (place / SKILL).is_file():
        raise UsageError(
            f"{place} is a folder without a {SKILL}", fix="Name a bundle of executors, or the folder of a skill."
        )
    taken = skilled.take_in(app, place, again=again)
    skill = taken.skill
    if not as_json:
        _tell_texts(taken)
    brought = _told(skilled.executors(app, skill, again=again, progress=_progress), as_json)
    if as_json:
        texts = {"outcome": taken.became, "said": taken.said, "question": taken.question, "passages": taken.passages,
                 "left_out": list(taken.lore.left_out)}  # fmt: skip
        print_json({"kind": "skill", "name": skill.name, "description": skill.description, "texts": texts,
                    "executors": [_data(each) for each in brought], "not_run": list(skill.others),
                    "passed_over": list(skill.passed_over)})  # fmt: skip
    else:
        _tell_rest(taken)
    return FAILED if taken.became is Became.REFUSED else _code(brought)


# -- shown


def _tell_key(whose: "Source") -> None:
    click.echo(f"Signed with the key {whose.key}")
    if not whose.known:
        note("this is a stranger's key: nothing was ever taken from it. Ask whoever sent it whether it is theirs")


def _told(found: "Iterator[Brought]", as_json: bool) -> "list[Brought]":
    brought = []
    for each in found:
        brought.append(each)
        if not as_json:
            _tell(each)
    return brought


def _tell(each: "Brought") -> None:
    from metnos.app.importing import Became

    refused = each.became is Became.REFUSED
    mark, colour = ("✗", "red") if refused else ("✓", "green")
    click.secho(f" {mark} ", fg=colour, bold=True, nl=False)
    gate = f"refused by the gate “{each.gate}”: " if refused else ""
    first, *more = inert(each.said).split("\n")
    click.echo(hanging(f"{each.name}: {gate}{first}", 3))
    for line in more:
        say(line, 3, further=2)
    if each.question:
        calls = f" It calls {', '.join(each.needs)}." if each.needs else ""
        say(f"See it and say yes: metnos inbox show {each.question}{calls}", 3)


def _tell_texts(taken: "Taken") -> None:
    skill = taken.skill
    click.secho(inert(skill.name), bold=True, nl=False)
    click.echo(f"  {hanging(inert(skill.description), len(skill.name) + 2)}")
    click.echo(f"{taken.said[:1].upper()}{inert(taken.said[1:])}".rstrip(".") + ".")
    if taken.question:
        say(f"{counted(taken.passages, 'passage')}; see them and say yes: metnos inbox show {taken.question}")
    for line in taken.lore.left_out:
        note(f"left out: {line}")


def _tell_rest(taken: "Taken") -> None:
    skill = taken.skill
    if skill.others:
        note(f"not run and not kept, because they are no executors: {', '.join(skill.others)}")
        wanted = shlex.quote(inert(skill.description))
        note(f"to have an executor made for what they do: metnos synt draft {wanted}")
    for line in skill.passed_over:
        note(f"passed over: {line}")


def _progress(name: str) -> None:
    if sys.stderr.isatty():
        note(f"{name}: examining …")


def _code(brought: "list[Brought]") -> int:
    from metnos.app.importing import Became

    return FAILED if any(each.became is Became.REFUSED for each in brought) else FINE


def _data(each: "Brought") -> dict[str, Any]:
    return {"name": each.name, "outcome": each.became, "said": each.said, "gate": each.gate,
            "question": each.question, "calls": list(each.needs)}  # fmt: skip


SHARING = (export, import_)
