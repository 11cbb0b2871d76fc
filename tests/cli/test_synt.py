"""``metnos synt`` and the two questions in ``metnos inbox``, typed as an owner would, with a scripted model."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.test_growing import CASES, CODE, PURPOSE, REVISED, SIGNATURE, WELL
from app.test_versions import FRAGILE, MENDED, NAME, strike_out
from cli.terminal import Desk, plain
from metnos.app import App, growing, introspecting
from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli import inbox as inbox_commands
from metnos.cli import synt as synt_commands
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, InboxError, ModelError, NoRoom, NotTrusted, Refused, UsageError
from metnos.executors.state import State
from metnos.law.inbox import ACTIVATION, DIRECTION
from metnos.synt.proposals import State as Stand
from turn.scripted import Said, reopened

pytestmark = pytest.mark.usefixtures("typist")

Open = Callable[..., App]
NEED = "Put texts into title case, every word"


@pytest.fixture
def start(equipped: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """A workspace whose model says these things, open before both commands."""
    apps: list[App] = []

    def opened(*replies: Said, **settings: str) -> App:
        app, _ = reopened(equipped, *replies, policy__autonomy="full", **settings)
        apps.append(app)
        app.__dict__["close"] = lambda: None  # a command closes what it opened; here the test goes on
        for commands in (synt_commands, inbox_commands):
            monkeypatch.setattr(commands, "open_app", lambda _: app)
        return app

    yield opened
    for app in apps:
        del app.__dict__["close"]


def synt(*line: str) -> Result:
    return CliRunner().invoke(synt_commands.synt, line, obj=Choice(None), standalone_mode=False)


def inbox(*line: str) -> Result:
    return CliRunner().invoke(inbox_commands.inbox, line, obj=Choice(None), standalone_mode=False)


def named(*replies: Said) -> tuple[Said, ...]:
    """With the words for the name first: what the owner says has none."""
    word = {"verb": "format", "object": "text", "qualifier": ""}
    return ({"names": [word, word, word]}, *replies)


def waiting(app: App, kind: str = ACTIVATION) -> str:
    (item,) = [each for each in app.inbox.waiting() if each.kind == kind]
    return item.id


class TestDraft:
    def test_it_is_made_shown_approved_and_lives(self, start: Open) -> None:
        app = start(*named(*WELL))
        made = synt("draft", NEED)
        assert made.return_value == FINE, made.output
        item = waiting(app)
        assert f"{NAME} passed every gate. See it and decide: metnos inbox show {item}" in made.output
        assert "waits for your yes" in synt("list").output
        shown = inbox("show", item).output
        for part in (
            "Let format_text live: Format text in title case.",
            "You asked for it.",
            "do nothing but compute",
            "It changes nothing.",
            "its tests notice mistakes that are put into its code",
            "touch the audit, the keys, the Laws or your answers",
            'example 1: {"texts": ["hello world"]} → [{"text": "hello world", "title": "Hello World"}]',
            "calls of a language model",
            "return {'title': text.title()}" if "'title'" in str(CODE) else "text.title()",
            f"metnos inbox approve {item}\n      let it live",
            f"metnos inbox edit {item}",
            "No answer until",
        ):
            assert part.replace("'", '"') in shown.replace("'", '"'), part
        assert "tests passed, in a sandbox" in shown
        assert "What changes" not in shown
        done = inbox("approve", item)
        assert "format_text 1.0.0 is signed and active." in done.output
        assert app.catalog.get(NAME).usable
        assert "It is used." in inbox("show", item).output
        assert synt("list").output.startswith("Nothing is on its way.")
        assert "lives" in synt("list", "--all").output

    def test_a_dry_run_shows_everything_and_keeps_nothing(self, start: Open) -> None:
        app = start(*named(*WELL), *named(*WELL))
        done = synt("draft", NEED, "--dry-run")
        assert done.return_value == FINE, done.output
        for part in ("✓ mutation", f"{NAME}/executor.py", f"{NAME}/tests.toml", "Nothing was kept."):
            assert part in done.output
        data = json.loads(synt("draft", NEED, "--dry-run", "--json").stdout)
        assert data["green"] is True
        assert set(data["files"]) == {"manifest.toml", "executor.py", "tests.toml"}
        assert (app.growing.proposals.all(), app.inbox.waiting()) == ([], [])

    def test_what_cannot_be_made_is_said_with_where_it_ended(self, start: Open) -> None:
        start(*named(SIGNATURE, CASES, PURPOSE, *["no code"] * 15))
        failed = synt("draft", NEED)
        assert failed.return_value == FAILED
        assert "It was given up: it could not be made: code was refused" in failed.output
        assert "given up" in synt("list", "--all").output

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ((" ",), "there is no need"),
            (("x" * 1001,), "too long"),
            ((NEED, "--example", "nonsense"), "no JSON"),
            ((NEED, "--example", '{"entries": []}'), "an example has args"),
            ((NEED, "--example", '{"args": {}, "more": 1}'), "an example has args"),
            ((NEED, "--example", '{"args": {}, "entries": [1]}'), "a list of objects"),
        ],
    )
    def test_what_makes_no_sense_is_refused_before_anything_is_asked(
        self, start: Open, line: tuple[str, ...], said: str
    ) -> None:
        start()
        with pytest.raises(UsageError, match=said):
            raise synt("draft", *line).exception or AssertionError("it went through")

    def test_without_a_model_nothing_is_promised(self, equipped: App, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(synt_commands, "open_app", lambda _: equipped)
        with pytest.raises(ModelError, match="no language model is configured"):
            raise synt("draft", NEED).exception or AssertionError("it went through")
        assert equipped.growing.proposals.all() == []

    def test_ctrl_c_stops_it_between_two_stages(self, start: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        app = start(*named(*WELL))
        monkeypatch.setattr(synt_commands.Stopping, "__call__", lambda _self: True)
        stopped = synt("draft", NEED)
        assert stopped.return_value == FAILED
        (proposal,) = app.growing.proposals.all()
        assert f"It was stopped, and is still to be made: metnos synt make {proposal.id}" in stopped.output
        monkeypatch.undo()


@pytest.mark.usefixtures("no_mutants")
class TestAnswers:
    @pytest.fixture
    def drafted(self, start: Open) -> App:
        app = start(*named(*WELL), *REVISED)
        synt("draft", NEED)
        return app

    def test_no_with_a_reason_has_another_made_and_no_without_one_ends_it(self, drafted: App) -> None:
        said = inbox("refuse", waiting(drafted), "--reason", "no capitals please").output
        (proposal,) = drafted.growing.proposals.all()
        assert f"It is made again with that in mind: metnos synt make {proposal.id}" in said
        shown = synt("show", proposal.id[-6:])
        assert "no capitals please" in shown.output
        assert "Now: metnos synt make" in shown.output + shown.stderr
        assert synt("make", proposal.id).return_value == FINE
        assert inbox("refuse", waiting(drafted)).output.count("\n") == 1
        assert drafted.growing.proposals.get(proposal.id).state is Stand.REFUSED
        with pytest.raises(ExecutorError, match="nothing to make"):
            raise synt("make", proposal.id).exception or AssertionError

    def test_the_third_no_is_said_to_be_the_end(self, drafted: App, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(growing, "_REFUSALS", 1)
        said = inbox("refuse", waiting(drafted), "--reason", "no").output
        assert "It is given up: refused 1 times; the last reason: no" in said

    def test_edited_code_passes_the_gates_again_and_is_a_new_question(
        self, drafted: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        item = waiting(drafted)
        monkeypatch.setattr("click.edit", lambda *_, **__: None)
        assert "Nothing was changed." in inbox("edit", item).output
        monkeypatch.setattr("click.edit", lambda code, **_: code.replace("text.title()", "eval('text')"))
        with pytest.raises(ExecutorError, match="does not pass"):
            raise inbox("edit", item).exception or AssertionError
        monkeypatch.setattr("click.edit", lambda code, **_: code.replace("there is no word", "no word is there"))
        said = inbox("edit", item).output
        new = waiting(drafted)
        assert new != item
        assert f"metnos inbox show {new}" in said
        assert "It is edited." in inbox("show", item).output
        with pytest.raises(InboxError):
            raise inbox("approve", item).exception or AssertionError
        inbox("approve", new)
        assert "no word is there" in drafted.catalog.get(NAME).source

    def test_a_yes_without_room_is_kept_and_said(self, start: Open) -> None:
        app = start(*named(*WELL), executors__births="0")
        synt("draft", NEED)
        with pytest.raises(NoRoom, match="your yes to format_text is kept"):
            raise inbox("approve", waiting(app)).exception or AssertionError
        shown = synt("show", NAME)
        assert "You said yes, and it does not live yet" in shown.output + shown.stderr


@pytest.mark.usefixtures("no_mutants")
class TestAVersion:
    """From a direction to a new version and back, on a terminal of eighty columns."""

    @pytest.fixture
    def struck(self, start: Open, clock: MovableClock) -> App:
        app = start(*named(SIGNATURE, CASES, PURPOSE, FRAGILE, FRAGILE), MENDED, MENDED)
        synt("draft", NEED)
        inbox("approve", waiting(app))
        strike_out(app, clock)
        introspecting.job(app)
        return app

    def test_everything_is_said_that_an_owner_needs(self, struck: App, monkeypatch: pytest.MonkeyPatch) -> None:
        direction = waiting(struck, DIRECTION)
        asked = inbox("show", direction).output
        for part in (
            "Shall I learn to mend format_text",
            "because an executor that it made keeps failing",
            "In the last 30 days I failed 3 times to use format_text.",
            "What broke",
            "IndexError",
            "Nothing of it runs for you before you say yes to that, too.",
            f"metnos inbox approve {direction}\n      yes",
        ):
            assert part in asked, part
        done = inbox("approve", direction).output
        assert "It may be made now: metnos synt make" in done
        assert synt("make", NAME).return_value == FINE
        desk = Desk(monkeypatch)
        inbox_commands.deciding.describe(struck.inbox.find(waiting(struck)), [])
        seen = plain(desk.leave())
        monkeypatch.undo()
        said = " ".join(seen.split())
        for part in (
            "Compared with 1.0.0, which is in quarantine: 3 faults of its own within a day",
            "no change: it may do what it might do before, and nothing else",
            "The old version is kept, and one command puts it back",
            "What changed of its code",
            f"--- {NAME} 1.0.0",
            f"+++ {NAME} 1.1.0",
            '"title": "A # B"',
        ):
            assert part in said, part
        code = seen[seen.index("What changed of its code") :]
        assert all(len(line) <= 80 for line in seen[: seen.index("What changed of its code")].splitlines())
        assert "+" in code

    def test_rolled_back_by_one_command_as_it_was(self, struck: App) -> None:
        inbox("approve", waiting(struck, DIRECTION))
        synt("make", NAME)
        assert "It took the place of 1.0.0" in inbox("approve", waiting(struck)).output
        shown = synt("show", NAME).output
        assert "the one that is there: active" in shown
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Refused, match="only a person"):
            patch.setattr(person, "is_at_terminal", lambda: False)
            raise synt("rollback", NAME).exception or AssertionError
        back = synt("rollback", NAME).output
        assert "format_text 1.0.0 is back in the place of 1.1.0." in back
        assert "It is in quarantine, as it was: 3 faults of its own within a day." in back
        assert struck.catalog.look(NAME).state is State.QUARANTINE
        with pytest.raises(ExecutorError, match=r"no version 9\.0\.0"):
            raise synt("rollback", NAME, "9.0.0").exception or AssertionError
        with pytest.raises(NotTrusted):
            raise synt("rollback", "sort_nothing").exception or AssertionError
        assert "1.1.0 is back" in synt("rollback", NAME, "1.1.0").output
        versions = json.loads(synt("show", NAME, "--json").stdout)["versions"]
        assert [each["version"] for each in versions] == ["1.1.0", "1.0.0"]


@pytest.mark.usefixtures("no_mutants")
def test_words_of_a_model_cannot_move_the_cursor(start: Open) -> None:
    app = start(*named(*WELL))
    synt("draft", NEED)
    found: Any = app.inbox.find(waiting(app))
    body = dict(found.body) | {"why": "\x1b[2J\u202eevil", "failures": ["\x9b31m"], "signed with": "\x1b]52;c;x\x07"}
    runner = CliRunner()
    with runner.isolation() as (out, *_):
        inbox_commands.deciding.describe(replace(found, body=body), [])
        sys.stdout.flush()
        shown = out.getvalue().decode()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[2J" in shown
    assert "signed with" in shown, "what a question has beyond that is shown too"
