"""While everything is halted, or the audit is in doubt, nothing acts by hand either: real programs, real servers."""

import json
from collections.abc import Iterator

import pytest

from cli.warm import metnos
from metnos.app import App, night
from metnos.core.clock import MovableClock
from metnos.core.errors import ModelError, Refused
from metnos.grimoire.episode import Viewer
from metnos.law.principal import at_terminal
from metnos.models.budget import Budget, Meter
from metnos.models.chat import Message, Prompt
from models.server import Running, says, serving

LIFT = "metnos executor panic --lift"
PROMPT = Prompt("Be brief.", (Message("user", "Hello"),), max_tokens=10)


@pytest.fixture
def server() -> Iterator[Running]:
    with serving(says("never")) as running:
        yield running


@pytest.fixture
def halted(equipped: App, server: Running) -> App:
    """Halted, with a language model that would answer."""
    equipped.set_setting("models.main.url", server.url, at_terminal())
    equipped.halts.halt("smoke")
    return equipped


@pytest.fixture
def doubted(equipped: App, server: Running, clock: MovableClock) -> App:
    """The last line of the audit is cut off."""
    equipped.set_setting("models.main.url", server.url, at_terminal())
    newest = max(equipped.workspace.audit.glob("*.jsonl"))
    lines = newest.read_bytes().splitlines(keepends=True)
    newest.write_bytes(b"".join(lines[:-1]))
    opened = App.open(equipped.workspace, clock)
    assert opened.halted() is not None
    return opened


@pytest.mark.parametrize(
    "line",
    [
        ("synt", "draft", "sort version numbers"),
        ("memory", "learn"),
        ("memory", "dream"),
        ("model", "test"),
        ("ager", "run"),
        ("jobs", "run", "conversations"),
        ("jobs", "run", "undo"),
        ("jobs", "run", "backup"),
    ],
)
def test_a_command_that_acts_says_that_everything_is_halted(
    halted: App, server: Running, line: tuple[str, ...]
) -> None:
    ran = metnos("--workspace", str(halted.workspace.root), *line)
    assert (ran.code, "smoke" in ran.err, LIFT in ran.err) == (1, True, True), ran
    assert not server.seen


def test_a_request_is_answered_with_how_to_lift_it(halted: App, server: Running) -> None:
    ran = metnos("--workspace", str(halted.workspace.root), "ask", "what do you think of Rome?")
    assert ran.code != 0
    assert "smoke" in ran.out + ran.err
    assert LIFT in ran.out + ran.err
    assert not server.seen


def test_every_job_at_once_runs_what_checks(halted: App) -> None:
    ran = metnos("--workspace", str(halted.workspace.root), "jobs", "run", "--night", "--json")
    assert ran.code == 1
    assert [each["job"] for each in json.loads(ran.out)] == ["executors", "code", "audit"]
    assert "only jobs that check are run" in ran.err
    due = metnos("--workspace", str(halted.workspace.root), "jobs", "run")
    assert (due.code, "smoke" in due.err) == (1, True), due


def test_what_only_shows_still_shows(halted: App) -> None:
    for line in (
        ("memory", "search", "rome"),
        ("model", "list"),
        ("jobs", "list"),
        ("turns", "list"),
        ("audit", "tail"),
    ):
        assert metnos("--workspace", str(halted.workspace.root), *line).code == 0


def test_no_model_is_asked_while_the_audit_is_in_doubt(doubted: App, server: Running) -> None:
    chat = doubted.models.metered("main", Meter(Budget(10_000, 1.0)))
    assert chat is not None
    with pytest.raises(ModelError, match="the log is shorter"):
        chat.ask(PROMPT)
    for job in ("undo", "conversations", "synt"):
        with pytest.raises(Refused, match="the log is shorter"):
            night.build(doubted).run_now(job)
    assert not server.seen


def test_no_text_goes_to_an_embedder_elsewhere_and_words_still_find(
    equipped: App, server: Running, clock: MovableClock
) -> None:
    equipped.grimoire.add("The spare key is under the mat.")
    for name, value in (("kind", "openai"), ("url", server.url), ("name", "small")):
        equipped.set_setting(f"embed.{name}", value, at_terminal())
    equipped.halts.halt("smoke")
    opened = App.open(equipped.workspace, clock)
    assert opened.embedder is not None
    with pytest.raises(ModelError, match="smoke"):
        opened.embedder.embed(["the spare key"])
    assert [each.of.text for each in opened.grimoire.recall("spare key", Viewer()).episodes] == [
        "The spare key is under the mat."
    ]
    assert not server.seen


def test_undo_keeps_what_is_old_while_everything_is_halted(halted: App) -> None:
    assert halted.undo.prune(halted.clock.now()) == 0
