"""Turns that run for a page: followed by any number, answered by one, and ended by nobody who merely leaves."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from api.http.served import Client, Served
from metnos.api.http import runs
from metnos.api.http.runs import Run, Runs
from metnos.core.errors import DaemonError, TurnError
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.turn.events import Answer, Answered, Event, Started, StepDone, Text, Wanted

WHO = Principal(Channel.WEB, "page", Autonomy.FULL)
WANTED = Wanted("item", 1, "move_files", "Move", ("a → b",), "moves back", (), 0, 1, "", "2026-01-01T00:00:00.000Z")
OVER = Answered("t", "done", "Done.")


def play(*events: Event, heard: list[Answer | None] | None = None, until: threading.Event | None = None) -> Any:
    """What makes a turn of these events; ``heard`` gets what was answered to each."""

    def make(_household: Any) -> Iterator[Event]:
        for event in events:
            answer = yield event
            if heard is not None:
                heard.append(answer)
            if until is not None:
                until.wait(60)

    return make


def ended(run: Run) -> list[dict[str, Any]]:
    async def all_of_it() -> list[dict[str, Any]]:
        return [message async for _, message in run.follow() if message is not None]

    return asyncio.run(all_of_it())


@pytest.fixture
def some(served: Served) -> Runs:
    return served.runs


def test_every_event_is_told_in_order_and_again_from_anywhere(some: Runs) -> None:
    run = some.begin(WHO, play(Started("t"), Text("a"), Text("b"), OVER))
    names = [each["event"] for each in ended(run)]
    assert names == ["Started", "Text", "Text", "Answered"]

    async def rest() -> list[int]:
        return [number async for number, _ in run.follow(2)]

    assert asyncio.run(rest()) == [3, 4]
    assert run.turn == "t"


def test_many_listeners_hear_the_same(some: Runs) -> None:
    gate = threading.Event()
    run = some.begin(WHO, play(Started("t"), Text("a"), OVER, until=gate))

    async def listen() -> list[list[str]]:
        heard: list[list[str]] = [[] for _ in range(50)]

        async def one(mine: list[str]) -> None:
            async for _, message in run.follow():
                mine.extend([message["event"]] if message else [])

        many = [asyncio.create_task(one(mine)) for mine in heard]
        async with asyncio.timeout(60):
            while not all(heard):  # all of them are there; what comes after the first event is held back
                await asyncio.sleep(0.001)
            gate.set()
            await asyncio.gather(*many)
        return heard

    assert asyncio.run(listen()) == [["Started", "Text", "Answered"]] * 50


def test_the_answer_reaches_the_question_it_was_given_to_and_no_other(some: Runs) -> None:
    heard: list[Answer | None] = []
    run = some.begin(WHO, play(WANTED, WANTED, OVER, heard=heard))
    for number, said in ((1, Answer.YES), (2, Answer.NO)):
        _until(lambda number=number: run.question == number)
        with pytest.raises(TurnError, match="does not wait"):
            some.answer(run, number + 1, Answer.YES)
        some.answer(run, number, said)
    ended(run)
    assert heard[:2] == [Answer.YES, Answer.NO]
    with pytest.raises(TurnError):
        some.answer(run, 2, Answer.YES)


def test_no_answer_in_time_is_later(some: Runs, served: Served) -> None:
    served.app.set_setting("turn.prompt_s", "1", at_terminal())
    heard: list[Answer | None] = []
    ended(some.begin(WHO, play(WANTED, OVER, heard=heard)))
    assert heard[0] is Answer.LATER


def test_cancelling_ends_it_at_its_next_event_and_answers_nothing(some: Runs) -> None:
    heard: list[Answer | None] = []
    run = some.begin(WHO, play(WANTED, StepDone(1, "x", True, "", 0, 1.0), OVER, heard=heard))
    _until(lambda: run.question == 1)
    some.cancel(run)
    last = ended(run)[-1]
    assert (last["event"], last["error"]["what"]) == ("Failed", "cancelled")
    assert heard == [Answer.LATER]


def test_what_fails_is_told_and_a_mistake_is_told_without_what_was_said(some: Runs, served: Served) -> None:
    def refuses(_household: Any) -> Iterator[Event]:
        yield Started("t")
        raise TurnError("no such turn", fix="Look.")

    def breaks(_household: Any) -> Iterator[Event]:
        yield Started("t")
        raise RuntimeError("the owner's own words")

    assert ended(some.begin(WHO, refuses))[-1]["error"]["fix"] == "Look."
    assert "own words" not in str(ended(some.begin(WHO, breaks))[-1])
    assert any("RuntimeError" in line for line in served.logged)
    assert not any("own words" in line for line in served.logged)


def test_a_long_reply_is_cut_and_says_how_long_it_was(some: Runs) -> None:
    reply = {"entries": [{"n": number} for number in range(1000)]}
    run = some.begin(WHO, play(Answered("t", "done", "", ({"executor": "x", "reply": reply},))))
    told = ended(run)[-1]["steps"][0]["reply"]
    assert (len(told["entries"]), told["count"]) == (200, 1000)


def test_what_ended_is_forgotten_after_a_while_and_so_many_are_kept(
    some: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST", 3)
    found = []
    for _ in range(5):
        found.append(some.begin(WHO, play(OVER)))
        ended(found[-1])
    with pytest.raises(TurnError):
        some.find(found[0].id, WHO)
    assert some.find(found[-1].id, WHO) is found[-1]
    monkeypatch.setattr(runs, "KEPT_S", -1.0)
    ended(some.begin(WHO, play(OVER)))
    with pytest.raises(TurnError):
        some.find(found[-1].id, WHO)


def test_a_daemon_that_ends_begins_nothing(some: Runs, served: Served) -> None:
    served.stopping.ring()
    with pytest.raises(DaemonError, match="ending"):
        some.begin(WHO, play(OVER))


def test_a_turn_of_the_page_is_the_pages(page: Client, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("hello")
    last = page.ask(f"find the text files in {tmp_path}")
    assert last["state"] == "done"
    assert page.app.medium.load(last["turn"]).answer == last["text"]


def test_what_changes_something_asks_in_the_page_and_is_done_after_the_yes(page: Client, tmp_path: Any) -> None:
    source, target = tmp_path / "here" / "a.txt", tmp_path / "there" / "a.txt"
    source.parent.mkdir()
    source.write_text("hello")
    asked: list[dict[str, Any]] = []

    def yes(wanted: dict[str, Any]) -> str:
        asked.append(wanted)
        assert source.exists()
        return "yes"

    last = page.ask(f"move the text files in {source.parent} to {target.parent}", yes)
    assert (last["state"], target.read_text()) == ("done", "hello")
    assert any(str(target) in line for line in asked[0]["lines"])
    assert last["undo"]


def test_a_dry_run_changes_nothing(page: Client, tmp_path: Any) -> None:
    source = tmp_path / "a.txt"
    source.write_text("hello")
    page.ask(f"move the text files in {tmp_path} to {tmp_path / 'there'}", lambda _: "yes", dry_run=True)
    assert source.exists()


def _until(true: Any) -> None:
    for _ in range(2000):
        if true():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not come to that")
