"""How a turn is shown: the answer alone on standard output, all else beside it, and everything inert."""

import itertools
import re
import sys

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.scripted import ACTION, HOSTILE, ITEM, TURN, Scripted, wanted
from cli.terminal import Desk, plain
from metnos.cli.telling import Telling, follow, shown
from metnos.core.errors import ModelError, TurnError
from metnos.grimoire.trace import State
from metnos.turn.events import (
    BIRTH,
    OFFER,
    Answer,
    Answered,
    Event,
    Planned,
    Started,
    StepDone,
    StepStarted,
    Text,
    Thinking,
)

Captured = pytest.CaptureFixture[str]


def tell(*events: Event | BaseException, answer: Answer = Answer.YES, streams: bool = False) -> Answered:
    """Show a whole turn, and its end."""
    with Telling(streams=streams) as telling:
        ended = follow(Scripted(Started(TURN), *events).run(), telling, lambda _: answer)
        telling.finish(ended, "metnos ")
    return ended


def done(text: str, state: str = "done", **more: object) -> Answered:
    return Answered(TURN, state, text, **more)  # type: ignore[arg-type]


def test_an_offer_that_nobody_takes_waits_nowhere(capsys: Captured) -> None:
    offer = wanted(about=OFFER, item="", executor="")
    ended = tell(offer, done("Nothing does this.", "nothing"), answer=Answer.LATER)
    assert ended.state == "nothing"
    assert capsys.readouterr().err == ""


def test_an_executor_that_waits_for_its_yes_is_told_of(capsys: Captured) -> None:
    tell(wanted(about=BIRTH), done("It waits.", "waiting"), answer=Answer.LATER)
    assert f"Waits for your yes: metnos inbox show {ITEM}" in capsys.readouterr().err


def test_work_without_a_model_is_told_without_one(capsys: Captured) -> None:
    tell(Thinking("trying it in the sandbox", ""), wanted(about=BIRTH), done("Done."))
    assert re.fullmatch(r"· trying it in the sandbox  \d+ ms\n", capsys.readouterr().err)


def test_leaving_while_it_is_made_claims_no_change(capsys: Captured) -> None:
    ended = tell(wanted(about=OFFER, item="", executor=""), Thinking("making it: the code", "m"), KeyboardInterrupt())
    assert ended.text == "Cancelled. Nothing had been done."


class TestAnswer:
    def test_it_alone_is_on_standard_output(self, capsys: Captured) -> None:
        steps = (StepStarted(1, 1, "find_files", "path ~"), StepDone(1, "find_files", True, "", 2, 34.4, ACTION))
        tell(Planned(("a", "b"), "router", ("a note",)), *steps, done("Found 2 files.", undo=(ACTION,)))
        seen = capsys.readouterr()
        assert seen.out == "Found 2 files.\n"
        assert seen.err.splitlines() == [
            "· plan: a → b  (fixed rules)",
            "· a note",
            "✓ find_files  path ~  2 items, 34 ms",
            f"To take it back: metnos undo {ACTION}",
        ]

    def test_what_it_says_itself_is_not_said_again(self, capsys: Captured) -> None:
        tell(done(f"Done.\nTo take it back: metnos undo {ACTION}", undo=(ACTION,)))
        assert capsys.readouterr().err == ""

    def test_empty_and_with_line_ends(self, capsys: Captured) -> None:
        tell(done(""))
        assert capsys.readouterr().out == ""
        tell(done("one\r\n\ttwo\n\n"))
        assert capsys.readouterr().out == "one\n\ttwo\n"

    def test_a_models_words_with_nothing_done_say_so(self, capsys: Captured) -> None:
        tell(done("I deleted everything.", "talked", model_text=True))
        assert "nothing was done" in capsys.readouterr().err
        tell(StepDone(1, "find_files", True, "", 2, 1.0), done("Two.", model_text=True))
        assert "nothing was done" not in capsys.readouterr().err

    def test_an_answer_from_memory_says_so_and_how_to_see_why(self, capsys: Captured) -> None:
        tell(Planned(("find_files",), "fast", learnt_from=6), done("Found 2 files."))
        seen = capsys.readouterr()
        assert seen.out == "Found 2 files.\n"
        assert seen.err == "(from memory of 6 earlier requests, without planning: metnos why)\n"
        fell_back = Planned(("find_files",), "router")
        tell(Planned(("find_files",), "fast", learnt_from=6), fell_back, done("Found 2 files."))
        assert "from memory" not in capsys.readouterr().err, "it was planned after all"

    def test_without_one_it_is_an_error(self) -> None:
        with pytest.raises(TurnError):
            tell()


class TestStreaming:
    def test_words_are_shown_once(self, capsys: Captured) -> None:
        tell(Text("\n Two "), Text("files."), done("Two files.\nTo be sure."), streams=True)
        assert capsys.readouterr().out == "Two files.\nTo be sure.\n"

    def test_all_of_the_answer_was_streamed(self, capsys: Captured) -> None:
        tell(Text("Two files.\n"), done("Two files."), streams=True)
        assert capsys.readouterr().out == "Two files.\n\n"

    def test_what_was_struck_out_is_called_a_draft(self, capsys: Captured) -> None:
        tell(Text("I moved it."), done("Nothing was moved."), streams=True)
        seen = capsys.readouterr()
        assert seen.out == "I moved it.\nNothing was moved.\n"
        assert "draft" in seen.err

    def test_words_before_a_step_are_no_part_of_the_answer(self, capsys: Captured) -> None:
        tell(Text("Let me look."), StepDone(1, "find_files", True, "", 1, 1.0), done("One."), streams=True)
        seen = capsys.readouterr()
        assert seen.out == "Let me look.\nOne.\n"
        assert "draft" not in seen.err

    def test_a_pipe_gets_the_answer_whole_at_the_end(self, capsys: Captured) -> None:
        tell(Thinking("answer", "small"), Text("I moved"), Text(" it."), done("Nothing was moved."))
        assert capsys.readouterr().out == "Nothing was moved.\n"

    @given(st.text(), st.text(), st.lists(st.integers(0, 400), max_size=6))
    def test_nothing_is_lost_however_the_words_come(self, said: str, rest: str, cuts: list[int]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            printed: list[str] = []
            patch.setattr(
                click, "echo", lambda text="", nl=True, err=False: None if err else printed.append(text + "\n" * nl)
            )
            patch.setattr(click, "secho", lambda *_, **__: None)
            places = sorted({0, len(said), *(cut % (len(said) + 1) for cut in cuts)})
            parts = [Text(said[start:end]) for start, end in itertools.pairwise(places)]
            tell(*parts, done(said + rest), streams=True)
        # Tabs and line ends are made plain, and a character that stands at a cut may be shown in its own way.
        squeezed = "".join("".join(printed).split())
        endings = {"".join(shown(each).split()) for each in (rest, rest.strip())}  # blanks at the end may be left out
        assert any(squeezed.endswith(ending) for ending in endings)


class TestSteps:
    def test_one_that_failed(self, capsys: Captured) -> None:
        step = StepDone(2, "read_files", False, "there is\nno such file", 0, 0.0)
        tell(StepStarted(2, 3, "read_files", "path ~/x"), step, done("No.", "failed"))
        assert capsys.readouterr().err == "✗ 2/3 read_files  path ~/x  there is no such file\n"

    def test_one_that_waits_is_no_failure(self, capsys: Captured) -> None:
        step = StepDone(1, "move_files", False, "it waits", 0, 0.0)
        tell(wanted(), step, done("It waits.", "waiting"), answer=Answer.LATER)
        err = capsys.readouterr().err
        assert err.startswith("! move_files  it waits\n")
        assert f"Waits for your yes: metnos inbox show {ITEM}" in err

    def test_thinking_says_for_how_long(self, capsys: Captured) -> None:
        tell(Thinking("plan", "small-model"), Planned(("find_files",), "model"), done("x"))
        assert capsys.readouterr().err.startswith("· plan  small-model  ")

    def test_on_a_terminal_each_has_one_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        desk = Desk(monkeypatch, columns=50)
        long = "x" * 500
        step = StepDone(1, "read_files", False, long, 0, 3.0)
        tell(StepStarted(1, 1, "read_files", long), step, done("No.", "failed"))
        lines = plain(desk.leave()).splitlines()
        assert lines[-1] == "No."
        assert max(map(len, lines)) <= 50
        assert lines[0].count("…") == 2


class TestGoingOn:
    def test_answers_go_back_and_others_get_nothing(self) -> None:
        turn = Scripted(Started(TURN), wanted(), Text("x"), wanted(), done("x"))
        answers = iter((Answer.YES, Answer.NO))
        with Telling(streams=False) as telling:
            follow(turn.run(), telling, lambda _: next(answers))
        assert turn.answers == [Answer.YES, Answer.NO]

    def test_an_interrupt_closes_the_turn_and_says_what_was_done(self, capsys: Captured) -> None:
        turn = Scripted(Started(TURN), StepDone(1, "move_files", True, "", 1, 3.0, ACTION), wanted())

        def interrupt(_: object) -> Answer:
            raise KeyboardInterrupt

        with Telling(streams=False) as telling:
            ended = follow(turn.run(), telling, interrupt)
            telling.finish(ended, "metnos ")
        assert (turn.cancelled, ended.state, ended.turn) == (True, State.CANCELLED, TURN)
        seen = capsys.readouterr()
        assert seen.out == ""
        assert "Cancelled. 1 step had been done before that." in seen.err
        assert f"metnos undo {ACTION}" in seen.err

    def test_one_within_the_turn_too(self, capsys: Captured) -> None:
        assert tell(KeyboardInterrupt()).state == State.CANCELLED
        assert "Nothing had been done." in capsys.readouterr().err

    def test_what_the_turn_raises_comes_out(self) -> None:
        with pytest.raises(ModelError):
            tell(ModelError("gone", kind="timeout"))

    def test_an_interrupt_after_the_end_changes_nothing(self) -> None:
        assert tell(done("x"), KeyboardInterrupt()).text == "x"


class TestInert:
    def test_everything(self, capsys: Captured) -> None:
        for streams in (False, True):
            tell(
                Thinking(HOSTILE, HOSTILE),
                Planned((HOSTILE, HOSTILE), HOSTILE, (HOSTILE,)),
                StepStarted(1, 2, HOSTILE, HOSTILE),
                StepDone(1, HOSTILE, True, HOSTILE, 1, 1.0, HOSTILE),
                wanted(item=HOSTILE, executor=HOSTILE),
                StepDone(1, HOSTILE, False, HOSTILE, 0, 1.0),
                Text(HOSTILE),
                done(HOSTILE + "more", undo=("x" + HOSTILE,)),
                answer=Answer.LATER,
                streams=streams,
            )
            seen = capsys.readouterr()
            assert not any(char in seen.out + seen.err for char in "\x1b\x07\x9b\u202e")
            assert "\\x1b[2J" in seen.out

    def test_the_live_line_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        desk = Desk(monkeypatch)
        with Telling(streams=True) as telling:
            telling.tell(StepStarted(1, 1, HOSTILE, HOSTILE))
            telling._live._thread.join(0.5)  # type: ignore[union-attr]
        seen = desk.leave()
        assert "\\x1b]52" in seen
        assert not any(code in seen for code in ("\x1b[2J", "\x1b]", "\x07", "\u202e"))

    @given(st.text())
    def test_no_text_moves_a_terminal(self, text: str) -> None:
        assert all(char.isprintable() or char in "\n\t" for char in shown(text))


def test_no_colours_where_none_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    with click.Context(click.Command("x")) as context:
        context.color = False
        tell(StepDone(1, "find_files", True, "", 1, 1.0), done("x"))
    assert "\x1b[3" not in desk.leave()
    assert sys.stderr is not None
