"""The bot when things go wrong: tokens, networks, floods, restarts, the end of the daemon."""

import os
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from api.standin import StandIn, Turn, answered, until
from api.telegram.chatting import Chat
from api.telegram.double import OWNER, TOKEN, Refusal
from metnos.law.principal import Autonomy, Channel
from metnos.turn.events import Started, StepStarted
from metnos.turn.request import Request

# -- trouble


def test_a_wrong_token_is_said_once_and_mended_without_a_restart(chat: Chat) -> None:
    chat.bots[0].see_out()
    right, chat.double.token = chat.double.token, "1:other"
    chat.token = lambda: right
    chat.start()
    until(lambda: any("not accepted" in line for line in chat.logged))
    chat.double.token = right
    until(lambda: "telegram: connected" in chat.logged)
    assert len([line for line in chat.logged if "not accepted" in line]) == 1
    assert not any(TOKEN in line for line in chat.logged)


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (Refusal(409, "Conflict: terminated by other getUpdates request"), "another program"),
        (Refusal(429, "Too Many Requests: retry after 1", retry_after=0), "too much at once"),
        (Refusal(502, "Bad Gateway"), "not to be reached"),
        (Refusal(400, "Bad Request: nobody knows"), "refuses"),
    ],
)
def test_every_trouble_is_waited_out_and_said_once(paired: Chat, refusal: Refusal, said: str) -> None:
    paired.double.fail("getUpdates", refusal, times=3)
    paired.app.__dict__["turns"] = StandIn(paired.clock)
    paired.double.say("hello")
    paired.said("you said hello")
    until(lambda: any(said in line for line in paired.logged))
    assert len([line for line in paired.logged if said in line]) == 1
    assert not any("hello" in line or TOKEN in line for line in paired.logged)


def test_a_lost_network_comes_back(chat: Chat) -> None:
    chat.bots[0].see_out()
    url, chat.double.server.server_address = chat.double.url, ("127.0.0.1", 1)
    assert url != chat.double.url  # a port where nobody is
    bot = chat.start()
    until(lambda: any("not to be reached" in line for line in chat.logged))
    assert bot.see_out()


def test_a_message_is_sent_again_after_a_flood_limit(paired: Chat) -> None:
    paired.double.fail("sendMessage", Refusal(429, "Too Many Requests", retry_after=0), times=2)
    paired.app.__dict__["turns"] = StandIn(paired.clock)
    assert paired.ask("hello")[-1].startswith("you said hello")


def test_an_answer_that_cannot_be_sent_breaks_nothing(paired: Chat) -> None:
    paired.app.__dict__["turns"] = turns = StandIn(paired.clock)
    paired.double.fail("sendMessage", Refusal(403, "Forbidden: bot was blocked by the user"))
    paired.double.say("one")
    until(lambda: any("not sent: refused" in line for line in paired.logged))
    assert turns.ended == ["one whole"]
    until(lambda: paired.bots[-1]._errands.of(f"tg:{OWNER}") is None)
    assert paired.ask("two")[-1].startswith("you said two")


# -- restarts


def test_after_a_restart_nothing_is_done_twice_and_nothing_that_waited_is_lost(paired: Chat) -> None:
    paired.app.__dict__["turns"] = turns = StandIn(paired.clock)
    number = paired.double.say("first")
    paired.said("you said first")
    first = {"update_id": number, "message": {"message_id": 1, "date": int(paired.clock.now().timestamp()),
             "chat": {"id": OWNER, "type": "private"}, "from": {"id": OWNER, "is_bot": False, "first_name": "A"},
             "text": "first"}}  # fmt: skip
    paired.settled()
    assert paired.bots[-1].see_out()
    paired.double.again(first)  # as if the confirmation had been lost with the process
    paired.double.say("second")
    paired.start()
    paired.said("you said second")
    paired.settled()
    assert [request.text for request in turns.requests] == ["first", "second"]


def test_a_process_that_is_killed_in_a_turn_does_not_do_it_again(paired: Chat, tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def pays(request: Request) -> Turn:
        with begun.open("a") as file:
            file.write(f"{request.text}\n")
        yield Started(request.id)
        time.sleep(600)  # in the child, which does not live that long
        yield answered(request)

    turns = StandIn(paired.clock, pay=pays)
    paired.app.__dict__["turns"] = turns
    paired.bots.pop().see_out()
    child = os.fork()
    if child == 0:
        paired.start()
        time.sleep(600)
        os._exit(1)
    try:
        paired.double.say("pay")
        until(lambda: begun.exists() and begun.stat().st_size > 0)  # it exists a moment before it says anything
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    turns.scripts["pay"] = lambda request: begun.write_text("twice") and iter(())  # type: ignore[assignment,return-value]
    paired.double.say("hello")
    paired.start()
    paired.said("you said hello")
    paired.settled()
    assert begun.read_text() == "pay\n"


def test_what_came_long_ago_is_not_done_by_surprise(paired: Chat) -> None:
    paired.bots[-1].see_out()
    paired.app.__dict__["turns"] = turns = StandIn(paired.clock)
    paired.double.say("delete everything")
    paired.clock.move(timedelta(hours=2))
    paired.start()
    paired.said("This came while I was not here")
    assert turns.requests == []


def test_numbers_that_begin_anew_after_a_long_silence_are_heard(paired: Chat) -> None:
    paired.app.__dict__["turns"] = StandIn(paired.clock)
    paired.settled()
    paired.clock.move(timedelta(days=8))
    paired.bots[-1].see_out()
    paired.start()
    paired.double.last_update = 10
    paired.double.say("hello")
    paired.said("you said hello")


def test_what_goes_on_at_the_end_may_finish_and_is_told(paired: Chat) -> None:
    may_end = threading.Event()

    def slow(request: Request) -> Turn:
        yield Started(request.id)
        yield StepStarted(1, 1, "sleep", "")
        may_end.wait(60)
        yield answered(request, "whole")

    paired.app.__dict__["turns"] = StandIn(paired.clock, slow=slow)
    paired.double.say("slow")
    paired.said("▸ 1/1 sleep")
    threading.Timer(0.2, may_end.set).start()
    assert paired.bots[-1].see_out(grace_s=20)
    assert paired.double.texts[-1] == "whole"


def test_an_open_question_is_left_in_the_inbox_at_the_end(paired: Chat, files: Path) -> None:
    paired.double.say("move ~/one.txt to ~/done")
    paired.asked()
    assert paired.bots[-1].see_out()
    assert paired.app.inbox.waiting()
    assert paired.app.medium.newest(1)[0].state == "waiting"
    assert (files / "one.txt").exists()


def test_a_level_is_the_devices_own(chat: Chat) -> None:
    chat.pair(Autonomy.READ_ONLY)
    device = chat.app.pairing.device(Channel.TELEGRAM, f"tg:{OWNER}")
    assert device is not None
    assert device.level is Autonomy.READ_ONLY
    chat.app.__dict__["turns"] = turns = StandIn(chat.clock)
    chat.ask("hello")
    assert turns.requests[0].principal == device.principal
