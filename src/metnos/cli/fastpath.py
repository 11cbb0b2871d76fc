"""``metnos fastpath``: the shortcuts that Metnos learnt from what you repeat."""

from pathlib import Path
from typing import Any

import click

from metnos.app import App
from metnos.app import paths as fast
from metnos.cli import Choice
from metnos.cli.live import clip, lasted
from metnos.cli.opening import open_app
from metnos.cli.output import confirm, counted, inert, json_option, print_json, print_table
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.fastpath.log import Log
from metnos.fastpath.records import FastPath, State
from metnos.law.principal import at_terminal

_STATES = {
    State.CANDIDATE: "seen, but not often enough",
    State.SHADOW: "predicts, while planning goes on as usual",
    State.ACTIVE: "answers, where it is sure enough",
    State.DEMOTED: "does not answer",
}
_ID = 10  # characters of a path's id that are shown
_FORMS = 10
_FORM = 60  # columns
_KINDS = {
    "pass": "planned so, and it went well",
    "fail": "planned so, and taken back or disliked",
    "agree": "predicted what was planned",
    "disagree": "predicted something else than was planned",
    "hit": "answered",
    "fell_back": "could not do it; it was planned anew",
    "wrong": "an answer was wrong",
    "good": "an answer was liked",
    "state": "changed its state",
    "offered": "offered to be made an executor",
    "link": "the first part of it was done, and it went well",
}


@click.group()
def fastpath() -> None:
    """See and switch off what was learnt from repeated requests."""


@fastpath.command(name="list")
@click.option("--state", type=click.Choice([str(state) for state in State]), help="Only those in this state.")
@json_option
@click.pass_obj
def list_(choice: Choice, state: str | None, as_json: bool) -> None:
    """List the fast paths, those that answer most first."""
    app = open_app(choice)
    found = [(log, path) for log in app.fast.logs for path in log.paths(State(state) if state else None)]
    found.sort(key=lambda each: (-each[1].hits, -each[1].passes, each[1].id))
    if as_json:
        print_json([_data(log, path) for log, path in found])
    elif found:
        rows = [
            (path.id[:_ID], path.state, " → ".join(path.tools), path.passes, path.hits, path.wrong,
             clip(next((form.said for form in log.forms(path.id)), ""), _FORM))
            for log, path in found
        ]  # fmt: skip
        print_table(("path", "state", "does", "learnt from", "answered", "wrong", "asked as"), rows)
    else:
        none = "There are no fast paths yet: one begins when a request is made, done, and made again."
        click.echo(f"No fast path is in the state {state}." if state else none)


@fastpath.command()
@click.argument("path")
@json_option
@click.pass_obj
def show(choice: Choice, path: str, as_json: bool) -> None:
    """Show one PATH: how it is asked for, what it does, and what happened to it. The beginning of its id is enough."""
    app = open_app(choice)
    log, found = _find(app, path)
    if as_json:
        print_json(_data(log, found) | {"events": [_event(each) for each in log.events(found.id)]})
        return
    click.secho(f"Fast path {found.id}", bold=True)
    click.echo(f"  {found.state}: {_STATES[found.state]} ({inert(found.reason)})")
    click.echo(f"  does: {' → '.join(f'{mark.name} {mark.version}' for mark in found.marks)}")
    click.echo(
        f"  learnt from {counted(found.passes, 'request')}; predicted right {found.agreed} and wrong"
        f" {found.disagreed} times; answered {counted(found.hits, 'request')}, {found.wrong} of them wrong"
    )
    click.echo(f"  planning took {lasted(found.plan_ms)} without it")
    forms = log.forms(found.id)
    click.secho("Asked as", bold=True)
    for form in forms[:_FORMS]:
        click.echo(f"  {inert(form.said)}  ({counted(form.uses, 'time')})")
    if len(forms) > _FORMS:
        click.echo(f"  and in {len(forms) - _FORMS} other ways")
    click.secho("What happened", bold=True)
    for event in log.events(found.id)[-_FORMS:]:
        why = f": {inert(event.reason)}" if event.reason else ""
        where = f"  metnos why {event.turn}" if event.turn else ""
        click.echo(f"  {event.ts.astimezone():%Y-%m-%d %H:%M} {_KINDS[event.kind]}{why}{where}")


@fastpath.command()
@click.argument("path")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def demote(choice: Choice, path: str, yes: bool, as_json: bool) -> None:
    """Switch one PATH off. It comes back only when the same was planned and went well three times again."""
    app = open_app(choice)
    log, found = _find(app, path)
    if not yes:
        confirm(f"Switch off the path {found.id[:_ID]}, which does {' → '.join(found.tools)}?")
    done = log.move(found.id, State.DEMOTED, "you switched it off", app.clock.now())
    if as_json:
        print_json({"path": found.id, "demoted": done})
    else:
        click.echo(f"Switched off: {found.id}" if done else f"It was switched off before: {found.id}")


@fastpath.command()
@click.argument("request")
@json_option
@click.pass_obj
def explain(choice: Choice, request: str, as_json: bool) -> None:
    """Say which fast path a REQUEST would take, and why it would or would not answer. Nothing is done."""
    app = open_app(choice)
    told = fast.explain(app, request, at_terminal(), Path.cwd())
    if as_json:
        print_json(told)
        return
    click.echo(f"Without its details it reads: {inert(told['form'])}")
    if not told["found"]:
        click.echo("No fast path knows such a request.")
    for found in told["found"]:
        how = "in the same words" if found["exact"] else "by its meaning"
        click.secho(f"{'Would answer' if found['may'] else 'Would not answer'}: {inert(found['why'])}", bold=True)
        click.echo(f"  path {found['path'][:_ID]}, {found['state']}, recognised {how} as: {inert(found['form'])}")
        click.echo(f"  how likely that is right: {found['probability']:.2%}")
        for step in found["steps"]:
            click.echo(f"  {step['executor']} {inert(str(step['args']))}")


def _find(app: App, part: str) -> tuple[Log, FastPath]:
    found = [(log, path) for log in app.fast.logs for path in log.paths() if path.id.startswith(part.lower())]
    if len(found) == 1 and part:
        return found[0]
    what = f"{len(found)} fast paths begin so" if found else "there is no such fast path"
    raise UsageError(f"{what}: {part!r}", fix="See: metnos fastpath list")


def _data(log: Log, path: FastPath) -> dict[str, Any]:
    return {
        "path": path.id,
        "state": str(path.state),
        "reason": path.reason,
        "executors": [{"name": mark.name, "version": mark.version} for mark in path.marks],
        "forms": [{"form": form.canonical, "said": form.said, "uses": form.uses} for form in log.forms(path.id)],
        "passes": path.passes,
        "agreed": path.agreed,
        "disagreed": path.disagreed,
        "hits": path.hits,
        "wrong": path.wrong,
        "plan_ms": path.plan_ms,
        "plan_usd": path.plan_usd,
    }


def _event(event: Any) -> dict[str, Any]:
    return {
        "ts": to_text(event.ts),
        "kind": event.kind,
        "turn": event.turn,
        "probability": event.probability,
        "saved_ms": event.saved_ms,
        "saved_usd": event.saved_usd,
        "reason": event.reason,
    }
