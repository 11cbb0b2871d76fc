"""``metnos fastpath``: the shortcuts that Metnos learnt from what you repeat."""

import json
import re
from pathlib import Path
from typing import Any

import click

from metnos.app import explaining as fast
from metnos.app.reasons import FAST as WORDS
from metnos.cli import Choice, person
from metnos.cli.live import clip, lasted
from metnos.cli.opening import open_app
from metnos.cli.output import confirm, counted, hanging, inert, json_option, print_json, print_table, say, short
from metnos.fastpath.log import Event
from metnos.fastpath.records import HAPPENED, State

_STATES = {
    State.CANDIDATE: "seen, but not three times yet; it says and does nothing",
    State.SHADOW: "it guesses in silence while every request is planned as usual, to see whether it guesses right",
    State.ACTIVE: "it answers in the place of planning, where it is sure enough",
    State.DEMOTED: "it does nothing until the same was planned three times and went well, or: metnos fastpath restore",
}
_SHORT = {
    State.CANDIDATE: "rare (candidate)",
    State.SHADOW: "watches (shadow)",
    State.ACTIVE: "answers (active)",
    State.DEMOTED: "off (demoted)",
}
_ID = 10  # characters of a path's id that are shown
_FORMS = 10
_FORM = 60  # columns
_FROM = re.compile(r"\{\{(last|step\d+)\.([^{}]+)\}\}")


@click.group()
def fastpath() -> None:
    """See and switch off what was learnt from repeated requests."""


@fastpath.command(name="list")
@click.option("--state", type=click.Choice([str(state) for state in State]), help="Only those in this state.")
@json_option
@click.pass_obj
def list_(choice: Choice, state: str | None, as_json: bool) -> None:
    """List the fast paths, those that answer most first.

    A fast path is what Metnos learnt to do without planning, because it was asked for again and again. In the state
    candidate it was seen too rarely, in shadow it only watches whether it would be right, in active it answers, and in
    demoted it is switched off.
    """
    app = open_app(choice)
    found = [(log, path) for log in app.fast.logs for path in log.paths(State(state) if state else None)]
    found.sort(key=lambda each: (-each[1].hits, -each[1].passes, each[1].id))
    if as_json:
        print_json([fast.data(log, path) for log, path in found])
    elif found:
        rows = [
            (path.id[:_ID], _SHORT[path.state], " → ".join(path.tools), path.passes, path.hits, path.wrong,
             clip(next((form.said for form in log.forms(path.id)), ""), _FORM))
            for log, path in found
        ]  # fmt: skip
        head = ("path", "state", "does", "learnt from", "answered", "wrong", "asked as")
        print_table(head, rows, drop=("learnt from", "wrong", "answered", "does"))
    else:
        none = "There are no fast paths yet: one begins when a request is made, done, and made again."
        say(f"No fast path is in the state {state}." if state else none)


@fastpath.command()
@click.argument("path")
@json_option
@click.pass_obj
def show(choice: Choice, path: str, as_json: bool) -> None:
    """Show one PATH: how it is asked for, what it does, and what happened to it. The beginning of its id is enough."""
    app = open_app(choice)
    log, found = fast.find(app, path)
    if as_json:
        print_json(fast.data(log, found) | {"events": [fast.event_data(each) for each in log.events(found.id)]})
        return
    click.secho(f"Fast path {found.id}", bold=True)
    say(f"It {WORDS[found.state]}: {_STATES[found.state]}.", 2)
    say(f"Why: {found.reason}", 2)
    say(f"Does: {' → '.join(f'{mark.name} {mark.version}' for mark in found.marks)}", 2)
    say(
        f"Learnt from {counted(found.passes, 'request')}. Guessed right {counted(found.agreed, 'time')} and wrong"
        f" {counted(found.disagreed, 'time')}. Answered {counted(found.hits, 'request')}, {found.wrong} of them wrong.",
        2,
    )
    say(f"Planning took {lasted(found.plan_ms)} without it.", 2)
    forms, events = log.forms(found.id), log.events(found.id)
    click.secho("Asked as", bold=True)
    for form in forms[:_FORMS]:
        say(f"{form.said}  ({counted(form.uses, 'time')})", 2)
    if len(forms) > _FORMS:
        say(f"and in {len(forms) - _FORMS} other ways: --json", 2)
    click.secho("What happened", bold=True)
    if len(events) > _FORMS:
        say(f"{len(events) - _FORMS} earlier: --json", 2)
    for event in events[-_FORMS:]:
        why = f": {_reason(event)}" if event.reason else ""
        where = f"  metnos why {short(event.turn)}" if event.turn else ""
        say(f"{event.ts.astimezone():%Y-%m-%d %H:%M} {HAPPENED[event.kind]}{why}{where}", 2, further=2)


@fastpath.command()
@click.argument("path")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def demote(choice: Choice, path: str, yes: bool, as_json: bool) -> None:
    """Switch one PATH off.

    It comes back when the same was planned and went well three times again, or by `metnos fastpath restore`.
    """
    app = open_app(choice)
    _, found = fast.find(app, path)
    if not yes:
        confirm(f"Switch off the path {found.id[:_ID]}, which does {' → '.join(found.tools)}?")
    done = fast.demote(app, found)
    if as_json:
        print_json({"path": found.id, "demoted": done})
    elif done:
        say(f"Switched off: {found.id[:_ID]}. To take that back: metnos fastpath restore {found.id[:_ID]}")
    else:
        say(f"It was switched off before: {found.id[:_ID]}")


@fastpath.command()
@click.argument("path")
@json_option
@click.pass_obj
def restore(choice: Choice, path: str, as_json: bool) -> None:
    """Let a PATH that is switched off watch again.

    It goes back to the state shadow: it guesses while requests are planned as usual, and answers when it has been right
    often enough; if it answered before, after three such requests at the earliest.
    """
    app = open_app(choice)
    _, found = fast.find(app, path)
    done = fast.restore(app, found)
    if as_json:
        print_json({"path": found.id, "restored": done})
    elif done:
        say(f"It watches again: {found.id[:_ID]}. It answers when it has been right often enough.")
    else:
        say(f"It is not switched off: {found.id[:_ID]} {WORDS[found.state]}.")


@fastpath.command()
@click.argument("request")
@json_option
@click.pass_obj
def explain(choice: Choice, request: str, as_json: bool) -> None:
    """Say which fast path a REQUEST would take, and why it would or would not answer. Nothing is done."""
    app = open_app(choice)
    told = fast.explain(app, request, person.principal(), Path.cwd())
    if as_json:
        print_json(told)
        return
    say(f"Without its details it reads: {told['said']}")
    if not told["found"]:
        say("No fast path knows such a request: it would be planned.")
    for found in told["found"]:
        how = "in the same words" if found["exact"] else "by its meaning"
        verdict = "A fast path would answer" if found["may"] else "No fast path would answer; it would be planned"
        click.secho(hanging(f"{verdict}: {inert(found['why'])}", 0), bold=True)
        knows = "knows it" if found["sure"] else "is the nearest"
        say(f"Path {found['path'][:_ID]}, which {WORDS[found['state']]}, {knows} {how}: {found['said']}", 2)
        say(f"How likely that is right: {found['probability']:.2%}", 2)
        for number, step in enumerate(found["steps"], start=1):
            say(f"{number}. {step['executor']}", 2)
            for name, value in step["args"].items():
                say(f"{name}: {_value(value)}", 5, further=2)


def _value(value: Any) -> str:
    """An argument in words: what comes from a step before is said, and no braces are shown."""
    if isinstance(value, str):
        return _FROM.sub(_source, value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(map(_value, value))
    return json.dumps(value, ensure_ascii=False)


def _source(found: re.Match[str]) -> str:
    where = "the request before" if found[1] == "last" else f"step {found[1].removeprefix('step')}"
    return f"what {where} gave ({found[2]})"


def _reason(event: Event) -> str:
    """Why something happened; of a change of state, with what it means."""
    state, parted, why = event.reason.partition(": ")
    return f"it {WORDS[state]}: {why}" if parted and event.kind == "state" and state in WORDS else event.reason
