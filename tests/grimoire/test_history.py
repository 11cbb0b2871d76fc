"""Turns page by page: each once, in order, with what it took."""

import os

from hypothesis import given
from hypothesis import strategies as st

from grimoire.traces import trace
from metnos.app import App
from metnos.grimoire import history
from metnos.grimoire.medium import Medium
from metnos.sandbox import process


def test_pages_hold_every_turn_once_whatever_their_size(opened: App) -> None:
    medium: Medium = opened.medium
    turns = [f"01T{number}" for number in range(7)]
    for number, turn in enumerate(turns):
        medium.close(trace(turn, conversation=turns[number % 2]))

    @given(st.integers(1, 9), st.sampled_from([None, turns[0], turns[1], "nobody's"]))
    def paged(size: int, conversation: str | None) -> None:
        seen: list[str] = []
        while True:
            page = history.page(medium.db, size, before=seen[-1] if seen else None, conversation=conversation)
            seen += [each.id for each in page]
            if not page:
                break
        wanted = {None: turns, turns[0]: turns[::2], turns[1]: turns[1::2], "nobody's": []}[conversation]
        assert seen == wanted[::-1]

    paged()
    assert history.is_turn(medium.db, turns[0])
    assert not history.is_turn(medium.db, "01NONE")


def test_a_turn_is_shown_with_what_it_took_and_cost(opened: App) -> None:
    made = trace("01T", plan={"ms": 40.0})
    opened.medium.close(made)
    (seen,) = history.page(opened.medium.db, 5, turn="01T")
    assert (seen.text, seen.answer, seen.state) == (made.text, made.answer, made.state)
    assert seen.executors == tuple(step.executor for step in made.steps)
    thought = sum(call.wall_ms for call in made.calls if call.purpose != "plan")
    assert seen.wall_ms == 40.0 + sum(step.wall_ms for step in made.steps) + thought
    assert seen.usd == sum(call.usd for call in made.calls)
    assert seen.good is None
    opened.medium.feedback("01T", good=True)
    assert history.page(opened.medium.db, 1)[0].good is True


def test_only_turns_of_living_processes_go_on(opened: App) -> None:
    alive = process.start_time(os.getpid())
    opened.medium.begin("01A", pid=os.getpid(), started=alive, text_digest="")
    opened.medium.begin("01B", pid=os.getpid(), started="another start", text_digest="")
    assert history.running(opened.medium.db) == 1
