"""The channel against a double of the Bot API: pairing, turns, questions, trouble and restarts."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from api.standin import StandIn, Turn, answered, until
from api.telegram.chatting import Chat
from api.telegram.double import OWNER, Call, Refusal
from metnos.law.inbox import State
from metnos.turn.events import Started, StepDone, StepStarted, Text, Wanted
from metnos.turn.request import Request

# -- turns


def test_a_paired_sender_asks_and_is_answered(paired: Chat, files: Path) -> None:
    said = paired.ask("find the txt files in ~")
    assert any("find_files" in text for text in said)  # the step
    assert "one.txt" in said[-1]
    trace = paired.app.medium.load(paired.app.medium.newest(1)[0].id)
    assert (trace.channel, trace.sender, trace.state) == ("telegram", f"tg:{OWNER}", "done")


def test_steps_are_shown_in_one_message_that_changes(paired: Chat, clock: object) -> None:
    def steps(request: Request) -> Turn:
        yield Started(request.id)
        for number in (1, 2):
            yield StepStarted(number, 2, f"do_{number}", "this")
            yield StepDone(number, f"do_{number}", True, "", 3, 1500.0)
        yield Text("half an ans")
        yield answered(request, "all done")

    paired.app.__dict__["turns"] = StandIn(paired.clock, go=steps)
    said = paired.ask("go")
    assert [said[0], said[-1]] == ["▸ 1/2 do_1: this", "all done"]
    assert len(said) == 2
    shown = next(call for call in paired.double.sent if call.text == said[0])
    assert paired.double.shows(shown.message)[0] == "✓ do_1: 3 found, 1.5 s\n✓ do_2: 3 found, 1.5 s"


def test_two_messages_of_one_talk_share_a_conversation_until_a_long_silence(paired: Chat) -> None:
    turns = StandIn(paired.clock)
    paired.app.__dict__["turns"] = turns
    paired.ask("one")
    paired.clock.move(timedelta(hours=5))
    paired.ask("two")
    paired.clock.move(timedelta(hours=7))
    paired.ask("three")
    one, two, three = (request.conversation for request in turns.requests)
    assert one == two != three


def test_an_answer_of_any_length_comes_in_parts(paired: Chat) -> None:
    def long(request: Request) -> Turn:
        yield answered(request, "word 🙂 " * 3000)

    paired.app.__dict__["turns"] = StandIn(paired.clock, long=long)
    said = paired.ask("long")
    assert len(said) == 6
    assert "".join("".join(said).split()) == "word🙂" * 3000


def test_what_is_sent_is_plain_and_no_link_is_looked_at(paired: Chat) -> None:
    def marked(request: Request) -> Turn:
        yield answered(request, "<b>*x*</b> [a](https://evil.example/?secret) \x1b[31m \u202egnp.exe \ud800")

    paired.app.__dict__["turns"] = StandIn(paired.clock, marked=marked)
    said = paired.ask("marked")
    assert said == ["<b>*x*</b> [a](https://evil.example/?secret) \\x1b[31m \\x202egnp.exe \\xd800"]
    for call in paired.double.made("sendMessage", "editMessageText"):
        assert "parse_mode" not in call.params
        assert "entities" not in call.params
        assert call.params["link_preview_options"] == '{"is_disabled": true}'


def test_an_error_is_told_in_its_own_words(paired: Chat) -> None:
    assert "longer than" in paired.ask("y" * 20_001)[-1]


# -- questions


def test_a_yes_does_it_and_undo_takes_it_back(paired: Chat, files: Path) -> None:
    paired.double.say("move ~/one.txt to ~/done")
    asked = paired.asked()
    assert "one.txt" in asked.text
    assert {"Yes", "No", "Why?"} <= set(asked.buttons)
    paired.double.press(asked, "Yes")
    paired.said("/undo takes it back")
    assert (files / "done" / "one.txt").exists()
    text, buttons = paired.double.shows(asked.message)
    assert (text.endswith("Yes."), buttons) == (True, "")

    until(lambda: paired.bots[-1]._errands.of(f"tg:{OWNER}") is None)
    paired.double.say("/undo")
    paired.double.press(paired.asked(2), "Yes")
    paired.said("Undone")
    assert (files / "one.txt").exists()


def test_a_no_does_nothing(paired: Chat, files: Path) -> None:
    paired.double.say("move ~/one.txt to ~/done")
    before = len(paired.double.sent)
    paired.double.press(paired.asked(), "No")
    paired.quiet(before)
    assert (files / "one.txt").exists()
    assert paired.app.inbox.newest(1)[0].state is State.REFUSED


def test_always_is_offered_where_it_can_be_had_and_is_remembered(paired: Chat, files: Path) -> None:
    (files / "done" / "x.txt").write_text("x")
    paired.double.say("delete ~/done/x.txt")
    asked = paired.asked()
    if "Always" not in asked.buttons:
        pytest.fail(f"no Always: {asked.text}")
    paired.double.press(asked, "Always")
    until(lambda: paired.app.grants.active())


def test_why_says_what_each_rule_says_and_the_question_stays(paired: Chat, files: Path) -> None:
    paired.double.say("move ~/one.txt to ~/done")
    asked = paired.asked()
    paired.double.press(asked, "Why?")
    paired.said("What each rule says")
    until(lambda: "Why?" not in paired.double.shows(asked.message)[1])
    paired.double.press(asked, "Yes")
    until((files / "done" / "one.txt").exists)


def test_no_answer_in_time_leaves_it_in_the_inbox_where_it_can_be_answered(paired: Chat, files: Path) -> None:
    paired.home.prompt_s = 0.05
    paired.double.say("move ~/one.txt to ~/done")
    paired.said("No answer: nothing is done")
    paired.said("/inbox shows the question.")
    until(lambda: paired.bots[-1]._errands.of(f"tg:{OWNER}") is None)
    assert (files / "one.txt").exists()
    assert paired.app.inbox.waiting()
    first = paired.asked()
    paired.double.press(first, "Yes")  # the button of an old question
    until(lambda: any(call.params.get("text") == "This question is over." for call in _acknowledged(paired)))
    assert (files / "one.txt").exists()

    paired.home.prompt_s = 30
    paired.double.say("/inbox")
    paired.double.press(paired.asked(2), "1")
    question = paired.asked(3)
    assert "one.txt" in question.text
    paired.double.press(question, "Yes")
    until((files / "done" / "one.txt").exists)


def test_what_cannot_be_taken_back_needs_a_second_and_different_button(paired: Chat) -> None:
    answers = []

    def asks(request: Request) -> Turn:
        for yes in (0, 1):
            wanted = Wanted("01X", 1, "send_mail", "send it", ("sends it",), "", (), yes, 2, "", "")
            answers.append((yield wanted))
        yield answered(request, "sent")

    paired.app.__dict__["turns"] = StandIn(paired.clock, go=asks)
    paired.double.say("go")
    first = paired.asked()
    paired.double.press(first, "Yes")
    paired.double.press(first, "Yes")  # a finger that repeats itself
    second = paired.asked(2)
    assert list(second.buttons) == ["No", "Yes, do it for good"]
    paired.double.press(second, "", carried=first.buttons["Yes"])
    paired.double.press(second, "", carried=second.buttons["Yes, do it for good"].replace(".sure.", ".yes."))
    paired.settled()
    assert answers == ["yes"]
    paired.double.press(second, "Yes, do it for good")
    paired.said("sent")
    assert answers == ["yes", "yes"]


def test_a_question_that_cannot_be_shown_is_left_for_later(paired: Chat, files: Path) -> None:
    def asks(request: Request) -> Turn:
        paired.double.fail("sendMessage", Refusal(403, "Forbidden: bot was blocked by the user"))
        answer = yield Wanted("01X", 1, "write_files", "", (), "", (), 0, 1, "", "")
        yield answered(request, f"it was {answer}", "waiting")

    paired.app.__dict__["turns"] = StandIn(paired.clock, go=asks)
    assert "it was later" in paired.ask("go")[-1]


def test_a_long_preview_is_cut_and_can_be_seen_whole(paired: Chat) -> None:
    def asks(request: Request) -> Turn:
        lines = tuple(f"writes file {number}" for number in range(60))
        answer = yield Wanted("01X", 1, "write_files", "many", lines, "", (), 0, 1, "", "", language="it")
        yield answered(request, f"{answer}")

    paired.app.__dict__["turns"] = StandIn(paired.clock, go=asks)
    paired.double.say("go")
    asked = paired.asked()
    assert "file 24" in asked.text
    assert "file 25" not in asked.text
    assert "altre 35 righe" in asked.text
    paired.double.press(asked, "Mostra tutto")
    paired.said("writes file 59")
    paired.double.press(asked, "Sì")
    paired.said("yes")


# -- commands


def test_stop_cancels_at_the_next_event(paired: Chat) -> None:
    go_on = threading.Event()

    def slow(request: Request) -> Turn:
        yield Started(request.id)
        yield StepStarted(1, 1, "sleep", "")
        go_on.wait(60)
        yield StepDone(1, "sleep", True, "", 0, 1.0)
        yield answered(request, "whole")

    turns = StandIn(paired.clock, slow=slow)
    paired.app.__dict__["turns"] = turns
    paired.double.say("slow")
    paired.said("▸ 1/1 sleep")
    paired.double.say("something else")
    paired.said("I am still at what you asked before")
    paired.double.say("/stop@metnos_bot")
    paired.said("It ends at its next step.")
    go_on.set()
    paired.said("It is ended.")
    assert turns.ended == ["slow cancelled"]


def test_stop_ends_a_question_too_and_nothing_is_done(paired: Chat, files: Path) -> None:
    paired.double.say("move ~/one.txt to ~/done")
    paired.asked()
    paired.double.say("yes")
    paired.said("First the question above")
    paired.double.say("/stop")
    paired.said("It is ended.")
    assert (files / "one.txt").exists()
    assert paired.app.medium.newest(1)[0].state == "cancelled"


def test_status_inbox_undo_and_help_when_there_is_nothing(paired: Chat) -> None:
    assert "Nothing goes on." in paired.ask("/status")[0]
    assert paired.ask("/inbox") == ["Nothing waits for you."]
    assert "nothing" in paired.ask("/undo")[0].lower()
    assert "/stop" in paired.ask("/nonsense")[0]
    assert paired.ask("/stop") == ["Nothing goes on."]


def _acknowledged(chat: Chat) -> list[Call]:
    return chat.double.made("answerCallbackQuery")
