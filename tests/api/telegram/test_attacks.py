"""Attacks on the bot: strangers, codes that are no good, buttons that are not theirs, words that are not their own."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from api.standin import StandIn, until
from api.telegram.chatting import Chat
from api.telegram.double import OWNER, TOKEN
from metnos.law.principal import Autonomy, Channel, at_terminal
from support import kinds

STRANGER = 666


@pytest.fixture
def turns(chat: Chat) -> StandIn:
    made = StandIn(chat.clock)
    chat.app.__dict__["turns"] = made
    return made


def code(chat: Chat, channel: Channel = Channel.TELEGRAM, minutes: float = 10) -> str:
    return chat.app.pairing.offer(channel, Autonomy.FULL, minutes, at_terminal())


def heard(chat: Chat) -> None:
    """Everything that was said has been taken up."""
    chat.settled()


# -- strangers


def test_a_stranger_gets_one_line_an_hour_and_nothing_is_done(chat: Chat, turns: StandIn) -> None:
    for text in ("hello", "/status", "/inbox", "/undo", "/stop", "delete ~", "/start"):
        chat.double.say(text, STRANGER)
    heard(chat)
    until(lambda: chat.double.texts)
    assert len(chat.double.texts) == 1
    assert "answers only its owner" in chat.double.texts[0]
    chat.clock.move(timedelta(hours=2))
    chat.double.say("again", STRANGER)
    until(lambda: len(chat.double.texts) == 2)
    assert turns.requests == []


def test_many_strangers_together_are_limited_too(chat: Chat) -> None:
    for user in range(1000, 1060):
        chat.double.say("hello", user)
    heard(chat)
    until(lambda: len(chat.double.texts) == 20)
    chat.pair()  # whoever has a code is still heard
    assert len([text for text in chat.double.texts if "only its owner" in text]) == 20


def test_a_stranger_cannot_press_a_button_of_the_owners(paired_asked: Chat, files: Path) -> None:
    asked = paired_asked.asked()
    paired_asked.double.press(asked, "Yes", user=STRANGER)
    message = {"message_id": asked.message, "date": 0, "chat": {"id": STRANGER, "type": "private"}}
    paired_asked.double.press(asked, "Yes", user=STRANGER, message=message)
    heard(paired_asked)
    assert (files / "one.txt").exists()
    assert paired_asked.double.made("answerCallbackQuery") == []


@pytest.fixture
def paired_asked(paired: Chat, files: Path) -> Chat:
    """The owner was asked, and has not answered."""
    paired.double.say("move ~/one.txt to ~/done")
    paired.asked()
    return paired


# -- codes


def test_a_code_is_good_once(chat: Chat) -> None:
    one = code(chat)
    chat.double.say(f"/pair {one}")
    chat.said("Paired, with the level full")
    chat.double.say(f"/pair {one}", STRANGER)
    chat.said("Not paired")
    assert chat.app.pairing.device(Channel.TELEGRAM, f"tg:{STRANGER}") is None
    assert kinds(chat.app.workspace).count("device paired") == 1


@pytest.mark.parametrize("wrong", ["", "x", "é", "A" * 107, "' OR 1=1 --", "\x00", "-" * 4000])
def test_a_forged_code_is_refused(chat: Chat, wrong: str) -> None:
    chat.double.say(f"/pair {wrong}", STRANGER)
    until(lambda: chat.double.texts)
    assert chat.double.texts[0].startswith("Not paired")
    assert chat.app.pairing.devices() == []


def test_a_code_that_is_too_old_changed_or_for_another_channel_is_refused(chat: Chat) -> None:
    good = code(chat)
    wrong = [good[:-2] + ("AA" if good[-2:] != "AA" else "BB"), code(chat, Channel.WEB)]
    for each in wrong:
        chat.double.say(f"/pair {each}", STRANGER)
    until(lambda: len(chat.double.texts) == 2)
    chat.clock.move(timedelta(minutes=11))
    chat.double.say(f"/pair {good}", STRANGER)
    until(lambda: len(chat.double.texts) == 3)
    assert all(text.startswith("Not paired") for text in chat.double.texts)
    assert chat.app.pairing.devices() == []


def test_codes_cannot_be_tried_at_will(chat: Chat) -> None:
    for number in range(20):
        chat.double.say(f"/pair {number}", STRANGER)
    heard(chat)
    until(lambda: len(chat.double.texts) == 5)
    assert len([line for line in chat.logged if "refused" in line]) == 5


def test_a_code_is_never_logged(chat: Chat) -> None:
    one = code(chat)
    chat.double.say(f"/pair {one}")
    chat.said("Paired")
    assert not any(one in line or TOKEN in line for line in chat.logged)


def test_a_forwarded_code_pairs_nobody(chat: Chat) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "x"}
    chat.double.say(f"/pair {code(chat)}", STRANGER, forward_origin=origin)
    until(lambda: chat.double.texts)
    assert "only its owner" in chat.double.texts[0]
    assert chat.app.pairing.devices() == []


# -- whose words, and where


@pytest.mark.parametrize("kind", ["group", "supergroup", "channel"])
def test_nobody_is_answered_in_a_group_not_even_the_owner(chat: Chat, turns: StandIn, kind: str) -> None:
    chat.pair()
    before = len(chat.double.calls)
    place = {"id": -100, "type": kind, "title": "all of us"}
    chat.double.say("hello", chat=place)
    chat.double.say("/status@metnos_bot", chat=place)
    chat.double.say(f"/pair {code(chat)}", STRANGER, chat=place)
    chat.double.say("hello", chat={**place, "type": "private"})  # a chat of two with somebody else
    heard(chat)
    assert {call.method for call in chat.double.calls[before:]} == {"getUpdates"}
    assert turns.requests == []
    assert len(chat.app.pairing.devices()) == 1


@pytest.mark.parametrize(
    "more",
    [
        {"forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "x"}},
        {"via_bot": {"id": 9, "is_bot": True, "first_name": "b"}},
    ],
)
def test_words_of_somebody_else_are_not_done(chat: Chat, turns: StandIn, more: dict[str, Any]) -> None:
    chat.pair()
    chat.double.say("delete everything", **more)
    chat.double.say("/undo", **more)
    until(lambda: len([text for text in chat.double.texts if "somebody else's words" in text]) == 2)
    assert turns.requests == []


def test_a_bot_and_a_channel_in_disguise_are_not_heard(chat: Chat, turns: StandIn) -> None:
    chat.pair()
    before = len(chat.double.sent)
    chat.double.say("hello", **{"from": {"id": OWNER, "is_bot": True, "first_name": "b"}})
    chat.double.say("hello", sender_chat={"id": -5, "type": "channel", "title": "c"})
    chat.double.say("hello", **{"from": None})
    heard(chat)
    assert (turns.requests, len(chat.double.sent)) == ([], before)


def test_an_edited_message_is_no_request(chat: Chat, turns: StandIn) -> None:
    chat.pair()
    edited = {
        "message_id": 1,
        "date": int(chat.clock.now().timestamp()),
        "text": "delete everything",
        "chat": {"id": OWNER, "type": "private"},
        "from": {"id": OWNER, "is_bot": False, "first_name": "A"},
    }
    chat.double.deliver("edited_message", edited)
    chat.double.deliver("channel_post", edited)
    chat.double.deliver("something_new", {"x": 1})
    heard(chat)
    assert turns.requests == []


def test_what_is_no_text_is_said_to_be_none(chat: Chat, turns: StandIn) -> None:
    chat.pair()
    chat.double.say(None, caption="delete everything")
    chat.said("I read only text.")
    assert turns.requests == []


def test_a_giant_message_and_one_full_of_markup_are_just_words(chat: Chat, turns: StandIn) -> None:
    chat.pair()
    for text in ("<script>alert(1)</script> *_`[x](tg://user?id=1)", "я" * 4096, "\x00\u202e\u2066"):
        entities = [{"type": "bot_command", "offset": 0, "length": 5}]
        before = len(chat.double.sent)
        chat.double.say(text, entities=entities)
        chat.quiet(before)
    assert [request.text for request in turns.requests][:2] == [
        "<script>alert(1)</script> *_`[x](tg://user?id=1)",
        "я" * 4096,
    ]
    assert not any("mistake" in line for line in chat.logged)


def test_an_update_that_is_delivered_again_is_done_once(chat: Chat, turns: StandIn) -> None:
    chat.pair()
    chat.double.say("pay it")
    update = chat.double.updates[-1]
    chat.said("you said pay it")
    for _ in range(3):
        chat.double.again(update)
        heard(chat)
    assert len(turns.requests) == 1


# -- buttons


FORGERIES: tuple[Callable[[str], str], ...] = (
    lambda data: "",
    lambda data: "yes",
    lambda data: data.replace(".yes.", ".always."),
    lambda data: data.replace(".yes.", ".sure."),
    lambda data: f"{int(data.split('.')[0]) + 1}.{data.split('.', 1)[1]}",
    lambda data: data[:-1] + ("0" if data[-1] != "0" else "1"),
    lambda data: data + "\n",
    lambda data: "9" * 64,
    lambda data: "٣.yes." + "0" * 24,
)


def test_what_a_button_does_not_carry_is_no_answer(paired_asked: Chat, files: Path) -> None:
    asked = paired_asked.asked()
    for number, forge in enumerate(FORGERIES, start=1):
        paired_asked.double.press(asked, "", carried=forge(asked.buttons["Yes"]))
        until(lambda number=number: len(paired_asked.double.made("answerCallbackQuery")) == number)
    assert {call.text for call in paired_asked.double.made("answerCallbackQuery")} == {"This question is over."}
    assert (files / "one.txt").exists()
    paired_asked.double.press(asked, "Yes")
    until((files / "done" / "one.txt").exists)  # and the true one still counts


def test_a_button_counts_under_its_own_message_only(paired_asked: Chat, files: Path) -> None:
    asked = paired_asked.asked()
    elsewhere = {"message_id": asked.message + 1, "date": 0, "chat": {"id": OWNER, "type": "private"}}
    paired_asked.double.press(asked, "Yes", message=elsewhere)
    until(lambda: paired_asked.double.made("answerCallbackQuery"))
    assert (files / "one.txt").exists()


def test_another_paired_sender_cannot_answer_for_the_first(paired_asked: Chat, files: Path) -> None:
    paired_asked.pair(Autonomy.FULL, user=8)
    asked = paired_asked.asked()
    own = {"message_id": asked.message, "date": 0, "chat": {"id": 8, "type": "private"}}
    paired_asked.double.press(asked, "Yes", user=8, message=own)
    until(lambda: paired_asked.double.made("answerCallbackQuery"))
    assert paired_asked.double.made("answerCallbackQuery")[0].text == "This question is over."
    assert (files / "one.txt").exists()


def test_a_read_only_device_looks_and_approves_nothing(chat: Chat, files: Path) -> None:
    chat.pair()
    chat.home.prompt_s = 0.05
    chat.ask("move ~/one.txt to ~/done")
    asked = chat.asked()
    chat.home.prompt_s = 30
    chat.pair(Autonomy.READ_ONLY)
    assert "may look, and may not answer" in chat.ask("/inbox")[-1]
    chat.double.press(asked, "Yes")
    until(lambda: chat.double.made("answerCallbackQuery"))
    assert chat.double.made("answerCallbackQuery")[-1].text == "This device may look, and may not answer."
    chat.ask("move ~/one.txt to ~/done")
    assert (files / "one.txt").exists()
    assert len([call for call in chat.double.sent if call.buttons]) == 1


def test_a_device_that_is_ended_while_it_is_asked_answers_nothing(paired_asked: Chat, files: Path) -> None:
    (device,) = paired_asked.app.pairing.devices()
    paired_asked.app.pairing.revoke(device.id, at_terminal())
    paired_asked.double.press(paired_asked.asked(), "Yes")
    heard(paired_asked)
    paired_asked.bots[-1].see_out()
    assert (files / "one.txt").exists()
    assert paired_asked.app.inbox.waiting()


def test_after_a_restart_the_old_buttons_do_nothing(paired_asked: Chat, files: Path) -> None:
    asked = paired_asked.asked()
    paired_asked.bots[-1].see_out()
    paired_asked.start()
    paired_asked.double.press(asked, "Yes")
    until(lambda: paired_asked.double.made("answerCallbackQuery"))
    assert paired_asked.double.made("answerCallbackQuery")[0].text == "This question is over."
    assert (files / "one.txt").exists()


def test_nothing_that_was_said_is_logged(chat: Chat, files: Path) -> None:
    chat.pair()
    chat.ask("find files named diary in ~")
    assert chat.logged
    assert not any("diary" in line or "one.txt" in line or TOKEN in line for line in chat.logged)
