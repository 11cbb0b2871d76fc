"""``metnos context show``: what a language model was sent, to the letter, and nothing that a terminal obeys."""

import json

from click.testing import CliRunner, Result

from grimoire.traces import trace
from metnos.cli import Choice
from metnos.cli import context as commands
from metnos.context.assemble import Entry, Record
from metnos.core.errors import UsageError
from metnos.grimoire.medium import Medium
from metnos.grimoire.trace import Context

RECORD = Record("plan", "explore", 4096, 512, 321, 0.5, "", (Entry("request", 40, 60, 40, False, ()),))
SENT = (
    Context("plan", "You plan steps.", "move the PDFs \x1b[31m", RECORD.as_dict()),
    Context("repair", "You mend plans.", "it lacks a path", RECORD.as_dict()),
)


def show(*line: str) -> Result:
    return CliRunner().invoke(commands.context, ["show", *line], obj=Choice(None))


def test_every_call_is_shown_to_the_letter(medium: Medium) -> None:
    medium.close(trace("01AAA", contexts=SENT))
    said = show().output
    places = [said.index(words) for words in ("plan", "You plan steps.", "move the PDFs", "repair", "You mend plans.")]
    assert places == sorted(places)
    assert said.count("321 tokens of 4096") == 2
    assert "\x1b" not in said


def test_figures_alone_show_no_words_of_the_request(medium: Medium) -> None:
    medium.close(trace("01AAA", contexts=SENT))
    said = show("--figures").output
    assert said.count("321 tokens of 4096") == 2
    assert "You plan steps." not in said
    assert "move the PDFs" not in said


def test_as_json_it_is_what_was_kept(medium: Medium) -> None:
    medium.close(trace("01AAA", contexts=SENT))
    medium.close(trace("01BBB"))
    kept = json.loads(show("aaa", "--json").output)
    assert [(each["task"], each["system"], each["body"]) for each in kept] == [
        (each.task, each.system, each.body) for each in SENT
    ]
    assert [Record.from_dict(each["record"]) for each in kept] == [RECORD, RECORD]
    assert json.loads(show("--json").output) == []


def test_a_turn_without_a_model_has_none(medium: Medium) -> None:
    medium.close(trace("01AAA", contexts=()))
    assert isinstance(show().exception, UsageError)
