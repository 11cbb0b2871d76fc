"""``metnos ask``: one request, one answer. The answer alone is on standard output, so it can go into a pipe."""

import sys
from functools import partial

import click

from metnos.cli import FAILED, FINE, INTERRUPTED, WAITS, Choice
from metnos.cli.asking import ask as ask_owner
from metnos.cli.asking import can_answer
from metnos.cli.output import json_option, print_json
from metnos.cli.speaking import Speak, last_conversation, speaker
from metnos.cli.telling import Telling, follow, shown
from metnos.core.errors import UsageError
from metnos.core.ids import UlidMaker
from metnos.core.settings import load
from metnos.grimoire.trace import State
from metnos.turn.events import Answered
from metnos.turn.request import LONGEST

_CODES = {
    State.DONE: FINE,
    State.TALKED: FINE,
    State.REHEARSED: FINE,
    State.WAITING: WAITS,
    State.CANCELLED: INTERRUPTED,
}
_STANDARD_INPUT = "-"
_BYTES = 4  # that one character takes at most
_LONGEST_NAME = 64


@click.command()
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option("--dry-run", is_flag=True, help="Only show what it would do.")
@click.option("-c", "--continue", "continues", is_flag=True, help="Go on with the last conversation.")
@click.option("--conversation", metavar="NAME", help="Begin a conversation of this name, or go on with it.")
@json_option
@click.pass_obj
def ask(
    choice: Choice, words: tuple[str, ...], dry_run: bool, continues: bool, conversation: str | None, as_json: bool
) -> int:
    """Ask for something in your own words, once.

    TEXT needs no quotes unless your shell reads something into it. A last word `-`, or a pipe in the place of TEXT,
    reads it from standard input. Only the answer is printed on standard output.

    What needs your yes is asked on a terminal, and otherwise waits in the inbox. There is no --yes: to be asked less,
    see `metnos policy grant`, or `policy.autonomy` in `metnos config show`.

    Exits with 0 if it was done, 1 if it failed, was refused, was done only in part or nothing fits, 3 if it waits for
    your yes, and 130 if you cancelled it.
    """
    if continues and conversation is not None:
        raise click.UsageError("--continue and --conversation name two conversations; leave one away")
    text = _text(words)
    name = last_conversation(choice) if continues else _conversation(conversation)
    seconds = load(choice.workspace().settings).settings.turn.prompt_s
    with speaker(choice, name) as speak:
        ended, waits = _converse(speak, text, dry_run, seconds, as_json)
    if as_json:
        print_json(_data(ended, name, waits))
    return _CODES.get(State(ended.state), FAILED)


def _converse(speak: Speak, text: str, dry_run: bool, seconds: float, as_json: bool) -> tuple[Answered, list[str]]:
    """Run the turn, and another for each question that came back and was answered; returns how the last one ended."""
    while True:
        with Telling(streams=sys.stdout.isatty() and not as_json) as telling:
            ended = follow(speak(text, dry_run), telling, partial(ask_owner, seconds=seconds))
            asks_back = ended.state == State.QUESTION and can_answer()
            if asks_back:
                text = _reply(ended.text)
            elif not as_json:
                telling.finish(ended, "metnos ")
        if not asks_back or not text:
            return ended, telling.waits


def _reply(question: str) -> str:
    """What the owner answers to a question that came back; nothing if they do not."""
    click.echo(shown(question), err=True)
    try:
        return str(click.prompt(">", default="", show_default=False, prompt_suffix=" ", err=True)).strip()
    except click.Abort:
        click.echo(err=True)
        return ""


def _text(words: tuple[str, ...]) -> str:
    piped = sys.stdin is not None and not sys.stdin.isatty()
    parts = list(words)
    if parts[-1:] == [_STANDARD_INPUT] or (not parts and piped):
        parts = [*parts[:-1], _standard_input()]
    text = " ".join(parts).strip()
    if not text:
        raise UsageError("nothing was asked", fix='Write it: metnos ask "…"; or talk to it: metnos')
    if len(text) > LONGEST:
        raise UsageError(
            f"this is longer than {LONGEST:,} characters", fix="Put the long part into a file, and name the file."
        )
    return text


def _standard_input() -> str:
    """What comes through the pipe, and one character more than is allowed at most."""
    return sys.stdin.buffer.read(_BYTES * LONGEST + 1).decode(errors="replace")


def _conversation(named: str | None) -> str:
    if named is None:
        return UlidMaker()()
    if not named.isprintable() or not 0 < len(named.strip()) <= _LONGEST_NAME:
        raise UsageError(
            "that is no name for a conversation", fix=f"Use up to {_LONGEST_NAME} letters, digits and spaces."
        )
    return named.strip()


def _data(ended: Answered, conversation: str, waits: list[str]) -> dict[str, object]:
    plain = ("turn", "state", "text", "model_text")
    return {name: getattr(ended, name) for name in plain} | {
        "conversation": conversation,
        "steps": [dict(step) for step in ended.steps],
        "undo": list(ended.undo),
        "waits": waits,
    }
