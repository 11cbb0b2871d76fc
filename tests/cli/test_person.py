"""What only a person may say, at real terminals and through real pipes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.standin import until
from cli import warm
from cli.terminal import Program, on_a_terminal, plain
from cli.warm import metnos
from metnos.api.client import connect
from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.executors import template
from metnos.executors.state import State
from metnos.law.pairing import OFFERED
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.synt.draft import Draft

NAME = "count_lines"
NIGHT = Principal(Channel.NIGHT, "synt", Autonomy.READ_ONLY)
SAID = ("question approved", "grant given", "halt lifted", OFFERED, "executor signed")


@pytest.fixture
def app(root: Path) -> Iterator[App]:
    """A workspace with a draft of the owner's."""
    opened = App.open(Workspace(root))
    folder = root / "executors" / NAME
    folder.mkdir()
    for name, content in template.files(NAME).items():
        (folder / name).write_bytes(content)
    yield opened
    opened.close()


def said(app: App) -> list[str]:
    """What the audit has of answers, the oldest first."""
    lines = [line for line in app.audit.newest() if line.kind in SAID]
    return [line.kind for line in lines if line.entry.names.get("origin") != "builtin"][::-1]


LINES = (
    ("policy", "grant", "*", "fs.write", "~/box", "--days", "2"),
    ("executor", "panic", "--lift"),
    ("device", "pair"),
    ("device", "token"),
    ("telegram", "pair"),
    ("config", "set", "policy.autonomy", "full"),
    ("config", "set", "mcp.elicit", "true"),
    ("config", "set", "web.host", "0.0.0.0"),
    ("executor", "enable", "find_links"),
    ("synt", "rollback", NAME),
    ("life", "retire"),
    ("mcp", "add", "notes", "--", "true"),
)


def test_no_pipe_says_what_only_a_person_may(app: App) -> None:
    app.runner.panic("a test")
    app.catalog.change("find_links", State.DISABLED, "a test")
    before = said(app)
    for line in LINES:
        ran = metnos(*line, stdin="yes\nretire\nnotes\ncount_lines\n" * 9)
        assert (ran.code, "only a person may" in ran.err) == (1, True), (line, ran)
        assert metnos(*line, "--yes").code in (1, 2), line
    assert said(app) == before
    assert app.halts.halted() is not None
    assert app.grants.active() == []
    assert app.pairing.devices() == []
    settings = Workspace(app.workspace.root).settings.read_text()
    assert 'autonomy = "full"' not in settings
    assert app.catalog.look("find_links").state == "disabled"


def test_a_script_puts_a_question_and_cannot_answer_it(app: App) -> None:
    assert metnos("executor", "sign", NAME, "--yes").code == 2
    asked = metnos("executor", "sign", NAME, stdin=f"{NAME}\nyes\n")
    assert (asked.code, asked.err.startswith("waits: ")) == (3, True)
    (item,) = app.inbox.waiting()
    assert (item.word, item.asked_by.partition(":")[0]) == (NAME, "script")
    for verb in ("approve", "refuse", "edit"):
        assert metnos("inbox", verb, item.id, stdin=f"{NAME}\n" * 3).code in (1, 2)
    assert app.inbox.find(item.id).state == "waiting"
    assert app.catalog.look(NAME).state == "draft"
    assert said(app) == []


def test_a_draft_that_waits_in_the_inbox_is_not_signed_from_its_folder(app: App) -> None:
    draft = Draft(
        NAME, *(template.files(NAME)[file].decode() for file in ("manifest.toml", "executor.py", "tests.toml"))
    )
    body = {"name": NAME, "way": "owner", "proposal": "nobody"}
    waits = app.inbox.ask("activation", "Let it live", body, draft.digest, asked_by=NIGHT, hours=1)
    ran = metnos("executor", "sign", NAME)
    assert (ran.code, waits.id in ran.err) == (3, True), "the very same question"
    assert app.catalog.look(NAME).state == "draft"


def test_at_a_terminal_it_is_named_in_full(app: App) -> None:
    for wrong in ("y", "yes", "count_line", ""):
        ran = on_a_terminal("executor", "sign", NAME, typed=[(f"Type {NAME}", wrong)])
        assert (ran.code, "nothing was done" in plain(ran.out)) == (1, True)
        assert app.catalog.look(NAME).state == "draft"
    ran = on_a_terminal("executor", "sign", NAME, typed=[(f"Type {NAME}", NAME)])
    assert (ran.code, app.catalog.look(NAME).state) == (0, "active"), ran.out
    assert list(dict.fromkeys(said(app))) == ["question approved", "executor signed"]
    (line,) = [line for line in app.audit.newest() if line.kind == "question approved"]
    assert line.entry.names["channel"] == "terminal"


def test_what_was_typed_before_it_was_shown_is_thrown_away(app: App) -> None:
    program = Program("executor", "sign", NAME).type(f"{NAME}\n{NAME}\n")
    program.wait_for("to go on: ").type("\n")
    assert program.end() == 1
    assert app.catalog.look(NAME).state == "draft"


def test_the_daemon_tells_a_person_from_a_script(app: App) -> None:
    daemon = warm.start(("serve",), [os.open(os.devnull, os.O_RDWR)] * 3)
    until(lambda: connect(app.workspace) is not None)
    letter = Path.home() / "letter.txt"
    letter.write_text("dear all")
    waits = json.loads(metnos("ask", f"delete {letter}", "--json", stdin="y\nyes\n").out)
    (item,) = app.inbox.waiting()
    assert (waits["state"], item.asked_by.partition(":")[0], letter.exists()) == ("waiting", "script", True)
    done = on_a_terminal("inbox", "approve", item.id, typed=[("Type yes", "yes")])
    assert (done.code, letter.exists()) == (0, False), done.out
    connect(app.workspace).stop()  # type: ignore[union-attr]
    assert daemon.wait() == 0
