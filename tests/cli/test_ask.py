"""``metnos ask``: what goes where, and the exit code, with turns that are written in advance."""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import scripted, warm
from cli.scripted import HOSTILE, ITEM, TURN
from cli.terminal import Program, on_a_terminal
from cli.warm import metnos
from metnos.api.client import connect
from metnos.cli import ask as asked
from metnos.cli import main
from metnos.core.workspace import Workspace
from metnos.turn.request import LONGEST
from support import PROGRAM as METNOS
from support import Ran

Say = Callable[..., Ran]
SCRIPTED = "cli.scripted"


@pytest.fixture
def say(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """``metnos ask`` in this process, with nobody to be asked; ``stdin`` is what is piped in."""
    monkeypatch.setattr(asked, "speaker", scripted.speaker)

    def run(*words: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main(("--workspace", str(workspace.root), "ask", *words))
        seen = capsys.readouterr()
        return Ran(code, seen.out, seen.err)

    return run


def data(ran: Ran) -> Any:
    return json.loads(ran.out)


class TestText:
    def test_from_the_arguments(self, say: Say) -> None:
        assert say("hello", "there  you").out == "You said: 'hello there  you'\n"

    def test_arguments_win_over_a_pipe(self, say: Say) -> None:
        assert say("hello", stdin=b"piped").out == "You said: 'hello'\n"

    def test_from_a_pipe(self, say: Say) -> None:
        assert say(stdin=b"hello\nthere\n").out == "You said: 'hello\\nthere'\n"
        assert say("-", stdin=b"hello").out == "You said: 'hello'\n"

    def test_a_last_dash_adds_it(self, say: Say) -> None:
        assert say("say", "-", stdin=b"hello").out == "You said: 'say hello'\n"
        assert say("a", "-", "b", stdin=b"hello").out == "You said: 'a - b'\n"

    def test_what_is_no_text_is_shown_as_such(self, say: Say) -> None:
        assert "\ufffd" in say("-", stdin=b"\xff\xfe").out

    def test_nothing_is_wrong_usage(self, say: Say) -> None:
        for words in ((), ("-",), ("  ",)):
            ran = say(*words)
            assert (ran.code, ran.out, "nothing was asked" in ran.err) == (2, "", True)

    def test_too_much_too(self, say: Say) -> None:
        ran = say("x" * (LONGEST + 1))
        assert (ran.code, ran.out) == (2, "")
        assert "Put the long part into a file" in ran.err
        assert say(stdin="é".encode() * (LONGEST + 1)).code == 2
        assert say(stdin="é".encode() * LONGEST).code == 0


class TestEnding:
    @pytest.mark.parametrize(
        ("text", "code", "out"),
        [
            ("hello", 0, "You said: 'hello'\n"),
            ("move it", 3, "It waits for your yes.\n"),
            ("which one", 1, "Which folder?\n"),
            ("fail", 1, ""),
            ("full", 1, ""),
        ],
    )
    def test_code_and_output(self, say: Say, text: str, code: int, out: str) -> None:
        ran = say(*text.split())
        assert (ran.code, ran.out) == (code, out)
        assert "Traceback" not in ran.err

    def test_a_rehearsal(self, say: Say) -> None:
        ran = say("move it", "--dry-run")
        assert (ran.code, ran.out) == (0, "It would move a.pdf.\n")

    def test_what_waits_is_named(self, say: Say) -> None:
        err = say("move", "it").err
        assert "✓ 1/2 find_files  path ~/inbox  1 item, 12 ms" in err
        assert f"metnos inbox show {ITEM}" in err

    def test_an_error_says_what_to_do(self, say: Say) -> None:
        assert say("fail").err == "error: the model did not answer\n  fix: Start it.\n"

    @pytest.mark.parametrize(
        ("state", "code"),
        [("done", 0), ("talked", 0), ("rehearsed", 0), ("partly", 1), ("failed", 1), ("refused", 1), ("nothing", 1),
         ("question", 1), ("interrupted", 1), ("waiting", 3), ("cancelled", 130)],
    )  # fmt: skip
    def test_every_state_has_its_code(self, say: Say, monkeypatch: pytest.MonkeyPatch, state: str, code: int) -> None:
        ended = scripted.Answered(TURN, state, "So.")
        monkeypatch.setattr(scripted, "speak", lambda *_: scripted.Scripted(ended).run())
        assert say("anything").code == code


class TestJson:
    def test_one_object(self, say: Say) -> None:
        ran = say("move it", "--json")
        assert ran.code == 3
        found = data(ran)
        assert found.pop("conversation")
        assert found == {
            "turn": TURN, "state": "waiting", "text": "It waits for your yes.", "model_text": False, "steps": [],
            "undo": [], "waits": [ITEM],
        }  # fmt: skip

    def test_words_are_not_streamed_into_it(self, say: Say) -> None:
        assert data(say("talk", "--json"))["text"] == f"Words {HOSTILE}"


class TestConversation:
    def test_each_is_its_own_unless_named(self, say: Say) -> None:
        assert say("conversation").out != say("conversation").out
        assert say("conversation", "--conversation", " taxes ").out == "This is taxes.\n"

    def test_the_last_one_goes_on(self, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(asked, "last_conversation", lambda _: "the last")
        assert say("conversation", "-c").out == "This is the last.\n"

    def test_wrong_ones(self, say: Say) -> None:
        assert say("x", "-c", "--conversation", "taxes").code == 2
        for name in ("", "  ", "a\nb", "x" * 65, "\x1b[2J"):
            assert say("x", "--conversation", name).code == 2

    def test_none_to_go_on_with(self, say: Say) -> None:
        ran = say("x", "-c")
        assert (ran.code, "there is no conversation to go on with" in ran.err) == (2, True)


@pytest.mark.slow
class TestAtATerminal:
    @pytest.fixture(autouse=True)
    def _here(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("METNOS_HOME", str(workspace.root))

    def test_a_yes_is_asked_for(self) -> None:
        program = Program("ask", "move", program=SCRIPTED)
        program.wait_for("move a.pdf to b.pdf").wait_for("Do this? [y/n/why]: ").type("y\n")
        assert program.end() == 0
        assert "✓ 2/2 move_files  paths a.pdf  1 item, 34 ms\nMoved 1 file.\n" in program.text

    def test_a_question_is_answered_right_there(self) -> None:
        program = Program("ask", "which", program=SCRIPTED)
        program.wait_for("Which folder?\n> ").type("this one\n")
        assert program.end() == 0
        assert "You said: 'this one'" in program.text

    def test_or_left(self) -> None:
        program = Program("ask", "which", program=SCRIPTED)
        program.wait_for("> ").type("\x04")
        assert program.end() == 1

    def test_an_interrupt_cancels(self) -> None:
        program = Program("ask", "sleep", program=SCRIPTED)
        program.wait_for("read_files  path ~/slow").type("\x03")
        assert program.end() == 130
        assert program.text.endswith("Cancelled. read_files had begun; what was changed is in: metnos undo --list\n")

    def test_the_answer_goes_into_a_file_and_the_question_does_not(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        program = Program("ask", "move", program=SCRIPTED, out=out)
        program.wait_for("Do this?").type("y\n")
        assert program.end() == 0
        assert out.read_text() == "Moved 1 file.\n"

    def test_nothing_that_a_model_says_reaches_the_terminal(self) -> None:
        program = Program("ask", "talk", program=SCRIPTED, NO_COLOR="1")
        assert program.end() == 0
        assert "Words \\x1b[2J\\x1b]52;c;aGk=\\x07" in program.text
        assert not any(char in program.text for char in "\x1b\x07\x9b\u202e")
        assert not re.search(r"\x1b\[(\d+;)*3\d(;\d+)*m", program.seen)

    def test_a_reader_that_has_enough_is_no_error(self) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        with tempfile.TemporaryFile() as said:
            started = warm.start(("ask", "hello"), [0, writing, said.fileno()], program=SCRIPTED)
            os.close(writing)
            code = started.wait()
            said.seek(0)
            assert (code, said.read()) == (0, b"")


@pytest.fixture
def home(root: Path) -> Path:
    """A home with a whole workspace and two files."""
    found = root.parents[2]
    for name in ("box/a.pdf", "box/b.pdf", "shelf/c.pdf"):
        (found / name).parent.mkdir(exist_ok=True)
        (found / name).write_text(name)
    return found


@pytest.mark.slow
class TestForReal:
    """The whole of it, with no language model."""

    def test_where_nobody_answers_it_waits_and_an_approval_does_it(self, home: Path) -> None:
        found = metnos("ask", "find the pdf files in ~/box")
        assert (found.code, "a.pdf" in found.out, "find_files" in found.err) == (0, True, True)
        waits = metnos("ask", "move ~/box/a.pdf to ~/shelf")
        assert (waits.code, (home / "box/a.pdf").exists()) == (3, True)
        item = waits.err.split()[-1]
        assert "box/a.pdf" in metnos("inbox").out  # which file, and not only which executor
        assert on_a_terminal("inbox", "approve", item, typed=[("Type yes", "yes")]).code == 0
        assert (home / "shelf/a.pdf").exists()

    def test_at_a_terminal_a_yes_does_it_and_undo_takes_it_back(self, home: Path) -> None:
        program = Program("ask", "move ~/box/a.pdf to ~/shelf", from_nothing=True)
        program.wait_for(f"move {home.resolve()}/box/a.pdf to {home.resolve()}/shelf/a.pdf")
        program.wait_for("Do this? [y/n/always/why]: ").type("why\n").wait_for("supervised")
        program.wait_for("Do this?").type("y\n").wait_for("✓ move_files").wait_for("metnos undo ")
        assert program.end() == 0
        assert (home / "shelf/a.pdf").exists()
        assert metnos("undo", "--yes").code == 0
        assert (home / "box/a.pdf").exists()

    def test_always_is_not_asked_again(self, home: Path) -> None:
        program = Program("ask", "move ~/box/a.pdf to ~/shelf")
        program.wait_for("Do this? [y/n/always/why]: ").type("always\n")
        assert program.end() == 0
        assert metnos("ask", "move ~/box/b.pdf to ~/shelf").code == 0
        assert (home / "shelf/b.pdf").exists()

    def test_a_cancelled_turn_is_recorded_and_nothing_is_done(self, home: Path) -> None:
        program = Program("ask", "move ~/box/a.pdf to ~/shelf")
        program.wait_for("Do this?").type("\x03").wait_for("Cancelled.")
        assert program.end() == 130
        assert (home / "box/a.pdf").exists()
        assert json.loads(metnos("turns", "list", "--json").out)[0]["state"] == "cancelled"

    def test_the_daemon_answers_where_one_runs(self, home: Path) -> None:
        workspace = Workspace(home / ".local/share/metnos")
        with subprocess.Popen([str(METNOS), "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
            try:
                while (client := connect(workspace)) is None:
                    assert daemon.poll() is None
                    time.sleep(0.02)
                program = Program("ask", "move ~/box/a.pdf to ~/shelf")
                program.wait_for("Do this?")
                assert client.status()["turns"] == 1
                program.type("y\n")
                assert program.end() == 0
            finally:
                daemon.terminate()
        assert (home / "shelf/a.pdf").exists()
        again = metnos("ask", "-c", "find the pdf files in ~/shelf")
        assert (again.code, "a.pdf" in again.out) == (0, True), again.err
