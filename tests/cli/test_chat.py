"""The chat, as a person meets it: on a real terminal, with turns that are written in advance."""

import re
from collections.abc import Iterator

import pytest

from cli import scripted
from cli.terminal import Program, plain
from metnos.cli import Choice
from metnos.cli.chat import Conversation, _history, _news
from metnos.core.errors import StoreBusy
from metnos.core.workspace import Workspace

SCRIPTED = "cli.scripted"
UP, ALT_ENTER = "\x1b[A", "\x1b\r"


@pytest.fixture
def talk(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setenv("METNOS_HOME", str(workspace.root))
    return Program(program=SCRIPTED).wait_for("say what you want").wait_for(">")


def leave(program: Program) -> int:
    """Ctrl-D, once the prompt is there to take it."""
    return program.wait_for(">").type("\x04").end()


@pytest.mark.slow
class TestTalking:
    def test_a_request_a_yes_and_the_way_out(self, talk: Program) -> None:
        talk.type("move\r").wait_for("· plan: find_files → move_files  (fixed rules)")
        talk.wait_for("✓ 1/2 find_files").wait_for("Do this? [y/n/why]: ").type("y\n")
        talk.wait_for("✓ 2/2 move_files").wait_for("Moved 1 file.").wait_for("To take it back: /undo 01JACTION")
        assert leave(talk) == 0

    def test_several_lines(self, talk: Program) -> None:
        talk.type(f"one\\\rtwo{ALT_ENTER}three\r").wait_for("You said: 'one\\ntwo\\nthree'")
        assert talk.wait_for(">").type("/quit\r").end() == 0

    def test_who_types_quit_is_let_out(self, talk: Program) -> None:
        assert talk.wait_for(">").type("quit\r").end() == 0

    def test_what_is_pasted_is_one_request(self, talk: Program) -> None:
        talk.type("\x1b[200~one\ntwo\x1b[201~").type("\r").wait_for("You said: 'one\\ntwo'")
        assert leave(talk) == 0

    def test_an_interrupt_at_the_prompt_gives_the_line_up(self, talk: Program) -> None:
        talk.type("half a line").wait_for("half a line").type("\x03").wait_for(">")
        talk.type("whole\r").wait_for("You said: 'whole'")
        assert leave(talk) == 0

    def test_an_interrupt_in_a_turn_cancels_it_and_only_it(self, talk: Program) -> None:
        talk.type("sleep\r").wait_for("read_files  path ~/slow").type("\x03")
        talk.wait_for("Cancelled. read_files had begun; what was changed is in: metnos undo --list").wait_for(">")
        talk.type("still there\r").wait_for("You said: 'still there'")
        assert leave(talk) == 0

    def test_an_interrupt_at_a_question_too(self, talk: Program) -> None:
        talk.type("move\r").wait_for("Do this?").type("\x03").wait_for("Cancelled. 1 step had been done")
        assert leave(talk) == 0

    def test_an_error_is_said_and_the_chat_goes_on(self, talk: Program) -> None:
        talk.type("fail\r").wait_for("error: the model did not answer").wait_for("fix: Start it.").wait_for(">")
        talk.type("full\r").wait_for("the system refused: No space left on device").wait_for(">")
        talk.type("hello\r").wait_for("You said: 'hello'")
        assert leave(talk) == 0

    def test_nothing_that_a_model_says_reaches_the_terminal(self, talk: Program) -> None:
        talk.type("talk\r").wait_for("Words \\x1b[2J\\x1b]52;c;aGk=\\x07").wait_for("nothing was done")
        assert leave(talk) == 0
        assert "\x1b]52" not in talk.seen
        assert "\u202e" not in talk.seen


@pytest.mark.slow
class TestCommands:
    def test_help_names_what_there_is(self, talk: Program) -> None:
        talk.type("/help\r")
        for name in ("/dry TEXT", "/undo", "/why", "/inbox", "/new", "/quit", "Alt-Enter"):
            talk.wait_for(name)
        talk.wait_for(">").type("/quit\r").end()

    def test_those_of_the_program(self, talk: Program) -> None:
        talk.type("/inbox\r").wait_for("Nothing waits for you.").wait_for(">")
        talk.type("/config path\r").wait_for("metnos.toml").wait_for(">")
        talk.type("/undo\r").wait_for("error: there is nothing to undo").wait_for(">")
        talk.type("/policy grant\r").wait_for("Usage: metnos policy grant").wait_for(">")
        talk.type("/policy 'open\r").wait_for("Close the quotes.")
        assert leave(talk) == 0

    def test_a_rehearsal(self, talk: Program) -> None:
        talk.type("/dry move it\r").wait_for("It would move a.pdf.").wait_for(">")
        talk.type("/dry\r").wait_for("nothing to rehearse")
        assert leave(talk) == 0

    def test_a_new_conversation(self, talk: Program) -> None:
        def conversation() -> str:
            talk.type("conversation\r").wait_for("This is ")
            before = len(talk.text)
            talk.wait_for(".").wait_for(">")
            return plain(talk.seen)[: before + 40].split("This is ")[-1].split(".")[0]

        first, same = conversation(), conversation()
        talk.type("/new\r").wait_for("A new conversation").wait_for(">")
        assert first == same != conversation()
        assert leave(talk) == 0

    def test_what_there_is_not_and_what_is_a_path(self, talk: Program) -> None:
        talk.type("/nonsense\r").wait_for("there is no /nonsense").wait_for("See what there is: /help").wait_for(">")
        talk.type("/ask x\r").wait_for("there is no /ask").wait_for(">")
        talk.type("/tmp is full\r").wait_for("You said: '/tmp is full'").wait_for(">")
        talk.type("/etc/hosts says what\r").wait_for("You said: '/etc/hosts says what'")
        assert leave(talk) == 0


class TestHistory:
    @pytest.mark.slow
    def test_it_is_kept_for_the_owner_alone(self, talk: Program, workspace: Workspace) -> None:
        talk.type("remember me\r").wait_for("You said: 'remember me'")
        leave(talk)
        path = workspace.memory / "history"
        assert path.stat().st_mode & 0o777 == 0o600
        again = Program(program=SCRIPTED).wait_for(">")
        again.type(UP).wait_for("remember me").type("\r").wait_for("You said: 'remember me'")
        leave(again)

    def test_it_does_not_grow_forever(self, workspace: Workspace) -> None:
        path = _history(workspace)
        entries = "".join(f"\n# 2026-11-15\n+request {number}\n" for number in range(60_000))
        path.write_text(entries)
        _history(workspace)
        kept = path.read_text()
        assert len(kept) < len(entries) / 2
        assert kept.startswith("# 2026-11-15\n+request ")
        assert kept.endswith("+request 59999\n")
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
class TestStart:
    @pytest.mark.usefixtures("tmp_path")  # there is its home
    def test_the_first_time_it_makes_a_workspace_and_shows_the_laws(self) -> None:
        program = Program(from_nothing=True).wait_for("First start: making a workspace").wait_for("All is well")
        program.wait_for("The Laws this agent is bound by").wait_for("traceability").wait_for("say what you want")
        assert leave(program) == 0
        assert "Next" not in program.text
        again = Program().wait_for("say what you want")
        assert leave(again) == 0
        assert "Laws" not in again.text

    def test_what_is_broken_is_said_at_once(self, workspace: Workspace) -> None:
        workspace.soul.write_text("no laws")
        program = Program("--workspace", str(workspace.root)).wait_for("error: ")
        assert program.end() == 1

    def test_what_there_is_to_tell_is_told_while_nobody_types(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("METNOS_HOME", str(workspace.root))
        program = Program(program=SCRIPTED, NEWS="reminder: drink \x1b[2J").wait_for(">").type("half")
        program.wait_for("• reminder: drink \\x1b[2J").wait_for("> half").type(" a line\r")
        program.wait_for("You said: 'half a line'")
        assert leave(program) == 0


@pytest.mark.slow
class TestTerminals:
    @pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"LANG": "C", "LC_ALL": "C"}])
    def test_poor_ones(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
        monkeypatch.setenv("METNOS_HOME", str(workspace.root))
        encoded = "LANG" in variables  # which is looked at when Python starts
        program = Program(program=SCRIPTED, columns=30, from_nothing=encoded, **variables).wait_for(">")
        program.type("move\r").wait_for("Do this?").type("n\n").wait_for("Not done: you said no.").wait_for(">")
        program.type("sleep\r").wait_for("this takes a while")
        program.type("\x03").wait_for("Cancelled.").wait_for(">").type("/quit\r")
        assert program.end() == 0
        if "NO_COLOR" in variables:
            assert not re.search(r"\x1b\[(\d+;)*3\d(;\d+)*m", program.seen)
        if "TERM" in variables:
            assert "\x1b[K" not in program.seen


class TestConversation:
    def test_why_is_about_the_last_turn_of_this_chat(self, monkeypatch: pytest.MonkeyPatch, opened: object) -> None:
        ran: list[list[str]] = []
        monkeypatch.setattr("metnos.cli.chat.cli.main", lambda line, **_: ran.append(line))
        lines: Iterator[str] = iter(("hello", "/why", "/why 01ABC", "/undo", ""))

        def read() -> str:
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        assert Conversation(Choice("/nowhere"), scripted.speak, 1.0).go_on(read) is False  # type: ignore[arg-type]
        assert [line[2:] for line in ran] == [["why", scripted.TURN], ["why", "01ABC"], ["undo"]]


def test_what_cannot_be_read_does_not_stand_in_the_way() -> None:
    def broken() -> list[str]:
        raise StoreBusy("another process holds it")

    assert _news(broken) == []
    assert _news(lambda: ["one"]) == ["one"]
