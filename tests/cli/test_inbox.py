"""The inbox at the terminal. Its hands, which run an act, are a double here: they have tests of their own."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from law.asks import Court, ask
from metnos import app
from metnos.app.growing import Growing
from metnos.cli import Choice
from metnos.cli import inbox as commands
from metnos.core.canon import sha256_hex
from metnos.core.errors import InboxError, UsageError, Waiting
from metnos.core.workspace import Workspace
from metnos.law.inbox import Item, State
from metnos.law.principal import Principal
from metnos.synt import scaffold
from metnos.synt.draft import Check, Made
from metnos.turn.events import Answer
from support import Say
from synt.sketches import TITLE
from turn.scripted import reopened, steps
from turn.turning import take

pytestmark = pytest.mark.usefixtures("typist")


class Hands:
    """Notes what it was asked to run."""

    def __init__(self, court: Court) -> None:
        self.court = court
        self.ran: list[str] = []

    def resume(self, item: Item) -> str:
        self.ran.append(item.id)
        return "the outcome"

    def edit(self, item: Item, args: dict[str, Any], by: Principal) -> Item:
        return self.court.inbox.edit(item.id, by, {"args": args}, sha256_hex(json.dumps(args).encode()))


@pytest.fixture
def court(opened: app.App, monkeypatch: pytest.MonkeyPatch) -> Court:
    court = Court.over(opened)
    hands = Hands(court)
    turns = SimpleNamespace(go_on=lambda *_: None)  # no turn waits for these questions
    desk = SimpleNamespace(inbox=court.inbox, runner=hands, turns=turns, close=lambda: None)
    monkeypatch.setattr(commands, "open_app", lambda _: desk)
    shown = ModuleType("metnos.cli.executor")
    shown.show_outcome = lambda outcome: click.echo(f"shown: {outcome}")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "metnos.cli.executor", shown)
    return court


def type_in(*line: str) -> Result:
    return CliRunner().invoke(
        commands.inbox, line, obj=Choice(None), help_option_names=["-h", "--help"], catch_exceptions=True
    )


def question(court: Court, *, irreversible: bool = False) -> str:
    with pytest.raises(Waiting) as caught:
        court.policy().permit(ask(irreversible=irreversible), court.preview)
    return caught.value.item


def test_an_empty_inbox(court: Court) -> None:
    assert type_in("list").output == type_in().output == "Nothing waits for you.\n"
    assert json.loads(type_in("list", "--json").output) == []


def test_listed_and_shown_with_what_it_would_do(court: Court) -> None:
    item = question(court)
    assert "write_files: writes /home/owner/b.txt" in type_in("list").output
    shown = type_in("show", item.lower()).output
    assert "writes /home/owner/b.txt" in shown
    assert f"metnos inbox approve {item}" in shown
    found = json.loads(type_in("show", item, "--json").output)
    assert (found["state"], found["body"]["args"], found["yeses"]) == ("waiting", {"path": "b.txt"}, [])


def test_yes_runs_it(court: Court) -> None:
    item = question(court)
    done = type_in("approve", item)
    assert (done.exit_code, "shown: the outcome" in done.output) == (0, True)
    assert court.inbox.find(item).state is State.APPROVED
    assert "approved" in type_in("list", "--all").output


def test_what_cannot_be_taken_back_runs_at_the_second_yes(court: Court) -> None:
    item = question(court, irreversible=True)
    first = type_in("approve", item).output
    assert "yes 1 of 2" in first
    assert "shown" not in first
    assert "shown: the outcome" in type_in("approve", item).output
    assert json.loads(type_in("show", item, "--json").output)["yeses"][1]["by"].startswith("terminal:")


def test_no_with_a_reason(court: Court) -> None:
    item = question(court)
    assert "Refused" in type_in("refuse", item, "--reason", "not now").output
    assert court.inbox.find(item).reason == "not now"
    assert isinstance(type_in("approve", item).exception, InboxError)
    assert "not now" in type_in("show", item).output


def test_edited_by_option(court: Court) -> None:
    item = question(court)
    for wrong in ("nonsense", "[]"):
        assert isinstance(type_in("edit", item, "--args", wrong).exception, UsageError)
    done = type_in("edit", item, "--args", '{"path": "c.txt"}')
    assert "new question" in done.output
    assert court.inbox.find(item).state is State.EDITED
    assert isinstance(type_in("edit", item, "--args", "{}").exception, UsageError)


def test_edited_in_an_editor(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    item = question(court)
    monkeypatch.setattr("click.edit", lambda *_, **__: None)
    assert "Nothing was changed" in type_in("edit", item).output
    monkeypatch.setattr("click.edit", lambda text, **_: text.replace("b.txt", "d.txt"))
    type_in("edit", item)
    assert court.inbox.waiting()[0].body == {"args": {"path": "d.txt"}}


class TestAnExecutorThatATurnWaitsFor:
    """A real workspace: what the yes allows is done, and the request is finished with it."""

    @pytest.fixture
    def item(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        made = Made(scaffold.draft(TITLE), (Check("static gate", ""),))
        monkeypatch.setattr(Growing, "draft", lambda *_: made)
        opened, _ = reopened(app.App.open(Workspace(root)), steps({"missing": {"name": "format_text"}}))
        taken = take(opened, "format 'to be or not' in title case", [Answer.YES, Answer.LATER])
        assert taken.ended.state == "waiting"
        opened.close()
        return taken.wanted[1].item

    def test_approved_later_it_lives_and_the_turn_is_finished(self, item: str, say: Say) -> None:
        ran = say("inbox", "approve", item)
        assert ran.code == 0, ran.err
        assert "format_text 1.0.0 is signed and active." in ran.out
        assert "To Be Or Not" in ran.out
        told = " ".join(say("why").out.split())
        assert "It goes on with turn" in told
        assert "format_text was signed and is active. It was used for this request." in told

    def test_refused_it_is_gone(self, item: str, say: Say) -> None:
        assert say("inbox", "refuse", item).code == 0
        assert "Nothing waits for you." in say("inbox", "list").out
        assert say("executor", "show", "format_text").code != 0
